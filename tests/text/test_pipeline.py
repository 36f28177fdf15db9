"""Both sides together: fitted, saved, read back."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from dragoman.contracts import Progress, UserError
from dragoman.text.options import TextOptions, Units
from dragoman.text.pipeline import Pipeline, fit_pipeline
from tests.text.tiny import TinyBitext, made_pairs

BITEXT = TinyBitext(made_pairs(200))
ALL_UNITS: tuple[Units, ...] = ("unigram", "bpe", "words", "characters")


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("units", ALL_UNITS)
def test_fitted_saved_and_read_back(units: Units, joint: bool, tmp_path: Path) -> None:
    pipeline = fit_pipeline(BITEXT, TextOptions(units=units, pieces=500, joint=joint))
    assert (pipeline.source is pipeline.target) == joint
    for pair in BITEXT:
        source, target = pipeline.source.encode([pair.source])[0], pipeline.target.encode([pair.target])[0]
        assert pipeline.source.decode(source) == pair.source
        assert pipeline.target.decode(target) == pair.target
        assert len(source) <= pipeline.longest
    pipeline.save(tmp_path / "text")
    again = Pipeline.load(tmp_path / "text")
    assert again == pipeline
    assert again.fingerprint == pipeline.fingerprint
    assert (again.source is again.target) == joint
    assert sorted(path.name for path in (tmp_path / "text").iterdir())[-1] == "text.json"


def test_the_fingerprint_tells_what_decides_on_ids() -> None:
    pipeline = fit_pipeline(BITEXT, TextOptions(pieces=500))
    assert pipeline.fingerprint == fit_pipeline(BITEXT, TextOptions(pieces=500)).fingerprint
    assert replace(pipeline, longest=3).fingerprint == pipeline.fingerprint
    assert replace(pipeline, target_language="ja").fingerprint != pipeline.fingerprint
    assert fit_pipeline(BITEXT, TextOptions(pieces=450)).fingerprint != pipeline.fingerprint


def test_notes_are_reported_with_the_language() -> None:
    seen: list[Progress] = []
    fit_pipeline(BITEXT, TextOptions(pieces=8000, joint=False), report=seen.append)
    notes = [progress.note for progress in seen if progress.note]
    assert [note[:4] for note in notes] == ["en: ", "zh: "]
    assert all("the corpus is too small" in note for note in notes)
    assert {progress.phase for progress in seen} == {"vocabulary"}


def test_options_have_bounds_and_descriptions() -> None:
    with pytest.raises(ValidationError):
        TextOptions(pieces=10)
    with pytest.raises(ValidationError):
        TextOptions(units="syllables")  # type: ignore[arg-type]
    schema = TypeAdapter(TextOptions).json_schema()
    assert all(entry["description"] for entry in schema["properties"].values())


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"text\.json: No such file"):
        Pipeline.load(tmp_path)
    fit_pipeline(BITEXT, TextOptions(pieces=500)).save(tmp_path)
    card = json.loads((tmp_path / "text.json").read_text())
    (tmp_path / "text.json").write_text(json.dumps({**card, "format": 2}))
    with pytest.raises(UserError, match="format 2 is newer"):
        Pipeline.load(tmp_path)
    (tmp_path / "text.json").write_text(json.dumps({**card, "source": {"units": "syllables", "file": "x"}}))
    (tmp_path / "x").touch()
    with pytest.raises(UserError, match="units 'syllables'"):
        Pipeline.load(tmp_path)
    (tmp_path / "text.json").write_text(json.dumps(card))
    (tmp_path / "joint.model").write_bytes(b"no model")
    with pytest.raises(UserError, match=r"joint\.model: damaged"):
        Pipeline.load(tmp_path)
    (tmp_path / "joint.model").unlink()
    with pytest.raises(UserError, match=r"joint\.model: No such file"):
        Pipeline.load(tmp_path)
    (tmp_path / "text.json").write_text("[]")
    with pytest.raises(UserError, match="damaged"):
        Pipeline.load(tmp_path)


def test_options_load_nothing_heavy() -> None:
    code = "import sys, dragoman.text.options; print({'numpy', 'sentencepiece', 'torch', 'regex'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"

"""Does the benchmark of engines measure the same translations by every road? (Not how fast: machines differ.)"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.engine import main
from tests.contract.models import TEST, Trained

pytest.importorskip("ctranslate2")


def test_every_road_leads_to_the_same_translations(
    model_of: Callable[[str], Trained],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))  # the benchmark sets it
    test = tmp_path / "test.tsv"
    test.write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in TEST), encoding="utf-8")
    command = [str(model_of("transformer").folder), "--test", str(test), "--threads", "1", "--rounds", "1"]
    main([*command, "--json"])
    table = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in table["rows"]}
    assert list(rows) == ["the model", "engine fp32", "by hand fp32", "engine int8", "by hand int8"]
    assert table["sentences"] == len(TEST)
    for row in rows.values():
        assert row["sentences_per_second"] == pytest.approx(len(TEST) / row["seconds"])
    assert (rows["engine fp32"]["equal"], rows["engine fp32"]["bleu"]) == (1.0, rows["the model"]["bleu"])
    assert rows["by hand fp32"]["equal"] > 0.9
    assert table["ratios"]["engine int8 / by hand int8"] == pytest.approx(
        rows["engine int8"]["tokens_per_second"] / rows["by hand int8"]["tokens_per_second"]
    )
    main(command)
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 2 + len(rows) + len(table["ratios"])

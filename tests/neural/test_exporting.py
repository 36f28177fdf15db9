"""Is a Transformer of any shape the same in CTranslate2, and what is kept from coming out there?"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.contracts import Flag, PieceTable, SearchOptions, UserError
from dragoman.neural.exported import ExportedTranslator
from dragoman.neural.exporting import STEPS, in_steps, refuse_pieces, write_ctranslate2
from dragoman.neural.recipes import TransformerOptions
from dragoman.neural.segments import StoredSearch
from dragoman.neural.seq2seq import NeuralTranslator, build_network
from dragoman.neural.transformer import Transformer
from dragoman.text.options import TextOptions
from dragoman.text.pipeline import Pipeline, fit_pipeline
from tests.generated import generated_bitext
from tests.neural.small import small_pipeline, small_translator

pytest.importorskip("ctranslate2")

PAIRS = list(generated_bitext(12, "en", "de", seed=5))
SOURCES = [pair.source for pair in PAIRS]


@cache
def pipeline(units: Any, joint: bool) -> Pipeline:
    if units == "unigram" and joint:
        return small_pipeline()
    return replace(fit_pipeline(generated_bitext(120, "en", "de"), TextOptions(units, 500, joint=joint)), longest=30)


def translator(units: str = "unigram", joint: bool = True, **shape: Any) -> NeuralTranslator:
    """Random weights, far from symmetry, so that no mistake hides."""
    torch.manual_seed(3)
    options = TransformerOptions(
        **{"width": 18, "inner": 24, "heads": 3, "encoder_layers": 2, "decoder_layers": 1} | shape
    )
    network = build_network("transformer", options, pipeline(units, joint))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return NeuralTranslator("transformer", [network], options, pipeline(units, joint), StoredSearch(beam=3))


def exported(model: NeuralTranslator, folder: Path, quantization: str = "fp32") -> ExportedTranslator:
    write_ctranslate2(model, folder, quantization)
    return ExportedTranslator.load(folder, "cpu")


# --- the same network -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"norm": "post"},
        {"activation": "gelu"},
        {"norm": "post", "activation": "gelu", "tied": False},
        {"joint": False},
        {"joint": False, "tied": False, "encoder_layers": 1, "decoder_layers": 3},
        {"units": "words"},
        {"units": "characters", "joint": False},
    ],
    ids=str,
)
def test_every_shape_has_the_same_log_probabilities(shape: dict[str, Any], tmp_path: Path) -> None:
    model = translator(**shape)
    theirs = exported(model, tmp_path).score(PAIRS)
    for one, other in zip(model.score(PAIRS), theirs, strict=True):
        assert other.token_log_probabilities == pytest.approx(one.token_log_probabilities, abs=1e-4)


def test_pieces_stand_in_the_order_of_their_ids(tmp_path: Path) -> None:
    model = translator(joint=False)
    exported(model, tmp_path)
    for side, table in (("source", model.pipeline.source.pieces), ("target", model.pipeline.target.pieces)):
        assert tuple(json.loads((tmp_path / f"{side}_vocabulary.json").read_text(encoding="utf-8"))) == table.pieces
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert (config["decoder_start_token"], config["eos_token"], config["unk_token"]) == ("<s>", "</s>", "<unk>")


@pytest.mark.parametrize("options", [SearchOptions(), SearchOptions(beam=1, alpha=0.0)], ids=["beam", "greedy"])
def test_what_comes_out_of_an_unlearnt_network_is_whole_text(tmp_path: Path, options: SearchOptions) -> None:
    """Pieces at random: half characters, reserved pieces, endless outputs."""
    for seed in range(4):
        model = small_translator(seed)
        theirs = exported(model, tmp_path / str(seed))
        for best in (translation.hypotheses[0] for translation in theirs.translate(SOURCES, options)):
            assert theirs.rules.allow(best.pieces) or Flag.EMPTY in best.flags
            assert not set(best.text) & set("\n\r\0\ufffd")
            assert best.text.strip() or Flag.EMPTY in best.flags


def test_where_nothing_can_be_said_bytes_are_left_out(tmp_path: Path) -> None:
    model = small_translator()
    broken = {model.pipeline.target.pieces.byte_ids[byte] for byte in range(0x80, 0xC0)}
    with torch.no_grad():  # a continuation byte is what this network wants to say first and always
        weights = model.networks[0].output_VD
        weights[sorted(broken)] = weights[sorted(broken)].abs().mean() * 30 * weights[sorted(broken)].sign()
    theirs = exported(model, tmp_path)
    for translation in theirs.translate(SOURCES):
        best = translation.hypotheses[0]
        assert not broken & set(best.pieces)
        assert best.text.strip()
        score = theirs.score([(translation.source, best)])[0]
        assert score.score == pytest.approx(best.score, abs=1e-4)


def test_units_without_bytes_never_say_the_unknown_piece(tmp_path: Path) -> None:
    model = translator("words")
    theirs = exported(model, tmp_path)
    for translation in theirs.translate([*SOURCES, "Zyx qwv."], SearchOptions(n_best=3)):
        for hypothesis in translation.hypotheses:
            assert model.pipeline.target.pieces.unknown not in hypothesis.pieces


# --- int8 -----------------------------------------------------------------------------------------


def test_weights_in_steps() -> None:
    torch.manual_seed(1)
    weights_NX = torch.cat(
        [torch.randn(5, 40) * torch.tensor([[1e-6], [0.1], [1.0], [9.0], [300.0]]), torch.zeros(1, 40)]
    )
    steps_NX, scale_N = in_steps(weights_NX)
    assert steps_NX.dtype == torch.int8
    assert (steps_NX[:5].abs().amax(1) == STEPS).all()  # so that 2 * 255 * 64 fits into 16 bits
    assert ((steps_NX / scale_N[:, None] - weights_NX).abs() <= 0.501 / scale_N[:, None]).all()


def test_int8_is_close_and_smaller(tmp_path: Path) -> None:
    model = small_translator()
    theirs = exported(model, tmp_path / "int8", "int8")
    differences = [
        abs(a - b)
        for one, other in zip(model.score(PAIRS), theirs.score(PAIRS), strict=True)
        for a, b in zip(one.token_log_probabilities, other.token_log_probabilities, strict=True)
    ]
    assert 0 < sum(differences) / len(differences) < 0.1
    assert len(theirs.translate(SOURCES)) == len(SOURCES)
    exported(model, tmp_path / "fp32")
    sizes = {name: (tmp_path / name / "model.bin").stat().st_size for name in ("fp32", "int8")}
    assert sizes["int8"] < sizes["fp32"]
    assert theirs.describe()["quantization"] == "int8"


# --- refusals -------------------------------------------------------------------------------------


class Stranger(Transformer):
    """A network that no engine knows."""


def test_what_cannot_be_expressed_is_named(tmp_path: Path) -> None:
    model = translator()
    gnmt = NeuralTranslator(model.kind, model.networks, model.options, model.pipeline, StoredSearch(length_form="gnmt"))
    pieces = model.pipeline.source.pieces
    stranger = NeuralTranslator(
        model.kind, [Stranger(model.options, pieces, pieces, True)], model.options, model.pipeline, model.search
    )
    for wrong, why in (
        (model.together([model]), "an ensemble cannot be exported"),
        (gnmt, "no length normalisation 'gnmt'"),
        (stranger, "a Stranger cannot be exported"),
    ):
        with pytest.raises(UserError, match=why):
            write_ctranslate2(wrong, tmp_path / "out", "fp32")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match="'x' is two of them"):
        refuse_pieces(PieceTable(("p", "u", "s", "e", "x", "y", "x"), 0, 1, 2, 3))


@pytest.mark.parametrize(
    "changes",
    [{"norm": "none"}, {"residual": False}, {"activation": "none"}, {"positions": "none"}, {"score": "dot"}],
)
def test_a_shape_that_the_engine_does_not_have_is_named(changes: dict[str, Any], tmp_path: Path) -> None:
    model = translator(**changes)
    ((name, chosen),) = changes.items()
    with pytest.raises(UserError, match=f"no Transformer with {name} = {chosen!r}"):
        write_ctranslate2(model, tmp_path / "out", "fp32")
    assert not (tmp_path / "out").exists()


def test_without_the_library_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ctranslate2(translator(), tmp_path, "fp32")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    for action in (
        lambda: write_ctranslate2(translator(), tmp_path / "again", "fp32"),
        lambda: ExportedTranslator.load(tmp_path, "cpu"),
    ):
        with pytest.raises(UserError, match="not installed: pip install ctranslate2"):
            action()

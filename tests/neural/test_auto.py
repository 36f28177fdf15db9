"""Does a network made to measure fit its corpus and its time, and stay what it was when training goes on?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import pytest
import torch

from dragoman.contracts import Interrupted, PieceTable, Progress, Work
from dragoman.neural import auto
from dragoman.neural.ladders import FAMILIES, TIERS, RecurrentSize, Size, TransformerSize
from dragoman.neural.recipes import AttentionOptions, AutoRecipe, AutoRecurrentRecipe, AutoTransformerRecipe
from dragoman.neural.seq2seq import NETWORKS
from dragoman.system import lifecycle
from dragoman.system.settings import read_toml
from tests.generated import generated_bitext

PIECES = PieceTable(("",) * 500, padding=0, unknown=1, start=2, end=3)
TRAIN, DEV = generated_bitext(80, "en", "zh"), generated_bitext(12, "en", "zh", seed=9)
AUTO = AutoTransformerRecipe(max_updates=20)
TRANSFORMERS, RECURRENT = FAMILIES["transformer-auto"], FAMILIES["rnn-auto"]
every_family = pytest.mark.parametrize("kind", FAMILIES)
SPEEDS = {128: 4000.0, 192: 2500.0, 256: 1500.0, 384: 500.0, 512: 200.0}


def fitted(seconds: float, pairs: int, kind: str = "transformer-auto") -> tuple[Size, float, list[str]]:
    told: list[str] = []
    tier = next(tier for tier in TIERS if pairs < tier.below)
    size, epochs = auto.fitting_size(
        AutoRecipe(time_budget=seconds),
        FAMILIES[kind],
        tier,
        pairs * 15,
        lambda size: SPEEDS[size.width],
        lambda choice, reason: told.append(f"{choice}: {reason}"),
    )
    return size, epochs, told


@every_family
def test_the_less_time_the_smaller_the_network(kind: str) -> None:
    widths = [fitted(minutes * 60, 29_000, kind)[0].width for minutes in (1, 30, 60, 600)]
    assert widths == sorted(widths)
    assert (widths[0], widths[-1]) == (128, 256)
    assert fitted(1800, 29_000, kind)[1] == pytest.approx(0.9 * 1800 * SPEEDS[widths[1]] / (29_000 * 15))


@every_family
def test_the_more_pairs_the_larger_the_network_where_time_is_no_matter(kind: str) -> None:
    widths = [fitted(0, pairs, kind)[0].width for pairs in (1_000, 29_000, 300_000, 3_000_000)]
    assert widths == [192, 256, 384, 512]


@every_family
def test_a_ladder_has_a_rung_for_every_corpus(kind: str) -> None:
    ladder = FAMILIES[kind].ladder
    assert [size.passes for size in ladder] == sorted(size.passes for size in ladder)
    assert ladder[0].passes == 0  # there is always one
    assert max(tier.largest for tier in TIERS) == len(ladder) - 1


def test_the_estimate_is_said() -> None:
    (told,) = fitted(1800, 29_000)[2]
    assert "pieces/s it sees each pair about" in told
    assert "30m" in told


def test_every_choice_has_its_reason() -> None:
    told: list[str] = []
    work = Work(Path(), report=lambda progress: told.append(progress.note), threads=1)
    recipe = auto.choose(AUTO, TRAIN, work)
    assert [note.partition(":")[0] for note in told] == [
        "2,000 pieces",
        "192 wide, 2+2 layers",
        "dropout 0.1, label smoothing 0.2",
        "512 pieces a batch",
    ]
    assert recipe.text.pieces == 2000
    assert (recipe.kind, recipe.model.width, recipe.model.dropout) == ("transformer", 192, 0.1)
    assert recipe.training.max_updates == 20


def test_a_recurrent_network_is_chosen_from_its_own_ladder() -> None:
    recipe = auto.choose(AutoRecurrentRecipe(max_updates=20), TRAIN, Work(Path(), threads=1))
    assert isinstance(recipe.model, AttentionOptions)
    assert (recipe.kind, recipe.model.cell, recipe.model.encoder, recipe.model.width) == ("rnn", "lstm", "bi", 192)
    assert recipe.training.learning_rate == round(RECURRENT.rate(192), 6)


def test_no_context_enters_the_cells_of_the_ladder() -> None:
    for size in RECURRENT.ladder[:4]:
        made = resolve_name(NETWORKS["rnn"][0])(size.options(0.1), PIECES, PIECES, True)
        assert set(made.facts().values()) == {"fused"}
        assert not len(made.bridge.parts)  # the states that were read are as wide as those that write


def test_few_passes_want_no_dropout() -> None:
    assert [auto.dropout_for(epochs) for epochs in (0.5, 4.9, 5, 12, 29, 30, 400)] == [0, 0, 0.1, 0.2, 0.2, 0.3, 0.3]
    options = TransformerSize(128, 4, 2, 0).options(0.0)
    assert (options.dropout, options.attention_dropout, options.inner_dropout) == (0, 0, 0)


def test_measuring_draws_nothing_from_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "MEASURED_SECONDS", 0.1)
    before = torch.get_rng_state()
    for family, small, large in (
        (TRANSFORMERS, TransformerSize(16, 2, 1, 0), TransformerSize(256, 4, 3, 0)),
        (RECURRENT, RecurrentSize(16, 1, 0), RecurrentSize(512, 2, 0)),
    ):
        speed = auto.measured_speed(family, 500, auto.Lengths(9, 9), AUTO, torch.device("cpu"))
        assert speed(small) > speed(large) > 0
    assert torch.equal(torch.get_rng_state(), before)


def test_an_interrupted_training_goes_on_with_the_first_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(TRANSFORMERS, ladder=(TransformerSize(16, 2, 1, 0),) * 6)
    monkeypatch.setitem(FAMILIES, "transformer-auto", small)
    notes: list[str] = []

    def hear(progress: Progress) -> None:
        notes.append(progress.note)

    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        lifecycle.train_model(AUTO, TRAIN, DEV, tmp_path / "m", threads=1, report=hear, stop=lambda: next(asked))
    assert any("16 wide" in note for note in notes)
    monkeypatch.setattr(auto, "choose", None)  # nothing is chosen twice
    outcome = lifecycle.train_model(AUTO, TRAIN, DEV, tmp_path / "m", threads=1)
    assert outcome.facts["kind"] == "transformer"
    stored = read_toml(tmp_path / "m" / "recipe.toml")
    assert (stored.kind, stored.model.width) == ("transformer", 16)  # type: ignore[attr-defined]
    assert lifecycle.train_model(AUTO, TRAIN, DEV, tmp_path / "m", threads=1).already_finished


def test_a_raised_budget_reaches_the_settled_recipe() -> None:
    before = auto.choose(AUTO, TRAIN, Work(Path(), threads=1))
    raised = replace(AUTO, time_budget=900.0).settle(TRAIN, Work(Path()), before)
    assert raised == replace(before, training=replace(before.training, time_budget=900.0))

"""Training as a whole: it learns, resumes exactly, notices collapse and divergence."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from dragoman.contracts import Interrupted, Progress, UserError, Work
from dragoman.neural.checkpoints import read_tensors, weights_of
from dragoman.neural.lessons import collapse, train_translator
from dragoman.neural.recipes import SearchDefaults, TrainingOptions, TransformerOptions, TransformerRecipe
from dragoman.text.options import TextOptions
from tests.generated import generated_bitext

RECIPE = TransformerRecipe(
    text=TextOptions(pieces=400),
    model=TransformerOptions(width=16, inner=32, heads=2, encoder_layers=1, decoder_layers=1),
    training=TrainingOptions(
        max_updates=24,
        validate_every=8,
        warmup_updates=4,
        tokens_per_batch=256,
        accumulate=2,
        dev_sentences=12,
        average=2,
        precision="fp32",  # in which a sum hardly depends on how it is cut
    ),
    search=SearchDefaults(beam=2, max_ratio=0.5),  # so little is learnt that all outputs are as long as they may be
)
TRAIN, DEV = generated_bitext(60, "en", "de"), generated_bitext(12, "en", "de", seed=9)


def weights(folder: Path, **work: object) -> dict[str, torch.Tensor]:
    folder.mkdir(exist_ok=True)
    made = train_translator(RECIPE, TRAIN, DEV, Work(folder, threads=1, **work))  # type: ignore[arg-type]
    return weights_of(made.networks[0])


def assert_equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        assert torch.equal(one[name], other[name]), name


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    return weights(tmp_path_factory.mktemp("whole") / "work")


def test_the_same_seed_gives_the_same_weights(uninterrupted: dict[str, torch.Tensor], tmp_path: Path) -> None:
    assert_equal(weights(tmp_path / "work"), uninterrupted)
    other = weights(tmp_path / "other", seed=2)
    assert any(not torch.equal(other[name], uninterrupted[name]) for name in other)


def test_stopped_between_looks_and_resumed_it_equals_the_uninterrupted(
    uninterrupted: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    for stop_at in (3, 11, 19):
        seen: list[int] = []

        def report(progress: Progress, seen: list[int] = seen) -> None:
            seen.append(progress.step if progress.phase == "training" else 0)

        def stop(seen: list[int] = seen, stop_at: int = stop_at) -> bool:
            return max(seen) >= stop_at

        with pytest.raises(Interrupted):
            weights(tmp_path / "work", report=report, stop=stop)
    assert_equal(weights(tmp_path / "work"), uninterrupted)


def test_in_bfloat16_it_learns_about_the_same(uninterrupted: dict[str, torch.Tensor], tmp_path: Path) -> None:
    recipe = replace(RECIPE, training=replace(RECIPE.training, precision="bf16"))
    made = weights_of(train_translator(recipe, TRAIN, DEV, Work(tmp_path, threads=1)).networks[0])
    apart = [(made[name] - uninterrupted[name]).norm() / uninterrupted[name].norm() for name in made if "norm" in name]
    assert 0 < max(apart) < 0.05
    assert all(tensor.dtype == torch.float32 for tensor in made.values())


def test_accumulated_batches_make_the_same_update_as_one_large_batch(tmp_path: Path) -> None:
    """The loss is a sum over all target pieces of an update, divided by their number."""
    still = replace(RECIPE.model, dropout=0.0, attention_dropout=0.0, inner_dropout=0.0)
    made = []
    for name, tokens, accumulate in (("one", 100_000, 1), ("many", 300, 1000)):
        training = replace(
            RECIPE.training, max_updates=3, tokens_per_batch=tokens, accumulate=accumulate, clip=0.0, average=1
        )
        recipe = replace(RECIPE, model=still, training=training)
        (tmp_path / name).mkdir()
        translator = train_translator(recipe, TRAIN, DEV, Work(tmp_path / name, threads=1))
        made.append(weights_of(translator.networks[0]))
    for name in made[0]:
        torch.testing.assert_close(made[0][name], made[1][name], atol=2e-4, rtol=1e-3)


def test_without_dev_the_last_weights_are_taken_and_patience_does_not_count(tmp_path: Path) -> None:
    recipe = replace(RECIPE, training=replace(RECIPE.training, max_updates=12, validate_every=2, patience=1))
    phases: list[str] = []
    work = Work(tmp_path, threads=1, report=lambda progress: phases.append(progress.phase))
    translator = train_translator(recipe, TRAIN, None, work)
    assert json.loads((tmp_path / "state.json").read_text())["updates"] == 12
    assert "dev" not in phases
    state = read_tensors(tmp_path / "state-12.safetensors")
    for name, weight in weights_of(translator.networks[0]).items():
        assert torch.equal(weight, state[f"weights/{name}"])


def test_going_on_from_a_model_keeps_its_pieces_and_takes_the_languages_of_the_data(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    start = train_translator(RECIPE, TRAIN, DEV, Work(tmp_path / "a", threads=1))
    english_chinese = generated_bitext(40, "en", "zh")
    (tmp_path / "b").mkdir()
    made = train_translator(RECIPE, english_chinese, None, Work(tmp_path / "b", threads=1, start=start))
    assert (made.source_language, made.target_language) == ("en", "zh")
    assert made.pipeline.source.pieces == start.pipeline.source.pieces
    other = replace(RECIPE, model=replace(RECIPE.model, width=32))
    (tmp_path / "c").mkdir()
    with pytest.raises(UserError, match=r"has model\.width = 16, the recipe 32"):
        train_translator(other, TRAIN, DEV, Work(tmp_path / "c", threads=1, start=start))


def test_divergence_is_an_error_with_advice(tmp_path: Path) -> None:
    recipe = replace(RECIPE, training=replace(RECIPE.training, learning_rate=1e30, clip=0.0))
    with pytest.raises(UserError, match=r"diverged at update .* learning_rate below 1e"):
        train_translator(recipe, TRAIN, DEV, Work(tmp_path, threads=1))


def test_a_time_budget_is_kept(tmp_path: Path) -> None:
    began = time.monotonic()
    recipe = replace(
        RECIPE, training=replace(RECIPE.training, max_updates=10**6, validate_every=10**5, time_budget=4.0)
    )
    train_translator(recipe, TRAIN, DEV, Work(tmp_path, threads=1, began=began))
    assert 2 < time.monotonic() - began < 10


def test_a_raised_limit_goes_on_from_the_last_state(tmp_path: Path) -> None:
    """Updates and time alike, the latter of all sittings together; what was done is not done again."""
    made: list[tuple[int, int]] = []
    seconds = 0.0
    for limit, more in (("max_updates", 8.0), ("max_updates", 16.0), ("time_budget", 1.0), ("time_budget", 2.0)):
        value: Any = int(more) if limit == "max_updates" else seconds + more
        recipe = replace(RECIPE, training=replace(RECIPE.training, **{limit: value}))
        steps: list[int] = []

        def report(progress: Progress, steps: list[int] = steps) -> None:
            if progress.phase == "training":
                steps.append(progress.step)

        train_translator(recipe, TRAIN, DEV, Work(tmp_path, threads=1, report=report))
        made.append((min(steps, default=0), max(steps, default=0)))
        seconds = json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))["seconds"]
    assert made[:2] == [(1, 8), (9, 16)]
    assert made[2][0] == 17
    assert made[3][0] == made[2][1] + 1


def test_what_is_said_of_the_chosen_weights_comes_with_their_figures(tmp_path: Path) -> None:
    """The last of it is kept as the model's figures, also where it is a warning."""
    heard: list[Progress] = []
    train_translator(RECIPE, TRAIN, DEV, Work(tmp_path, threads=1, report=heard.append))
    chosen = [progress for progress in heard if progress.phase == "chosen"]
    assert any("does not translate yet" in progress.note for progress in chosen)
    assert all({"bleu", "chrf", "loss"} <= set(progress.values) for progress in chosen)


def test_collapse_is_said() -> None:
    sources = [f"source {number}" for number in range(20)]
    assert collapse(sources, [f"output {number}" for number in range(20)]) == []
    assert "same output for 60%" in collapse(sources, ["no"] * 12 + sources[:8])[0]
    assert "copies 100%" in collapse(sources, sources)[0]

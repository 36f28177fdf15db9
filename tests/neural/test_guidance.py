"""Do links teach the attention what they say, and nothing else?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.contracts import Interrupted, Progress, SentencePair, UserError, Work
from dragoman.corpus.bitext import ListBitext
from dragoman.neural.batches import Batch, collate, read, rows_apart, shares_of
from dragoman.neural.checkpoints import weights_of
from dragoman.neural.lessons import train_translator
from dragoman.neural.loss import guidance
from dragoman.neural.network import Network, Watched
from dragoman.neural.recipes import FixedVectorRecipe, RecurrentOptions, RecurrentRecipe, TransformerRecipe
from dragoman.neural.seq2seq import NeuralTranslator, build_network
from dragoman.neural.training import batch_loss
from dragoman.text.options import TextOptions, Units
from dragoman.text.pieces import BACK_TRANSLATED, SPACE
from dragoman.text.pipeline import AnySegmenter, Pipeline, fit_pipeline
from dragoman.text.store import build_store
from tests.contract.models import Trained, tiny_recipe
from tests.generated import generated_bitext, linked_bitext
from tests.neural import test_lessons
from tests.neural.small import OPTIONS, small_pipeline, small_translator

LINKED = linked_bitext(60)
CPU = torch.device("cpu")
SHORT = replace(test_lessons.RECIPE, training=replace(test_lessons.RECIPE.training, max_updates=6))


def linked_batch(pipeline: Pipeline, folder: Path, pairs: ListBitext = LINKED) -> Batch:
    """All pairs as one batch."""
    store = build_store(pairs, pipeline, folder, 256)
    (batch,) = read(store, [np.arange(len(store))], pipeline.source.pieces, pipeline.target.pieces, CPU)
    return batch


# --- the loss -------------------------------------------------------------------------------------


def test_the_loss_and_its_gradient_are_those_of_the_paper() -> None:
    """- sum_ts G_ts log A_ts, whose gradient is -G / A (Garg et al. 2019)."""
    draw = np.random.default_rng(1)
    weights = draw.dirichlet(np.ones(5), size=(2, 4))
    wanted = np.zeros((2, 4, 5))
    wanted[0, 0, 2], wanted[1, 3, :2] = 1.0, 0.5
    weights_BTS = torch.tensor(weights, requires_grad=True)
    loss = guidance(weights_BTS, torch.tensor(wanted))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(-np.log(weights[0, 0, 2]) - np.log(weights[1, 3, :2]).mean())
    assert weights_BTS.grad is not None
    np.testing.assert_allclose(weights_BTS.grad.numpy(), -wanted / weights)


def test_a_weight_of_nothing_is_no_infinite_loss() -> None:
    weights_BTS = torch.tensor([[[0.0, 1.0]]], requires_grad=True)
    loss = guidance(weights_BTS, torch.tensor([[[1.0, 0.0]]]))
    loss.backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(loss)
    assert weights_BTS.grad is not None
    assert torch.isfinite(weights_BTS.grad).all()


def test_what_is_minimised_is_both_losses_and_what_is_told_is_the_first(tmp_path: Path) -> None:
    """The gradients of all parameters are those of each loss alone, added up; 0.05 weighs the second."""
    translator = small_translator()
    network, batch = translator.networks[0], linked_batch(small_pipeline(), tmp_path)
    network.watched = Watched(0, 1)
    _, weights_BTS = network.hidden_and_weights(batch.sources_BS, batch.inputs_BT)
    assert batch.linked_BTS is not None
    parameters = list(network.parameters())
    second = torch.autograd.grad(guidance(weights_BTS, batch.linked_BTS), parameters, allow_unused=True)
    plain, _ = batch_loss(network, batch, 0, 0.1)
    first = torch.autograd.grad(plain.smoothed, parameters)
    both, _ = batch_loss(network, batch, 0, 0.1, guided=0.05)
    found = torch.autograd.grad(both.smoothed, parameters)
    for one, other, total in zip(first, second, found, strict=True):
        torch.testing.assert_close(total, one + 0.05 * (0 if other is None else other), rtol=1e-4, atol=1e-4)
    assert float(both.negative_log_likelihood) == pytest.approx(float(plain.negative_log_likelihood), rel=1e-5)


@pytest.mark.parametrize("head", [0, 1, None])
def test_the_weights_that_learn_are_those_that_are_shown(head: int | None, tmp_path: Path) -> None:
    """All targets at once, and step by step as in a search."""
    network, batch = small_translator().networks[0].eval(), linked_batch(small_pipeline(), tmp_path)
    network.watched = Watched(0, head)
    states_BTD, weights_BTS = network.hidden_and_weights(batch.sources_BS, batch.inputs_BT)
    torch.testing.assert_close(states_BTD, network.hidden(batch.sources_BS, batch.inputs_BT))
    scorer = network.scorer()
    state = scorer.start(batch.sources_BS, 1, batch.inputs_BT.shape[1])
    for time in range(6):
        step = scorer.step(state, batch.inputs_BT[:, time, None])
        assert step.attention_BKS is not None
        torch.testing.assert_close(step.attention_BKS[:, 0], weights_BTS[:, time], rtol=1e-4, atol=1e-5)
        state = step.state


# --- from words to batches ------------------------------------------------------------------------


def test_linked_words_become_shares_of_their_pieces() -> None:
    links = [np.array([[0, 0], [1, 0], [1, 2]]), np.zeros((0, 2), dtype=np.int32)]
    shares_BTS = shares_of(links, 3, 4)
    assert shares_BTS is not None
    assert shares_BTS[0].tolist() == [[0.5, 0.5, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert not shares_BTS[1].any()
    assert shares_of(links[1:], 3, 4) is None


def test_links_go_with_their_rows_when_a_batch_is_taken_in_parts(tmp_path: Path) -> None:
    batch = linked_batch(small_pipeline(), tmp_path)
    parts = rows_apart(batch, 7)
    assert [len(part.sources_BS) for part in parts] == [9, 9, 9, 9, 8, 8, 8]
    assert {part.target_tokens for part in parts} == {batch.target_tokens}
    together = torch.cat([part.linked_BTS for part in parts if part.linked_BTS is not None])
    assert batch.linked_BTS is not None
    assert torch.equal(together, batch.linked_BTS)
    table = small_pipeline().source.pieces
    assert rows_apart(collate([[300]], [[301]], table, table, CPU), 3)[0].linked_BTS is None


def test_the_store_keeps_links_of_pieces(tmp_path: Path) -> None:
    """Also behind pairs without links, with a tag before the source, and when it is opened again."""
    bare = [replace(pair, links=None) for pair in LINKED.pairs[:3]]
    none = replace(LINKED.pairs[5], links=())
    bitext = ListBitext([*bare, *LINKED.pairs[3:5], none], "en", "zh")
    pipeline = fit_pipeline(LINKED, test_lessons.RECIPE.text)
    store = build_store(bitext, pipeline, tmp_path / "a", 256)
    assert [len(store.piece_links(index)) > 0 for index in range(6)] == [False, False, False, True, True, False]
    again = build_store(bitext, pipeline, tmp_path / "a", 256)
    tagged = build_store(bitext, pipeline, tmp_path / "b", 256, tag=BACK_TRANSLATED)
    for index in range(6):
        assert again.piece_links(index).tolist() == store.piece_links(index).tolist()
        assert tagged.piece_links(index).tolist() == [[s + 1, t] for s, t in store.piece_links(index).tolist()]
    plain = build_store(ListBitext(bare, "en", "zh"), pipeline, tmp_path / "c", 256)
    assert plain.links is None
    for joined, before in ((plain.followed_by(store), 3), (store.followed_by(plain), 0)):
        for index in range(6):
            assert joined.piece_links(before + index).tolist() == store.piece_links(index).tolist()
        assert not any(len(joined.piece_links(index)) for index in range(9) if not before <= index < before + 6)
    for _ in range(2):  # made, and opened
        empty = build_store(ListBitext([none], "en", "zh"), pipeline, tmp_path / "d", 256)
        assert empty.links is not None
        assert empty.piece_links(0).shape == (0, 2)


@pytest.mark.parametrize("units", ["unigram", "words", "characters"])
def test_what_is_stored_are_the_pieces_of_linked_words(units: Units, tmp_path: Path) -> None:
    """Composition and white space move them; a line end is a space."""
    pair = SentencePair("  The\r\nCafe\u0301  is red", "那 cafe\u0301 红", links=((1, 1), (3, 2)))
    bitext = ListBitext([pair] * 20, "en", "zh")
    pipeline = fit_pipeline(bitext, TextOptions(units=units, pieces=450))
    store = build_store(bitext, pipeline, tmp_path, 256)

    def spelt(side: AnySegmenter, ids: list[int]) -> str:
        return "".join(side.pieces.pieces[index] for index in ids).replace(SPACE, "")

    ids = store.source(0).tolist(), store.target(0).tolist()
    for target, source in (("café", "Café"), ("红", "red")):
        linked = [(s, t) for s, t in store.piece_links(0).tolist() if spelt(pipeline.target, [ids[1][t]]) in target]
        pieces = [sorted({link[side] for link in linked}) for side in (0, 1)]
        assert spelt(pipeline.source, [ids[0][s] for s in pieces[0]]) == source
        assert spelt(pipeline.target, [ids[1][t] for t in pieces[1]]) == target
        assert len(linked) == len(pieces[0]) * len(pieces[1])


# --- training -------------------------------------------------------------------------------------


def looked_at_rightly(network: Network, batch: Batch) -> float:
    """The share of linked target pieces that look most at a piece which they are linked with."""
    with torch.no_grad():
        _, weights_BTS = network.hidden_and_weights(batch.sources_BS, batch.inputs_BT)
    assert batch.linked_BTS is not None
    best_BT1 = weights_BTS.argmax(-1, keepdim=True)
    right_BT = batch.linked_BTS.gather(2, best_BT1)[..., 0] > 0
    return float(right_BT.sum() / (batch.linked_BTS.sum(2) > 0).sum())


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_what_is_taught_is_learnt(kind: str, model_of: Callable[[str], Trained], tmp_path: Path) -> None:
    """Of unseen pairs far more is looked at rightly than by the same network that was not taught."""
    untaught, tiny = model_of(kind).translator, tiny_recipe(kind)
    assert isinstance(tiny, TransformerRecipe | RecurrentRecipe)
    training = replace(tiny.training, guidance=0.5, max_updates=50, tokens_per_batch=512)
    recipe = replace(tiny, training=training)
    taught = train_translator(recipe, linked_bitext(400), None, Work(tmp_path, threads=1, seed=7))
    unseen = linked_bitext(40, seed=3)
    assert isinstance(untaught, NeuralTranslator)
    shares = [
        looked_at_rightly(each.networks[0], linked_batch(each.pipeline, tmp_path / name, unseen))
        for name, each in (("a", untaught), ("b", taught))
    ]
    assert shares[1] > 0.75 > 0.6 > shares[0]
    if kind == "transformer":
        assert taught.networks[0].watched == (0, 0)
        assert taught.describe()["attention shown"] == "decoder layer 1, its head 1, which was taught"
        taught.save(tmp_path / "model")
        assert NeuralTranslator.load(tmp_path / "model").networks[0].watched == (0, 0)
        facts = json.loads((tmp_path / "model" / "network.json").read_text(encoding="utf-8"))
        del facts["watched"]  # as older models have it
        (tmp_path / "model" / "network.json").write_text(json.dumps(facts), encoding="utf-8")
        assert NeuralTranslator.load(tmp_path / "model").networks[0].watched == (0, None)


def weights(folder: Path, pairs: ListBitext, **work: object) -> dict[str, torch.Tensor]:
    folder.mkdir(exist_ok=True)
    made = train_translator(SHORT, pairs, None, Work(folder, threads=1, **work))  # type: ignore[arg-type]
    return weights_of(made.networks[0])


def test_stopped_and_resumed_it_equals_the_uninterrupted_and_without_links_the_old(tmp_path: Path) -> None:
    whole = weights(tmp_path / "whole", LINKED)
    reported: list[int] = []

    def report(progress: Progress) -> None:
        reported.append(progress.step if progress.phase == "training" else 0)

    with pytest.raises(Interrupted):
        weights(tmp_path / "parts", LINKED, report=report, stop=lambda: max(reported) >= 3)
    test_lessons.assert_equal(weights(tmp_path / "parts", LINKED), whole)
    bare = ListBitext([replace(pair, links=None) for pair in LINKED.pairs], "en", "zh")
    blank = ListBitext([replace(pair, links=()) for pair in LINKED.pairs], "en", "zh")
    plain = weights(tmp_path / "plain", bare)
    test_lessons.assert_equal(weights(tmp_path / "blank", blank), plain)
    assert any(not torch.equal(plain[name], whole[name]) for name in plain)


def test_a_model_that_was_taught_teaches_the_one_that_goes_on_from_it(tmp_path: Path) -> None:
    start = train_translator(test_lessons.RECIPE, LINKED, None, Work(tmp_path, threads=1))
    (tmp_path / "on").mkdir()
    on = train_translator(
        test_lessons.RECIPE, generated_bitext(30), None, Work(tmp_path / "on", threads=1, start=start)
    )
    assert on.networks[0].watched == Watched(0, 0)


def test_without_attention_links_are_refused(tmp_path: Path) -> None:
    recipe = FixedVectorRecipe(
        text=test_lessons.RECIPE.text,
        model=RecurrentOptions(embedding=8, width=8),
        training=test_lessons.RECIPE.training,
    )
    with pytest.raises(UserError, match="'rnn-fixed' has none"):
        train_translator(recipe, LINKED, None, Work(tmp_path, threads=1))


def test_the_last_but_one_layer_is_watched_where_nothing_is_taught() -> None:
    pipeline = small_pipeline()
    for layers, watched in ((1, 0), (2, 0), (3, 1), (6, 4)):
        made = build_network("transformer", replace(OPTIONS, decoder_layers=layers), pipeline)
        assert made.watched == Watched(watched, None)

"""Language networks: however a text is read, the states are the same; rows go on where they ended."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dragoman.contracts import PieceTable, Work
from dragoman.neural import language_lessons
from dragoman.neural.batches import Batch
from dragoman.neural.generation import NeuralLanguageModel, alike
from dragoman.neural.language import CausalLanguage, LanguageNetwork, RecurrentLanguage, WindowLanguage
from dragoman.neural.lm_recipes import (
    CausalOptions,
    LanguageLearning,
    RecurrentLanguageOptions,
    RecurrentLanguageRecipe,
    WindowOptions,
)
from dragoman.neural.network import Carried
from dragoman.neural.streams import Layout, collate
from dragoman.neural.training import Learner, Lesson, batch_loss, rows_of
from dragoman.text.options import RunningTextOptions
from tests.contract.models import prose

TABLE = PieceTable(tuple("_?<>abcdefgh"), padding=0, unknown=1, start=2, end=3)
CPU = torch.device("cpu")
LENGTH = 50
OPTIONS = RecurrentLanguageOptions(embedding=5, width=7, layers=2, dropout=0.0)


def made(name: str, context: int = 64) -> LanguageNetwork:
    torch.manual_seed(3)
    kind, _, cell = name.partition(" ")
    if kind == "rnn":
        options = replace(OPTIONS, cell=cell or "lstm", residual=cell == "gru", tied=cell == "gru")  # type: ignore[arg-type]
        return RecurrentLanguage(options, TABLE, context).eval()
    if kind == "mlp":
        return WindowLanguage(WindowOptions(order=4, embedding=3, width=6, direct=True), TABLE, context).eval()
    return CausalLanguage(CausalOptions(width=8, inner=12, heads=2, layers=2), TABLE, context).eval()


def ids(rows: int = 2, length: int = LENGTH, seed: int = 1) -> torch.Tensor:
    return torch.randint(4, len(TABLE), (rows, length), generator=torch.Generator().manual_seed(seed))


def read_in(network: LanguageNetwork, inputs_BT: torch.Tensor, window: int) -> torch.Tensor:
    carried: Carried = ()
    states = []
    for part in torch.split(inputs_BT, window, 1):
        states_BTD, carried = network.read(part, carried)
        states.append(states_BTD)
    return torch.cat(states, 1)


every_network = pytest.mark.parametrize("name", ["rnn", "rnn gru", "rnn gru-before", "rnn rnn", "mlp", "transformer"])


@pytest.mark.parametrize("name", ["rnn", "rnn gru", "rnn gru-before", "rnn rnn", "mlp"])
@pytest.mark.parametrize("window", [1, 7, 64])
def test_what_is_carried_on_makes_windows_one_long_sequence(name: str, window: int) -> None:
    network = made(name)
    whole_BTD, _ = network.read(ids())
    torch.testing.assert_close(read_in(network, ids(), window), whole_BTD, atol=1e-5, rtol=1e-5)


def test_a_transformer_looks_back_half_a_context_when_it_reads_on() -> None:
    network = made("transformer", context=12)
    inputs_BT = ids()
    whole = [network.read(inputs_BT[:, max(0, end - 6 - 6) : end])[0][:, -6:] for end in range(12, LENGTH, 6)]
    windows = list(network.windows(LENGTH))
    assert windows[:3] == [(0, 12), (12, 18), (18, 24)]
    assert [last for _, last in windows[:-1]] == [first for first, _ in windows[1:]]
    carried: Carried = ()
    for (first, last), expected in zip(windows[:7], [None, *whole[1:]], strict=False):
        states_BTD, carried = network.read(inputs_BT[:, first:last], carried)
        if expected is not None:
            torch.testing.assert_close(states_BTD, expected, atol=1e-5, rtol=1e-5)


@every_network
def test_no_state_knows_what_comes_after_it(name: str) -> None:
    network, inputs_BT = made(name), ids()
    changed_BT = inputs_BT.clone()
    changed_BT[:, 30:] = 5
    before_BTD, after_BTD = network.read(inputs_BT)[0], network.read(changed_BT)[0]
    torch.testing.assert_close(after_BTD[:, :30], before_BTD[:, :30], atol=1e-6, rtol=1e-5)
    assert not torch.allclose(after_BTD[:, 30:], before_BTD[:, 30:])


@every_network
def test_step_by_step_it_is_the_same_network(name: str) -> None:
    """Also where hypotheses move and sentences leave."""
    network, inputs_BT = made(name), ids(3, 20)
    expected_BTV = network.output(network.read(torch.cat([torch.full((3, 1), 2), inputs_BT], 1))[0]).log_softmax(-1)
    scorer = network.scorer(first=2)
    assert scorer.pieces.start == 2
    state = scorer.start(torch.empty((3, 0), dtype=torch.long), 2, 30)
    step = scorer.step(state, torch.full((3, 1), 2))
    torch.testing.assert_close(step.log_probs_BKV[:, 0], expected_BTV[:, 0], atol=1e-5, rtol=1e-4)
    state = scorer.select(step.state, torch.arange(3), torch.zeros((3, 2), dtype=torch.long))
    rows = [0, 1, 2]
    for time in range(1, 20):
        own = time % 2  # the place of the hypothesis that is followed; beside it another one
        said_BK = torch.full((len(rows), 2), 6)
        said_BK[:, own] = inputs_BT[rows, time - 1]
        step = scorer.step(state, said_BK)
        torch.testing.assert_close(step.log_probs_BKV[:, own], expected_BTV[rows, time], atol=1e-5, rtol=1e-4)
        kept = [0, 2] if time == 5 else list(range(len(rows)))
        rows = [rows[row] for row in kept]
        state = scorer.select(step.state, torch.tensor(kept), torch.full((len(kept), 2), own))


def test_a_transformer_that_writes_beyond_its_context_goes_on_from_its_last_half() -> None:
    network, inputs_BT = made("transformer", context=8), ids(1, 20)
    scorer = network.scorer(first=2)
    state = scorer.start(torch.empty((1, 0), dtype=torch.long), 1, 30)
    said = torch.cat([torch.full((1, 1), 2), inputs_BT], 1)
    begins = 0
    for time in range(20):
        if time - begins == 8:
            begins = time - 4
        step = scorer.step(state, said[:, time : time + 1])
        state = step.state
        expected_BTV = network.output(network.read(said[:, begins : time + 1])[0]).log_softmax(-1)
        torch.testing.assert_close(step.log_probs_BKV[0, 0], expected_BTV[0, -1], atol=1e-5, rtol=1e-4)


def test_the_window_network_is_that_of_the_paper() -> None:
    """y = b + W x + U tanh(d + H x) for the 4 pieces before, the start piece standing before the beginning."""
    network = made("mlp")
    torch.nn.init.normal_(network.output.weight, generator=torch.Generator().manual_seed(1))
    weights = {name: value.detach().numpy() for name, value in network.named_parameters()}
    inputs = [2, 5, 6, 7, 8, 9]
    logits_TV = network.output(network.read(torch.tensor([inputs]))[0])[0].detach().numpy()
    u_VH, w_VX, b_V = np.split(weights["output.weight"], [6, 18], axis=1)
    for time in range(len(inputs)):
        seen = [2, 2, 2, *inputs][time : time + 4]
        x = np.concatenate([weights["embedding.weight"][piece] for piece in seen])
        hidden = np.tanh(weights["hidden.bias"] + weights["hidden.weight"] @ x)
        np.testing.assert_allclose(logits_TV[time], b_V[:, 0] + w_VX @ x + u_VH @ hidden, atol=1e-5)


# --- learning -------------------------------------------------------------------------------------


def gradients(network: LanguageNetwork, batches: list[Batch]) -> dict[str, torch.Tensor]:
    network.zero_grad()
    carried: Carried = ()
    for batch in batches:
        loss, after = batch_loss(network, batch, 0, 0.0, carried=carried if batch.goes_on else ())
        loss.smoothed.backward()  # type: ignore[no-untyped-call]
        carried = tuple(each.detach() for each in after)
    return {name: value.grad.clone() for name, value in network.named_parameters() if value.grad is not None}


def windows_of(window: int, rows: int = 2) -> list[Batch]:
    ids_N = ids(1, LENGTH * rows)[0].numpy().astype(np.int32)
    layout = Layout(rows, LENGTH, window)
    plan = [each._replace(offset=0) for each in layout.plan(len(ids_N), 1, 0)]
    return [layout.read(ids_N, each, TABLE, CPU) for each in plan]


@pytest.mark.parametrize("name", ["rnn", "rnn gru", "rnn rnn"])
def test_truncated_gradients_are_the_whole_ones_where_the_window_covers_the_text(name: str) -> None:
    """The loss of one long sequence, by autograd, against windows: equal in one, near in large ones, not in small."""
    network = made(name)
    (whole,) = windows_of(LENGTH)
    states_BTD, _ = network.read(whole.inputs_BT)
    logits_BVT = network.output(states_BTD).transpose(1, 2)
    torch.nn.functional.cross_entropy(logits_BVT, whole.targets_BT, reduction="sum").backward()  # type: ignore[no-untyped-call]
    full = {each: value.grad.clone() for each, value in network.named_parameters() if value.grad is not None}

    def apart(window: int) -> float:
        truncated = gradients(network, windows_of(window))
        return max(float((truncated[each] - full[each]).norm() / full[each].norm()) for each in full)

    assert apart(LENGTH) < 1e-5
    assert apart(64) < 1e-5
    assert apart(1) > apart(25) > 1e-6


def test_every_piece_is_predicted_once_an_epoch_and_rows_go_on() -> None:
    ids_N = np.arange(100, 203, dtype=np.int32)
    layout = Layout.of(103, tokens_per_batch=40, window=10)
    assert layout == Layout(rows=4, length=25, window=10)
    seen: list[int] = []
    last: list[int] = []
    for place, window in enumerate(layout.plan(103, seed=1, epoch=2)):
        batch = layout.read(ids_N, window, TABLE, CPU)
        assert batch.goes_on == (place > 0)
        assert batch.target_tokens == batch.targets_BT.numel()
        assert torch.equal(batch.inputs_BT[:, 1:], batch.targets_BT[:, :-1])
        if place:
            assert batch.inputs_BT[:, 0].tolist() == last
        last = batch.targets_BT[:, -1].tolist()
        seen += batch.targets_BT.flatten().tolist()
    assert len(seen) == len(set(seen)) == 100
    offsets = {layout.plan(103, 1, epoch)[0].offset for epoch in range(5)}
    assert len(offsets) > 1
    assert layout.plan(103, 1, 4) == layout.plan(103, 1, 4)


def test_a_start_piece_stands_where_a_file_begins() -> None:
    ids_N = np.array([5, 6, 3, 7, 8, 3], dtype=np.int32)
    batch = Layout(1, 6, 6).read(ids_N, Layout(1, 6, 6).plan(6, 0, 0)[0]._replace(offset=0), TABLE, CPU)
    assert batch.inputs_BT.tolist() == [[2, 5, 6, 2, 7, 8]]
    assert batch.targets_BT.tolist() == [[5, 6, 3, 7, 8, 3]]


def test_small_texts_make_fewer_rows() -> None:
    assert Layout.of(5, tokens_per_batch=4096, window=128) == Layout(1, 5, 128)
    assert Layout.of(300, tokens_per_batch=4096, window=128) == Layout(2, 150, 128)
    assert Layout.of(300, tokens_per_batch=10, window=128) == Layout(1, 300, 128)


def test_documents_end_with_their_end_piece_and_are_filled_up() -> None:
    documents = [np.array([5, 6, 3], dtype=np.int32), np.array([7, 3], dtype=np.int32)]
    batch = collate(documents, [2, 9], TABLE, CPU)
    assert batch.inputs_BT.tolist() == [[2, 5, 6], [9, 7, 3]]
    assert batch.targets_BT.tolist() == [[5, 6, 3], [7, 3, 0]]
    assert (batch.target_tokens, batch.goes_on, batch.sources_BS.shape) == (5, False, (2, 0))


def test_what_is_carried_is_cut_as_its_rows_are(tmp_path: Path) -> None:
    """A batch in parts, as where memory is short, makes the same update and carries the same on."""
    assert rows_of((), 3) == [(), (), ()]
    carried = []
    for parts in (1, 2, 3):
        network = made("rnn")
        learner = Learner(
            network,
            Lesson(lambda _: [0], len, lambda _: [], 0, None),
            LanguageLearning(precision="fp32"),
            Work(tmp_path),
        )
        learner.parts = parts
        learner.gradients(windows_of(20, rows=5), 100)
        grads = torch.cat([value.grad.flatten() for value in network.parameters() if value.grad is not None])
        carried.append((*learner.carried, grads))
    for one, other in zip(carried[0], carried[1], strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
    for one, other in zip(carried[0], carried[2], strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_documents_that_are_read_together_are_alike() -> None:
    lengths = [5, 1000, 600, 6, 499, 3, 1]
    batches = list(alike(lengths, stretch=100))
    assert sorted(index for batch in batches for index in batch) == list(range(7))
    assert batches == [[1, 2], [4], [3, 0, 5], [6]]


# --- as a whole -----------------------------------------------------------------------------------

RECIPE = RecurrentLanguageRecipe(
    text=RunningTextOptions(document="file"),
    model=RecurrentLanguageOptions(embedding=8, width=16),
    training=LanguageLearning(
        max_updates=30, warmup_updates=3, validate_every=10, window=16, tokens_per_batch=64, dev_characters=300
    ),
)


def trained(folder: Path, recipe: RecurrentLanguageRecipe = RECIPE, seed: int = 1) -> NeuralLanguageModel:
    folder.mkdir(exist_ok=True)
    return language_lessons.train_language_model(
        recipe, prose(30, seed=1), prose(9, seed=2), Work(folder, threads=1, seed=seed)
    )


def test_the_same_seed_gives_the_same_weights(tmp_path: Path) -> None:
    one, same, other = trained(tmp_path / "one"), trained(tmp_path / "same"), trained(tmp_path / "other", seed=2)
    for (name, value), (_, again), (_, differs) in zip(
        one.network.named_parameters(), same.network.named_parameters(), other.network.named_parameters(), strict=True
    ):
        assert torch.equal(value, again), name
        assert not torch.equal(value, differs) or "bias" in name, name


LONGER = replace(RECIPE, training=replace(RECIPE.training, max_updates=150, learning_rate=3e-2))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> NeuralLanguageModel:
    return trained(tmp_path_factory.mktemp("work"), LONGER)


def test_it_learns(model: NeuralLanguageModel) -> None:
    """It predicts better than one who knows how frequent each sign of the text is."""
    text = "".join(f"{line}\n" for line in prose(9, seed=2))
    counts = Counter(text)
    by_frequency = math.exp(-sum(count * math.log(count / len(text)) for count in counts.values()) / len(text))
    assert model.evaluate(prose(9, seed=2)).perplexity < 0.7 * by_frequency
    assert model.context == 16
    assert asdict(model.options)["width"] == 16


def test_figures_in_stretches_are_a_little_worse(model: NeuralLanguageModel) -> None:
    documents = [list(file) for file in prose(30, seed=4).files]
    whole, apart = model.figures(documents), model.figures(documents, stretch=20)
    assert (whole.tokens, whole.characters) == (apart.tokens, apart.characters)
    assert 1 < apart.perplexity / whole.perplexity < 1.2
    assert math.isclose(whole.log_probability, model.evaluate(prose(30, seed=4)).log_probability, rel_tol=1e-5)

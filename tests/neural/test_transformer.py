"""The Transformer's parts against torch's layers, and its two ways of predicting against each other."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from dragoman.contracts import PieceTable
from dragoman.neural.attention import SCORES, MultiHeadAttention
from dragoman.neural.recipes import TransformerOptions
from dragoman.neural.transformer import DecoderLayer, EncoderLayer, Sublayer, Transformer, sinusoids
from dragoman.search.beam import beam_search
from dragoman.search.exact import enumerate_all, exact_search
from dragoman.search.steps import rank

PIECES = PieceTable(tuple("pusexyzw"), padding=0, unknown=1, start=2, end=3)


def network(**changes: Any) -> Transformer:
    torch.manual_seed(6)
    options = TransformerOptions(
        **{"width": 16, "inner": 32, "heads": 2, "encoder_layers": 2, "decoder_layers": 2} | changes
    )
    made = Transformer(options, PIECES, PIECES, joint=True).eval()
    with torch.no_grad():  # far from symmetry, so that mistakes show
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return made


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key_value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key_value.bias]))
        theirs.out_proj.load_state_dict(ours.output.state_dict())


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_layers_equal_torchs(norm: Any, activation: Any) -> None:
    torch.manual_seed(7)
    options = TransformerOptions(
        width=12, inner=20, heads=3, norm=norm, activation=activation, dropout=0, attention_dropout=0, inner_dropout=0
    )
    settings: dict[str, Any] = {
        "d_model": 12, "nhead": 3, "dim_feedforward": 20, "dropout": 0.0, "activation": activation,
        "batch_first": True, "norm_first": norm == "pre",
    }  # fmt: skip
    states, memory = torch.randn(2, 5, 12), torch.randn(2, 4, 12)
    padded = torch.tensor([[False] * 4, [False, False, False, True]])

    encoder, their_encoder = EncoderLayer(options).train(), nn.TransformerEncoderLayer(**settings).train()
    copy_attention(encoder.self_attention, their_encoder.self_attn)
    their_encoder.linear1.load_state_dict(encoder.feed_forward.inner.state_dict())
    their_encoder.linear2.load_state_dict(encoder.feed_forward.outer.state_dict())
    torch.testing.assert_close(
        encoder(memory, ~padded[:, None, None, :]), their_encoder(memory, src_key_padding_mask=padded)
    )

    decoder, their_decoder = DecoderLayer(options).train(), nn.TransformerDecoderLayer(**settings).train()
    copy_attention(decoder.self_attention, their_decoder.self_attn)
    copy_attention(decoder.cross_attention, their_decoder.multihead_attn)
    their_decoder.linear1.load_state_dict(decoder.feed_forward.inner.state_dict())
    their_decoder.linear2.load_state_dict(decoder.feed_forward.outer.state_dict())
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    found, _ = decoder(states, ~future, decoder.cross_attention.remember(memory), ~padded[:, None, None, :])
    expected = their_decoder(states, memory, tgt_mask=future, memory_key_padding_mask=padded)
    torch.testing.assert_close(found, expected)


def test_positions_of_any_length_and_width() -> None:
    table = sinusoids(700, 7)
    assert table.shape == (700, 7)
    assert float(table[5, 2]) == pytest.approx(math.sin(5 / 10000 ** (2 / 7)))
    assert float(table[5, 3]) == pytest.approx(math.cos(5 / 10000 ** (2 / 7)))
    torch.testing.assert_close(sinusoids(603, 7)[600:], table[600:603])


@pytest.mark.parametrize("width", [2, 7, 8])
def test_a_shift_is_a_rotation_that_does_not_depend_on_the_place(width: int) -> None:
    """p_{i+k} = R_k p_i, pair by pair of sine and cosine. In an odd width the last cosine is left out: with it, for the
    last sine too."""
    angles = 1 / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    places = torch.arange(700, dtype=torch.float64)[:, None]
    whole = torch.stack([(places * angles).sin(), (places * angles).cos()], -1).flatten(1)
    torch.testing.assert_close(sinusoids(700, width).double(), whole[:, :width], atol=1e-6, rtol=0)

    def rotation(shift: int) -> torch.Tensor:
        found = torch.zeros(2 * len(angles), 2 * len(angles), dtype=torch.float64)
        for pair, angle in enumerate((shift * angles).tolist()):
            turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
            found[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor(turn)
        return found

    for shift in (1, 13, 600):
        turned = whole[:-shift] @ rotation(shift).mT
        torch.testing.assert_close(turned, whole[shift:])
        torch.testing.assert_close(turned[:, :width], sinusoids(700, width)[shift:].double(), atol=1e-6, rtol=0)
        torch.testing.assert_close(rotation(shift) @ rotation(shift).mT, torch.eye(len(whole[0]), dtype=torch.float64))
    torch.testing.assert_close(rotation(1) @ rotation(12), rotation(13))


def test_longer_than_the_table_of_positions() -> None:
    made = network()
    sources, inputs = torch.full((1, 400), 5), torch.full((1, 400), 6)
    assert torch.isfinite(made.hidden(sources, inputs)).all()


def test_padding_changes_nothing() -> None:
    made = network()
    alone = made.hidden(torch.tensor([[4, 5, 3]]), torch.tensor([[2, 6, 7]]))
    together = made.hidden(torch.tensor([[4, 5, 3, 0, 0], [4, 5, 6, 7, 3]]), torch.tensor([[2, 6, 7, 0], [2, 6, 6, 5]]))
    torch.testing.assert_close(together[:1, :3], alone, atol=1e-5, rtol=1e-5)


SHAPES: list[dict[str, Any]] = [
    {"norm": "pre"},
    {"norm": "post"},
    {"norm": "none", "positions": "none", "residual": False, "activation": "none"},
    *({"score": score} for score in SCORES),
]


@pytest.mark.parametrize("changes", SHAPES, ids=lambda changes: " ".join(map(str, changes.values())))
def test_step_by_step_equals_all_at_once(changes: dict[str, Any]) -> None:
    made = network(**changes)
    sources = torch.tensor([[4, 5, 3, 0], [6, 7, 4, 3]])
    inputs = torch.tensor([[2, 6, 7, 5], [2, 4, 4, 6]])
    expected = (made.hidden(sources, inputs) @ made.output_VD.mT).log_softmax(-1)
    scorer = made.scorer()
    state = scorer.start(sources, 1, 4)
    for time in range(4):
        step = scorer.step(state, inputs[:, time : time + 1])
        torch.testing.assert_close(step.log_probs_BKV[:, 0], expected[:, time], atol=1e-5, rtol=1e-5)
        assert step.attention_BKS is not None
        torch.testing.assert_close(step.attention_BKS.sum(-1), torch.ones(2, 1))
        state = step.state


def test_select_moves_beams_and_drops_sentences() -> None:
    made = network()
    scorer = made.scorer()
    sources = torch.tensor([[4, 5, 3], [6, 7, 3], [5, 5, 3]])
    step = scorer.step(scorer.start(sources, 2, 5), torch.full((3, 2), 2))
    step = scorer.step(step.state, torch.tensor([[4, 5], [6, 7], [4, 6]]))
    state = scorer.select(step.state, torch.tensor([0, 2]), torch.tensor([[1, 1], [1, 0]]))
    found = scorer.step(state, torch.tensor([[6, 7], [5, 5]])).log_probs_BKV
    paths = [[[2, 5, 6], [2, 5, 7]], [[2, 6, 5], [2, 4, 5]]]
    for row, sentence in enumerate((0, 2)):
        for beam in range(2):
            hidden = made.hidden(sources[sentence : sentence + 1], torch.tensor([paths[row][beam]]))
            expected = (hidden[0, -1] @ made.output_VD.mT).log_softmax(-1)
            torch.testing.assert_close(found[row, beam], expected, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_beam_greedy_and_exact_search_agree_with_enumeration() -> None:
    made = network(decoder_layers=1)
    source = torch.tensor([4, 6, 5, 3])
    everything = enumerate_all(made.scorer(), source, max_length=4)
    for alpha in (0.0, 0.7):
        best = rank(everything, alpha)[0]
        wide = beam_search(made.scorer(), source[None], beam=600, max_lengths_B=[4])[0]
        assert rank(wide, alpha)[0].pieces == best.pieces
        exact = exact_search(made.scorer(), source, max_length=4, alpha=alpha)
        assert exact.candidate is not None
        assert exact.candidate.pieces == best.pieces
        assert exact.candidate.log_probability == pytest.approx(best.log_probability, abs=1e-4)
    greedy: list[int] = []
    for _ in range(4):
        hidden = made.hidden(source[None], torch.tensor([[2, *greedy]]))
        last = int((hidden[0, -1] @ made.output_VD.mT).argmax()) if len(greedy) < 3 else 3
        if last == 3:
            break
        greedy.append(last)
    assert beam_search(made.scorer(), source[None], beam=1, max_lengths_B=[4])[0][0].pieces == tuple(greedy)


def test_tied_and_untied_matrices() -> None:
    tied, untied = network(), network(tied=False)
    assert tied.output_VD is tied.target_embedding.weight
    assert tied.source_embedding is tied.target_embedding
    assert untied.output_VD is not untied.target_embedding.weight


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_the_road_around_a_sublayer(norm: Any, residual: bool) -> None:
    road = Sublayer(TransformerOptions(width=8, heads=2, norm=norm, residual=residual, dropout=0)).eval()
    x, change = torch.randn(3, 8), torch.randn(3, 8)
    before, after = road.before(x), road.after(x, change)
    added = x * residual + change

    def normed(values: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(values, (8,))

    torch.testing.assert_close(before, normed(x) if norm == "pre" else x)
    torch.testing.assert_close(after, normed(added) if norm == "post" else added)


def test_without_positions_the_order_of_the_source_tells_nothing() -> None:
    sources, inputs = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[2, 6]])
    for positions, same in (("none", True), ("sinusoidal", False)):
        made = network(positions=positions)
        found, other = made.hidden(sources, inputs), made.hidden(sources[:, [2, 0, 3, 1]], inputs)
        assert torch.allclose(found, other, atol=1e-5) == same

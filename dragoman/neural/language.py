"""How does a network read a text and predict how it goes on?

Three ways: a state that is carried on (recurrent), a look at all that came before (Transformer), the last few pieces
(Bengio et al. 2003). Each reads pieces that go on from what was read before, and says what must be kept of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from dragoman.contracts import PieceTable
from dragoman.neural.attention import causal
from dragoman.neural.batches import Batch
from dragoman.neural.cells import CELLS, Cell
from dragoman.neural.dropout import Dropout
from dragoman.neural.lm_recipes import CausalOptions, RecurrentLanguageOptions, WindowOptions
from dragoman.neural.network import Carried, Embedding, OutputLayer, Predictor, initialise_matrices
from dragoman.neural.recipes import TransformerOptions
from dragoman.neural.transformer import EncoderLayer, Positions
from dragoman.search.steps import Step

STRETCH = 2048


class LanguageNetwork(Predictor):
    """p(x_t | x_<t) = softmax(output(read(x_<t))_t). Made from (options, pieces, context).

    context: so many pieces are enough for the longest document, or for a look back into a file.
    """

    context: int

    @property
    def stretch(self) -> int:
        """Pieces of a text that are read at once where nothing is learnt; it changes no figure."""
        return STRETCH

    def read(self, inputs_BT: Tensor, carried: Carried = ()) -> tuple[Tensor, Carried]:
        """States B x T x D that predict what follows each input, and what must be kept to read on.

        carried: what was kept of the inputs before these; nothing where they begin.
        """
        raise AssertionError("each network reads in its own way")

    def states(self, batch: Batch, carried: Carried) -> tuple[Tensor, Carried]:
        return self.read(batch.inputs_BT, carried)

    def windows(self, length: int) -> Iterable[tuple[int, int]]:
        """The stretches (first, behind the last) in which a text is read that is not learnt from."""
        return ((first, min(length, first + self.stretch)) for first in range(0, length, self.stretch))

    def scorer(self, first: int) -> LanguageScorer:
        """The same network one step at a time; the first step goes on from the piece `first`."""
        return LanguageScorer(self, first)


# --- a state ------------------------------------------------------------------------------------


class RecurrentLanguage(LanguageNetwork):
    """H_t = cell(x_t, H_{t-1}), in layers; H_t predicts x_{t+1} (Elman 1990, Mikolov et al. 2010).

    What is carried on are the last states. Their gradients end there: backpropagation through time is truncated to a
    batch's T steps (Williams & Peng 1990), while the state itself may know of everything before. What enters the cells
    has a variance of 1: with less they learn far more slowly. So an embedding that is the output matrix too, and has to
    be small there, is multiplied by sqrt(d).
    """

    def __init__(self, options: RecurrentLanguageOptions, table: PieceTable, context: int) -> None:
        super().__init__()
        self.options, self.target_table, self.context = options, table, context
        self.embedding = Embedding(len(table), options.embedding)
        inputs = [options.embedding] + [options.width] * (options.layers - 1)
        self.layers = nn.ModuleList(CELLS[options.cell](size, options.width, options.layer_norm) for size in inputs)
        self.mix = nn.Linear(options.width, options.embedding) if options.tied else None
        untied = nn.Parameter(torch.empty(len(table), options.width))
        self.output = OutputLayer(self.embedding.weight if options.tied else untied)
        self.dropout = Dropout(options.dropout)
        self.scale = math.sqrt(options.embedding) if options.tied else 1.0
        nn.init.normal_(self.embedding.weight, std=1 / self.scale)
        if self.mix is not None:
            nn.init.xavier_uniform_(self.mix.weight)
            nn.init.zeros_(self.mix.bias)
        else:
            nn.init.normal_(untied, std=options.width**-0.5)

    @property
    def cells(self) -> Sequence[Cell]:
        return cast(Sequence[Cell], self.layers)

    def facts(self) -> dict[str, object]:
        """Which way the cells run: by a fused kernel, or step by step."""
        return {"cells run": self.cells[0].path}

    def read(self, inputs_BT: Tensor, carried: Carried = ()) -> tuple[Tensor, Carried]:
        states_BTH = self.dropout(self.embedding(inputs_BT) * self.scale)
        parts, after = CELLS[self.options.cell].memories, list[Tensor]()
        for place, cell in enumerate(self.cells):
            begun = carried[place * parts : (place + 1) * parts]
            inputs_BTX = self.dropout(states_BTH) if place else states_BTH
            states_BTH, end = cell.run(inputs_BTX, tuple(begun) if begun else None)
            if self.options.residual and states_BTH.shape == inputs_BTX.shape:
                states_BTH = states_BTH + inputs_BTX
            after += end
        predicting_BTD: Tensor = self.dropout(states_BTH if self.mix is None else self.mix(states_BTH))
        return predicting_BTD, tuple(after)


# --- the last pieces ----------------------------------------------------------------------------


class WindowLanguage(LanguageNetwork):
    """y = b + U tanh(d + H x), and + W x where `direct`, x being the embeddings of the last n - 1 pieces side by side
    (Bengio et al. 2003, eq. 1).

    U, W and b are one output matrix: what predicts is [tanh(d + H x); x; 1]. Before the first piece stands the start
    piece, n - 2 times more. What is carried on are the last n - 2 pieces.
    """

    def __init__(self, options: WindowOptions, table: PieceTable, context: int) -> None:
        super().__init__()
        self.options, self.target_table, self.context = options, table, context
        seen = options.order * options.embedding
        self.embedding = Embedding(len(table), options.embedding)
        self.hidden = nn.Linear(seen, options.width)
        self.output = OutputLayer(nn.Parameter(torch.zeros(len(table), options.width + seen * options.direct + 1)))
        self.dropout = Dropout(options.dropout)
        nn.init.normal_(self.embedding.weight, std=1.0)
        nn.init.xavier_uniform_(self.hidden.weight, gain=nn.init.calculate_gain("tanh"))
        nn.init.zeros_(self.hidden.bias)
        nn.init.normal_(self.output.weight.data[:, : options.width], std=options.width**-0.5)

    def read(self, inputs_BT: Tensor, carried: Carried = ()) -> tuple[Tensor, Carried]:
        before = self.options.order - 1
        begun = carried[0] if carried else inputs_BT.new_full((len(inputs_BT), before), self.target_table.start)
        ids_BX = torch.cat([begun, inputs_BT], 1)
        windows_BTDN = self.embedding(ids_BX).unfold(1, self.options.order, 1)
        seen_BTX = windows_BTDN.transpose(2, 3).flatten(2)
        parts = [self.dropout(self.hidden(seen_BTX).tanh()), *([seen_BTX] if self.options.direct else [])]
        ones_BT1 = seen_BTX.new_ones((*seen_BTX.shape[:2], 1))
        return torch.cat([*parts, ones_BT1], -1), (ids_BX[:, ids_BX.shape[1] - before :],)


# --- all that came before -----------------------------------------------------------------------


Memory = tuple[tuple[Tensor, Tensor], ...]
"""Of each layer keys and values, B x H x S x D, of the positions that were read."""


class CausalLanguage(LanguageNetwork):
    """Layers of causal self-attention and feed-forward: position t looks at positions up to t (Radford et al. 2018).

    What is carried on are the last pieces themselves, half a context at most, which are read again: positions count
    from where reading begins. While it learns, every row of a batch begins anew.
    """

    def __init__(self, options: CausalOptions, table: PieceTable, context: int) -> None:
        super().__init__()
        self.options, self.target_table, self.context = options, table, context
        shape = layer_options(options)
        self.embedding = Embedding(len(table), options.width)
        output = self.embedding if options.tied else Embedding(len(table), options.width)
        self.output = OutputLayer(output.weight)
        self.positions = Positions(options.width, options.dropout)
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width) if options.norm == "pre" else nn.Identity()
        initialise_matrices(self)
        nn.init.normal_(self.embedding.weight, std=options.width**-0.5)
        if not options.tied:
            nn.init.normal_(self.output.weight, std=options.width**-0.5)

    @property
    def kept(self) -> int:
        """Pieces that are read again when reading goes on."""
        return self.context // 2

    @property
    def stretch(self) -> int:
        """Each figure depends on it here: what is read together looks back to where that begins."""
        return self.context

    def windows(self, length: int) -> Iterable[tuple[int, int]]:
        """As many as there is room for at first, then what leaves room for those that are read again: each piece is
        predicted from at least half a context, where there is so much."""
        yield 0, min(length, self.context)
        step = max(1, self.context - self.kept)
        yield from ((first, min(length, first + step)) for first in range(self.context, length, step))

    def states(self, batch: Batch, carried: Carried) -> tuple[Tensor, Carried]:
        return self.read(batch.inputs_BT)[0], ()

    def read(self, inputs_BT: Tensor, carried: Carried = ()) -> tuple[Tensor, Carried]:
        ids_BS = torch.cat([*carried, inputs_BT], 1)
        states_BSD, _ = self.through(ids_BS, ())
        return states_BSD[:, ids_BS.shape[1] - inputs_BT.shape[1] :], (
            ids_BS[:, max(0, ids_BS.shape[1] - self.kept) :],
        )

    def through(self, inputs_BT: Tensor, memory: Memory) -> tuple[Tensor, Memory]:
        """States of inputs that follow those of which the memory holds keys and values, and the memory then."""
        before = memory[0][0].shape[2] if memory else 0
        length = before + inputs_BT.shape[1]
        allowed_TS = causal(length, inputs_BT.device)[before:] if inputs_BT.shape[1] > 1 else None
        states_BTD, kept = self.positions(self.embedding(inputs_BT), before), []
        for place, layer in enumerate(cast(Sequence[EncoderLayer], self.layers)):
            asked_BTD = layer.self_road.before(states_BTD)
            keys_BHSD, values_BHSD = layer.self_attention.remember(asked_BTD)
            if memory:
                keys_BHSD, values_BHSD = (
                    torch.cat(each, 2) for each in zip(memory[place], (keys_BHSD, values_BHSD), strict=True)
                )
            kept.append((keys_BHSD, values_BHSD))
            change_BTD, _ = layer.self_attention(asked_BTD, keys_BHSD, values_BHSD, allowed_TS)
            states_BTD = layer.self_road.after(states_BTD, change_BTD)
            states_BTD = layer.feed_road.after(states_BTD, layer.feed_forward(layer.feed_road.before(states_BTD)))
        return self.norm(states_BTD), tuple(kept)

    def scorer(self, first: int) -> LanguageScorer:
        return CausalScorer(self, first)


def layer_options(options: CausalOptions) -> TransformerOptions:
    """The same for the layers of a Transformer."""
    return TransformerOptions(
        width=options.width,
        inner=options.inner,
        heads=options.heads,
        norm=options.norm,
        activation=options.activation,
        dropout=options.dropout,
        attention_dropout=options.attention_dropout,
        inner_dropout=options.inner_dropout,
    )


# --- one step at a time -------------------------------------------------------------------------


class LanguageScorer:
    """A language network as a search sees it (see StepScorer): the B sources have no positions.

    A state is (what the network keeps of B x K rows, K).
    """

    def __init__(self, network: LanguageNetwork, first: int) -> None:
        self.network = network
        self.pieces = replace(network.target_table, start=first)

    def start(self, sources_BS: Tensor, beam: int, capacity: int) -> Any:
        return (), 1

    def step(self, state: Any, last_BK: Tensor) -> Step:
        kept, _ = state
        states_ND, kept = self.read(last_BK.reshape(-1, 1), kept)
        logits_NV = self.network.output(states_ND)
        log_probs_NV = torch.log_softmax(logits_NV, -1, out=logits_NV)
        return Step(log_probs_NV.view(*last_BK.shape, -1), (kept, last_BK.shape[1]))

    def read(self, last_N1: Tensor, kept: Any) -> tuple[Tensor, Any]:
        """The state N x D after these pieces, and what is kept."""
        states_N1D, carried = self.network.read(last_N1, kept)
        return states_N1D[:, 0], carried

    def select(self, state: Any, sentences_B: Tensor, beams_BK: Tensor) -> Any:
        kept, beam = state
        rows_N = (sentences_B[:, None] * beam + beams_BK).flatten()
        return self.chosen(kept, lambda tensor: tensor.index_select(0, rows_N)), beams_BK.shape[1]

    def chosen(self, kept: Any, of: Callable[[Tensor], Tensor]) -> Any:
        """The same of every tensor that is kept."""
        return tuple(map(of, kept))


class Read(NamedTuple):
    """The pieces that a Transformer's memory holds, N x S, and the memory."""

    ids_NS: Tensor
    memory: Memory


class CausalScorer(LanguageScorer):
    """The same with keys and values kept. When a context is full its last half is read again, from position 0."""

    network: CausalLanguage

    def read(self, last_N1: Tensor, kept: Any) -> tuple[Tensor, Any]:
        ids_NS, memory = kept or (last_N1[:, :0], ())
        inputs_NT = last_N1
        if ids_NS.shape[1] >= self.network.context:
            inputs_NT = torch.cat([ids_NS[:, ids_NS.shape[1] - self.network.kept :], last_N1], 1)
            ids_NS, memory = inputs_NT[:, :0], ()
        states_NTD, memory = self.network.through(inputs_NT, memory)
        return states_NTD[:, -1], Read(torch.cat([ids_NS, inputs_NT], 1), memory)

    def chosen(self, kept: Any, of: Callable[[Tensor], Tensor]) -> Any:
        return kept and Read(of(kept.ids_NS), tuple((of(keys), of(values)) for keys, values in kept.memory))

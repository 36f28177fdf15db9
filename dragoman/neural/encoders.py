"""Who reads the source for a recurrent decoder: cells, convolutions or self-attention?

Each encoder turns embeddings into as many states (ENCODERS), in an order of its own: cells one after another,
convolutions and self-attention all at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from dragoman.neural.cells import CELLS, Cell, State
from dragoman.neural.convolution import ConvolutionBlock
from dragoman.neural.dropout import Dropout
from dragoman.neural.network import initialise_matrices
from dragoman.neural.recipes import RecurrentOptions, TransformerOptions
from dragoman.neural.transformer import EncoderLayer, Positions


class Encoder(nn.Module):
    """Reads a source. width: features E of each state that it leaves.

    by_layer: it leaves a last state in each layer, which a decoder as deep and as wide may begin with.
    """

    by_layer: ClassVar[bool] = False
    width: int

    @property
    def path(self) -> str:
        """Which way it runs."""
        return "all positions at once"

    def forward(self, inputs_BSD: Tensor, present_BS: Tensor | None) -> tuple[Tensor, list[State]]:
        """The states B x S x E, and what a decoder may begin with (E features), layer by layer or once.

        present_BS: False behind the end of a row; None where all are equally long.
        """
        raise AssertionError("each encoder reads in its own way")


def turned(values_BTX: Tensor, lengths_B: Tensor) -> Tensor:
    """Each row backwards, what it is filled up with staying behind it.

    >>> turned(torch.tensor([[[1], [2], [0]]]), torch.tensor([2])).flatten().tolist()
    [2, 1, 0]
    """
    places_T = torch.arange(values_BTX.shape[1], device=values_BTX.device)
    places_BT = torch.where(places_T < lengths_B[:, None], lengths_B[:, None] - 1 - places_T, places_T)
    return values_BTX.gather(1, places_BT[..., None].expand_as(values_BTX))


class CellEncoder(Encoder):
    """Layers of cells, each in one direction or in both, whose states then stand side by side; the last state of each
    layer is that of each direction side by side."""

    by_layer = True

    def __init__(self, options: RecurrentOptions) -> None:
        super().__init__()
        backwards = (False, True) if options.encoder == "bi" else (False,)
        self.backwards = tuple(back != options.turned for back in backwards)
        self.width = options.encoder_width * len(self.backwards)
        self.residual = options.residual
        self.dropout = Dropout(options.dropout)
        inputs = [options.embedding] + [self.width] * (options.encoder_layers - 1)
        self.layers = nn.ModuleList(
            nn.ModuleList(CELLS[options.cell](size, options.encoder_width, options.layer_norm) for _ in self.backwards)
            for size in inputs
        )

    @property
    def path(self) -> str:
        return cast(Sequence[Sequence[Cell]], self.layers)[0][0].path

    def forward(self, inputs_BSD: Tensor, present_BS: Tensor | None) -> tuple[Tensor, list[State]]:
        lengths_B = inputs_BSD.new_full(inputs_BSD.shape[:1], inputs_BSD.shape[1], dtype=torch.long)
        lengths_B = lengths_B if present_BS is None else present_BS.sum(1)
        last: list[State] = []
        for place, layer in enumerate(self.layers):
            read, ends = [], []
            for cell, back in zip(cast(Iterable[Cell], layer), self.backwards, strict=True):
                states_BSH, end = cell.run(turned(inputs_BSD, lengths_B) if back else inputs_BSD, None, present_BS)
                read.append(turned(states_BSH, lengths_B) if back else states_BSH)
                ends.append(end)
            states_BSE = torch.cat(read, -1)
            if self.residual and states_BSE.shape == inputs_BSD.shape:
                states_BSE = states_BSE + inputs_BSD
            inputs_BSD = self.dropout(states_BSE) if place + 1 < len(self.layers) else states_BSE
            last.append(tuple(torch.cat(parts, -1) for parts in zip(*ends, strict=True)))
        return inputs_BSD, last


def mean_state(states_BSE: Tensor, present_BS: Tensor | None, memories: int) -> list[State]:
    """Where no state is the last one: the mean of all real ones, for each tensor that a decoder's state has."""
    if present_BS is None:
        return [(states_BSE.mean(1),) * memories]
    real_BS1 = present_BS[..., None].to(states_BSE)
    return [((states_BSE * real_BS1).sum(1) / real_BS1.sum(1),) * memories]


class ConvolutionEncoder(Encoder):
    """Layers of convolutions ("conv": over what came before; "conv-bi": over both sides), layer l with a dilation of
    base^l. It knows where a word stands by the zeros at the ends of the text alone."""

    def __init__(self, options: RecurrentOptions) -> None:
        super().__init__()
        self.width = options.encoder_width
        self.memories = CELLS[options.cell].memories
        self.layers = nn.ModuleList(
            ConvolutionBlock(
                self.width if layer else options.embedding,
                self.width,
                options.kernel,
                options.dilation**layer,
                gated=options.gated,
                centred=options.encoder == "conv-bi",
                layer_norm=options.layer_norm,
                dropout=options.dropout if layer else 0.0,  # the embeddings come with theirs
            )
            for layer in range(options.encoder_layers)
        )

    def forward(self, inputs_BSD: Tensor, present_BS: Tensor | None) -> tuple[Tensor, list[State]]:
        states_BSE = inputs_BSD
        for block in self.layers:
            states_BSE = block(states_BSE, present_BS)
        return states_BSE, mean_state(states_BSE, present_BS, self.memories)


class AttentionEncoder(Encoder):
    """Layers of a Transformer's encoder, norms before the sublayers, over embeddings with their positions."""

    def __init__(self, options: RecurrentOptions) -> None:
        super().__init__()
        self.width = options.encoder_width
        self.memories = CELLS[options.cell].memories
        shape = TransformerOptions(
            width=self.width,
            inner=options.inner,
            heads=options.heads,
            dropout=options.dropout,
            attention_dropout=options.dropout,
            inner_dropout=options.dropout,
        )
        same = options.embedding == self.width
        self.widen = nn.Identity() if same else nn.Linear(options.embedding, self.width)
        self.positions = Positions(self.width, 0.0)  # the embeddings come with their dropout
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(options.encoder_layers))
        self.norm = nn.LayerNorm(self.width)
        initialise_matrices(self)

    def forward(self, inputs_BSD: Tensor, present_BS: Tensor | None) -> tuple[Tensor, list[State]]:
        allowed_B11S = None if present_BS is None else present_BS[:, None, None, :]
        alike_BSE = self.widen(inputs_BSD) / math.sqrt(self.width)  # of variance 1/d, as `Positions` wants them
        states_BSE = self.positions(alike_BSE)
        for layer in self.layers:
            states_BSE = layer(states_BSE, allowed_B11S)
        states_BSE = self.norm(states_BSE)
        return states_BSE, mean_state(states_BSE, present_BS, self.memories)


ENCODERS: dict[str, type[CellEncoder | ConvolutionEncoder | AttentionEncoder]] = {
    "uni": CellEncoder,
    "bi": CellEncoder,
    "conv": ConvolutionEncoder,
    "conv-bi": ConvolutionEncoder,
    "attention": AttentionEncoder,
}
"""A new encoder is a class above and a row here, its name among the values of `encoder` in RecurrentOptions."""

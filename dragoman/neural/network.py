"""What must a network offer to be trained, scored and searched?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.contracts import PieceTable, Precision
from dragoman.neural.batches import Batch
from dragoman.search.steps import StepScorer

Carried = tuple[Tensor, ...]
"""What of the text so far a network keeps, tensors of B rows each; nothing where a row has just begun."""


class Embedding(nn.Embedding):
    """A row of the matrix for each id. On a CPU the gradient has rows for these ids alone (a sparse tensor): to clear
    and add whole matrices takes longer than a layer of a small network."""

    def forward(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self.weight, sparse=self.weight.device.type == "cpu")


class OutputLayer(nn.Module):
    """The logits of all pieces: states output'. The matrix may be an embedding's own (Press & Wolf 2017)."""

    def __init__(self, weight_VD: Tensor) -> None:
        super().__init__()
        self.weight = weight_VD

    def forward(self, states: Tensor) -> Tensor:
        return states @ self.weight.mT

    def of(self, ids_V: Tensor) -> OutputLayer:
        """The logits of these pieces alone."""
        return OutputLayer(self.weight[ids_V])


class Sayable(NamedTuple):
    """What the sentences of a batch may say. output: of the pieces ids_V (None: of all); penalties_B1V: -inf where a
    sentence may not say what another may."""

    output: OutputLayer
    ids_V: Tensor | None = None
    penalties_B1V: Tensor | None = None

    def log_probs(self, states_BKD: Tensor) -> Tensor:
        """A fresh tensor, B x K x V."""
        logits_BKV: Tensor = self.output(states_BKD)
        if self.penalties_B1V is not None:
            logits_BKV += self.penalties_B1V
        return torch.log_softmax(logits_BKV, -1, out=logits_BKV)

    def kept(self, sentences_B: Tensor) -> Sayable:
        """The same for some of the sentences."""
        if self.penalties_B1V is None or len(sentences_B) == len(self.penalties_B1V):
            return self
        return self._replace(penalties_B1V=self.penalties_B1V[sentences_B])


Saying = Callable[[OutputLayer, Tensor], Sayable]
"""What translations of sources_BS may say of what an output layer can."""


def everything(output: OutputLayer, sources_BS: Tensor) -> Sayable:
    """All pieces."""
    return Sayable(output)


class Watched(NamedTuple):
    """Which attention to the source is shown and becomes links: one head of a decoder layer, or the mean of all (None).

    Where nothing was taught, the mean of the last but one layer is closest to how people link words; of that layer one
    head is taught (both Garg et al. 2019).
    """

    layer: int
    head: int | None = None

    def of(self, weights_BHTS: Tensor) -> Tensor:
        """Its weights B x T x S among those of the layer."""
        return weights_BHTS.mean(1) if self.head is None else weights_BHTS[:, self.head]

    def __str__(self) -> str:
        heads = "the mean of its heads" if self.head is None else f"its head {self.head + 1}, which was taught"
        return f"decoder layer {self.layer + 1}, {heads}"


class Predictor(nn.Module):
    """What the training loop knows of a network: its states predict pieces, softmax(output(states)).

    The last product is left to the caller, who may take it in chunks.
    """

    target_table: PieceTable
    output: OutputLayer
    precision: Precision = "fp32"

    @property
    def output_VD(self) -> Tensor:
        """The output matrix, for the loss."""
        return self.output.weight

    def states(self, batch: Batch, carried: Carried) -> tuple[Tensor, Carried]:
        """States B x T x D that predict the targets, and what is carried on to a batch that goes on from this one."""
        raise AssertionError("each network predicts whole targets")

    def facts(self) -> dict[str, object]:
        """What a user may want to know besides options and sizes."""
        return {}


class Network(Predictor):
    """An encoder-decoder over piece ids. A new architecture is one such class and a row in NETWORKS.

    p(y_t | y_<t, x) = softmax(output(hidden(x, y)_t)). Matrices other than the output's are nn.Linear:
    `quantised.at_precision` looks for these and for OutputLayer.
    """

    source_table: PieceTable
    watched: Watched | None = None  # of several attentions; chosen by whoever trains, and kept with the weights

    def states(self, batch: Batch, carried: Carried) -> tuple[Tensor, Carried]:
        return self.hidden(batch.sources_BS, batch.inputs_BT), ()

    def hidden(self, sources_BS: Tensor, inputs_BT: Tensor) -> Tensor:
        """States B x T x D that predict the targets; inputs are the targets shifted right by the start piece."""
        raise AssertionError("each network predicts whole targets")

    def hidden_and_weights(self, sources_BS: Tensor, inputs_BT: Tensor) -> tuple[Tensor, Tensor]:
        """The same, and what was looked at to predict each target, B x T x S, in float32."""
        raise AssertionError("only networks with attention look at the source")

    def sentence_vectors(self, sources_BS: Tensor) -> Tensor:
        """What the encoder makes of each whole source, B x any."""
        raise AssertionError("each network reads in its own way")

    def scorer(self, saying: Saying = everything) -> StepScorer:
        """The same network, one step at a time."""
        raise AssertionError("each network predicts step by step")


def initialise_matrices(module: nn.Module) -> None:
    """Glorot-uniform matrices (Glorot & Bengio 2010), zero biases."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)

"""What must a network offer to be trained, scored and searched?"""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.contracts import PieceTable, Precision
from dragoman.search.steps import StepScorer


class OutputLayer(nn.Module):
    """The logits of all pieces: states output'. The matrix may be an embedding's own (Press & Wolf 2017)."""

    def __init__(self, weight_VD: Tensor) -> None:
        super().__init__()
        self.weight = weight_VD

    def forward(self, states: Tensor) -> Tensor:
        return states @ self.weight.mT


class Network(nn.Module):
    """An encoder-decoder over piece ids. A new architecture is one such class and a row in NETWORKS.

    p(y_t | y_<t, x) = softmax(output(hidden(x, y)_t)): the last product is left to the caller, who may take it
    in chunks. Other matrices are nn.Linear: `quantised.at_precision` looks for these and for OutputLayer.
    """

    source_table: PieceTable
    target_table: PieceTable
    output: OutputLayer
    precision: Precision = "fp32"

    @property
    def output_VD(self) -> Tensor:
        """The output matrix, for the loss."""
        return self.output.weight

    def hidden(self, sources_BS: Tensor, inputs_BT: Tensor) -> Tensor:
        """States B x T x D that predict the targets; inputs are the targets shifted right by the start piece."""
        raise AssertionError("each network predicts whole targets")

    def facts(self) -> dict[str, object]:
        """What a user may want to know besides options and sizes."""
        return {}

    def scorer(self) -> StepScorer:
        """The same network, one step at a time."""
        raise AssertionError("each network predicts step by step")


def initialise_matrices(module: nn.Module) -> None:
    """Glorot-uniform matrices (Glorot & Bengio 2010), zero biases."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)

"""What must a network offer to be trained, scored and searched?"""

from __future__ import annotations

from torch import Tensor, nn

from dragoman.contracts import PieceTable
from dragoman.search.steps import StepScorer


class Network(nn.Module):
    """An encoder-decoder over piece ids. A new architecture is one such class and a row in NETWORKS.

    p(y_t | y_<t, x) = softmax(hidden(x, y)_t output'): the last product is left to the caller, who
    may take it in chunks.
    """

    source_table: PieceTable
    target_table: PieceTable

    @property
    def output_VD(self) -> Tensor:
        raise AssertionError("each network names its output matrix")

    def hidden(self, sources_BS: Tensor, inputs_BT: Tensor) -> Tensor:
        """States B x T x D that predict the targets; inputs are the targets shifted right by the start piece."""
        raise AssertionError("each network predicts whole targets")

    def scorer(self) -> StepScorer:
        """The same network, one step at a time."""
        raise AssertionError("each network predicts step by step")

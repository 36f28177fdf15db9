"""How probable does a network find given translations?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.neural.batches import Batch
from dragoman.neural.loss import CHUNK
from dragoman.neural.network import Network, Predictor


def target_log_probabilities(networks: Sequence[Network], batch: Batch) -> Tensor:
    """log p(target piece | source, earlier pieces), B x T; of an ensemble the log of the mean probability."""
    hidden = [network.hidden(batch.sources_BS, batch.inputs_BT) for network in networks]
    return log_probabilities_of(networks, hidden, batch.targets_BT)


def log_probabilities_of(networks: Sequence[Predictor], hidden: Sequence[Tensor], targets_BT: Tensor) -> Tensor:
    """The same, given the states B x T x D of each network."""
    rows_N = targets_BT.flatten()
    hidden_ND = [states_BTD.flatten(0, 1) for states_BTD in hidden]
    found = []
    for start in range(0, len(rows_N), CHUNK):
        wanted_C1 = rows_N[start : start + CHUNK, None]
        members = [
            network.output(states_ND[start : start + CHUNK]).log_softmax(-1).gather(1, wanted_C1)
            for states_ND, network in zip(hidden_ND, networks, strict=True)
        ]
        found.append(torch.stack(members).logsumexp(0)[:, 0] - math.log(len(members)))
    return torch.cat(found).view(targets_BT.shape)

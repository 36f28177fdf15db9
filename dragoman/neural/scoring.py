"""How probable does a network find given translations?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.neural.batches import Batch
from dragoman.neural.loss import CHUNK
from dragoman.neural.network import Network


def target_log_probabilities(networks: Sequence[Network], batch: Batch) -> Tensor:
    """log p(target piece | source, earlier pieces), B x T; of an ensemble the log of the mean probability."""
    rows_T = batch.targets_BT.flatten()
    hidden_ND = [network.hidden(batch.sources_BS, batch.inputs_BT).flatten(0, 1) for network in networks]
    found = []
    for start in range(0, len(rows_T), CHUNK):
        wanted_C1 = rows_T[start : start + CHUNK, None]
        members = [
            network.output(states_ND[start : start + CHUNK]).log_softmax(-1).gather(1, wanted_C1)
            for states_ND, network in zip(hidden_ND, networks, strict=True)
        ]
        found.append(torch.stack(members).logsumexp(0)[:, 0] - torch.tensor(float(len(members))).log())
    return torch.cat(found).view(batch.targets_BT.shape)

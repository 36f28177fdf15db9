"""How likely does a model find an output that is given?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.search.combine import all_log_probs
from dragoman.search.steps import StepScorer


@torch.inference_mode()
def force_score(scorer: StepScorer, sources_BS: Tensor, targets: Sequence[Sequence[int]]) -> list[tuple[float, ...]]:
    """log p of every piece of each target and of the end piece after it, natural logs, by stepping.

    The path for any scorer, ensembles too; a model that reads whole targets at once is faster by itself.
    targets: ids without start and end. No rules apply: a piece that no search would say has its score too.
    """
    if not targets:
        return []
    table, device = scorer.pieces, sources_BS.device
    lengths_B = torch.tensor([len(target) + 1 for target in targets], device=device)
    longest = int(lengths_B.max())
    rows = [[*target, *[table.end] * (longest - len(target))] for target in targets]
    targets_BT = torch.tensor(rows, dtype=torch.int64, device=device)
    scores_BT = torch.zeros(targets_BT.shape, device=device)
    alive_B = torch.arange(len(targets), device=device)
    last_B1 = torch.full((len(targets), 1), table.start, device=device)
    state = scorer.start(sources_BS, 1, longest)
    for time in range(longest):
        step = scorer.step(state, last_B1)
        last_B1 = targets_BT[alive_B, time][:, None]
        log_probs_B1V = all_log_probs(step, len(table))
        scores_BT[alive_B, time] = log_probs_B1V.gather(2, last_B1[:, :, None])[:, 0, 0].float()
        state = step.state
        kept_B = (lengths_B[alive_B] > time + 1).nonzero().squeeze(1)
        if not len(kept_B):
            break
        if len(kept_B) < len(alive_B):
            alive_B, last_B1 = alive_B[kept_B], last_B1[kept_B]
            state = scorer.select(state, kept_B, torch.zeros_like(last_B1))
    numbers = scores_BT.cpu().tolist()
    return [tuple(row[: len(target) + 1]) for row, target in zip(numbers, targets, strict=True)]

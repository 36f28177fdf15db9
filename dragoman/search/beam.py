"""Which outputs does a search of limited width find?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from dragoman.contracts import UserError
from dragoman.search.constraints import OutputRules
from dragoman.search.steps import Candidate, StepScorer
from dragoman.search.walk import Scores, Walk

BLOCK = 64


class Look(NamedTuple):
    """What a beam search had before it at one step, for those who listen to it.

    alive_B: rows of the batch. Of each sentence its C best continuations, best first: total_BC, their log-probability
    so far (-inf where there are no more), the hypotheses that they go on from, pieces, log-probabilities.
    ended_BK: those of the first K that ended; going_BK: the places among the C of those that go on, slot by slot, -1
    for none; done_B: but here the search is over.
    """

    alive_B: Tensor
    total_BC: Tensor
    parent_BC: Tensor
    piece_BC: Tensor
    log_prob_BC: Tensor
    ended_BK: Tensor
    going_BK: Tensor
    done_B: Tensor


@torch.inference_mode()
def beam_search(
    scorer: StepScorer,
    sources_BS: Tensor,
    *,
    beam: int,
    max_lengths_B: Sequence[int],
    rules: OutputRules | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    attention: bool = False,
    listener: Callable[[Look], None] | None = None,
) -> list[list[Candidate]]:
    """The finished hypotheses for each sentence, unranked: `rank` sorts them by the score of your choice.

    K hypotheses go on, chosen by plain log p from their 2K best continuations; an end piece counts only
    among the best K. A sentence is done when K hypotheses have ended. At its limit the living ones end at
    the true log-probability of the end piece and are marked as capped. So what is found depends on `beam`
    and the limits alone, not on a length normalisation, and a wider n-best list is a longer cut of the same
    list. beam 1 is greedy search.

    sources_BS: int64, filled up with the source padding id; the search runs on its device.
    max_lengths_B: output pieces at most, the end piece among them (raised where a prefix needs more).
    prefixes: ids that each output must begin with. rules: None allows every piece.
    listener: is told of every step.
    Raises UserError when the model's scores are NaN or leave nothing to say.
    """
    if beam < 1:
        raise UserError(f"beam {beam}: at least 1 is needed")
    if not len(sources_BS):
        return []
    walk = Walk.begin(
        scorer,
        sources_BS,
        beam,
        max_lengths_B=max_lengths_B,
        rules=rules,
        prefixes=prefixes,
        attention=attention,
    )
    total_BK = torch.full((len(sources_BS), beam), -torch.inf, device=sources_BS.device)
    total_BK[:, 0] = 0.0  # all K are equal at first
    finished_B = torch.zeros(len(sources_BS), dtype=torch.int64, device=sources_BS.device)
    while len(walk.alive_B):
        scores = walk.step()
        total_BC, parent_BC, piece_BC, log_prob_BC = best_continuations(scores, total_BK, 2 * beam)
        is_end_BC = piece_BC == scorer.pieces.end
        ended_BK = is_end_BC[:, :beam] & (total_BC[:, :beam] > -torch.inf)
        walk.end_hypotheses(_by_parent(ended_BK, parent_BC[:, :beam], log_prob_BC[:, :beam]))
        finished_B = finished_B + ended_BK.sum(1)
        total_BK, chosen_BK = total_BC.masked_fill(is_end_BC, -torch.inf).topk(beam, dim=1)
        done_B = (finished_B >= beam) | ~(total_BK[:, 0] > -torch.inf)
        if listener is not None:
            going_BK = chosen_BK.masked_fill(total_BK == -torch.inf, -1)
            listener(Look(walk.alive_B, total_BC, parent_BC, piece_BC, log_prob_BC, ended_BK, going_BK, done_B))
        parents_BK = parent_BC.gather(1, chosen_BK) if beam > 1 else None
        kept_B = walk.advance(parents_BK, piece_BC.gather(1, chosen_BK), log_prob_BC.gather(1, chosen_BK), done_B)
        if kept_B is not None:
            total_BK, finished_B = total_BK[kept_B], finished_B[kept_B]
    return walk.candidates()


def best_continuations(scores: Scores, total_BK: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The `count` best of all K x V continuations of each sentence: totals, parents, pieces, log-probs, each
    B x count, best first.

    Exact in two passes: the best `count` elements lie in the `count` blocks of columns with the best maxima,
    so only these are looked at closely (some 7 times as fast as topk over all of them on a CPU).
    """
    sentences, beam, width = scores.scores_BKV.shape
    count = min(count, beam * width)
    maxima_BKN = block_maxima(scores.scores_BKV)
    blocks = maxima_BKN.shape[2]
    near_BC = (maxima_BKN + total_BK[:, :, None]).flatten(1).topk(min(count, beam * blocks), 1, sorted=False).indices
    parent_BC1 = (near_BC // blocks)[:, :, None]
    column_BCW = (near_BC % blocks * BLOCK)[:, :, None] + torch.arange(BLOCK, device=near_BC.device)
    place_BX = (parent_BC1 * width + column_BCW.clamp(max=width - 1)).flatten(1)
    near_BX = scores.scores_BKV.view(sentences, -1).gather(1, place_BX)
    total_BCW = near_BX.view_as(column_BCW) + total_BK.gather(1, parent_BC1.squeeze(2))[:, :, None]
    total_BX = total_BCW.masked_fill(column_BCW >= width, -torch.inf).flatten(1)
    best_BC, chosen_BC = total_BX.topk(count, 1)
    place_BC = place_BX.gather(1, chosen_BC)
    parent_BC = place_BC // width
    return best_BC, parent_BC, scores.pieces(place_BC - parent_BC * width), near_BX.gather(1, chosen_BC)


def block_maxima(scores_BKV: Tensor) -> Tensor:
    """maxima_BKN of every BLOCK columns, the last block being perhaps shorter."""
    *rows, width = scores_BKV.shape
    whole = width // BLOCK * BLOCK
    if whole == width:
        return scores_BKV.view(*rows, -1, BLOCK).amax(3)
    rest_BK1 = scores_BKV[:, :, whole:].amax(2, keepdim=True)
    return torch.cat([block_maxima(scores_BKV[:, :, :whole]), rest_BK1], 2) if whole else rest_BK1


def _by_parent(ended_BK: Tensor, parent_BK: Tensor, log_prob_BK: Tensor) -> Tensor:
    """The log-probability of the end for each hypothesis that has ended, else NaN; each ends at most once."""
    sentences, beam = ended_BK.shape
    slots_BX = torch.full((sentences, beam + 1), torch.nan, device=ended_BK.device)
    nowhere = torch.full_like(parent_BK, beam)
    return slots_BX.scatter_(1, torch.where(ended_BK, parent_BK, nowhere), log_prob_BK)[:, :beam]

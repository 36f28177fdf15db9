"""What comes out when outputs are drawn instead of searched for?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.contracts import Sampling, UserError
from dragoman.search.constraints import OutputRules
from dragoman.search.steps import Candidate, StepScorer
from dragoman.search.walk import Walk
from dragoman.texts import check_sampling

Array = np.ndarray[Any, Any]
BLOCK = 64
FIRST_LOOK = 256
BELOW_ONE = 1.0 - 2.0**-48


@torch.inference_mode()
def sample_search(
    scorer: StepScorer,
    sources_BS: Tensor,
    *,
    count: int,
    sampling: Sampling,
    max_lengths_B: Sequence[int],
    keys_B: Sequence[int],
    rules: OutputRules | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    attention: bool = False,
) -> list[list[Candidate]]:
    """`count` independent draws for each sentence, equal ones among them.

    Each piece is drawn from p^(1/temperature), cut to the top_k best and then to the smallest set with mass
    top_p (Fan et al. 2018; Holtzman et al. 2020), over what may be said. The log-probabilities in a
    Candidate are the model's own, before any of this. keys_B: a number for each sentence; the draws of a
    sentence depend on it and on the seed, not on the batch it is in. The rest is as in `beam_search`.
    """
    check_sampling(sampling)
    if count < 1:
        raise UserError(f"{count} samples: at least 1 is needed")
    if not len(sources_BS):
        return []
    walk = Walk.begin(
        scorer,
        sources_BS,
        count,
        max_lengths_B=max_lengths_B,
        rules=rules,
        prefixes=prefixes,
        attention=attention,
    )
    streams_BK = draw_streams(sampling.seed, keys_B, count)
    finished_BK = torch.zeros((len(sources_BS), count), dtype=torch.bool, device=sources_BS.device)
    while len(walk.alive_B):
        scores = walk.step()
        uniforms_BK = torch.from_numpy(draw_uniforms(streams_BK[walk.alive_B.cpu().numpy()], walk.time))
        place = torch.device("cpu") if sources_BS.device.type == "mps" else sources_BS.device  # mps has no float64
        columns_BK = _draw(scores.scores_BKV.to(place), sampling, uniforms_BK.to(place)).to(sources_BS.device)
        log_prob_BK = scores.scores_BKV.gather(2, columns_BK[:, :, None]).squeeze(2)
        piece_BK = scores.pieces(columns_BK)
        possible_BK = (log_prob_BK > -torch.inf) & ~scores.scores_BKV.amax(2).isnan()
        ended_BK = (piece_BK == scorer.pieces.end) & ~finished_BK & possible_BK
        walk.end_hypotheses(torch.where(ended_BK, log_prob_BK, torch.nan))
        finished_BK = finished_BK | ended_BK | ~possible_BK
        kept_B = walk.advance(None, piece_BK, log_prob_BK, finished_BK.all(1))
        if kept_B is not None:
            finished_BK = finished_BK[kept_B]
    return walk.candidates()


def _draw(scores_BKV: Tensor, sampling: Sampling, uniforms_BK: Tensor) -> Tensor:
    """The column that each uniform number picks, V columns being laid out by their probabilities."""
    logits_BKV = scores_BKV if sampling.temperature == 1 else scores_BKV / sampling.temperature
    if not sampling.top_k and sampling.top_p == 1:
        return _draw_from_all(torch.softmax(logits_BKV, 2), uniforms_BK)
    best_BKX, columns_BKX = _nucleus(logits_BKV, sampling.top_k, sampling.top_p)
    place_BK = _invert(best_BKX.double(), uniforms_BK)
    return columns_BKX.gather(2, place_BK[:, :, None]).squeeze(2)


def _draw_from_all(probs_BKV: Tensor, uniforms_BK: Tensor) -> Tensor:
    """First a block of columns, then a column in it: V numbers are added up once, in float32 by 64 and in
    float64 from there."""
    filled_BKX = torch.nn.functional.pad(probs_BKV, (0, -probs_BKV.shape[2] % BLOCK))
    blocks_BKNW = filled_BKX.view(*probs_BKV.shape[:2], -1, BLOCK)
    mass_BKN = blocks_BKNW.sum(3).double()
    block_BK = _invert(mass_BKN, uniforms_BK)
    below_BK = (mass_BKN.cumsum(2) - mass_BKN).gather(2, block_BK[:, :, None]).squeeze(2)
    own_BK = mass_BKN.gather(2, block_BK[:, :, None]).squeeze(2)
    rest_BK = ((uniforms_BK * mass_BKN.sum(2) - below_BK) / own_BK).clamp(0.0, BELOW_ONE)
    near_BKW = blocks_BKNW.gather(2, block_BK[:, :, None, None].expand(-1, -1, 1, BLOCK)).squeeze(2)
    return (block_BK * BLOCK + _invert(near_BKW.double(), rest_BK)).clamp(max=probs_BKV.shape[2] - 1)


def _nucleus(logits_BKV: Tensor, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """Probabilities, falling, and columns of the pieces that may be drawn: the top_k best (0: all), and of
    these, taken as the whole, the fewest with mass top_p; 0 for others."""
    width = logits_BKV.shape[2]
    if top_k:
        best_BKX, columns_BKX = logits_BKV.topk(min(top_k, width), 2)
        return _cut(torch.softmax(best_BKX, 2), top_p), columns_BKX
    whole_BK1 = logits_BKV.logsumexp(2, keepdim=True)
    looked_at = min(width, FIRST_LOOK)
    while True:
        best_BKX, columns_BKX = logits_BKV.topk(looked_at, 2)
        probs_BKX = (best_BKX - whole_BK1).exp()
        if looked_at == width or bool((probs_BKX.double().sum(2) >= top_p).all()):
            return _cut(probs_BKX, top_p), columns_BKX
        looked_at = min(width, looked_at * 8)


def _cut(probs_BKX: Tensor, top_p: float) -> Tensor:
    """Falling probabilities, 0 from where those before them reach top_p."""
    before_BKX = probs_BKX.double().cumsum(2) - probs_BKX
    return probs_BKX if top_p == 1 else probs_BKX.masked_fill(before_BKX >= top_p, 0.0)


def _invert(mass_BKX: Tensor, uniforms_BK: Tensor) -> Tensor:
    """The first place where the cumulated mass exceeds this share of the whole; it has a mass above 0."""
    mass_BKX = mass_BKX.cumsum(2)
    place_BK1 = torch.searchsorted(mass_BKX, uniforms_BK[:, :, None] * mass_BKX[:, :, -1:], right=True)
    return place_BK1.squeeze(2).clamp(max=mass_BKX.shape[2] - 1)


def draw_streams(seed: int, keys_B: Sequence[int], count: int) -> Array:
    """streams_BK: a 64-bit number for each sentence and sample."""
    keys = np.array([key & 0xFFFFFFFFFFFFFFFF for key in keys_B], dtype=np.uint64)
    seeds = _mix(np.full_like(keys, seed & 0xFFFFFFFFFFFFFFFF))
    return _mix(_mix(seeds ^ keys)[:, None] ^ np.arange(count, dtype=np.uint64))


def draw_uniforms(streams_BK: Array, time: int) -> Array:
    """uniforms_BK: in [0, 1), with 48 bits, for this time step of each stream."""
    mixed: Array = _mix(streams_BK ^ _mix(np.full_like(streams_BK, time)))
    uniforms: Array = (mixed >> np.uint64(16)).astype(np.float64) / float(1 << 48)
    return uniforms


def _mix(numbers: Array) -> Array:
    """splitmix64 (Steele et al. 2014): a good hash of each 64-bit number."""
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = numbers ^ (numbers >> np.uint64(31))
    return mixed

"""Which output is truly the best one?

Two answers that cost more than a beam: depth-first search with a bound, which proves its result,
and the list of all outputs, for tests and teaching on tiny models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dragoman.search.combine import all_log_probs
from dragoman.search.constraints import START, OutputRules
from dragoman.search.steps import Candidate, LengthForm, StepScorer, normaliser

Array = np.ndarray[Any, Any]
NODES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Exact:
    """candidate: the best output found, None when nothing may be said. proven: no output within the
    length limit scores higher; False when `limit_steps` cut the search. expanded: prefixes looked at."""

    candidate: Candidate | None
    proven: bool
    expanded: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A beginning of an output: its pieces, their log-probabilities and sum, the state of the rules."""

    pieces: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    log_probability: float
    rules_state: int

    def with_piece(self, piece: int, log_prob: float, rules: OutputRules | None) -> _Node:
        """One piece longer."""
        state = rules.after(self.rules_state, (piece,)) if rules else START
        return _Node(
            (*self.pieces, piece),
            (*self.token_log_probabilities, log_prob),
            self.log_probability + log_prob,
            state,
        )


@dataclass
class _Branch:
    """The children of a node, best first, and how many of them were taken."""

    node: _Node
    pieces: Array
    log_probs: Array
    taken: int = 0


_ROOT = _Node((), (), 0.0, START)


@torch.inference_mode()
def exact_search(
    scorer: StepScorer,
    source_S: Tensor,
    *,
    max_length: int,
    alpha: float,
    form: LengthForm = "power",
    rules: OutputRules | None = None,
    begin: Candidate | None = None,
    limit_steps: int = 100_000,
) -> Exact:
    """The best output of at most `max_length` pieces, the end piece among them, by depth-first search.

    A prefix is left as soon as log p(prefix) / normaliser(max_length) does not exceed the best score so far:
    log p only falls, and no length divides by more (Stahlberg & Byrne 2019, algorithm 1; alpha >= 0).
    begin: an output known already, of a beam search say, which makes the search much shorter.
    Its memory is small; the scorer is asked for many prefixes at a time, each from its beginning,
    since its states cannot go back.
    """
    longest = normaliser(max_length, alpha, form)
    best, best_score = begin, -np.inf if begin is None else begin.score(alpha, form)
    branches: list[_Branch] = []
    nodes, expanded = [_ROOT], 0
    while nodes:
        expanded += len(nodes)
        opened = []
        for node, log_probs_V in zip(nodes, next_log_probs(scorer, source_S, nodes), strict=True):
            ending, branch = _expand(node, log_probs_V, max_length, rules, scorer.pieces.end)
            if ending is not None and ending.score(alpha, form) > best_score:
                best, best_score = ending, ending.score(alpha, form)
            opened.append(branch)
        branches += reversed(opened)  # the most promising on top
        room = min(NODES_AT_ONCE, limit_steps - expanded)
        nodes = _take(branches, room, best_score * longest, rules)
        if room <= 0 and _take(branches, 1, best_score * longest, rules):
            return Exact(best, False, expanded)
    return Exact(best, True, expanded)


@torch.inference_mode()
def enumerate_all(
    scorer: StepScorer, source_S: Tensor, max_length: int, rules: OutputRules | None = None
) -> list[Candidate]:
    """Every output of at most `max_length` pieces, the end piece among them, with a probability above 0.

    V^(max_length - 1) of them: for tiny models.
    """
    found: list[Candidate] = []
    level = [_ROOT]
    while level:
        following: list[_Node] = []
        for first in range(0, len(level), 1024):
            nodes = level[first : first + 1024]
            for node, log_probs_V in zip(nodes, next_log_probs(scorer, source_S, nodes), strict=True):
                ending, branch = _expand(node, log_probs_V, max_length, rules, scorer.pieces.end)
                if ending is not None:
                    found.append(ending)
                following += _take([branch], len(branch.pieces), -np.inf, rules)
        level = following
    return found


def next_log_probs(scorer: StepScorer, source_S: Tensor, nodes: Sequence[_Node]) -> Array:
    """log_probs_MV of what comes next after each of M prefixes, by walking all of them at once."""
    lengths = np.array([len(node.pieces) for node in nodes])
    prefixes_MT = torch.full((len(nodes), int(lengths.max()) + 1), scorer.pieces.end, device=source_S.device)
    for row, node in enumerate(nodes):
        prefixes_MT[row, : len(node.pieces)] = torch.tensor(node.pieces, dtype=torch.int64)
    state = scorer.start(source_S[None].expand(len(nodes), -1).contiguous(), 1, prefixes_MT.shape[1])
    last_M1 = torch.full((len(nodes), 1), scorer.pieces.start, device=source_S.device)
    log_probs_MV = np.zeros((len(nodes), len(scorer.pieces)), dtype=np.float32)
    for time in range(prefixes_MT.shape[1]):
        step = scorer.step(state, last_M1)
        state = step.state
        rows = np.nonzero(lengths == time)[0]
        if len(rows):
            log_probs_MV[rows] = (
                all_log_probs(step, len(scorer.pieces))[torch.from_numpy(rows), 0].float().cpu().numpy()
            )
        last_M1 = prefixes_MT[:, time : time + 1]
    return log_probs_MV


def _expand(
    node: _Node, log_probs_V: Array, max_length: int, rules: OutputRules | None, end: int
) -> tuple[Candidate | None, _Branch]:
    """The output that ends here, where it may, and the children."""
    room = max_length - len(node.pieces)
    allowed_V = log_probs_V + rules.penalties_V(node.rules_state, room) if rules else log_probs_V
    ending = None
    if allowed_V[end] > -np.inf:
        capped = room == 1 and bool(log_probs_V.max() > log_probs_V[end])
        ending = Candidate(node.pieces, (*node.token_log_probabilities, float(allowed_V[end])), capped)
    if room <= 1:
        return ending, _Branch(node, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
    order = np.argsort(-allowed_V, kind="stable")
    order = order[(order != end) & (allowed_V[order] > -np.inf)]
    return ending, _Branch(node, order, allowed_V[order])


def _take(branches: list[_Branch], count: int, floor: float, rules: OutputRules | None) -> list[_Node]:
    """Up to `count` children with a log-probability above `floor` from the last branches, which are dropped
    when they have no more of them."""
    taken: list[_Node] = []
    while branches and len(taken) < count:
        branch = branches[-1]
        while branch.taken < len(branch.pieces) and len(taken) < count:
            log_prob = float(branch.log_probs[branch.taken])
            if branch.node.log_probability + log_prob <= floor:
                branch.taken = len(branch.pieces)
                break
            taken.append(branch.node.with_piece(int(branch.pieces[branch.taken]), log_prob, rules))
            branch.taken += 1
        if branch.taken == len(branch.pieces):
            branches.pop()
    return taken

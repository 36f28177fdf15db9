"""What did a beam search keep, finish and drop?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from dragoman.search.beam import Look
from dragoman.search.steps import Candidate, LengthForm, normaliser
from dragoman.seeing import Branch, Fate, Tree


@dataclass
class Gardener:
    """Listens to the search for one sentence and lets its tree grow. name: what a piece is called."""

    name: Callable[[int], str]
    beam: int
    alpha: float
    form: LengthForm = "power"
    branches: list[Branch] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    slots: list[int | None] = field(default_factory=lambda: [None])

    def __call__(self, look: Look) -> None:
        """One step more."""
        step = self.branches[-1].step + 1 if self.branches else 0
        ended, going, done = look.ended_BK[0].tolist(), look.going_BK[0].tolist(), bool(look.done_B[0])
        kept = {place: slot for slot, place in enumerate(going)}
        slots: list[int | None] = [None] * len(going)
        best = (look.total_BC, look.parent_BC, look.piece_BC, look.log_prob_BC)
        for place, (total, parent, piece, log_prob) in enumerate(
            zip(*(each[0].tolist() for each in best), strict=True)
        ):
            if total == -math.inf:
                continue
            fate: Fate = "dropped"
            if place < len(ended) and ended[place]:
                fate = "ended"
            elif place in kept:
                fate = "left" if done else "kept"
                slots[kept[place]] = len(self.branches)
            score = total / normaliser(step + 1, self.alpha, self.form) if fate == "ended" else None
            before = self.slots[parent] if step else None
            self.branches.append(Branch(step, before, self.name(piece), log_prob, total, fate, score))
            self.pieces.append(piece)
        self.slots = slots

    def tree(self, best: Candidate) -> Tree:
        """What has grown, `best` being the output that was chosen."""
        grown = Tree(self.beam, tuple(self.branches), 0)
        for place, branch in enumerate(self.branches):
            if branch.fate == "ended" and branch.step == len(best.pieces):
                path = grown.path(place)[:-1]
                if tuple(self.pieces[each] for each in path) == best.pieces:
                    return Tree(self.beam, grown.branches, place)
        raise ValueError("this output did not come out of this search")

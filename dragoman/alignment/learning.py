"""How does an aligner of each kind learn from pairs?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dragoman.alignment.aligner import WordAligner
from dragoman.alignment.cells import Cells, find_cells
from dragoman.alignment.em import expect_and_maximise
from dragoman.alignment.fertility import FertileModel, distortion_of, first_fertilities
from dragoman.alignment.hmm import ChainModel, first_jumps
from dragoman.alignment.ibm import Diagonal, PlaceModel, Places, Table, Uniform
from dragoman.alignment.lexicon import Prior, uniform_lexicon, uniform_shared
from dragoman.alignment.numbers import Floats, NumberedPairs, Numbering
from dragoman.alignment.sampler import Choices, SampledModel, sample_model
from dragoman.alignment.words import LOOKED_AT, Cutting, stands_apart
from dragoman.contracts import Bitext, Progress, SentencePair, UserError, Work
from dragoman.links import Alignment
from dragoman.wording import counted

REPORT_EVERY = 20_000


@dataclass(frozen=True)
class Learnt:
    """An aligner, and the pairs that it learnt from; those that were too long are not among them."""

    aligner: WordAligner
    pairs: NumberedPairs
    drawn_X2: Floats | None

    def alignments(self, train: Iterable[SentencePair], symmetry: str = "") -> Iterator[Alignment]:
        """The links of the pairs that it learnt from, in their order, without spans. The same as of the finished
        aligner, but where it was drawn: then what was drawn while it learnt. UserError where it learnt from fewer."""
        rows = self.aligner.links_of_numbers(self.pairs, symmetry or self.aligner.symmetry, self.drawn_X2)
        for pair in train:
            if self.aligner.is_long(pair):
                yield from self.aligner.align([pair], symmetry)
            elif (row := next(rows, None)) is not None:
                yield self.aligner.alignment_of(pair, row)
            else:
                raise UserError(f"the data changed while they were in use: more than {len(self.pairs):,} pairs now")


def learn_aligner(recipe: Any, train: Bitext, work: Work) -> Learnt:
    """Cut and number the words, learn, and keep what is worth keeping. Interrupted where `work.stop()` said so."""
    threads = work.threads or os.cpu_count() or 1
    cutting = cutting_of(recipe, train)
    source, target = Numbering(), Numbering()
    too_long = 0
    for count, pair in enumerate(train, start=1):
        sources, targets = cutting.keys(pair.source), cutting.keys(pair.target)
        if max(len(sources), len(targets)) > recipe.longest:
            too_long += 1
            continue
        source.add(sources)
        target.add(targets)
        if count % REPORT_EVERY == 0:
            work.report(Progress("reading", count, len(train)))
    pairs = NumberedPairs(source.side(), target.side())
    if not pairs.cell_begins_N[-1]:
        raise UserError(f"0 of {len(train):,} pairs kept: {too_long:,} longer than {recipe.longest} words")
    if too_long:
        work.report(
            Progress("reading", note=f"not learnt from: {counted(too_long, 'pair')} longer than {recipe.longest} words")
        )
    model = LEARNERS[recipe.kind](recipe, find_cells(pairs, recipe.cells_at_once), work, threads)
    aligner = WordAligner(
        recipe.kind,
        train.source_language,
        train.target_language,
        cutting,
        recipe.symmetry,
        recipe.longest,
        tuple(source.index),
        tuple(target.index),
        replace(model.pruned(recipe.least), **({"drawn_X2": None} if isinstance(model, SampledModel) else {})),
        threads,
    )
    return Learnt(aligner, pairs, getattr(model, "drawn_X2", None))


def cutting_of(recipe: Any, pairs: Iterable[SentencePair]) -> Cutting:
    """How the recipe cuts these texts; "auto" looks at the first of them."""
    words = recipe.words
    if words == "auto":
        first = list(islice(pairs, LOOKED_AT))
        apart = all(stands_apart(side) for side in ([pair.source for pair in first], [pair.target for pair in first]))
        words = "spaces" if apart else "spans"
    return Cutting(words, recipe.units, recipe.fold)


def _ibm1(
    recipe: Any, cells: Cells, work: Work, threads: int, *, alpha: float | None = None, agree: bool = False
) -> PlaceModel:
    return expect_and_maximise(  # what begins has no name here, so that it need not stay in memory
        PlaceModel(
            uniform_shared(cells.partners)
            if agree
            else uniform_lexicon(cells.partners, Prior(recipe.alpha if alpha is None else alpha)),
            (Uniform(), Uniform()),
            agree,
        ),
        cells,
        recipe.ibm1,
        work,
        threads,
        "IBM 1",
    ).model


def _ibm2(recipe: Any, cells: Cells, work: Work, threads: int) -> PlaceModel:
    places: Places = Table({}) if recipe.places == "table" else Diagonal(recipe.none, recipe.tension)
    model = replace(_ibm1(recipe, cells, work, threads), places=(places, places))
    return expect_and_maximise(model, cells, recipe.ibm2, work, threads, "IBM 2").model


def _hmm(recipe: Any, cells: Cells, work: Work, threads: int) -> ChainModel:
    model = ChainModel(_ibm1(recipe, cells, work, threads).lexicon, first_jumps(recipe.reach), recipe.none)
    return expect_and_maximise(model, cells, recipe.hmm, work, threads, "HMM").model


def _fast(recipe: Any, cells: Cells, work: Work, threads: int) -> ChainModel:
    return expect_and_maximise(
        ChainModel(
            _ibm1(recipe, cells, work, threads, agree=True).lexicon,
            first_jumps(recipe.reach),
            recipe.none,
            agree=True,
            ignore=recipe.ignore,
        ),
        cells,
        recipe.hmm,
        work,
        threads,
        "HMM",
    ).model


def _best(recipe: Any, cells: Cells, work: Work, threads: int) -> Any:
    chain = _fast(recipe, cells, work, threads)
    chain = replace(chain, lexicon=chain.lexicon.plain)
    choices = Choices(recipe.alpha, recipe.none, recipe.bonus, recipe.fertility)
    return sample_model(chain, cells, choices, recipe.samplers, recipe.burn, recipe.keep, work, threads)


def _ibm3(recipe: Any, cells: Cells, work: Work, threads: int) -> FertileModel:
    start = replace(_ibm1(recipe, cells, work, threads, alpha=0.0), places=(Table({}), Table({})))
    second = expect_and_maximise(start, cells, recipe.ibm2, work, threads, "IBM 2").model
    words = cells.pairs.source.vocabulary, cells.pairs.target.vocabulary
    forward, reverse = (distortion_of(table) for table in second.places if isinstance(table, Table))
    fertilities = first_fertilities(words[0], recipe.fertility), first_fertilities(words[1], recipe.fertility)
    model = FertileModel(second.lexicon.plain, (forward, reverse), fertilities, recipe.none)
    return expect_and_maximise(model, cells, recipe.ibm3, work, threads, "IBM 3").model


LEARNERS: dict[str, Callable[[Any, Cells, Work, int], Any]] = {
    "aligner-ibm1": _ibm1,
    "aligner-ibm2": _ibm2,
    "aligner-hmm": _hmm,
    "aligner-ibm3": _ibm3,
    "aligner-fast": _fast,
    "aligner-best": _best,
}

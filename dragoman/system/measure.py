"""How good is a system on a test set, and how fast?"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dragoman.contracts import (
    CanScore,
    Flag,
    HasPrecision,
    Hypothesis,
    Precision,
    Progress,
    SearchOptions,
    SentencePair,
    quiet,
)
from dragoman.evaluation.metrics import CorpusScores, check_lengths, corpus_scores
from dragoman.system.stream import System, Translate, check_options

WINDOW = 1024
SAME = 1e-3  # nats, beyond which two log-probabilities are not of the same pieces


@dataclass(frozen=True)
class Evaluation:
    """What is known of the translations of a test set.

    seconds: of translating alone, None for translations that came from a file. cap_share: how many hit the
    length cap, 0 to 1. canonical_share: how many have the pieces into which their text would be cut,
    so that scoring the text gives the score of the search; None for kinds that do not score.
    precision: in which the system computed; None for kinds that have no choice.
    """

    scores: CorpusScores
    hypotheses: tuple[str, ...]
    seconds: float | None = None
    flags: Mapping[Flag, int] | None = None
    canonical_share: float | None = None
    precision: Precision | None = None

    @property
    def sentences_per_second(self) -> float | None:
        return None if self.seconds is None else len(self.hypotheses) / max(self.seconds, 1e-9)

    @property
    def cap_share(self) -> float | None:
        return None if self.flags is None else self.flags.get(Flag.LENGTH_CAP, 0) / len(self.hypotheses)

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that keep a reader from misreading the figures."""
        counted = sorted((self.flags or {}).items(), key=lambda item: (-item[1], item[0]))
        flags = [f"{count:,} of {len(self.hypotheses):,} translations: {flag.value}" for flag, count in counted]
        return (*self.scores.notes, *flags)

    def to_json(self) -> dict[str, object]:
        """Plain dicts, lists and numbers; without the translations."""
        return {
            **self.scores.to_json(),
            "sentences_per_second": self.sentences_per_second,
            "precision": self.precision,
            "cap_share": self.cap_share,
            "canonical_share": self.canonical_share,
            "flags": {flag.value: count for flag, count in (self.flags or {}).items()},
            "notes": self.notes,
        }


def evaluate(
    system: System,
    pairs: Iterable[SentencePair],
    references: Sequence[Sequence[str]] = (),
    options: SearchOptions = SearchOptions(),
    *,
    translate: Translate | None = None,
    report: Callable[[Progress], None] = quiet,
) -> Evaluation:
    """Translate the sources and compare with the targets, and with further streams of references. translate: what
    does the work in place of the system, as `Workers.translate`.

    The target language, which chooses the tokeniser, is the system's; for copies it is the bitext's.
    UserError where a stream has another length, where there are no pairs, and for options that the kind lacks.
    """
    check_options(system, options)
    language = system.target_language or getattr(pairs, "target_language", "")
    known = list(pairs)
    streams = [[pair.target for pair in known], *references]
    check_lengths([pair.source for pair in known], streams)
    best: list[Hypothesis] = []
    began = time.perf_counter()
    for start in range(0, len(known), WINDOW):
        report(Progress("translating", start, len(known)))
        texts = [pair.source for pair in known[start : start + WINDOW]]
        best += [translation.hypotheses[0] for translation in (translate or system.translate)(texts, options)]
    seconds = time.perf_counter() - began
    report(Progress("scoring", len(known), len(known)))
    hypotheses = tuple(hypothesis.text for hypothesis in best)
    return Evaluation(
        scores=corpus_scores(hypotheses, streams, language),
        hypotheses=hypotheses,
        seconds=seconds,
        flags=Counter(flag for hypothesis in best for flag in hypothesis.flags),
        canonical_share=canonical_share(system, [pair.source for pair in known], best, options),
        precision=system.precision if isinstance(system, HasPrecision) else None,
    )


def judge(
    hypotheses: Sequence[str],
    pairs: Iterable[SentencePair],
    references: Sequence[Sequence[str]] = (),
    target_language: str = "",
) -> Evaluation:
    """Compare translations that some other system made, one for each pair. UserError for other lengths."""
    streams = [[pair.target for pair in pairs], *references]
    return Evaluation(corpus_scores(hypotheses, streams, target_language), tuple(hypotheses))


def canonical_share(
    system: System, sources: Sequence[str], best: Sequence[Hypothesis], options: SearchOptions
) -> float | None:
    """The share of hypotheses that score the same by their text as by their own pieces; blank ones are left out."""
    if not isinstance(system, CanScore):
        return None
    chosen = [number for number, hypothesis in enumerate(best) if hypothesis.text.strip() and hypothesis.pieces]
    if not chosen:
        return None
    pairs = [SentencePair(sources[number], best[number].text) for number in chosen]
    equal = 0
    for score, number in zip(system.score(pairs, options), chosen, strict=True):
        own = best[number]
        length = len(own.token_log_probabilities) or len(own.pieces) + 1  # some engines leave them out
        same_length = len(score.token_log_probabilities) == length
        equal += same_length and abs(score.log_probability - own.log_probability) <= SAME * max(
            1.0, abs(own.log_probability)
        )
    return equal / len(chosen)

"""How are figures of quality shown, so that they can be checked and compared?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dragoman.contracts import SentencePair
from dragoman.wording import counted

if TYPE_CHECKING:
    from dragoman.evaluation.metrics import BleuParts, ClippedCount
    from dragoman.system.measure import Evaluation


def evaluation_lines(evaluation: Evaluation) -> list[str]:
    """Each figure with its signature, the parts of BLEU, speed, and what should be known."""
    scores = evaluation.scores
    metrics = [("BLEU", scores.bleu), ("chrF", scores.chrf), *([("TER", scores.ter)] if scores.ter else [])]
    lines = [f"{name:<4} {metric.value:6.2f}  {metric.signature}" for name, metric in metrics]
    lines[1:1] = [f"{'':13}{part}" for part in _bleu_parts(scores.parts)]
    done = [counted(scores.sentences, "sentence")]
    if evaluation.sentences_per_second is not None:
        bits = f" in {evaluation.precision}" if evaluation.precision else ""
        done.append(f"{evaluation.sentences_per_second:,.1f} sentences/s{bits}")
    if evaluation.cap_share is not None:
        done.append(f"{evaluation.cap_share:.1%} hit the length cap")
    if evaluation.canonical_share is not None:
        done.append(f"{evaluation.canonical_share:.1%} in canonical pieces")
    return [*lines, ", ".join(done), *(f"note: {note}" for note in evaluation.notes)]


def _bleu_parts(parts: BleuParts) -> list[str]:
    lengths = f"BP {parts.brevity_penalty:.3f}, c {parts.hypothesis_length:,}, r {parts.reference_length:,}"
    rows = zip(parts.precisions, parts.matched, parts.total, strict=True)
    precisions = [
        f"p{order} {precision:.1%} ({matched:,}/{total:,})"
        for order, (precision, matched, total) in enumerate(rows, start=1)
    ]
    return [lengths, ", ".join(precisions)]


def explained_lines(hypothesis: str, pair: SentencePair, references: Sequence[str], target_language: str) -> list[str]:
    """One sentence, its n-grams and how often each counts: at most as often as one reference has it."""
    from dragoman.evaluation.metrics import clipped_counts, sentence_scores

    scores = sentence_scores(hypothesis, references, target_language)
    orders = clipped_counts(hypothesis, references, target_language)
    return [
        f"source      {pair.source}",
        f"hypothesis  {hypothesis}",
        *(f"reference   {reference}" for reference in references),
        f"sentence BLEU {scores.bleu:.2f} (eff:yes), chrF {scores.chrf:.2f}",
        *(line for order, rows in enumerate(orders, start=1) for line in _order_lines(order, rows)),
    ]


def _order_lines(order: int, rows: Sequence[ClippedCount]) -> list[str]:
    matched, total = sum(row.clipped for row in rows), sum(row.count for row in rows)
    shown = [f"{order}-grams: {matched} of {total} count"]
    if rows:
        shown.append("    hypothesis  reference  counted  n-gram")
    shown += [f"    {row.count:>10}  {row.reference:>9}  {row.clipped:>7}  {' '.join(row.ngram)}" for row in rows]
    return shown

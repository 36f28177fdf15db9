"""How is an inspection told in a terminal?"""

from __future__ import annotations

from typing import Any

from dragoman.cleaning.inspection import Inspection, Side
from dragoman.cleaning.pictures import histogram, shares, usual_length
from dragoman.cleaning.reports import commonest_first
from dragoman.wording import counted, escaped, visible

FILES = 8  # the largest ones
SHOWN = 3  # suspicious pairs of a reason
WIDTH = 70  # characters of a side


def inspection_lines(found: Inspection) -> list[str]:
    """A page: files, a paragraph a side, repeated texts, what cleaning would do, and examples."""
    report = found.cleaning
    lines = [f"{counted(report.total, 'record')} in {counted(len(found.files), 'file')}"]
    if len(found.files) > 1:
        lines += [f"  {escaped(file)}: {count:,}" for file, count in found.files.most_common(FILES)]
        if len(found.files) > FILES:
            lines.append(f"  and {counted(len(found.files) - FILES, 'smaller one')}")
    longest = usual_length(found.source.lengths_L, found.target.lengths_L)
    for side in (found.source, found.target):
        lines += ["", *side_lines(side, longest)]
    again = [f"{count:,} with a {side} that came before" for side, count in report.again.items() if count]
    lines += ["", f"the same side with another partner: {', '.join(again) or 'none'}"]
    for name, count in commonest_first(report.changed).items():
        lines.append(f"could be made uniform: {name}, {counted(count, 'side')}")
    lines += ["", f"cleaning: {report.summary()}"]
    for reason in commonest_first(report.rejected):
        for one in report.samples[reason][:SHOWN]:
            record = one.record
            score = "" if one.score is None else f" {one.score:.3g}"
            lines.append(
                f"  {reason}{score}: {escaped(str(record.origin))}: {_cut(record.source)} | {_cut(record.target)}"
            )
    return lines


def side_lines(side: Side, longest: int) -> list[str]:
    """Language, lengths as numbers and as bars, characters, scripts, and what is odd."""
    figures: dict[str, Any] = side.figures()
    length = figures["length"]
    if not length:
        return [f"{side.language}: no text"]
    lines = [
        f"{side.language}: {length['mean']:.1f} words on average (letters where no spaces are written), "
        f"half have up to {length['p50']:.0f}, 99 of 100 up to {length['p99']:.0f}, "
        f"the longest {length['longest']:,.0f}",
        f"  |{histogram(side.lengths_L, longest)}| 0 to {longest}",
        f"  {figures['different_characters']:,} different characters, {figures['seldom_characters']:,} of them "
        "seen once or twice",
        f"  letters: {shares(figures['scripts'].items())}",
    ]
    if side.sample:
        guessed = shares(figures["looks_like"].items())
        lines.append(f"  looks like: {guessed} of {counted(len(side.sample), 'sentence')} drawn")
    if figures["odd_texts"]:
        odd = ", ".join(f"{name} {count:,}" for name, count in figures["odd_texts"].items())
        lines.append(f"  texts with something odd: {odd}")
    return lines


def _cut(text: str) -> str:
    """The beginning of a text, what nobody sees as escapes."""
    shown = visible(text[: WIDTH + 1])
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"

"""How is what a model did told in a few lines?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dragoman.seeing import Explanation, Gates, Linked, Part, Said, Tree
from dragoman.system.explain import Explained, Faded
from dragoman.system.sentences import SentenceMap
from dragoman.system.shown import parts_told
from dragoman.wording import counted

BARS = " ▁▂▃▄▅▆▇█"
MOST_ENDED = 5


def explanation_lines(explained: Explained) -> list[str]:
    """The translation, where each piece came from and how probable it was, the search, the verdict."""
    explanation, verdict = explained.explanation, explained.verdict
    lines = [explanation.text, *(f"flag: {flag.value}" for flag in explanation.flags)]
    if explanation.part_count > 1:
        lines.append(parts_told(explanation))
    lines += _entry_lines(explanation)
    for part in explanation.parts:
        lines += ["", *_piece_lines(part), "", *_tree_lines(part.tree)]
    if explanation.reference and verdict:
        lines += ["", f"reference: {explanation.reference.said.text}", *_said_lines(explanation.reference.said)]
        lines += ["", f"fault: {verdict.fault}", verdict.why]
    if explained.linked is not None:
        lines += ["", f"links by {explained.linked.kind}:", *linked_lines(explained.linked)]
    return lines


def linked_lines(linked: Linked) -> list[str]:
    """A line a link, then the words that have none."""
    pairs = [(linked.source_words[i], linked.target_words[j]) for i, j in linked.links]
    lines = [
        f"  {share:.3f}  {source} - {target}"
        for (source, target), share in zip(pairs, linked.probabilities, strict=True)
    ]
    for side, words in enumerate((linked.source_words, linked.target_words)):
        found = {link[side] for link in linked.links}
        alone = [word for place, word in enumerate(words) if place not in found]
        if alone:
            lines.append(f"  without a link in the {'source' if not side else 'target'}: {' '.join(alone)}")
    return lines


def _entry_lines(explanation: Explanation) -> list[str]:
    lines = []
    for entry in explanation.entries:
        source = " ".join(explanation.source_words[place] for place in entry.source)
        lines.append(f"{source} -> {entry.entry}  {'copied' if entry.share is None else f'share {entry.share:.2f}'}")
    return lines


def _piece_lines(part: Part) -> list[str]:
    """A line a piece: p, and the source piece that it looked at most."""
    lines = _said_lines(part.output)
    if part.attention_TS is None:
        return lines
    width = max(map(len, lines))
    for place, weights_S in enumerate(part.attention_TS):
        best = int(weights_S.argmax())
        lines[place] = f"{lines[place]:<{width}}  <- {part.source_pieces[best]} ({weights_S[best]:.2f})"
    return lines


def _said_lines(said: Said) -> list[str]:
    return [
        f"  p {math.exp(log_prob):.3f}  {piece}"
        for piece, log_prob in zip(said.pieces, said.log_probabilities, strict=True)
    ]


def _tree_lines(tree: Tree) -> list[str]:
    ended = [place for place, branch in enumerate(tree.branches) if branch.fate == "ended"]
    dropped = sum(branch.fate == "dropped" for branch in tree.branches)
    steps = tree.branches[-1].step + 1
    told = f"{counted(len(tree.branches), 'continuation')}, {dropped} dropped, {len(ended)} ended"
    lines = [f"search: beam {tree.beam}, {counted(steps, 'step')}, {told}"]
    ranked = sorted(ended, key=lambda place: (place != tree.best, -(tree.branches[place].score or 0.0)))
    for place in ranked[:MOST_ENDED]:
        text = "".join(tree.branches[each].piece for each in tree.path(place)[:-1]).replace("▁", " ").strip()
        lines.append(f"  {tree.branches[place].score:.4f}  {text}")
    if len(ranked) > MOST_ENDED:
        lines.append(f"  and {len(ranked) - MOST_ENDED} more")
    return lines


def gate_lines(gates: Gates) -> list[str]:
    """The mean of each gate over its features, piece by piece."""
    lines = [f"cells: {gates.cell}"]
    if gates.part_count > 1:
        lines.append(f"the text was cut into {gates.part_count} parts; this is the first")
    for track in gates.tracks:
        pieces = gates.source_pieces if track.side == "source" else gates.target_pieces
        lines.append(f"{track.layer}: " + (f"mean of gate {track.gate}" if track.gate else "no such gate"))
        if track.gate_TH is not None:
            lines += [
                f"  {share:.2f} {_bar(share)}  {piece}"
                for piece, share in zip(pieces, track.gate_TH.mean(1), strict=True)
            ]
    return lines


def _bar(share: float) -> str:
    return BARS[min(len(BARS) - 1, max(0, round(float(share) * (len(BARS) - 1))))]


def gradient_lines(faded: Faded) -> list[str]:
    """Norms at a few distances, the first and the last among them."""
    found = faded.gradients
    lines = [f"loss {found.loss:.3f}; |dL/dh_k| at T - k = ..."]
    for title, fadings in (("this model", found.model), ("fresh cells", found.fresh)):
        lines.append(f"{title}:")
        width = max(len(each.name) for each in fadings)
        for each in fadings:
            places = sorted({0, *(round(part * (len(each.norms) - 1)) for part in (0.1, 0.25, 0.5, 1))})
            lines.append(
                f"  {each.name:<{width}}  " + "  ".join(f"{place}: {each.norms[place]:.1e}" for place in places)
            )
    if faded.clipped_share is not None:
        lines.append(
            f"training: {faded.clipped_share:.1%} of updates clipped, last gradient norm {faded.norms.values[-1]:.3f}"
        )
    else:
        lines.append("training: its journal (progress.jsonl) says nothing of clipping")
    return lines


def map_lines(found: SentenceMap) -> list[str]:
    """For how many the nearest other sentence is a paraphrase."""
    rows: Sequence[tuple[str, float]] = [
        *((each.of, each.accuracy) for each in found.measured),
        ("drawn blindly", found.chance),
    ]
    width = max(len(name) for name, _ in rows)
    head = f"{len(found.texts)} sentences in {len(set(found.groups))} groups; the nearest other one is a paraphrase:"
    return [head, *(f"  {name:<{width}}  {share:6.1%}" for name, share in rows)]

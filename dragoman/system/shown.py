"""Which pictures and tables show what a model did?

Sections for a page; those whose pictures fit beside each other also make one picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dragoman.drawing.branches import Node, branching
from dragoman.drawing.chart import Curve, bars, curves, plane
from dragoman.drawing.heatmap import CELL, heat_map, small_map
from dragoman.drawing.page import Section, Table
from dragoman.drawing.picture import Ink, Picture, below, side_by_side
from dragoman.seeing import Explanation, Fading, Gates, Heads, Linked, Part, Said, Track, Tree
from dragoman.system.explain import Explained, Faded
from dragoman.system.sentences import SentenceMap
from dragoman.wording import counted

MOST_STEPS, MOST_ROWS = 30, 8  # of a tree that is drawn
WIDEST = 3200.0  # of a picture beside others
FEATURES = 24  # rows of a picture of gates
MANY = 40  # pieces from which cells become small


def picture_of(sections: Sequence[Section], title: str) -> tuple[Picture, list[str]]:
    """The pictures of the open sections as one, and the titles of those that are too wide and left out."""
    drawn = [section.content for section in sections if isinstance(section.content, Picture) and not section.folded]
    fitting = [picture for picture in drawn if picture.width <= WIDEST] or drawn[:1]
    return below(fitting, title=title), [picture.title for picture in drawn if picture not in fitting]


# --- a translation ------------------------------------------------------------------------------


def explanation_sections(explained: Explained) -> list[Section]:
    """Translation, attention, probabilities, search and heads of each part, and an aligner's links."""
    explanation = explained.explanation
    sections = [Section("Translation", (), _facts(explained))]
    if explanation.entries:
        sections += _dictionary(explanation)
    for number, part in enumerate(explanation.parts, start=1):
        name = f", part {number}" if explanation.part_count > 1 else ""
        sections += _said(part.output, part.attention_TS, part, name, "blue")
        if number == 1 and explanation.reference:
            given = explanation.reference
            sections += _said(given.said, given.attention_TS, part, " of the reference", "green")
        sections.append(_tree(part.tree, name))
        if part.heads:
            note = "Each head of each layer: who asks from top to bottom, who is asked from left to right."
            heads = below([_heads(each) for each in part.heads])
            sections.append(Section(f"Heads{name}", (note,), heads, folded=True))
    return sections if explained.linked is None else _beside(sections, linked_sections(explained.linked))


def _beside(sections: Sequence[Section], linked: Sequence[Section]) -> list[Section]:
    """An aligner's picture stands to the right of the first attention, if there is some."""
    attention = next((place for place, section in enumerate(sections) if section.title.startswith("Attention")), None)
    if attention is None:
        return [*sections, *linked]
    looked, links = sections[attention], linked[0]
    pictures = [each.content for each in (looked, links) if isinstance(each.content, Picture)]
    title = f"{looked.title}, and {links.title.lower()}"
    both = Section(title, (*looked.notes, *links.notes), side_by_side(pictures, len(pictures), gap=40, title=title))
    return [*sections[:attention], both, *sections[attention + 1 :], *linked[1:]]


def _facts(explained: Explained) -> Table:
    explanation, verdict = explained.explanation, explained.verdict
    rows = [("source", explanation.source), ("translation", explanation.text)]
    if len(explanation.parts) == 1:
        rows.append(("score", f"{explanation.parts[0].output.score:.4f}"))
    rows += [("flag", str(flag.value)) for flag in explanation.flags]
    if explanation.part_count > 1:
        rows.append(("parts", parts_told(explanation)))
    if explanation.reference and verdict:
        rows.append(("reference", explanation.reference.said.text))
        rows.append(("its score", f"{explanation.reference.said.score:.4f}"))
        rows.append(("fault", f"{verdict.fault}: {verdict.why}"))
    return Table((explanation.kind, "-".join(explanation.languages)), tuple(rows))


def parts_told(explanation: Explanation) -> str:
    """What a reader should know of a text that was cut."""
    shown = len(explanation.parts)
    some = f"; the first {shown} are shown" if explanation.part_count > shown else ""
    why = "for it is longer than the training texts or of several lines"
    return f"translated in {explanation.part_count} parts, {why}{some}"


def _said(said: Said, attention_TS: np.ndarray | None, part: Part, name: str, ink: Ink) -> list[Section]:
    """Where the model looks while it says this, and how probable each piece is."""
    sections = []
    if attention_TS is not None:
        note = "Rows are output pieces, columns source pieces: where the model looked while it chose the piece."
        rows, columns = said.pieces[: len(attention_TS)], part.source_pieces
        many = max(len(rows), len(columns)) > MANY
        cell, title = CELL / 2 if many else CELL, f"Attention{name}"
        picture = heat_map(attention_TS, rows, columns, title=title, cell=cell, figures=not many)
        sections.append(Section(title, (note,), picture))
    total, title = math.fsum(said.log_probabilities), f"Probabilities{name}"
    note = "p of each piece, given the source and the pieces before it; log p of the whole"
    note += f" {total:.3f}, score {said.score:.4f}."
    shares = [math.exp(each) for each in said.log_probabilities]
    sections.append(Section(title, (note,), bars(said.pieces, shares, title=title, ink=ink)))
    return sections


def _heads(heads: Heads) -> Picture:
    _, rows, columns = heads.weights_HTS.shape
    cell = max(2.0, min(9.0, 150 / max(rows, columns)))
    small = [small_map(weights_TS, f"head {head}", cell) for head, weights_TS in enumerate(heads.weights_HTS, start=1)]
    return side_by_side(small, 8, title=f"{heads.layer}: {heads.of}")


# --- links --------------------------------------------------------------------------------------


def linked_sections(linked: Linked) -> list[Section]:
    """What both directions believe together, each by itself, and the links that follow."""
    both_TS = np.sqrt(linked.forward_TS * linked.reverse_TS)
    words = linked.target_words, linked.source_words
    many = max(map(len, words)) > MANY
    cell = CELL / 2 if many else CELL

    def drawn(weights_TS: np.ndarray, title: str) -> Picture:
        return heat_map(weights_TS, *words, title=title, cell=cell, figures=not many)

    note = "Rows are words of the target, columns of the source: sqrt(p q) of p, that one came from the other, and q,"
    both = drawn(both_TS, f"Links by {linked.kind}")
    ways = [drawn(linked.forward_TS, "p, target from source"), drawn(linked.reverse_TS, "q, source from target")]
    rows = tuple(
        (linked.source_words[i], linked.target_words[j], f"{share:.3f}")
        for (i, j), share in zip(linked.links, linked.probabilities, strict=True)
    )
    return [
        Section(both.title, (f"{note} the reverse.",), both),
        Section("Links of each direction", (), side_by_side(ways, 2), folded=True),
        Section("Chosen links", (), Table(("source", "target", "sqrt(p q)"), rows, (2,))),
    ]


# --- a search -----------------------------------------------------------------------------------


def _tree(tree: Tree, name: str) -> Section:
    picture, cut = tree_picture(tree, f"Search{name}")
    fates = [branch.fate for branch in tree.branches]
    told = f"beam {tree.beam}: {counted(len(fates), 'continuation')} looked at, {fates.count('ended')} ended"
    note = (
        f"{told}. Under each piece the log-probability up to there, under an end (green) its score; grey was dropped."
    )
    return Section(picture.title, (note, *([cut] if cut else [])), picture)


def tree_picture(tree: Tree, title: str = "") -> tuple[Picture, str]:
    """The tree, and what of it was left out for want of room."""
    way = set(tree.path(tree.best))
    steps = tree.branches[-1].step + 1
    shown: dict[int, int] = {}
    filled: dict[int, int] = {}
    nodes: list[Node] = []
    for place, branch in enumerate(tree.branches):
        row = filled.get(branch.step, 0)
        waiting = any(tree.branches[each].step == branch.step and each > place for each in way)
        if branch.step >= MOST_STEPS or (place not in way and row >= MOST_ROWS - waiting):
            continue
        filled[branch.step] = row + 1
        shown[place] = len(nodes)
        note = f"{branch.total:.2f}" if branch.score is None else f"score {branch.score:.3f}"
        told = f"{branch.piece}: log p {branch.log_probability:.3f}, so far {branch.total:.3f}; {branch.fate}"
        parent = shown.get(branch.parent) if branch.parent is not None else None
        nodes.append(Node(branch.step, parent, branch.piece, note, branch.fate, place in way, told))
    cut = []
    if steps > MOST_STEPS:
        cut.append(f"steps {MOST_STEPS + 1} to {steps} are not drawn")
    fewer = sum(branch.step < MOST_STEPS for branch in tree.branches) - len(nodes)
    if fewer:
        cut.append(f"{fewer} continuations beyond the best {MOST_ROWS} of a step are not drawn")
    return branching(nodes, title=title), "; ".join(cut)


# --- a dictionary -------------------------------------------------------------------------------


def _dictionary(explanation: Explanation) -> list[Section]:
    weights_TS = np.zeros((len(explanation.words), len(explanation.source_words)))
    rows = []
    for entry in explanation.entries:
        share = 1.0 if entry.share is None else entry.share
        for target in entry.target:
            weights_TS[target, list(entry.source)] = share
        said = " ".join(explanation.words[place] for place in entry.target)
        why = "copied" if entry.share is None else f"{entry.share:.2f}"
        rows.append((" ".join(explanation.source_words[place] for place in entry.source), entry.entry, said, why))
    note = "The darker, the larger the share of the source word's links that the entry has; copied words have 1."
    picture = heat_map(weights_TS, explanation.words, explanation.source_words, title="Entries by words")
    head = ("source", "entry", "output", "share")
    return [Section(picture.title, (note,), picture), Section("Entries", (), Table(head, tuple(rows), (3,)))]


# --- gates --------------------------------------------------------------------------------------


def gate_sections(gates: Gates) -> list[Section]:
    """A gate and the state for each layer and direction."""
    note = f"Rows are {FEATURES} of the features, spread over all of them as they are sorted by the mean of the gate"
    note += " (of the state where there is none); the first row is the mean of all."
    notes = [f"{note} Columns are pieces in the order of the text."]
    if gates.part_count > 1:
        notes.append(f"The text was cut into {gates.part_count} parts; this is the first.")
    if any(not track.gate for track in gates.tracks):
        notes.append(f"A cell of this sort ({gates.cell}) has no such gate.")
    sections = []
    for place, track in enumerate(gates.tracks):
        pieces = gates.source_pieces if track.side == "source" else gates.target_pieces
        sections.append(Section(track.layer, tuple(notes) if not place else (), _gate_pictures(track, pieces)))
    return sections


def _gate_pictures(track: Track, pieces: Sequence[str]) -> Picture:
    """Gate and state beside each other."""
    order_H = np.argsort((track.memory_TH if track.gate_TH is None else track.gate_TH).mean(0))
    pictures = []
    if track.gate_TH is not None:
        pictures.append(_features(track.gate_TH, order_H, pieces, f"gate {track.gate}, 0 to 1", 1.0))
    top = max(1e-6, float(np.abs(track.memory_TH).max()))
    title = f"state {track.memory}, orange below 0, full at {top:.2g}"
    pictures.append(_features(track.memory_TH, order_H, pieces, title, top))
    return side_by_side(pictures, 2, title=track.layer)


def _features(values_TH: np.ndarray, order_H: np.ndarray, pieces: Sequence[str], title: str, top: float) -> Picture:
    spread = np.unique(np.linspace(0, len(order_H) - 1, min(FEATURES, len(order_H))).round().astype(int))
    chosen = order_H[spread]
    rows_TX = np.concatenate([values_TH.mean(1, keepdims=True), values_TH[:, chosen]], 1)
    names = ["mean", *(str(feature) for feature in chosen.tolist())]
    wide = CELL if len(pieces) <= MANY else CELL / 2
    return heat_map(rows_TX.T, names, pieces, title=title, cell=wide, figures=False, top=top, tall=12.0)


# --- gradients ----------------------------------------------------------------------------------


def gradient_sections(faded: Faded) -> list[Section]:
    """How far back gradients reach, in this model, in fresh cells, and how they were clipped in training."""
    found = faded.gradients
    own = f"L is the loss of the translation ({found.loss:.2f} nats), h_k the state after the kth piece that was read;"
    own += " T - k = 0 is the last."
    fresh = f"Untrained cells of the same width, means over {found.runs} random sequences; L asks the last state alone."
    fresh += " With W_h halved gradients are gone sooner; doubled, where nothing saturates (ReLU), they explode."
    sections = [
        _curves("|dL/dh_k| in this model", own, found.model),
        _curves("|dL/dh_k| in fresh cells", fresh, found.fresh),
    ]
    if faded.norms.steps:
        share = faded.clipped_share
        note = "" if share is None else f"{share:.1%} of the updates were clipped (mean over the journal's windows)."
        drawn = [Curve("norm", faded.norms.steps, faded.norms.values)]
        norms = curves(drawn, across="updates", up="gradient norm", title="Gradient norm in training", logarithmic=True)
        sections.append(Section(norms.title, (note,) if note else (), norms))
    if faded.clipped.steps:
        drawn = [Curve("clipped", faded.clipped.steps, faded.clipped.values)]
        clipped = curves(drawn, across="updates", up="share", title="Share of clipped updates")
        sections.append(Section(clipped.title, (), clipped))
    return sections


def _curves(title: str, note: str, fadings: Sequence[Fading]) -> Section:
    drawn = [
        Curve(each.name, tuple(map(float, range(len(each.norms)))), each.norms, "x" in each.name.split())
        for each in fadings
    ]
    return Section(title, (note,), curves(drawn, across="T - k", up="norm", title=title, logarithmic=True))


# --- sentences ----------------------------------------------------------------------------------


def map_sections(found: SentenceMap) -> list[Section]:
    """The figures first, then the map, then every sentence with its nearest one."""
    rows = [(each.of, f"{each.accuracy:.1%}") for each in found.measured]
    rows.append(("drawn blindly", f"{found.chance:.1%}"))
    head = ("nearest other sentence by", "is a paraphrase")
    count = f"{len(found.texts)} sentences in {len(set(found.groups))} groups"
    note = f"{count}; near is the cosine between vectors less their mean."
    drawn = plane(found.places_N2, found.groups, found.texts, title=f"Map of sentences ({found.method})")
    lines = "A line joins the sentences of a group; a number is the group's line in the file."
    if found.method == "pca":
        lines += " The map keeps two directions of many: what is near here need not be near there."
    nearest = found.measured[0].nearest
    sentences = tuple(
        (str(group), text, found.texts[other], "yes" if found.groups[other] == group else "no")
        for group, text, other in zip(found.groups, found.texts, nearest, strict=True)
    )
    return [
        Section("Nearest sentences", (note,), Table(head, tuple(rows), (1,))),
        Section(drawn.title, (lines,), drawn),
        Section("Sentences", (), Table(("group", "sentence", "nearest", "paraphrase"), sentences), folded=True),
    ]

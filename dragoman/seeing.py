"""What can a model show of how it translates, or links words?

Plain frozen data for programs and pictures, and what a product promises that shows them. Arrays are numpy's; the
letters are those of docs/notation.md. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from dragoman.contracts import Flag, Link, SearchOptions

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Fate = Literal["kept", "ended", "dropped", "left"]


# --- one translation ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A text as the model says it: pieces as they are written, the end piece last, each with its log-probability.

    score: what the search maximises.
    """

    text: str
    pieces: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    score: float


@dataclass(frozen=True)
class Branch:
    """A continuation that a beam search had before it.

    step: counts from 0. parent: the branch that it goes on from, by its place in the tree; None at step 0. total: the
    log-probability up to here. fate: it was kept, it ended, it was dropped, or the search was over before it could go
    on ("left"). score: of one that ended.
    """

    step: int
    parent: int | None
    piece: str
    log_probability: float
    total: float
    fate: Fate
    score: float | None = None


@dataclass(frozen=True)
class Tree:
    """All that a search of width `beam` looked at: the best of each step first. best: the place of the winner's end."""

    beam: int
    branches: tuple[Branch, ...]
    best: int

    def path(self, place: int) -> tuple[int, ...]:
        """The branches that lead to this one and itself, from step 0."""
        found = [place]
        while (parent := self.branches[found[-1]].parent) is not None:
            found.append(parent)
        return tuple(reversed(found))


@dataclass(frozen=True)
class Heads:
    """The weights of each head of an attention layer, who asks by who is asked. of: who is asked, by whom."""

    layer: str
    of: Literal["source by target", "source by source"]
    weights_HTS: Array


@dataclass(frozen=True)
class Part:
    """What was searched at once: a text, or a part of a long one. source_pieces: the end piece last.

    attention_TS: what the search gives for each output piece but the end; None where nothing is looked at.
    """

    source: str
    source_pieces: tuple[str, ...]
    output: Said
    attention_TS: Array | None
    heads: tuple[Heads, ...]
    tree: Tree


@dataclass(frozen=True)
class EntryUse:
    """What became of a unit of the source: a dictionary's entry, whose `share` is that of the links from source to
    target; None for what was copied. source, target: words, by their place."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    entry: str
    share: float | None


@dataclass(frozen=True)
class Reference:
    """A translation that is given, y*, by its canonical pieces, and what makes its score comparable.

    output_score: that of the model's own translation, computed in the same way. unsayable: why a search could not have
    put y* out, "" where it could. attention_TS: of each of its pieces and the end, the last layer's; None where nothing
    is looked at, and of a text that was cut.
    """

    said: Said
    output_score: float
    unsayable: str = ""
    attention_TS: Array | None = None


@dataclass(frozen=True)
class Explanation:
    """How one text was translated. parts: the first of `part_count`, none for a kind without a search. entries: of a
    dictionary, beside the words of both texts."""

    kind: str
    languages: tuple[str, str]
    source: str
    text: str
    flags: tuple[Flag, ...] = ()
    parts: tuple[Part, ...] = ()
    part_count: int = 0
    source_words: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    entries: tuple[EntryUse, ...] = ()
    reference: Reference | None = None


@runtime_checkable
class CanExplain(Protocol):
    """A translator with Ability.EXPLAIN."""

    def explain(self, text: str, reference: str = "", options: SearchOptions = SearchOptions()) -> Explanation:
        """UserError for a reference where the kind cannot score."""
        ...


# --- states along a sentence --------------------------------------------------------------------


@dataclass(frozen=True)
class Track:
    """What a layer of cells did, piece by piece in the order of the text. gate: "forget", "update", or "" without one;
    gate_TH runs from 0 to 1. memory: "C" or "H", which memory_TH is."""

    layer: str
    side: Literal["source", "target"]
    gate: str
    gate_TH: Array | None
    memory: Literal["C", "H"]
    memory_TH: Array


@dataclass(frozen=True)
class Gates:
    """A recurrent network reads a text (or its first part) and writes its translation."""

    kind: str
    cell: str
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    tracks: tuple[Track, ...]
    part_count: int


@dataclass(frozen=True)
class Fading:
    """|dL/dh_k| by the distance T - k of the state h_k from the last one: norms[0] is that of the last."""

    name: str
    norms: tuple[float, ...]


@dataclass(frozen=True)
class Gradients:
    """model: of each layer of the encoder that reads this text, L being the loss of its translation. fresh: of
    untrained cells of the same width, `runs` random sequences, L being a product with the last state alone."""

    kind: str
    cell: str
    pieces: tuple[str, ...]
    loss: float
    model: tuple[Fading, ...]
    fresh: tuple[Fading, ...]
    runs: int


@runtime_checkable
class ShowsGates(Protocol):
    """A translator with Ability.GATES."""

    def gates(self, text: str, options: SearchOptions = SearchOptions()) -> Gates: ...
    def gradients(self, text: str, reference: str = "", options: SearchOptions = SearchOptions()) -> Gradients:
        """Of the reference's loss where one is given, else of the model's own translation."""
        ...


# --- sentences beside each other ----------------------------------------------------------------


@dataclass(frozen=True)
class SentenceStates:
    """A vector a sentence, and the pieces that it was read by."""

    vectors_ND: Array
    pieces: tuple[tuple[int, ...], ...]


@runtime_checkable
class MapsSentences(Protocol):
    """A translator with Ability.STATES."""

    def sentence_states(self, texts: Sequence[str]) -> SentenceStates: ...


# --- two texts beside each other ----------------------------------------------------------------


@dataclass(frozen=True)
class Linked:
    """What both directions of an aligner believe of the words of two texts.

    forward_TS: p(target word t came from source word s); reverse_TS: q(s came from t). links: (source word, target
    word), those that are chosen, with their probabilities sqrt(p q).
    """

    kind: str
    languages: tuple[str, str]
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    forward_TS: Array
    reverse_TS: Array
    links: tuple[Link, ...]
    probabilities: tuple[float, ...]


@runtime_checkable
class ShowsLinks(Protocol):
    """An aligner."""

    def explain_links(self, source: str, target: str) -> Linked: ...

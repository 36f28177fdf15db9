"""What do the rooms say to each other?

Every type, protocol and user-facing error that crosses rooms and needs no torch. Plain frozen
data travels; the protocols say what a stranger's code may rely on. Imports nothing of Dragoman.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

# --- errors -------------------------------------------------------------------------------------


class UserError(Exception):
    """A user's mistake: its text is the one line that is shown; exit code 2, no traceback."""


class Interrupted(Exception):
    """Ctrl-C, SIGTERM or SIGHUP was honoured: the last step is saved; exit code 130."""


# --- bitext -------------------------------------------------------------------------------------

Span = tuple[int, int]
Link = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record came from; `line` counts from 1 (the line of the `<tu>` in a TMX)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A sentence and its translation, neither of them blank.

    links: (source word, target word) as in `Hypothesis`; None where nobody said.
    """

    source: str
    target: str
    origin: Origin = Origin("", 0)
    links: tuple[Link, ...] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What a reader yields, one for every record of a file and in file order.

    `fault` is empty for a usable pair; else it is the reason in words that are counted and
    reported: "blank source", "fields=3", "missing zh", "too long", "not UTF-8", "fuzzy", ...
    """

    source: str
    target: str
    origin: Origin
    fault: str = ""


class Bitext(Protocol):
    """Sentence pairs that may be walked many times in the same order, and may not fit in memory."""

    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """Hex digest of the kept pairs and the languages: equal content, equal fingerprint."""
        ...

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SentencePair]: ...


# --- pieces: what a search may put out ----------------------------------------------------------


@dataclass(frozen=True)
class PieceTable:
    """The output units of a model, and which of them a search must never emit.

    pieces: V strings. padding, unknown, start, end: ids. reserved: ids kept for later releases
    (protected items, case, tags). byte_ids: 256 ids of the byte pieces `<0x00>`..`<0xFF>`, or
    empty when the pieces have none.
    """

    pieces: tuple[str, ...]
    padding: int
    unknown: int
    start: int
    end: int
    reserved: tuple[int, ...] = ()
    byte_ids: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.pieces)


# --- what is asked of a translator, and what comes back -----------------------------------------


class Ability(StrEnum):
    """What a kind of translator can do beyond giving one translation."""

    SCORE = "score"
    BEAM = "beam"
    SAMPLE = "sample"
    PREFIX = "prefix"
    TERMS = "terms"
    ATTENTION = "attention"
    LINKS = "links"
    ENSEMBLE = "ensemble"
    PRECISION = "precision"
    EXPLAIN = "explain"
    GATES = "gates"
    STATES = "states"
    SHORTLIST = "shortlist"


@dataclass(frozen=True, slots=True)
class Request:
    """A text to translate. `prefix`: what the translation must begin with. `terms`: (source, target)."""

    text: str
    prefix: str = ""
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """Draw from the model instead of searching: p^(1/temperature), the top_k best pieces or the
    smallest set with mass top_p (0 and 1.0 switch them off)."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search; None means what the model has stored.

    length_form: "power" divides log p by T^alpha, "gnmt" by ((5 + T) / 6)^alpha (Wu et al. 2016,
    eq. 14); T counts the end piece. max_ratio: output pieces at most max_ratio * source pieces + 10. attention, links:
    whether hypotheses come with them. shortlist: say only what a lexicon expects of the source; faster, other scores.
    batch_tokens: source positions searched at once; changes speed, not results.
    """

    n_best: int = 1
    beam: int | None = None
    alpha: float | None = None
    length_form: Literal["power", "gnmt"] | None = None
    max_ratio: float | None = None
    sampling: Sampling | None = None
    attention: bool = False
    links: bool = False
    shortlist: bool = False
    batch_tokens: int | None = None


class Flag(StrEnum):
    """What a reader of a translation should be told about it."""

    LENGTH_CAP = "length cap hit"
    EMPTY = "empty output"
    REPEATS = "repeats itself"
    COPY = "copy of the source"
    UNTRANSLATED = "unknown words copied"


@dataclass(frozen=True)
class Hypothesis:
    """One translation. `words`: character spans in `text`; links are (source word, target word).

    pieces: the output ids without the end piece. score: what the search maximises.
    log_probability: the plain sum of `token_log_probabilities` (natural logs), one per piece and
    one for the end piece. attention: T x S numpy array, target by source pieces, where asked for; links likewise, or
    where they cost nothing.
    """

    text: str
    words: tuple[Span, ...] = ()
    pieces: tuple[int, ...] = ()
    score: float = 0.0
    log_probability: float = 0.0
    token_log_probabilities: tuple[float, ...] = ()
    links: tuple[Link, ...] | None = None
    attention: Any = None
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Translation:
    """The hypotheses for one source text, best first; never empty."""

    source: str
    source_words: tuple[Span, ...]
    hypotheses: tuple[Hypothesis, ...]

    @property
    def text(self) -> str:
        return self.hypotheses[0].text


@dataclass(frozen=True)
class Score:
    """The model's view of a given translation, natural logs.

    score: what the search maximises (length-normalised). token_log_probabilities: one per piece,
    the end piece last; log_probability is their sum.
    """

    score: float
    log_probability: float
    token_log_probabilities: tuple[float, ...]


class Product(Protocol):
    """What training returns: finished, immutable, kept in a folder. Its verbs are its methods (`system/verbs.py`)."""

    @property
    def kind(self) -> str: ...
    @property
    def abilities(self) -> frozenset[Ability]: ...
    def save(self, folder: Path) -> None:
        """Write everything but model.json, recipe.toml and report.json, which the store adds."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self: ...
    def describe(self) -> Mapping[str, object]:
        """Facts for `info`: parameters, pieces, stored search options, ..."""
        ...


class Translator(Product, Protocol):
    """Raw text in, raw text in another language out."""

    @property
    def source_language(self) -> str: ...
    @property
    def target_language(self) -> str: ...
    def translate(
        self, requests: Sequence[str | Request], options: SearchOptions = SearchOptions()
    ) -> list[Translation]: ...


@runtime_checkable
class CanScore(Protocol):
    """A translator with Ability.SCORE."""

    def score(
        self,
        pairs: Sequence[SentencePair | tuple[str, Hypothesis]],
        options: SearchOptions = SearchOptions(),
    ) -> list[Score]:
        """Score each target text by its canonical pieces, or a hypothesis by its own pieces."""
        ...


Precision = Literal["fp32", "bf16", "int8"]


@runtime_checkable
class HasPrecision(Protocol):
    """A translator with Ability.PRECISION: it can compute in fewer bits, which on some machines is faster."""

    @property
    def precision(self) -> Precision: ...
    def usable_precision(self, precision: Precision) -> tuple[Precision, str]:
        """What to take on this machine if `precision` is asked for, and one line that says why it is another."""
        ...

    def at_precision(self, precision: Precision) -> Self:
        """The same translator, computing so whether that pays or not. Only one in fp32 can be changed."""
        ...


# --- training -----------------------------------------------------------------------------------


class DataKind(StrEnum):
    """What `--train` means for a kind."""

    BITEXT = "bitext"
    TEXT = "text"
    TAGGED = "tagged"
    LABELLED = "labelled"
    SPEECH = "speech"
    NONE = "none"


@dataclass(frozen=True)
class Progress:
    """A learner's sign of life. phase: "reading", "vocabulary", "training", "dev", ... ; total 0 =
    unknown; values: figures to show (tokens_per_second, loss, bleu, seconds_left, ...); note: a line
    that must be seen (a warning, a decision)."""

    phase: str
    step: int = 0
    total: int = 0
    values: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


def never() -> bool:
    """The `stop` of a learner that nobody interrupts."""
    return False


def quiet(progress: Progress) -> None:
    """The `report` of a learner that nobody watches."""


@dataclass(frozen=True)
class Work:
    """What a learner is given besides its data.

    folder: where it leaves intermediate files and finds them on resume. began: `time.monotonic()`
    at the start of the command, from which a time budget counts. stop: asked after every step; on
    True the learner saves its state there and raises Interrupted. finish: make the product from
    what the folder holds, without more training. start: a finished product to go on from.
    synthetic: further pairs, whose sources a model wrote; only for recipes with a field `backtranslation`.
    rank, world: this process among those that train together.
    """

    folder: Path
    report: Callable[[Progress], None] = quiet
    seed: int = 1
    device: str = "cpu"
    threads: int = 0
    began: float = field(default_factory=time.monotonic)
    stop: Callable[[], bool] = never
    finish: bool = False
    start: Any = None
    synthetic: Bitext | None = None
    rank: int = 0
    world: int = 1


Data_contra = TypeVar("Data_contra", contravariant=True)
Product_co = TypeVar("Product_co", covariant=True)


class Recipe(Protocol[Data_contra, Product_co]):
    """A frozen dataclass whose fields are every choice; trains and returns a finished product.

    kind: the row in the catalogue. data: what --train means. product: "module:Class" of what
    `train` returns, so that a folder can be loaded without the learner. several_processes: can it
    learn in a team (Work.rank, Work.world)? limits: dotted names of the fields that only say how
    long to go on ("training.max_updates"): raising one resumes; none where learning has no states to go on from.
    """

    kind: ClassVar[str]
    data: ClassVar[DataKind]
    product: ClassVar[str]
    several_processes: ClassVar[bool]
    limits: ClassVar[tuple[str, ...]]

    def train(self, train: Data_contra, dev: Data_contra | None, work: Work) -> Product_co: ...


@runtime_checkable
class Unsettled(Protocol):
    """A recipe that leaves choices to the corpus and the machine. `settle` gives the recipe that is trained and
    stored with the model; before: what it gave when this training began, from which it must not part."""

    def settle(self, train: Any, work: Work, before: Any) -> Recipe[Any, Any]: ...


# --- units --------------------------------------------------------------------------------------


class Segmenter(Protocol):
    """Text of one language to piece ids and back. `decode(encode([x])[0]) == NFC(x)` for lossless ones. spans: of each
    piece in `decode(ids)`; spans_in: in the text itself, of which the ids were made."""

    @property
    def pieces(self) -> PieceTable: ...
    def encode(self, texts: Iterable[str]) -> list[list[int]]:
        """Ids without start and end pieces."""
        ...

    def decode(self, ids: Sequence[int]) -> str: ...
    def spans(self, ids: Sequence[int]) -> list[Span]: ...
    def spans_in(self, text: str, ids: Sequence[int]) -> list[Span]: ...

"""Which choices make an aligner of words? (Read, printed and compared without loading the learner.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import Bitext, DataKind, Work

if TYPE_CHECKING:
    from dragoman.alignment.aligner import WordAligner
    from dragoman.alignment.learning import Learnt

Words = Literal["auto", "spaces", "spans"]
Units = Literal["words", "characters", "jieba"]
Symmetry = Literal[
    "forward", "reverse", "union", "intersection", "grow-diag", "grow-diag-final", "grow-diag-final-and", "agreement"
]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class _Shared:
    """What all aligners choose."""

    data: ClassVar[DataKind] = DataKind.BITEXT
    product: ClassVar[str] = "dragoman.alignment.aligner:WordAligner"
    several_processes: ClassVar[bool] = False
    needs_dev: ClassVar[bool] = False
    limits: ClassVar[tuple[str, ...]] = ()
    cells_at_once: ClassVar[int] = 1 << 25  # pairs of words of which 12 bytes each are in memory

    words: Words = Field(
        default="auto",
        description='what links count: "spaces" separate it, "spans" of raw text; "auto": spaces if it is tokenised',
    )
    units: Units = Field(
        default="words", description="what is counted: the words; or Chinese cut to characters, or by jieba"
    )
    fold: bool = Field(default=True, description="upper and lower case are the same")
    longest: int = Field(
        default=200, ge=1, le=1000, description="words of a side; longer pairs are linked, but not learnt from"
    )
    symmetry: Symmetry = Field(default="grow-diag-final-and", description="how both directions become one")
    least: float = Field(
        default=1e-6, ge=0, lt=1, description="rows of the lexical table below this in both directions are not kept"
    )

    def learn(self, train: Bitext, work: Work) -> Learnt:
        """The aligner, and the links of the pairs that it learnt from."""
        from dragoman.alignment.learning import learn_aligner

        return learn_aligner(self, train, work)

    def train(self, train: Bitext, dev: Bitext | None, work: Work) -> WordAligner:
        """The aligner alone; it chooses nothing by dev."""
        return self.learn(train, work).aligner


def _iterations(default: int, what: str) -> Any:
    return Field(default=default, ge=0, le=1000, description=f"iterations of {what}")


NONE = "probability that a word comes from no word"
ALPHA = "Dirichlet prior of the lexical table (variational Bayes); 0 = none, maximum likelihood"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Ibm1(_Shared):
    """IBM model 1 (Brown et al. 1993): which words stand together, wherever they stand."""

    kind: ClassVar[str] = "aligner-ibm1"

    ibm1: int = _iterations(5, "EM")
    alpha: float = Field(default=0.0, ge=0, description=ALPHA)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Ibm2(_Shared):
    """IBM model 2 (Brown et al. 1993): places too, by a table of them or by their diagonal (Dyer et al. 2013)."""

    kind: ClassVar[str] = "aligner-ibm2"

    ibm1: int = _iterations(5, "IBM 1, which begins")
    ibm2: int = _iterations(5, "IBM 2")
    places: Literal["table", "diagonal"] = Field(
        default="table", description='p(i | j, I, J) of each pair of lengths, or "diagonal"'
    )
    none: float = Field(default=0.08, gt=0, lt=1, description=f"diagonal: {NONE}")
    tension: float = Field(default=4.0, gt=0, description="diagonal: how steeply it falls, to begin with")
    alpha: float = Field(default=0.0, ge=0, description=ALPHA)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Hmm(_Shared):
    """Hidden Markov model (Vogel et al. 1996; Och and Ney 2003): a word's place depends on the place before."""

    kind: ClassVar[str] = "aligner-hmm"

    ibm1: int = _iterations(5, "IBM 1, which begins")
    hmm: int = _iterations(5, "the HMM")
    none: float = Field(default=0.2, gt=0, lt=1, description=NONE)
    reach: int = Field(default=40, ge=1, le=500, description="jumps that are told apart; longer ones weigh the same")
    alpha: float = Field(default=0.0, ge=0, description=ALPHA)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Ibm3(_Shared):
    """IBM model 3 (Brown et al. 1993): how many words a word becomes; hill climbing, and sums beside its top."""

    kind: ClassVar[str] = "aligner-ibm3"

    ibm1: int = _iterations(5, "IBM 1, which begins")
    ibm2: int = _iterations(5, "IBM 2, from which the climb starts")
    ibm3: int = _iterations(5, "IBM 3")
    none: float = Field(default=0.08, gt=0, lt=0.5, description="p1, with which a word brings one from no word")
    fertility: int = Field(default=8, ge=1, le=50, description="most words that a word becomes")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Fast(_Shared):
    """IBM 1 and HMM whose directions learn from what both believe (Liang et al. 2006): good links in seconds."""

    kind: ClassVar[str] = "aligner-fast"

    ibm1: int = _iterations(3, "IBM 1, which begins")
    hmm: int = _iterations(3, "the HMM")
    none: float = Field(default=0.2, gt=0, lt=1, description=NONE)
    reach: int = Field(default=40, ge=1, le=500, description="jumps that are told apart; longer ones weigh the same")
    ignore: float = Field(default=1e-4, ge=0, lt=0.1, description="states less probable than this are passed over")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Best(_Shared):
    """As fast, then sampled with fertilities and a very sparse prior (after Östling and Tiedemann 2016)."""

    kind: ClassVar[str] = "aligner-best"
    cells_at_once: ClassVar[int] = 1 << 27  # all of them, and 8 bytes more for each sampler

    ibm1: int = _iterations(3, "IBM 1, which begins")
    hmm: int = _iterations(3, "the HMM")
    samplers: int = Field(default=2, ge=1, le=64, description="samplers that know nothing of each other")
    burn: int = Field(default=4, ge=0, description="sweeps of each before anything is kept")
    keep: int = Field(default=8, ge=1, description="sweeps of each whose probabilities are averaged")
    alpha: float = Field(default=0.001, gt=0, description="Dirichlet prior of the lexical table")
    none: float = Field(default=0.2, gt=0, lt=1, description=NONE)
    bonus: float = Field(default=1.0, ge=1, description="how much likelier a link is that the other direction has")
    fertility: int = Field(default=5, ge=1, le=50, description="most words that a word becomes; more count as so many")
    reach: int = Field(default=40, ge=1, le=500, description="jumps that are told apart; longer ones weigh the same")
    ignore: float = Field(default=1e-4, ge=0, lt=0.1, description="states less probable than this are passed over")


IBM1, IBM2, HMM, IBM3, FAST, BEST = Ibm1(), Ibm2(), Hmm(), Ibm3(), Fast(), Best()

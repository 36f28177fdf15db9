"""Which choices make an n-gram language model? (Nothing heavy is imported here.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import DataKind, Work
from dragoman.texts import Text

if TYPE_CHECKING:
    from dragoman.lm.model import NgramModel

Smoothing = Literal["kneser-ney", "witten-bell", "add-k", "maximum-likelihood"]
Units = Literal["words", "characters"]


def _numbers(value: object) -> object:
    """ "0 0 1" and "0,0,1" as lmplz's users write them."""
    return value.replace(",", " ").split() if isinstance(value, str) else value


@dataclass(frozen=True, config=ConfigDict(extra="forbid", allow_inf_nan=False))
class NgramRecipe:
    """Counts of up to n words in a row, smoothed (Chen and Goodman 1998); learnt in seconds, no network."""

    kind: ClassVar[str] = "ngram"
    data: ClassVar[DataKind] = DataKind.TEXT
    product: ClassVar[str] = "dragoman.lm.model:NgramModel"
    several_processes: ClassVar[bool] = False
    needs_dev: ClassVar[bool] = False
    limits: ClassVar[tuple[str, ...]] = ()

    order: int = Field(default=5, ge=1, le=16, description="n: a word is predicted from the n - 1 before it")
    smoothing: Smoothing = Field(default="kneser-ney", description="kneser-ney is interpolated and modified")
    units: Units = Field(default="words", description="what spaces separate, or characters (for Chinese)")
    k: float = Field(default=1.0, gt=0, description="add-k: so much is added to every count")
    prune: Annotated[tuple[int, ...], BeforeValidator(_numbers)] = Field(
        default=(),
        description="n-grams of each order are dropped that stand there so often or less: 0 0 1, as in lmplz",
    )
    vocabulary: int = Field(default=0, ge=0, description="most frequent units that are known; 0 is all of them")
    reserved: Literal["refuse", "skip"] = Field(
        default="refuse", description="what becomes of <s>, </s>, <unk> and <UNK> in the text"
    )

    def __post_init__(self) -> None:
        prune = self.prune
        if any(number < 0 for number in prune) or list(prune) != sorted(prune):
            raise ValueError("prune: thresholds are 0 or more, and none is below the one before it")
        if prune and prune[0]:
            raise ValueError("prune: the first threshold is 0; `vocabulary` bounds the units")
        if len(prune) > self.order:
            raise ValueError(f"prune: {len(prune)} thresholds for order {self.order}")

    def train(self, train: Text, dev: Text | None, work: Work) -> NgramModel:
        from dragoman.lm.learning import learn_ngrams

        return learn_ngrams(self, train, dev, work)


NGRAM = NgramRecipe()

"""Which choices make a translator by remembered words? (Read, printed and compared without loading the learner.)"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from dragoman.contracts import Bitext, DataKind, Work

if TYPE_CHECKING:
    from dragoman.phrases.dictionary import DictionaryTranslator


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Dictionary:
    """Word for word, from a dictionary learnt by counting: seconds to train, the least that a translator must beat."""

    kind: ClassVar[str] = "dictionary"
    data: ClassVar[DataKind] = DataKind.BITEXT
    product: ClassVar[str] = "dragoman.phrases.dictionary:DictionaryTranslator"
    several_processes: ClassVar[bool] = False
    limits: ClassVar[tuple[str, ...]] = ()

    longest: int = Field(default=4, ge=1, le=8, description="Chinese signs that a word may have; 1 = sign by sign")
    min_links: int = Field(default=1, ge=1, description="links that two words need to enter the dictionary")
    drop: float | Literal["fit"] = Field(
        default="fit",
        union_mode="left_to_right",
        description='words linked in less than this share of cases are left out (0 to 1); "fit" chooses on dev',
    )

    def __post_init__(self) -> None:
        if self.drop != "fit" and not 0 <= self.drop <= 1:
            raise ValueError(f"drop={self.drop} is not between 0 and 1")

    def train(self, train: Bitext, dev: Bitext | None, work: Work) -> DictionaryTranslator:
        from dragoman.phrases.dictionary import learn_dictionary

        return learn_dictionary(self, train, dev, work)


DICTIONARY = Dictionary()

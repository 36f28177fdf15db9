"""What does a run know of its data when the files are not at hand?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.contracts import Origin, SentencePair, UserError
from dragoman.system.runs import AnyFacts, DataFacts, TextFacts


@dataclass(frozen=True)
class RememberedBitext:
    """A bitext that knows its length and languages, but holds no pairs."""

    facts: DataFacts

    @property
    def source_language(self) -> str:
        return self.facts.source_language

    @property
    def target_language(self) -> str:
        return self.facts.target_language

    @property
    def fingerprint(self) -> str:
        return self.facts.fingerprint

    def __len__(self) -> int:
        return self.facts.pairs

    def __iter__(self) -> Iterator[SentencePair]:
        raise needed_again(self.facts)


@dataclass(frozen=True)
class RememberedText:
    """A text likewise; all its lines are taken for those of one file."""

    facts: TextFacts

    @property
    def language(self) -> str:
        return self.facts.language

    @property
    def fingerprint(self) -> str:
        return self.facts.fingerprint

    @property
    def lengths(self) -> Sequence[int]:
        return (self.facts.lines,)

    def origin(self, number: int) -> Origin:
        return Origin(self.facts.files, number + 1)

    def __len__(self) -> int:
        return self.facts.lines

    def __iter__(self) -> Iterator[str]:
        raise needed_again(self.facts)


def remembered(facts: AnyFacts) -> RememberedBitext | RememberedText:
    """The data that these facts are of, as far as they tell."""
    return RememberedText(facts) if isinstance(facts, TextFacts) else RememberedBitext(facts)


def needed_again(facts: AnyFacts) -> UserError:
    """What is raised where the content is wanted."""
    return UserError(f"{facts.files or 'the training data'}: needed again to finish this model")

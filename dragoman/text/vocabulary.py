"""How is text cut into whole words, or into characters, of a counted vocabulary?

Plain units for teaching, for statistics and for comparison: what is not in the list is unknown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import regex

from dragoman.contracts import PieceTable, Span
from dragoman.text import pieces
from dragoman.text.normalise import nfc
from dragoman.text.places import decoded_spans, raw_spans, spelt_spans
from dragoman.text.sampling import Texts, sample_texts
from dragoman.text.words import WHITE_SPACE, WORD_PATTERN

_SPACED_WORD = regex.compile(
    rf"{pieces.SPACE}?(?:{pieces.ESCAPED_PATTERN}|(?!{pieces.SPACE})(?:{WORD_PATTERN}))|{pieces.SPACE}|[{WHITE_SPACE}]"
)
_CHARACTER = regex.compile(rf"{pieces.ESCAPED_PATTERN}|.", regex.DOTALL)


def words_of(escaped: str) -> list[str]:
    """The words of a text, one with a space before it (or at the beginning) as `▁word`.

    >>> words_of("so, now")
    ['▁so', ',', '▁now']
    """
    spaced = pieces.SPACE + escaped.replace(" ", pieces.SPACE)
    return _SPACED_WORD.findall(spaced) if escaped else []


def characters_of(escaped: str) -> list[str]:
    """The characters of a text, a space as `▁`."""
    return _CHARACTER.findall(escaped.replace(" ", pieces.SPACE))


@dataclass(frozen=True)
class _ListedSegmenter:
    """A list of units, the most frequent first, that follow the special and the reserved pieces."""

    learnt: tuple[str, ...]
    cut: ClassVar[Callable[[str], list[str]]]
    leads: ClassVar[bool] = False  # is a space put before the text?

    @cached_property
    def pieces(self) -> PieceTable:
        return pieces.piece_table((*pieces.SPECIAL, *pieces.RESERVED, *self.learnt), with_bytes=False)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {unit: index for index, unit in enumerate(self.learnt, start=pieces.FIRST_FREE)}

    def encode(self, texts: Iterable[str], threads: int = 1) -> list[list[int]]:
        """Ids of each text; a unit that is not listed is the unknown one. `threads` changes nothing."""
        return [
            [index for unit in type(self).cut(pieces.escape(nfc(text))) for index in self._ids_of(unit)]
            for text in texts
        ]

    def _ids_of(self, unit: str) -> tuple[int, ...]:
        known = self._ids.get(unit)
        if known is not None:
            return (known,)
        space, word = self._ids.get(unit[0]), self._ids.get(unit[1:])
        if unit[0] == pieces.SPACE and space is not None and word is not None:
            return (space, word)  # listed, but never seen behind a space
        return (pieces.UNKNOWN,)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids; special and reserved pieces, the unknown one among them, are silent."""
        table = self.pieces.pieces
        joined = "".join([table[index] for index in ids if index >= pieces.FIRST_FREE])
        return pieces.unescape(joined.replace(pieces.SPACE, " "))

    def spans(self, ids: Sequence[int]) -> list[Span]:
        """Where each piece stands in `decode(ids)`; silent ones have no width."""
        table = self.pieces.pieces
        spellings = [table[index].encode() if index >= pieces.FIRST_FREE else b"" for index in ids]
        return decoded_spans(spellings, leading_space=self.leads)

    def spans_in(self, text: str, ids: Sequence[int]) -> list[Span]:
        """Where each piece stands in the text itself, of which they were made; unknown units stand there too."""
        spellings = []
        for unit in type(self).cut(pieces.escape(nfc(text))):
            spellings += [unit] if len(self._ids_of(unit)) == 1 else [unit[0], unit[1:]]
        return raw_spans(text, spelt_spans([each.encode() for each in spellings], before=int(self.leads)))

    def to_bytes(self) -> bytes:
        """JSON, the content of a file from which `from_bytes` makes an equal segmenter."""
        return (json.dumps({"pieces": self.learnt}, ensure_ascii=False, indent=0) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Raises ValueError where this is no such list."""
        try:
            learnt = json.loads(content)["pieces"]
        except (KeyError, TypeError) as error:
            raise ValueError("not a vocabulary") from error
        if not isinstance(learnt, list) or not all(isinstance(unit, str) and unit for unit in learnt):
            raise ValueError("not a vocabulary")
        return cls(tuple(learnt))


@dataclass(frozen=True)
class WordSegmenter(_ListedSegmenter):
    """Whole words by `word_spans`: a Chinese sign is a word. Lossless for text of known words."""

    cut: ClassVar[Callable[[str], list[str]]] = staticmethod(words_of)
    leads: ClassVar[bool] = True

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids, without the space that stands before the first word."""
        return super().decode(ids).removeprefix(" ")


@dataclass(frozen=True)
class CharacterSegmenter(_ListedSegmenter):
    """Single characters. Lossless for text of known characters."""

    cut: ClassVar[Callable[[str], list[str]]] = staticmethod(characters_of)


def fit_words(texts: Texts, size: int, *, seed: int = 1) -> tuple[WordSegmenter, list[str]]:
    """The `size` most frequent words; see `_most_frequent` for what is left out. Notes as in subwords."""
    learnt, notes = _most_frequent(texts, words_of, "words", size, seed)
    return WordSegmenter(learnt), notes


def fit_characters(texts: Texts, size: int, *, seed: int = 1) -> tuple[CharacterSegmenter, list[str]]:
    """The `size` most frequent characters; see `_most_frequent` for what is left out."""
    learnt, notes = _most_frequent(texts, characters_of, "characters", size, seed)
    return CharacterSegmenter(learnt), notes


def _most_frequent(
    texts: Texts, cut: Callable[[str], list[str]], name: str, size: int, seed: int
) -> tuple[tuple[str, ...], list[str]]:
    """The space and the most frequent units, `size` pieces at most with the special and reserved ones.

    Units seen once are left out, so that a model meets the unknown piece while it learns; except
    where they are more than half of the running text, as in a handful of lines.
    """
    counts: Counter[str] = Counter()
    for text in sample_texts(texts, seed):
        counts.update(cut(text))
    total = counts.total()
    repeated = {unit: count for unit, count in counts.items() if count > 1}
    eligible = repeated if 2 * sum(repeated.values()) >= total else dict(counts)
    ranked = sorted(eligible, key=lambda unit: (-eligible[unit], unit))
    others = [unit for unit in ranked if unit != pieces.SPACE]
    learnt = (pieces.SPACE, *others[: size - pieces.FIRST_FREE - 1])
    known = sum(counts[unit] for unit in learnt)
    note = f"{len(learnt):,} {name} cover {known / total:.1%} of the running text; any other is unknown"
    return learnt, [note] if known < total else []

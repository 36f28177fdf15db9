"""How does the text of both languages become ids, and how is that kept with a model?"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from dragoman.contracts import Bitext, Progress, UserError, quiet
from dragoman.text.normalise import nfc
from dragoman.text.options import TextOptions, Units, Vocabulary
from dragoman.text.sampling import Texts
from dragoman.text.sentences import split_sentences
from dragoman.text.subwords import SubwordSegmenter, fit_subwords
from dragoman.text.vocabulary import CharacterSegmenter, WordSegmenter, fit_characters, fit_words
from dragoman.text.words import word_spans
from dragoman.whole import write_whole

AnySegmenter = SubwordSegmenter | WordSegmenter | CharacterSegmenter
_CLASSES: dict[str, type[SubwordSegmenter] | type[WordSegmenter] | type[CharacterSegmenter]] = {
    "subwords": SubwordSegmenter,
    "words": WordSegmenter,
    "characters": CharacterSegmenter,
}
_CARD = "text.json"
_MEASURED = 50_000  # source texts whose sentences are counted


@dataclass(frozen=True)
class Pipeline:
    """The segmenters of both sides, one and the same where `joint`.

    sentences: so many sentences stand in at least one of 100 training sources; a line with more was never learnt
    as a whole, even where it is short.
    longest: source pieces that a model has often enough been trained on, see `PairStore.usual_source_length`;
    max_pieces until then. A longer text is better split first (`sentences.cut_long`).
    """

    source: AnySegmenter
    target: AnySegmenter
    joint: bool
    source_language: str
    target_language: str
    longest: int
    sentences: int = 1

    @cached_property
    def fingerprint(self) -> str:
        """Hex digest of what decides on the ids: the segmenters and the languages."""
        digest = hashlib.blake2b(digest_size=16)
        for name in (self.source_language, self.target_language, str(self.joint)):
            digest.update(name.encode() + b"\0")
        for segmenter in (self.source, self.target):
            content = segmenter.to_bytes()
            digest.update(f"{class_name(segmenter)} {len(content)}\0".encode() + content)
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write the vocabularies and, last, text.json into the folder, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        names = {"source": "joint", "target": "joint"} if self.joint else {"source": "source", "target": "target"}
        files = {}
        for side, segmenter in (("source", self.source), ("target", self.target)):
            kind = class_name(segmenter)
            files[side] = f"{names[side]}.{'model' if kind == 'subwords' else 'json'}"
            write_whole(folder / files[side], segmenter.to_bytes())
        card = {
            "source_language": self.source_language,
            "target_language": self.target_language,
            "longest": self.longest,
            "sentences": self.sentences,
            "source": {"units": class_name(self.source), "file": files["source"]},
            "target": {"units": class_name(self.target), "file": files["target"]},
        }
        write_card(folder, card)

    @classmethod
    def load(cls, folder: Path) -> Pipeline:
        """Raises UserError naming the file that is missing or damaged."""
        with reading_card(folder) as card:
            joint = card["source"] == card["target"]
            languages = str(card["source_language"]), str(card["target_language"])
            sides = [(str(card[side]["units"]), str(card[side]["file"])) for side in ("source", "target")]
            longest, sentences = int(card["longest"]), int(card["sentences"])
        source = read_segmenter(folder, *sides[0])
        target = source if joint else read_segmenter(folder, *sides[1])
        return cls(source, target, joint, *languages, longest, sentences)


def unknown_units(
    segmenter: AnySegmenter, texts: Sequence[str]
) -> tuple[Literal["words", "characters"], int, Counter[str]]:
    """What is counted, how many there are, and those that the segmenter has no piece for: words that are not listed,
    or characters that are not listed or spelt by their bytes. White space is not counted."""
    by_words = isinstance(segmenter, WordSegmenter)
    if by_words:
        counts = Counter(text[start:end] for text in map(nfc, texts) for start, end in word_spans(text))
    else:
        counts = Counter(sign for sign in nfc("\n".join(texts)) if not sign.isspace())
    strange = {segmenter.pieces.unknown, *segmenter.pieces.byte_ids}
    encoded = zip(counts, segmenter.encode(list(counts)), strict=True)
    unknown = Counter({unit: counts[unit] for unit, ids in encoded if not strange.isdisjoint(ids)})
    return "words" if by_words else "characters", counts.total(), unknown


def fit_pipeline(
    bitext: Bitext,
    options: TextOptions,
    *,
    threads: int = 0,
    seed: int = 1,
    report: Callable[[Progress], None] = quiet,
) -> Pipeline:
    """Learn the vocabularies from the bitext; what could not be had as asked goes out as notes."""
    report(Progress("vocabulary"))

    def sources() -> Iterator[str]:
        return (pair.source for pair in bitext)

    def targets() -> Iterator[str]:
        return (pair.target for pair in bitext)

    def both() -> Iterator[str]:
        return (text for pair in bitext for text in (pair.source, pair.target))

    def fit(texts: Texts, where: str) -> AnySegmenter:
        segmenter, notes = fit_segmenter(texts, options, threads, seed)
        for note in notes:
            report(Progress("vocabulary", note=where + note))
        return segmenter

    if options.joint:
        source = target = fit(both, "")
    else:
        source = fit(sources, f"{bitext.source_language}: ")
        target = fit(targets, f"{bitext.target_language}: ")
    return Pipeline(
        source,
        target,
        options.joint,
        bitext.source_language,
        bitext.target_language,
        longest=options.max_pieces,
        sentences=_usual_sentences(islice(sources(), _MEASURED)),
    )


def _usual_sentences(texts: Iterator[str]) -> int:
    """How many sentences at least one text in 100 has; 1 where there are no texts."""
    counts = sorted(sum(1 for part in split_sentences(text) if part.text) for text in texts)
    return max(1, counts[-1 - len(counts) // 100]) if counts else 1


def fit_segmenter(texts: Texts, options: Vocabulary, threads: int, seed: int) -> tuple[AnySegmenter, list[str]]:
    """Learn a vocabulary, and say in notes what could not be had as asked."""
    units: Units = options.units
    if units == "words":
        return fit_words(texts, options.pieces, seed=seed)
    if units == "characters":
        return fit_characters(texts, options.pieces, seed=seed)
    return fit_subwords(texts, options.pieces, units, threads=threads, seed=seed, coverage=options.coverage)


def class_name(segmenter: AnySegmenter) -> str:
    """What a model folder calls its units: "subwords", "words", "characters"."""
    return next(name for name, cls in _CLASSES.items() if isinstance(segmenter, cls))


def read_segmenter(folder: Path, units: str, name: str) -> AnySegmenter:
    """The segmenter in a file of the folder; UserError where it is missing or damaged."""
    path = folder / Path(name).name
    try:
        return _CLASSES[units].from_bytes(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except KeyError as error:
        raise UserError(f"{folder / _CARD}: units {units!r} are unknown to this program") from error
    except ValueError as error:
        raise UserError(f"{path}: damaged: {error}") from error


def write_card(folder: Path, card: Mapping[str, object]) -> None:
    """Write text.json, which tells what the other files are."""
    text = json.dumps({"format": 1, **card}, ensure_ascii=False, indent=2)
    write_whole(folder / _CARD, f"{text}\n")


@contextmanager
def reading_card(folder: Path) -> Iterator[dict[str, Any]]:
    """What text.json says. UserError naming it where it is missing, or does not hold what the block looks for."""
    path = folder / _CARD
    try:
        card = json.loads(path.read_bytes())
        if card["format"] != 1:
            raise UserError(f"{path}: format {card['format']} is newer than this program")
        yield card
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: damaged") from error

"""How is any text cut into pieces of a fixed vocabulary, and put together again without loss?

Kudo 2018 (unigram) and Sennrich et al. 2016 (BPE), both by sentencepiece. What no piece covers is
spelt by its UTF-8 bytes, so nothing is unknown.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import sentencepiece

from dragoman.contracts import PieceTable, Span, UserError
from dragoman.text import pieces
from dragoman.text.normalise import nfc
from dragoman.text.places import decoded_spans, raw_spans
from dragoman.text.sampling import Texts, sample_texts

Method = Literal["unigram", "bpe"]
SMALLEST = 400
_FIRST_LEARNT = pieces.FIRST_FREE + 256
# sentencepiece's trainer never joins text across a tab, and leaves out lines with NUL or U+2585.
_BOUNDARY = "\t"
_NOT_TRAINABLE = ("\0", "\u2585", _BOUNDARY)


@dataclass(frozen=True)
class SubwordSegmenter:
    """A sentencepiece model, `model` being the bytes of its file, behind the `Segmenter` protocol.

    `decode(encode([x])[0]) == NFC(x)` for every x without line ends and lone surrogates.
    """

    model: bytes

    @cached_property
    def _processor(self) -> sentencepiece.SentencePieceProcessor:
        return sentencepiece.SentencePieceProcessor(model_proto=self.model)

    @cached_property
    def pieces(self) -> PieceTable:
        """Its pieces; the 256 bytes stand right behind the reserved ones."""
        processor = self._processor
        names = [processor.id_to_piece(index) for index in range(processor.get_piece_size())]
        return pieces.piece_table(names, with_bytes=True)

    @cached_property
    def _spellings(self) -> tuple[bytes, ...]:
        """The UTF-8 bytes that each id stands for; special and reserved ids stand for none."""
        silent = [b""] * pieces.FIRST_FREE
        bytes_alone = [bytes([byte]) for byte in range(256)]
        learnt = [piece.encode() for piece in self.pieces.pieces[_FIRST_LEARNT:]]
        return (*silent, *bytes_alone, *learnt)

    def encode(self, texts: Iterable[str], threads: int = 1) -> list[list[int]]:
        """Ids of each text; NFC is applied here. The result does not depend on `threads`."""
        prepared = [pieces.escape(nfc(text)) for text in texts]
        return self._processor.encode(prepared, num_threads=max(threads, 1)) if prepared else []

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids; bytes that are not UTF-8 are dropped."""
        spellings = self._spellings
        text = b"".join([spellings[index] for index in ids]).decode("utf-8", errors="ignore")
        return pieces.unescape(text.replace(pieces.SPACE, " ").removeprefix(" "))

    def spans(self, ids: Sequence[int]) -> list[Span]:
        """Where each piece stands in `decode(ids)`."""
        return decoded_spans([self._spellings[index] for index in ids], leading_space=True)

    def spans_in(self, text: str, ids: Sequence[int]) -> list[Span]:
        """Where each piece stands in the text itself, of which they were made: encoding loses nothing but NFC."""
        return raw_spans(text, self.spans(ids))

    def to_bytes(self) -> bytes:
        """The content of a file from which `from_bytes` makes an equal segmenter."""
        return self.model

    @classmethod
    def from_bytes(cls, content: bytes) -> SubwordSegmenter:
        """Raises ValueError where this is no sentencepiece model, or one with other special ids."""
        segmenter = cls(content)
        try:
            names = segmenter.pieces.pieces[:_FIRST_LEARNT]
        except Exception as error:  # sentencepiece raises whatever its C++ side threw
            raise ValueError("not a sentencepiece model") from error
        if names != (*pieces.SPECIAL, *pieces.RESERVED, *pieces.BYTE_PIECES):
            raise ValueError("a sentencepiece model with other special pieces")
        return segmenter


def fit_subwords(
    texts: Texts, size: int, method: Method = "unigram", *, threads: int = 0, seed: int = 1, coverage: float = 0.9995
) -> tuple[SubwordSegmenter, list[str]]:
    """Learn about `size` pieces from the texts, and say in notes what could not be had.

    coverage: share of running characters that become pieces of their own, the rest is spelt by
    bytes; lowered where these characters alone would fill the vocabulary. A corpus too small for
    `size` gives fewer pieces. The same texts, settings and threads give the same model. Raises
    UserError for a size below 400 and for texts that are all blank.
    """
    if size < SMALLEST:
        raise UserError(f"a subword vocabulary needs at least {SMALLEST} pieces, not {size}")
    sample = sample_texts(texts, seed)
    counts = Counter({pieces.SPACE: len(sample)})
    for text in sample:
        counts.update(text.replace(" ", pieces.SPACE))
    kept, wanted = _common_characters(counts, coverage, size - _FIRST_LEARNT - 1)  # the tab is one
    notes = []
    if len(kept) < wanted:
        notes.append(
            f"{size:,} pieces have room for {len(kept):,} of {wanted:,} characters: the rarest are spelt by bytes"
        )
    rare = dict.fromkeys(map(ord, counts.keys() - kept), _BOUNDARY)
    segmenter = SubwordSegmenter(_train((text.translate(rare) for text in sample), size, method, threads))
    if len(segmenter.pieces) < size:
        notes.append(
            f"a vocabulary of {len(segmenter.pieces):,} pieces, not {size:,}: the corpus is too small for more"
        )
    return segmenter, notes


def _common_characters(counts: Counter[str], coverage: float, room: int) -> tuple[set[str], int]:
    """The most frequent characters that make up `coverage` of the text, at most `room`; and how many would.

    The space is always one of them, for the trainer puts one before every text.
    """
    for sign in _NOT_TRAINABLE:
        del counts[sign]
    total, covered, common = counts.total(), 0, []
    for character in sorted(counts, key=lambda sign: (sign != pieces.SPACE, -counts[sign], sign)):
        if covered >= coverage * total:
            break
        covered += counts[character]
        common.append(character)
    return set(common[:room]), len(common)


def _train(sample: Iterator[str], size: int, method: Method, threads: int) -> bytes:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sample,
        model_writer=model,
        model_type=method,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,  # rare characters have been taken out
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=True,
        byte_fallback=True,
        split_digits=True,
        pad_id=pieces.PADDING,
        unk_id=pieces.UNKNOWN,
        bos_id=pieces.START,
        eos_id=pieces.END,
        pad_piece=pieces.SPECIAL[pieces.PADDING],
        unk_piece=pieces.SPECIAL[pieces.UNKNOWN],
        bos_piece=pieces.SPECIAL[pieces.START],
        eos_piece=pieces.SPECIAL[pieces.END],
        control_symbols=list(pieces.RESERVED),
        max_sentence_length=1 << 24,
        num_threads=threads or 4,  # not the number of cores: the sums, hence the model, depend on it
        minloglevel=2,
    )
    return model.getvalue()

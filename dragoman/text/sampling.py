"""Which texts does a vocabulary learn from, where there are too many?"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from dragoman.contracts import UserError
from dragoman.text.normalise import nfc, one_line
from dragoman.text.pieces import escape

SAMPLE_LINES = 1_000_000
SAMPLE_CHARACTERS = 10_000_000

Texts = Callable[[], Iterator[str]]


def sample_texts(texts: Texts, seed: int, lines: int = SAMPLE_LINES, characters: int = SAMPLE_CHARACTERS) -> list[str]:
    """About as many lines and characters as allowed, drawn evenly and in order; all when they are few.

    The lines come back in NFC, on one line each, with U+2581 escaped. `texts` is walked twice. The
    same texts and seed give the same sample. Raises UserError when there is nothing but blank text.
    """
    line_count = character_count = 0
    for text in texts():
        line_count += 1
        character_count += len(text)
    share = min(1.0, lines / max(line_count, 1), characters / max(character_count, 1))
    draw = random.Random(seed)
    chosen = (text for text in texts() if share == 1.0 or draw.random() < share)
    sample = [escape(nfc(one_line(text))) for text in chosen if text.strip()]
    if not sample:
        raise UserError("there is no text to learn a vocabulary from")
    return sample

"""What signs is a text made of: letters of which script, digits, punctuation, and how many units of length?

Many texts are looked at in one go: their signs stand in one array of code points, a table says the class of each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import regex
from numpy.typing import NDArray

from dragoman.corpus.languages import parse_language

SCRIPTS = (
    "Latin",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Bopomofo",
    "Cyrillic",
    "Greek",
    "Armenian",
    "Georgian",
    "Arabic",
    "Hebrew",
    "Syriac",
    "Thaana",
    "Devanagari",
    "Bengali",
    "Gurmukhi",
    "Gujarati",
    "Oriya",
    "Tamil",
    "Telugu",
    "Kannada",
    "Malayalam",
    "Sinhala",
    "Thai",
    "Lao",
    "Khmer",
    "Myanmar",
    "Tibetan",
    "Ethiopic",
    "Cherokee",
    "Mongolian",
    "Nko",
    "Tifinagh",
    "Ol_Chiki",
    "Canadian_Aboriginal",
)
"""Of letters and the marks on them, by their Unicode names. Letters of any other script are OTHER, marks and joiners
that several scripts share are MARK."""

UNSPACED = {
    "Han": 1.5,
    "Hiragana": 2.0,
    "Katakana": 3.5,
    "Bopomofo": 3.0,
    "Thai": 4.5,
    "Lao": 4.5,
    "Khmer": 5.0,
    "Myanmar": 5.0,
    "Tibetan": 4.0,
}
"""Written without a space between words: each letter is a unit of length. Letters and marks of a word, about."""

SPACE, DIGIT, PUNCTUATION, ODD, MARK, OTHER = range(6)
FIRST_SCRIPT = 6
CLASSES = FIRST_SCRIPT + len(SCRIPTS)
NEW = 255  # nobody met it yet

# What has no place in a text: controls, private use, unassigned, half of a pair, marks of lost signs.
ODD_PATTERN = r"[[\p{Cc}\p{Co}\p{Cn}\p{Cs}\uFFFD\uFEFF]--[\s\x1c-\x1f]]+"

# Scripts of languages that are not (only) written in Latin letters; a script in the code (sr-Latn) comes first.
_SCRIPTS_OF = {
    script: languages.split()
    for script, languages in {
        "Cyrillic": "ab av ba be bg bua ce chm crh cv kbd kk kum ky lez mk mn myv os rue ru sah sr tg tt tyv udm uk",
        "Greek": "el grc",
        "Armenian": "hy hyw",
        "Georgian": "ka xmf",
        "Arabic": "ar arz ary azb ckb fa glk ks lrc mzn ps sd skr ug ur",
        "Hebrew": "he yi lad",
        "Syriac": "arc syr",
        "Thaana": "dv",
        "Devanagari": "awa bho brx doi gom hi kok mai mr ne new sa",
        "Bengali": "as bn bpy mni",
        "Gurmukhi": "pa",
        "Gujarati": "gu",
        "Oriya": "or",
        "Tamil": "ta",
        "Telugu": "te",
        "Kannada": "kn tcy",
        "Malayalam": "ml",
        "Sinhala": "si",
        "Thai": "th",
        "Lao": "lo",
        "Khmer": "km",
        "Myanmar": "my shn mnw",
        "Tibetan": "bo dz",
        "Ethiopic": "am ti gez",
        "Cherokee": "chr",
        "Nko": "nqo",
        "Tifinagh": "zgh",
        "Ol_Chiki": "sat",
        "Canadian_Aboriginal": "iu cr",
    }.items()
}
_SEVERAL = {
    "zh": ("Han", "Bopomofo"),
    "yue": ("Han", "Bopomofo"),
    "wuu": ("Han",),
    "gan": ("Han",),
    "hak": ("Han", "Latin"),
    "nan": ("Han", "Latin"),
    "lzh": ("Han",),
    "ja": ("Han", "Hiragana", "Katakana"),
    "ko": ("Hangul", "Han"),
    **dict.fromkeys(("sr", "bs", "uz", "az", "tk", "crh", "ro"), ("Cyrillic", "Latin")),
    "kk": ("Cyrillic", "Latin", "Arabic"),
    "ky": ("Cyrillic", "Arabic"),
    "tt": ("Cyrillic", "Latin"),
    "mn": ("Cyrillic", "Mongolian"),
    "ku": ("Latin", "Arabic"),
    "pa": ("Gurmukhi", "Arabic"),
    "sd": ("Arabic", "Devanagari"),
    "ks": ("Arabic", "Devanagari"),
    "ms": ("Latin", "Arabic"),
    "ha": ("Latin", "Arabic"),
    "iu": ("Canadian_Aboriginal", "Latin"),
    "mni": ("Bengali", "Latin"),
}
_BY_CODE = {
    "Latn": ("Latin",),
    "Cyrl": ("Cyrillic",),
    "Arab": ("Arabic",),
    "Deva": ("Devanagari",),
    "Mong": ("Mongolian",),
    "Grek": ("Greek",),
    "Hebr": ("Hebrew",),
    "Beng": ("Bengali",),
    "Guru": ("Gurmukhi",),
    "Tibt": ("Tibetan",),
    "Cans": ("Canadian_Aboriginal",),
    "Tfng": ("Tifinagh",),
}


def scripts_of(language: str) -> tuple[str, ...]:
    """The scripts that a language is written in: Latin where nothing else is known of a code of two letters; of a code
    of three letters nobody knows, and it may be any.

    >>> scripts_of("zh-TW"), scripts_of("ru"), scripts_of("sr-Latn"), scripts_of("yo"), scripts_of("xyz") == SCRIPTS
    (('Han', 'Bopomofo'), ('Cyrillic',), ('Latin',), ('Latin',), True)
    """
    parsed = parse_language(language)
    if parsed.script in _BY_CODE:
        return _BY_CODE[parsed.script]
    if parsed.language in _SEVERAL:
        return _SEVERAL[parsed.language]
    unknown = ("Latin",) if len(parsed.language) == 2 else SCRIPTS
    return next(((script,) for script, languages in _SCRIPTS_OF.items() if parsed.language in languages), unknown)


def classes_of(points_M: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The class of each code point; found when it is first met."""
    table = _class_table()
    classes_M = table[points_M]
    new = np.unique(points_M[classes_M == NEW])
    if len(new):
        table[new] = OTHER
        signs = "".join(map(chr, new.tolist()))
        for number, pattern in _patterns():
            for run in pattern.finditer(signs):
                table[new[run.start() : run.end()]] = number
        classes_M = table[points_M]
    return classes_M


@cache
def _class_table() -> NDArray[np.uint8]:
    return np.full(sys.maxunicode + 1, NEW, dtype=np.uint8)


@cache
def _patterns() -> list[tuple[int, regex.Pattern[str]]]:
    """What the signs of each class look like; a later one has precedence."""
    patterns = {SPACE: r"[\s\x1c-\x1f]+", DIGIT: r"\p{Nd}+", PUNCTUATION: r"[\p{P}\p{S}--\uFFFD]+"}
    patterns |= {MARK: r"[\p{M}\p{Cf}]+", ODD: ODD_PATTERN}
    names = enumerate(SCRIPTS, FIRST_SCRIPT)
    patterns |= {number: rf"[\p{{Script={name}}}&&[\p{{L}}\p{{M}}]]+" for number, name in names}
    return [(number, regex.compile(pattern, regex.VERSION1)) for number, pattern in patterns.items()]


def class_of(script: str) -> int:
    """The number of a script's class."""
    return FIRST_SCRIPT + SCRIPTS.index(script)


@dataclass(frozen=True)
class Signs:
    """The signs of N texts: M of them in all, one text after another."""

    texts: Sequence[str]

    @cached_property
    def lengths_N(self) -> NDArray[np.int64]:
        """Characters of each text."""
        return np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))

    @cached_property
    def points_M(self) -> NDArray[np.uint32]:
        """Code points."""
        return np.frombuffer("".join(self.texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")

    @cached_property
    def classes_M(self) -> NDArray[np.uint8]:
        return classes_of(self.points_M)

    @cached_property
    def rows_M(self) -> NDArray[np.int64]:
        """Which text each sign stands in."""
        return np.repeat(np.arange(len(self.texts)), self.lengths_N)

    @cached_property
    def ends_N(self) -> NDArray[np.int64]:
        """The place behind the last sign of each text."""
        return np.cumsum(self.lengths_N)

    def rows_with(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which texts have one of these places among the M signs."""
        found_N = np.zeros(len(self.texts), dtype=bool)
        found_N[np.searchsorted(self.ends_N, places, side="right")] = True
        return found_N

    def count(self, wanted_M: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of these signs each text has."""
        sums_M = np.zeros(len(wanted_M) + 1, dtype=np.int32)
        np.cumsum(wanted_M, dtype=np.int32, out=sums_M[1:])
        until_N = sums_M[self.ends_N].astype(np.int64)
        until_N[1:] -= until_N[:-1].copy()
        return until_N

    @cached_property
    def counts_NC(self) -> NDArray[np.int64]:
        """How many signs of each class each text has."""
        places_M = self.rows_M * CLASSES + self.classes_M
        return np.bincount(places_M, minlength=len(self.texts) * CLASSES).reshape(-1, CLASSES)

    @cached_property
    def letters_N(self) -> NDArray[np.int64]:
        """Letters of any script, with the marks that only it has; whatever has no class of its own too."""
        counts_N: NDArray[np.int64] = self.counts_NC[:, OTHER:].sum(1)
        return counts_N

    def of_scripts(self, scripts: Sequence[str]) -> NDArray[np.int64]:
        """Letters of these scripts, N."""
        counts_N: NDArray[np.int64] = self.counts_NC[:, [class_of(script) for script in scripts]].sum(1)
        return counts_N

    @cached_property
    def stretches_M(self) -> NDArray[np.bool_]:
        """Where a stretch begins that has neither white space nor UNSPACED letters in it."""
        stretches_M = self.inside_M.copy()
        stretches_M[1:] &= ~self.inside_M[:-1]
        firsts = (self.ends_N - self.lengths_N)[self.lengths_N > 0]
        stretches_M[firsts] = self.inside_M[firsts]
        return stretches_M

    @cached_property
    def inside_M(self) -> NDArray[np.bool_]:
        """What is neither white space nor an UNSPACED letter."""
        inside_M: NDArray[np.bool_] = (self.classes_M != SPACE) & ~self.unspaced_M
        return inside_M

    @cached_property
    def starts_M(self) -> NDArray[np.bool_]:
        """Where a word begins: a stretch, but for punctuation right behind an UNSPACED letter of its text."""
        if not self.unspaced_M.any():
            return self.stretches_M
        readable_M = (self.classes_M == DIGIT) | (self.classes_M >= FIRST_SCRIPT)
        glued_M = np.zeros(len(readable_M), dtype=bool)
        glued_M[1:] = self.unspaced_M[:-1] & (self.rows_M[1:] == self.rows_M[:-1]) & ~readable_M[1:]
        starts_M: NDArray[np.bool_] = self.stretches_M & ~glued_M
        return starts_M

    @cached_property
    def unspaced_M(self) -> NDArray[np.bool_]:
        """Letters of scripts without spaces between words."""
        return _unspaced()[self.classes_M]

    @cached_property
    def units_N(self) -> NDArray[np.int64]:
        """Length in words, or in letters where a script has no spaces between words.

        "two words, really" has 3 units, "我用 numpy 写" 4, "ไทย" 3.
        """
        return self.count(self.unspaced_M | self.starts_M)

    @cached_property
    def words_N(self) -> NDArray[np.float64]:
        """Length in words, which letters of UNSPACED scripts are parts of."""
        words_N = self.count(self.starts_M).astype(np.float64)
        for script, letters in UNSPACED.items():
            words_N += self.counts_NC[:, class_of(script)] / letters
        return words_N

    @cached_property
    def longest_word_N(self) -> NDArray[np.int64]:
        """Characters of the longest stretch."""
        longest_N = np.zeros(len(self.texts), dtype=np.int64)
        starts_W = np.flatnonzero(self.stretches_M)
        if len(starts_W):
            last_M = self.inside_M.copy()
            last_M[:-1] &= ~self.inside_M[1:] | self.stretches_M[1:]
            lengths_W = np.flatnonzero(last_M) - starts_W + 1
            rows_W = np.searchsorted(self.ends_N, starts_W, side="right")
            firsts = np.flatnonzero(np.diff(rows_W, prepend=-1))
            longest_N[rows_W[firsts]] = np.maximum.reduceat(lengths_W, firsts)
        return longest_N


def are_unspaced(points_M: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which code points are letters of UNSPACED scripts."""
    return _unspaced()[classes_of(points_M)]


@cache
def _unspaced() -> NDArray[np.bool_]:
    """Whether a class is a script without spaces between words."""
    table = np.zeros(CLASSES, dtype=bool)
    table[[class_of(script) for script in UNSPACED]] = True
    return table

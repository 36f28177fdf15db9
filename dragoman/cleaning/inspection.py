"""What is in a bitext, and what looks wrong with it?

One walk counts lengths, scripts, repeated and odd texts, and lets the cleaner say what it would leave out; of some
texts the language is guessed.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from dragoman.cleaning.beyond import FEWEST_WORDS
from dragoman.cleaning.cleaner import CLEANING, Cleaner, CleaningRecipe, CleaningReport
from dragoman.cleaning.guessing import guessed
from dragoman.cleaning.normalising import is_mojibake, looks_like_mojibake, repaired
from dragoman.cleaning.reports import commonest_first
from dragoman.cleaning.scripts import SCRIPTS, scripts_of
from dragoman.cleaning.signs import MARK, ODD, OTHER, SPACE, Signs
from dragoman.corpus.languages import parse_language
from dragoman.corpus.rows import Rows, without_faults
from dragoman.processes import Worker

LONGEST = 1000  # units; longer texts count as so long
DRAWN = 100  # units of the picture of both lengths
SAMPLED = 500  # texts of a side whose language is guessed
SELDOM = 3  # a sign that occurs less often is hardly learnt

Counts = NDArray[np.int64]

# Code points that surprise, by what a reader would call them.
_ODDITIES = {
    "control characters": r"[\p{Cc}--[\s\x1c-\x1f]]",
    "lost signs (U+FFFD)": r"\uFFFD",
    "private use": r"\p{Co}",
    "unassigned": r"\p{Cn}",
    "byte order marks": r"\uFEFF",
    "invisible signs": r"[\u200B\u2060\u00AD]",
    "spaces that are not plain": r"[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]",
    "line separators": r"[\u2028\u2029\x85\x0A-\x0D\x1C-\x1F]",
}
_KINDS = {name: regex.compile(pattern, regex.VERSION1) for name, pattern in _ODDITIES.items()}

# Common characters that only one of the two ways to write Chinese has.
TRADITIONAL = regex.compile(
    "[們這個來時對會為說國過學裡後麼還沒見長開關東車馬門問間無點電話語請謝讓應該錢買賣寫讀書聽覺認識記計動進從與將現發經業務當實區點體"
    "處產種機義議題員總變條輕難離歡類頭顯驗願項順須預領頻顧飛飯飲館魚鳥麗黃龍親觀視覽計訂訊訓設許評試詞詢詳誤調談論證護豐負財貨責費資質輸達運遠選遲邊錯鐘鐵長陽際險雖雙雜雲靜響頁]"
)
SIMPLIFIED = regex.compile(
    "[们这个来时对会为说国过学么还没见长开关东车马门问间无点电话语请谢让应该钱买卖写读书听觉认识记计动进从与将现发经业务当实区点体"
    "处产种机义议题员总变条轻难离欢类头显验愿项顺须预领频顾飞饭饮馆鱼鸟丽黄龙亲观视览计订讯训设许评试词询详误调谈论证护负财货责费资质输达运远选迟边错钟铁长阳际险虽双杂静响页]"
)
_OTHER_CHARACTERS = {"zh-Hans": TRADITIONAL, "zh-Hant": SIMPLIFIED}


@dataclass
class Side:
    """What is known of the texts of one language.

    lengths_L: how many have so many units. signs_P: how often each code point occurs. oddities: texts by what is odd
    in them. guessed: texts of the sample by the language that they look like.
    """

    language: str
    lengths_L: Counts = field(default_factory=lambda: np.zeros(LONGEST + 1, dtype=np.int64))
    signs_P: Counts = field(default_factory=lambda: np.zeros(sys.maxunicode + 1, dtype=np.int64))
    classes_C: Counts | int = 0
    oddities: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    drawn: int = 0
    draws: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))
    guessed: Counter[str] = field(default_factory=Counter)

    def add(self, signs: Signs) -> None:
        """Count some texts."""
        self.lengths_L += np.bincount(np.minimum(signs.units_N, LONGEST), minlength=LONGEST + 1)
        counts = np.bincount(signs.points_M)
        self.signs_P[: len(counts)] += counts
        self.classes_C = self.classes_C + signs.counts_NC.sum(0)
        for row in np.flatnonzero(_may_be_odd(signs)).tolist():
            self.oddities.update(name for name, pattern in _KINDS.items() if pattern.search(signs.texts[row]))
        chinese = _OTHER_CHARACTERS.get(str(parse_language(self.language))[:7])
        if chinese:
            name = f"{'simplified' if chinese is SIMPLIFIED else 'traditional'} characters"
            self.oddities[name] += sum(chinese.search(text) is not None for text in signs.texts)
        others = (text for text in signs.texts if not text.isascii())
        self.oddities["not composed (NFC)"] += sum(not unicodedata.is_normalized("NFC", text) for text in others)
        broken = (signs.texts[row] for row in np.flatnonzero(looks_like_mojibake(signs)).tolist())
        self.oddities["mojibake"] += sum(is_mojibake(text) or repaired(text) != text for text in broken)
        self.draw([signs.texts[row] for row in np.flatnonzero(signs.words_N >= FEWEST_WORDS).tolist()])

    def draw(self, texts: Sequence[str]) -> None:
        """Take texts into the sample, each with the same chance as all before it."""
        drawn_N = self.drawn + 1 + np.arange(len(texts))
        places_N = (self.draws.random(len(texts)) * drawn_N).astype(np.int64)
        self.drawn += len(texts)
        for row in np.flatnonzero((places_N < SAMPLED) | (drawn_N <= SAMPLED)).tolist():
            place = len(self.sample) if len(self.sample) < SAMPLED else int(places_N[row])
            self.sample[place : place + 1] = [texts[row]]

    def guess(self) -> None:
        """The language of each sampled text."""
        self.guessed = Counter(map(guessed, self.sample))

    def figures(self) -> dict[str, Any]:
        """For a reader and for a program; shares from 0 to 1, the commonest first."""
        letters_S = np.atleast_1d(self.classes_C)[OTHER:]
        names = ("other", *SCRIPTS)
        scripts = Counter({name: int(count) for name, count in zip(names, letters_S, strict=False) if count})
        total = max(scripts.total(), 1)
        foreign = sum(count for name, count in scripts.items() if name not in scripts_of(self.language))
        seldom_P = (self.signs_P > 0) & (self.signs_P < SELDOM)
        code = parse_language(self.language).language
        return {
            "language": self.language,
            "length": lengths(self.lengths_L),
            "texts_by_length": np.trim_zeros(self.lengths_L, "b").tolist(),
            "characters": int(self.signs_P.sum()),
            "different_characters": int((self.signs_P > 0).sum()),
            "seldom_characters": int(seldom_P.sum()),
            "scripts": {name: count / total for name, count in scripts.most_common()},
            "letters_of_other_scripts": foreign / total,
            "looks_like": {name: count / len(self.sample) for name, count in self.guessed.most_common(5)},
            "looks_like_declared": self.guessed[code] / max(len(self.sample), 1),
            "odd_texts": {name: count for name, count in self.oddities.most_common() if count},
        }


def _may_be_odd(signs: Signs) -> NDArray[np.bool_]:
    """Whether a text has a sign of a class that _ODDITIES are of, a plain space apart."""
    classes_K = signs.classes_M[signs.others_K]
    spaces_K = (classes_K == SPACE) & (signs.points_M[signs.others_K] != ord(" "))
    return signs.rows_with(signs.others_K[spaces_K | (classes_K == ODD) | (classes_K == MARK)])


@dataclass
class Inspection:
    """What is in a bitext. both_LL: pairs by the units of source and target, up to DRAWN. files: records of each."""

    source: Side
    target: Side
    cleaning: CleaningReport
    both_LL: Counts = field(default_factory=lambda: np.zeros((DRAWN + 1, DRAWN + 1), dtype=np.int64))
    files: Counter[str] = field(default_factory=Counter)

    def add(self, rows: Rows) -> None:
        """Count some records; those that are no pairs only by their file."""
        self.files[rows.file] += len(rows)
        one, other = Signs(without_faults(rows.sources, rows.faults)), Signs(without_faults(rows.targets, rows.faults))
        self.source.add(one)
        self.target.add(other)
        places_N = np.minimum(one.units_N, DRAWN) * (DRAWN + 1) + np.minimum(other.units_N, DRAWN)
        self.both_LL += np.bincount(places_N, minlength=self.both_LL.size).reshape(self.both_LL.shape)

    def figures(self) -> dict[str, Any]:
        """Everything that was found, for a program."""
        report = self.cleaning
        return {
            "records": report.total,
            "files": dict(self.files),
            "source": self.source.figures(),
            "target": self.target.figures(),
            "again": report.again,
            "cleaning_would_keep": report.kept,
            "cleaning_would_reject": commonest_first(report.rejected),
            "cleaning_would_change": report.changed,
            "suspicious": [
                {"reason": one.reason, **one.to_json()} for samples in report.samples.values() for one in samples
            ],
        }


def lengths(counts_L: Counts) -> dict[str, float]:
    """Mean, longest, and what 5, 50, 95 and 99 of 100 texts do not exceed.

    >>> lengths(np.array([0, 1, 2, 1]))["mean"]
    2.0
    """
    total = int(counts_L.sum())
    if not total:
        return {}
    sums_L = np.cumsum(counts_L)
    parts = {f"p{part}": float(np.searchsorted(sums_L, part / 100 * total)) for part in (5, 50, 95, 99)}
    mean = float((counts_L * np.arange(len(counts_L))).sum() / total)
    return {"mean": mean, **parts, "longest": float(np.flatnonzero(counts_L)[-1])}


def inspect(
    walked: Iterable[Rows],
    languages: tuple[str, str],
    recipe: CleaningRecipe = CLEANING,
    held_out: frozenset[int] = frozenset(),
    crew: Sequence[Worker] = (),
) -> Inspection:
    """Walk the rows once. crew: see `Cleaner`."""
    cleaner = Cleaner(recipe, languages, held_out, crew=crew)
    found = Inspection(Side(languages[0]), Side(languages[1]), cleaner.report)
    for settled in cleaner.settled(walked):
        found.add(settled.rows)
    found.source.guess()
    found.target.guess()
    return found

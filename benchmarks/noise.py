"""What does cleaning catch of a corpus that was spoilt on purpose, and what does it cost of a clean one?

python -m benchmarks.noise CORPUS [SHARE]: takes the training pairs of a corpus (benchmarks/corpora.py), spoils SHARE
(0.3) of them, evenly in the ways of KINDS, and cleans them with the default recipe. Recall: how many of the spoilt
pairs of a kind were rejected, or put right. Precision: how many of those that were rejected for a reason had been
spoilt. Last the pairs of the corpus as it is that cleaning rejects.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.corpora import CORPORA, Corpus
from benchmarks.steps import Result, step, table
from dragoman.cleaning.cleaner import CLEANING, Cleaner, Rejected
from dragoman.contracts import Origin, Record, SentencePair
from dragoman.corpus.formats import open_bitext
from dragoman.corpus.records import record_of

Pair = tuple[str, str]
Spoil = Callable[[Pair, Sequence[Pair], random.Random], Pair | None]
"""A pair spoilt, with the help of others before it that are not; None where this one cannot be spoilt so."""

CYRILLIC = "абвгдежзиклмнопрстуфхцчшщыэюя"


def copied(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair | None:
    """The source stands on both sides."""
    return (pair[0], pair[0]) if len(pair[0]) > 12 else None


def in_another_script(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """The target is of made-up Cyrillic words."""
    words = ("".join(draws.choices(CYRILLIC, k=draws.randint(2, 9))) for _ in range(draws.randint(3, 12)))
    return pair[0], " ".join(words)


def swapped(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """Source and target have changed places."""
    return pair[1], pair[0]


def cut_short(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair | None:
    """Only the first tenth of a long target is left."""
    return (pair[0], pair[1][: max(1, len(pair[1]) // 10)]) if len(pair[0].split()) > 12 or len(pair[0]) > 60 else None


def glued(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """The target goes on with those of six other pairs."""
    return pair[0], " ".join([pair[1], *(draws.choice(pairs)[1] for _ in range(6))])


def mojibake(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair | None:
    """The UTF-8 of a side was read as Windows-1252."""
    for place in draws.sample((0, 1), 2):
        if not pair[place].isascii():
            spoilt = pair[place].encode().decode("cp1252", errors="replace")
            return (spoilt, pair[1]) if place == 0 else (pair[0], spoilt)
    return None


def other_number(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """Each side ends in a number of its own."""
    one, other = draws.sample(range(101, 9999), 2)
    return f"{pair[0]} {one}", f"{pair[1]} {other}"


def repeated(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """A pair that stands elsewhere too, in other case and punctuation."""
    one, other = draws.choice(pairs)
    return one.upper().rstrip(".!?。！？") + " !", other


def looping(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """The target says its end eight times."""
    words = pair[1].split()
    last = words[-1] if len(words) > 1 else pair[1][-3:]
    return pair[0], pair[1] + (f" {last}" if len(words) > 1 else last) * 8


def with_controls(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """A side has a control, a private or a lost sign in it."""
    place = draws.randrange(len(pair[1]) + 1)
    return pair[0], pair[1][:place] + draws.choice("\x01\x08\x7f\ue000\ufffd") + pair[1][place:]


def signs_alone(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """The target is punctuation and digits."""
    return pair[0], "".join(draws.choices("0123456789-=/.,:;()*#|_", k=max(8, len(pair[1]))))


def shifted(pair: Pair, pairs: Sequence[Pair], draws: random.Random) -> Pair:
    """The target belongs to another pair: without a model of both languages nobody can tell."""
    return pair[0], draws.choice(pairs)[1]


KINDS: dict[str, Spoil] = {
    "copied": copied,
    "in another script": in_another_script,
    "sides swapped": swapped,
    "cut short": cut_short,
    "glued": glued,
    "mojibake": mojibake,
    "other number": other_number,
    "repeated": repeated,
    "looping": looping,
    "controls": with_controls,
    "signs alone": signs_alone,
    "shifted": shifted,
}
NEEDS_A_MODEL = ("shifted",)


def spoilt(pairs: Sequence[Pair], share: float, seed: int = 1) -> tuple[list[Pair], dict[int, str], dict[int, Pair]]:
    """The pairs, some of them spoilt; at which places and how; and what stood there."""
    draws = random.Random(seed)
    places = draws.sample(range(len(pairs)), round(share * len(pairs)))
    found, kinds, before = list(pairs), dict[int, str](), dict[int, Pair]()
    names = list(KINDS)
    chosen = set(places)
    untouched = [place for place in range(len(pairs)) if place not in chosen]
    for number, place in enumerate(places):
        kind = names[number % len(names)]
        earlier = [pairs[other] for other in draws.sample(untouched, 100) if other < place]
        made = KINDS[kind](pairs[place], earlier, draws) if earlier else None
        if made is not None and made != pairs[place]:
            found[place], kinds[place], before[place] = made, kind, pairs[place]
    return found, kinds, before


def swapped_is_seen(corpus: Corpus) -> bool:
    """Whether the two languages have different scripts."""
    from dragoman.cleaning.scripts import scripts_of

    return not set(scripts_of(corpus.source)) & set(scripts_of(corpus.target))


def pairs_of(corpus: Corpus) -> list[Pair]:
    return [(pair.source, pair.target) for pair in open_bitext(corpus.part("train"), corpus.source, corpus.target)]


def records_of(pairs: Sequence[Pair]) -> list[Record]:
    return [record_of(*pair, Origin("", place)) for place, pair in enumerate(pairs)]


def measure(corpus: Corpus, share: float) -> Result:
    """Counts by kind and by reason."""
    pairs = pairs_of(corpus)
    found, kinds, before = spoilt(pairs, share)
    caught, right, by_reason, wrongly = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for one in Cleaner(CLEANING, (corpus.source, corpus.target)).judged(records_of(found)):
        if isinstance(one, Rejected):
            place = one.record.origin.line
            by_reason[one.reason] += 1
            wrongly[one.reason] += place not in kinds
            caught[kinds.get(place, "")] += 1
        elif one.origin.line in kinds and _put_right(one, before[one.origin.line]):
            right[kinds[one.origin.line]] += 1
    clean = Cleaner(CLEANING, (corpus.source, corpus.target))
    rejected = sum(isinstance(one, Rejected) for one in clean.judged(records_of(pairs)))
    return {
        "pairs": len(pairs),
        "spoilt": Counter(kinds.values()),
        "caught": caught,
        "put_right": right,
        "by_reason": by_reason,
        "wrongly": wrongly,
        "clean_rejected": rejected,
        "clean_reasons": clean.report.rejected,
    }


def _put_right(pair: SentencePair, before: Pair) -> bool:
    return (pair.source, pair.target) == tuple(" ".join(side.split()) for side in before)


def main(name: str, share: float = 0.3) -> None:
    """Print a row a kind, a row a reason, and two sums."""
    corpus = CORPORA[name]
    found = step(f"noise-{name}-{share:g}", partial(measure, corpus, share))
    if "skipped" in found:
        print(f"{name}: skipped: {found['skipped']}")
        return
    blind = {*NEEDS_A_MODEL, *(() if swapped_is_seen(corpus) else ("sides swapped",))}
    rows: list[tuple[object, ...]] = []
    seen = total = 0
    for kind, count in found["spoilt"].items():
        rejected, right = found["caught"].get(kind, 0), found["put_right"].get(kind, 0)
        rows.append((kind, count, rejected, right, f"{(rejected + right) / count:.1%}", "yes" if kind in blind else ""))
        if kind not in blind:
            seen, total = seen + rejected + right, total + count
    print(f"{name}, {found['pairs']:,} pairs, {sum(found['spoilt'].values()):,} of them spoilt")
    print(table(("kind", "spoilt", "rejected", "put right", "recall", "needs a model"), rows))
    print(f"\ncaught of what is catchable: {seen / total:.1%}\n")
    reasons: list[tuple[object, ...]] = [
        (reason, count, f"{1 - found['wrongly'][reason] / count:.1%}") for reason, count in found["by_reason"].items()
    ]
    print(table(("reason", "rejected", "precision"), reasons))
    told = ", ".join(f"{count} {reason}" for reason, count in found["clean_reasons"].items())
    print(f"\nof the corpus as it is {found['clean_rejected'] / found['pairs']:.2%} are rejected: {told}")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))

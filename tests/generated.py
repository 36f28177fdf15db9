"""Where do tests get a bitext? From a small grammar of ours: English, Chinese and German sentences that mean the same.

Seeded, without repeats, and with what makes translation more than look-up: Chinese puts the place before the
verb and counts with measure words, German has three genders and two cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dragoman.contracts import Link, SentencePair
from dragoman.corpus.bitext import ListBitext
from dragoman.text.words import word_spans

NOMINATIVE = {"m": "der", "f": "die", "n": "das"}
ACCUSATIVE = {"m": "den", "f": "die", "n": "das"}


@dataclass(frozen=True)
class Noun:
    """A noun: English and German in singular and plural, German gender, Chinese with its measure word."""

    english: str
    english_plural: str
    chinese: str
    measure: str
    german: str
    german_plural: str
    gender: str


PERSONS = [
    Noun("teacher", "teachers", "老师", "位", "Lehrer", "Lehrer", "m"),
    Noun("doctor", "doctors", "医生", "位", "Arzt", "Ärzte", "m"),
    Noun("child", "children", "孩子", "个", "Kind", "Kinder", "n"),
    Noun("woman", "women", "女人", "个", "Frau", "Frauen", "f"),
    Noun("farmer", "farmers", "农民", "个", "Bauer", "Bauern", "m"),
    Noun("nurse", "nurses", "护士", "位", "Schwester", "Schwestern", "f"),
]
THINGS = [
    Noun("apple", "apples", "苹果", "个", "Apfel", "Äpfel", "m"),
    Noun("book", "books", "书", "本", "Buch", "Bücher", "n"),
    Noun("lamp", "lamps", "灯", "盏", "Lampe", "Lampen", "f"),
    Noun("table", "tables", "桌子", "张", "Tisch", "Tische", "m"),
    Noun("bicycle", "bicycles", "自行车", "辆", "Fahrrad", "Fahrräder", "n"),
    Noun("letter", "letters", "信", "封", "Brief", "Briefe", "m"),
    Noun("bottle", "bottles", "瓶子", "个", "Flasche", "Flaschen", "f"),
    Noun("picture", "pictures", "照片", "张", "Bild", "Bilder", "n"),
]
QUALITIES = [("old", "旧", "alt"), ("red", "红", "rot"), ("small", "小", "klein"), ("heavy", "重", "schwer")]
AGES = [("young", "年轻", "jung"), ("friendly", "友好", "freundlich"), ("quiet", "安静", "still")]
VERBS = [
    ("bought", "买", "kaufte"),
    ("found", "找到", "fand"),
    ("lost", "丢", "verlor"),
    ("saw", "看见", "sah"),
    ("brought", "带来", "brachte"),
    ("painted", "画", "malte"),
]
NUMBERS = [("two", "两", "zwei"), ("three", "三", "drei"), ("seven", "七", "sieben"), ("12", "12", "12")]
PLACES = [
    ("in the garden", "花园里", "im Garten"),
    ("at school", "学校里", "in der Schule"),
    ("on the train", "火车上", "im Zug"),
    ("behind the house", "房子后面", "hinter dem Haus"),
    ("in the city", "城里", "in der Stadt"),
]


def sentences(seed: int) -> Iterator[dict[str, str]]:
    """Sentences without end, the same for the same seed: language to text."""
    draw = random.Random(seed)
    while True:
        person, age, verb, thing = draw.choice(PERSONS), draw.choice(AGES), draw.choice(VERBS), draw.choice(THINGS)
        quality, number, place = draw.choice(QUALITIES), draw.choice([None, *NUMBERS]), draw.choice([None, *PLACES])
        parts = {
            "en": [f"the {age[0]} {person.english} {verb[0]}", object_of(thing, quality[0], number and number[0])],
            "zh": [
                f"{age[1]}的{person.chinese}",
                f"{verb[1]}了{chinese_object(thing, quality[1], number and number[1])}",
            ],
            "de": [
                f"{NOMINATIVE[person.gender]} {age[2]}e {person.german} {verb[2]}",
                german_object(thing, quality[2], number and number[2]),
            ],
        }
        if place:
            parts["en"].append(place[0])
            parts["zh"].insert(1, f"在{place[1]}")
            parts["de"].append(place[2])
        mark = draw.choice([".", ".", ".", "!"])
        yield {
            "en": capitalised(" ".join(parts["en"])) + mark,
            "zh": "".join(parts["zh"]) + {".": "。", "!": "！"}[mark],
            "de": capitalised(" ".join(parts["de"])) + mark,
        }


def object_of(thing: Noun, quality: str, number: str | None) -> str:
    return f"{number} {quality} {thing.english_plural}" if number else f"the {quality} {thing.english}"


def chinese_object(thing: Noun, quality: str, number: str | None) -> str:
    return (
        f"{number}{thing.measure}{quality}{thing.chinese}" if number else f"那{thing.measure}{quality}{thing.chinese}"
    )


def german_object(thing: Noun, quality: str, number: str | None) -> str:
    if number:
        return f"{number} {quality}e {thing.german_plural}"
    return f"{ACCUSATIVE[thing.gender]} {quality}{'en' if thing.gender == 'm' else 'e'} {thing.german}"


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def generated_pairs(count: int, source: str = "en", target: str = "zh", seed: int = 1) -> list[SentencePair]:
    """`count` pairs with distinct sources. Languages: en, zh, de."""
    pairs: dict[str, SentencePair] = {}
    for sentence in sentences(seed):
        if len(pairs) == count:
            break
        pairs.setdefault(sentence[source], SentencePair(sentence[source], sentence[target]))
    return list(pairs.values())


def right_links(english: str, chinese: str) -> tuple[Link, ...]:
    """Which words of an English and a Chinese sentence of this grammar mean the same: all of a thing with all of it."""
    words = [english[start:end].lower() for start, end in word_spans(english)]
    signs = [chinese[start:end] for start, end in word_spans(chinese)]
    named = [(name, noun.chinese) for noun in (*PERSONS, *THINGS) for name in (noun.english, noun.english_plural)]
    named += [(row[0], row[1]) for row in (*QUALITIES, *AGES, *VERBS, *NUMBERS)]
    named += [(" ".join(name.split()[-1:]), place.removesuffix("里").removesuffix("上")) for name, place, _ in PLACES]
    links = set[Link]()
    for name, meaning in named:
        meant = [sign for start, end in word_spans(meaning) for sign in [meaning[start:end]]]
        places = [at for at in range(len(signs)) if signs[at : at + len(meant)] == meant]
        if name in words and len(places) == 1:
            links |= {(words.index(name), places[0] + index) for index in range(len(meant))}
    return tuple(sorted(links))


def linked_bitext(count: int, seed: int = 1) -> ListBitext:
    """English-Chinese pairs with their links."""
    pairs = generated_pairs(count, "en", "zh", seed)
    return ListBitext([replace(pair, links=right_links(pair.source, pair.target)) for pair in pairs], "en", "zh")


def generated_bitext(count: int, source: str = "en", target: str = "zh", seed: int = 1) -> ListBitext:
    """The same as a Bitext."""
    return ListBitext(generated_pairs(count, source, target, seed), source, target)

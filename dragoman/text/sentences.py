"""Where does a sentence end, and where may a text be cut that is too long for a model?

No language is asked for: Latin full stops need white space behind them and are guarded against
abbreviations, initials and ordinals; Chinese and Japanese marks need none. In doubt a text is not
split, for two sentences in one line do a model less harm than half a sentence. Nothing is lost:
what is cut apart carries the white space that stood behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from dragoman.contracts import Span
from dragoman.text.words import word_spans

_WIDE = r"\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff01-\uff65"
_EITHER = "“”‘’…—·"  # punctuation of wide and of narrow text
_BEGINS_WIDE = regex.compile(f"[{_EITHER}]*[{_WIDE}]")
_ENDS_WIDE = regex.compile(f"[{_WIDE}][{_EITHER}]*$")

# A mark, the quotes and brackets that close behind it, and, in French, a guillemet behind a space.
_MARKS = ".!?…‥؟۔।॥።։។"
_SPACED_END = rf"(?<![{_MARKS}])(?P<mark>[{_MARKS}]++)[\p{{Pe}}\p{{Pf}}\p{{Pi}}\"'*]*(?:\s?»)?(?=\s|$)"
_WIDE_END = r"(?P<wide>(?:[。！？｡]|(?<!\p{N})．)[。！？｡!?…]*)[\p{Pe}\p{Pf}]*"
_NARROW_IN_WIDE_END = rf"(?<=[{_WIDE}])(?P<narrow>[!?]+)[\p{{Pe}}\p{{Pf}}]*(?=[{_WIDE}])"
_END = regex.compile(rf"{_SPACED_END}|{_WIDE_END}|{_NARROW_IN_WIDE_END}")
_NEXT_GOES_ON = regex.compile(r"\s*(?:[\p{Ps}\p{Pi}\"'¿¡*]*\p{Ll}|[,;:，、；：)\]）」』])")
_QUOTED_IN_JAPANESE = regex.compile(r"(?<=[」』])(?:と|って)")
_NEXT_IS_NUMBER = regex.compile(r"\s*\p{N}")

_INITIAL_OR_ORDINAL = regex.compile(r"[\p{Lu}\p{Ll}]|(?:\p{L}\p{M}*\.)+\p{L}\p{M}*|\d{1,2}")
_BEFORE_NAMES = """
mr mrs ms messrs dr prof rev gen col maj sgt lt capt cmdr gov sen rep hon pres st ste mt ft
sr sra srta dra d.ª ud uds vd vds mme mlle mm mgr hr hrn fr frl dipl ing mag
approx cf vs viz esp incl excl resp ca vgl bzw evtl ggf ggfs inkl exkl sog bspw einschl ej
"""
_BEFORE_NUMBERS = """
no nos nr núm num art arts fig figs vol vols pp ch chap sec sect eq eqs tab abs bd kap pág págs
jan feb mar apr jun jul aug sep sept oct okt nov dec dez ext tel
"""
_NEVER_LAST = frozenset(_BEFORE_NAMES.split())
_NOT_LAST_BEFORE_A_NUMBER = frozenset(_BEFORE_NUMBERS.split())

_LINE_END = regex.compile(r"[\r\n]+")
_CLAUSE_END = regex.compile(r"[,;:،؛–—](?=\s)|[，；：、…]+|(?<=\s)[–—](?=\s)")
_BREAKABLE = regex.compile(r"(?:[^\S\u00a0\u2007\u202f]|[\x1c-\x1f])+")
_GRAPHEME = regex.compile(r"\X")
_LETTER = regex.compile(r"[\p{L}\p{N}]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, and the white space behind it."""

    text: str
    space: str


def split_sentences(text: str) -> list[Part]:
    """The sentences of a text; joined with their spaces they are the text again.

    White space at the beginning becomes a part with an empty text. A line end always ends a
    sentence. Closing quotes stay with their sentence.

    >>> split_sentences("Dr. Li came. 他走了。你呢？")
    [Part(text='Dr. Li came.', space=' '), Part(text='他走了。', space=''), Part(text='你呢？', space='')]
    """
    return _parts(text, [span for line in _lines(text) for span in _sentences(text, line)])


def cut_long(text: str, fits: Callable[[str], bool]) -> list[Part]:
    """The text in as few parts as fit, cut where it hurts least; lossless as `split_sentences`.

    Sentences are packed together while they fit; one that does not fit is cut at clause marks,
    then at white space, then between words, then between signs, but never inside a sign with its
    marks or inside an emoji sequence. Line ends always cut. `fits` must hold for the beginning of
    any text for which it holds; a single sign for which it does not is a part nevertheless.
    """
    return _parts(text, [span for line in _lines(text) for span in _cut(text, line, fits, _LEVELS)])


def rejoin(parts: Sequence[Part], translations: Sequence[str]) -> str:
    """Translations of the parts as one text, with the white space of the source between them.

    A space is put in where the source needed none behind a Chinese or Japanese sign but the
    translation does, and a single space is left out between two such signs.
    """
    spaces = spaces_behind(parts, translations)
    return "".join(text + space for text, space in zip(translations, spaces, strict=True))


def spaces_behind(parts: Sequence[Part], translations: Sequence[str]) -> list[str]:
    """What stands behind each translation where they are rejoined."""
    between = map(_space_between, parts, translations, translations[1:])
    return [*between, parts[-1].space] if parts else []


def _space_between(part: Part, left: str, right: str) -> str:
    if not (part.text and left and right):
        return part.space
    wide = _ENDS_WIDE.search(left[-20:]) is not None, _BEGINS_WIDE.match(right) is not None
    if part.space == " " and all(wide):
        return ""
    if part.space == "" and not any(wide) and _ENDS_WIDE.search(part.text[-20:]):
        return " "
    return part.space


def _parts(text: str, spans: Sequence[Span]) -> list[Part]:
    """Parts of the spans; what lies between them is their white space."""
    bounds = [*spans, (len(text), len(text))]
    parts = [Part(text[start:end], text[end:following]) for (start, end), (following, _) in pairwise(bounds)]
    leading = text[: bounds[0][0]]
    return [Part("", leading), *parts] if leading else parts


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _between(text: str, span: Span, cuts: Iterator[tuple[int, int]]) -> list[Span]:
    """The spans that the cuts (where the text before ends, where the next begins) leave of `span`."""
    start, spans = span[0], []
    for end, following in cuts:
        spans.append(_trimmed(text, start, end))
        start = following
    spans.append(_trimmed(text, start, span[1]))
    return [found for found in spans if found[0] < found[1]]


def _lines(text: str) -> list[Span]:
    return _between(text, (0, len(text)), (match.span() for match in _LINE_END.finditer(text)))


def _sentences(text: str, span: Span) -> list[Span]:
    found = _between(text, span, ((end, end) for end in _sentence_ends(text, span)))
    sentences = found[:1]
    for start, end in found[1:]:
        if _LETTER.search(text, start, end):
            sentences.append((start, end))
        else:  # an emoji, or punctuation that closes nothing
            sentences[-1] = (sentences[-1][0], end)
    return sentences


def _sentence_ends(text: str, span: Span) -> Iterator[int]:
    quotes, counted = 0, span[0]
    for match in _END.finditer(text, *span):
        end = match.end()
        quotes += text.count('"', counted, end)
        counted = end
        if match["mark"] is None and text[end : end + 1] == '"' and quotes % 2:
            end += 1  # a straight quote that closes
        if end < span[1]:
            if _NEXT_GOES_ON.match(text, end, span[1]) or _QUOTED_IN_JAPANESE.match(text, end):
                continue
            if match["mark"] and _is_guarded(text, span, match):
                continue
        yield end


def _is_guarded(text: str, span: Span, match: regex.Match[str]) -> bool:
    """Whether a mark before white space belongs to an abbreviation, an initial, an ordinal or to what follows."""
    mark = match["mark"]
    if mark[0] not in ".…‥":
        return False
    start = match.start("mark")
    if start == span[0] or text[start - 1].isspace():
        return True
    if mark != ".":
        return False
    word = _last_word(text, span[0], start)
    if _INITIAL_OR_ORDINAL.fullmatch(word) or word.casefold() in _NEVER_LAST:
        return True
    return word.casefold() in _NOT_LAST_BEFORE_A_NUMBER and _NEXT_IS_NUMBER.match(text, match.end()) is not None


def _last_word(text: str, start: int, end: int) -> str:
    """What stands between white space, a bracket or a quote, and `end`; 20 characters are enough."""
    first = end
    while first > max(start, end - 20) and (text[first - 1].isalnum() or text[first - 1] in ".ª"):
        first -= 1
    return text[first:end]


def _clauses(text: str, span: Span) -> list[Span]:
    return _between(text, span, ((match.end(), match.end()) for match in _CLAUSE_END.finditer(text, *span)))


def _chunks(text: str, span: Span) -> list[Span]:
    return _between(text, span, (match.span() for match in _BREAKABLE.finditer(text, *span)))


def _word_runs(text: str, span: Span) -> list[Span]:
    """Words with the signs that follow them, cut between whole signs only."""
    signs = {start for start, _ in _signs(text, span)}
    begins = [span[0] + start for start, _ in word_spans(text[span[0] : span[1]])]
    cuts = [cut for cut in begins if cut in signs and cut > span[0] and _LETTER.match(text, cut)]
    return list(zip([span[0], *cuts], [*cuts, span[1]], strict=True))


def _signs(text: str, span: Span) -> list[Span]:
    return [match.span() for match in _GRAPHEME.finditer(text, *span)]


_Level = Callable[[str, Span], list[Span]]
_LEVELS: tuple[_Level, ...] = (_sentences, _clauses, _chunks, _word_runs, _signs)


def _cut(text: str, span: Span, fits: Callable[[str], bool], levels: Sequence[_Level]) -> list[Span]:
    """The span in parts that fit, made of the units of the coarsest level that allows it."""
    if not levels or fits(text[span[0] : span[1]]):
        return [span]
    units = [unit for found in levels[0](text, span) if (unit := _trimmed(text, *found))[0] < unit[1]]
    parts, first = [], 0
    while first < len(units):
        count = _how_many(text, units, first, fits)
        if count == 0:
            parts += _cut(text, units[first], fits, levels[1:])
            first += 1
        else:
            parts.append((units[first][0], units[first + count - 1][1]))
            first += count
    return parts


def _how_many(text: str, units: Sequence[Span], first: int, fits: Callable[[str], bool]) -> int:
    """How many units from `first` on fit together: growing steps while they do, then halved ones."""

    def together(count: int) -> bool:
        last = first + count - 1
        return last < len(units) and fits(text[units[first][0] : units[last][1]])

    count, step = 0, 1
    while together(count + step):
        count += step
        step *= 2
    while step > 1:
        step //= 2
        if together(count + step):
            count += step
    return count

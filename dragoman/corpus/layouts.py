"""How does each format lay pairs out, and what can it not hold?"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

Sides = tuple[str, str]
Texts = Callable[[Iterable[Sides], str, str], Iterator[str]]


class Rule(NamedTuple):
    """What a format cannot hold. printable: also in a text of which str.isprintable() is true."""

    what: str
    pattern: re.Pattern[str]
    printable: bool = False


# The last four are the marks of damaged places (records.py).
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff\U000ffffe\U000fffff\U0010fffe\U0010ffff]")
_NO_TEXT = Rule("control character", re.compile("[\0\ud800-\udfff]"))
_NO_XML = Rule("control character", _NOT_XML)
_LINE_END = Rule("line end", re.compile(r"\r\n|[\r\n]"))
_TAB = Rule("tab", re.compile(r"\t"))
_BARS = Rule("triple bar", re.compile(r"\|\|\|"), printable=True)

PLAIN_RULES = (_LINE_END, _NO_TEXT)
CATALOGUE_RULES = (_LINE_END, _NO_XML)

_TMX_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="dragoman" creationtoolversion="1" segtype="sentence" o-tmf="dragoman" adminlang="en" \
srclang={source} datatype="plaintext"/>
<body>
"""
_TMX_UNIT = """<tu><tuv xml:lang={source}><seg>{0}</seg></tuv><tuv xml:lang={target}><seg>{1}</seg></tuv></tu>
"""
_XLIFF_1_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="dragoman" source-language={source} target-language={target} datatype="plaintext">
<body>
"""
_XLIFF_1_UNIT = """<trans-unit id="{0}"><source>{1}</source><target state="translated">{2}</target></trans-unit>
"""
_XLIFF_2_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang={source} trgLang={target}>
<file id="1">
"""
_XLIFF_2_UNIT = """<unit id="{0}"><segment state="translated"><source>{1}</source><target>{2}</target></segment></unit>
"""
_MO_MAGIC, _MO_HEAD = 0x950412DE, 28


@dataclass(frozen=True)
class Layout:
    """A format of one file of text. rules: what it cannot hold; texts: the file, piece by piece, from pairs, source
    and target language."""

    rules: tuple[Rule, ...]
    texts: Texts


def _tsv(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    return (f"{one}\t{other}\n" for one, other in sides)


def _pharaoh(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    return (f"{one} ||| {other}\n" for one, other in sides)


def _csv(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    yield f"{source},{target}\n"
    for one, other in sides:
        yield f"{_csv_field(one)},{_csv_field(other)}\n"


def _csv_field(text: str) -> str:
    """RFC 4180, with quotes also where another delimiter or white space at an end could mislead."""
    if re.search(r'[",;\t\r\n]', text) or text.strip() != text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _json_lines(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    for one, other in sides:
        yield json.dumps({source: one, target: other}, ensure_ascii=False) + "\n"


def _tmx(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    languages = {"source": quoteattr(source), "target": quoteattr(target)}
    yield _TMX_HEAD.format(**languages)
    for one, other in sides:
        yield _TMX_UNIT.format(escape(one), escape(other), **languages)
    yield "</body>\n</tmx>\n"


def _xliff_1(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    yield _XLIFF_1_HEAD.format(source=quoteattr(source), target=quoteattr(target))
    for number, (one, other) in enumerate(sides, 1):
        yield _XLIFF_1_UNIT.format(number, escape(one), escape(other))
    yield "</body>\n</file>\n</xliff>\n"


def _xliff_2(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    yield _XLIFF_2_HEAD.format(source=quoteattr(source), target=quoteattr(target))
    for number, (one, other) in enumerate(sides, 1):
        yield _XLIFF_2_UNIT.format(number, escape(one), escape(other))
    yield "</file>\n</xliff>\n"


def _po(sides: Iterable[Sides], source: str, target: str) -> Iterator[str]:
    yield 'msgid ""\nmsgstr ""\n' + "".join(f'"{line}\\n"\n' for line in _header(source, target))
    for context, message, translation in _with_contexts(sides):
        yield "\n" + (f'msgctxt "{context}"\n' if context else "")
        yield f'msgid "{_po_string(message)}"\nmsgstr "{_po_string(translation)}"\n'


def _header(source: str, target: str) -> list[str]:
    # No time of revision: equal pairs make equal files.
    empty = [f"{name}: " for name in ("PO-Revision-Date", "Last-Translator", "Language-Team")]
    charset = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8", "Content-Transfer-Encoding: 8bit"]
    return ["Project-Id-Version: dragoman", *empty, f"Language: {target}", *charset, f"X-Source-Language: {source}"]


def _po_string(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")


def mo_bytes(sides: Iterable[Sides], source: str, target: str) -> Iterator[bytes]:
    """A compiled catalogue, piece by piece. Its messages are sorted, so all of them are in memory."""
    # polib, by which they are read, writes them in quadratic time.
    messages = [("", "".join(f"{line}\n" for line in _header(source, target)))]
    messages += ((f"{context}\4{one}" if context else one, other) for context, one, other in _with_contexts(sides))
    coded = sorted((message.encode(), translation.encode()) for message, translation in messages)
    columns = [message for message, _ in coded], [translation for _, translation in coded]
    table = 8 * len(coded)
    place = _MO_HEAD + 2 * table
    yield struct.pack("<7I", _MO_MAGIC, 0, len(coded), _MO_HEAD, _MO_HEAD + table, 0, place)
    for column in columns:
        for text in column:
            yield struct.pack("<2I", len(text), place)
            place += len(text) + 1
    for column in columns:
        for text in column:
            yield text + b"\0"


def _with_contexts(sides: Iterable[Sides]) -> Iterator[tuple[str, str, str]]:
    """Context, message, translation: a message that came before has its number as context, for no message may come
    twice without. Only 64-bit hashes are kept in memory."""
    seen = {_message_hash("")}  # the header's message
    for number, (one, other) in enumerate(sides, 1):
        hashed = _message_hash(one)
        yield str(number) if hashed in seen else "", one, other
        seen.add(hashed)


def _message_hash(message: str) -> int:
    return int.from_bytes(hashlib.blake2b(message.encode(), digest_size=8).digest(), "big")


LAYOUTS: Mapping[str, Layout] = {
    ".tsv": Layout((_LINE_END, _NO_TEXT, _TAB), _tsv),
    ".csv": Layout((_NO_TEXT,), _csv),
    ".jsonl": Layout((_NO_TEXT,), _json_lines),
    ".ndjson": Layout((_NO_TEXT,), _json_lines),
    ".pharaoh": Layout((_LINE_END, _NO_TEXT, _BARS), _pharaoh),
    ".tmx": Layout((_NO_XML,), _tmx),
    ".xlf": Layout((_NO_XML,), _xliff_1),
    ".xliff": Layout((_NO_XML,), _xliff_2),
    ".po": Layout(CATALOGUE_RULES, _po),
}

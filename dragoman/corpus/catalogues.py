"""Which pairs does a gettext catalogue (PO, MO) hold?

Read with polib. A plural message gives two pairs: singular with the first form, plural with the last.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, cast

import polib

from dragoman.contracts import Origin, Record, UserError
from dragoman.corpus.compression import Damaged
from dragoman.corpus.languages import closeness, is_language, language_key, orientation
from dragoman.corpus.lines import OnBadLine, read_lines
from dragoman.corpus.reading import Reading
from dragoman.corpus.records import (
    MARK_BAD_BYTES,
    Warn,
    damage_in,
    mark_controls,
    mark_cut,
    on_one_line,
    record_of,
    unheard,
)
from dragoman.corpus.streams import InputFile, read_chunks

_CHARSET = re.compile(rb"charset=([A-Za-z0-9._:-]+)")
_STRING_LINE = re.compile(r'\s*(?:#~\s*)?(?:msg[a-z_]+(?:\[\d+\])?\s*)?"(.*)', re.DOTALL)
_UNCLOSED = re.compile(r'(?:[^"\\]|\\.)*\\?')
_POLIB_LINE = re.compile(r"\(line (\d+)\)(?:: )?(.*)")
_ZOPE_DEFAULT = re.compile(r'^Default: (".*)', re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MO_HEAD = 28  # bytes
_UNKNOWN_CHARSETS = frozenset({"charset", "utf-8", "utf8", "ascii", "us-ascii"})


@dataclass(frozen=True)
class _Entry:
    source: str
    target: str
    line: int
    fault: str = ""


@dataclass(frozen=True)
class _Catalogue:
    """Languages as the header says them, "" where it does not, and all messages but the header."""

    message_language: str
    language: str
    entries: tuple[_Entry, ...]


class _Text(str):
    """polib reads a text by its `splitlines()`, which would cut at U+2028 and the like."""

    __slots__ = ()

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.split("\n")


def read_catalogue(file: InputFile, reading: Reading, warn: Warn = unheard) -> Iterator[Record]:
    """One record a message (two a plural one); MO messages count from 1 in place of lines.

    Faults: "fuzzy", "obsolete", "untranslated", "language=de" for a catalogue in another language.
    A catalogue in the source language is turned round. `warn` hears when messages that should be
    English by custom are taken for another language. Raises UserError with the line at damage.
    """
    catalogue = _read(file.path, file.name, reading.on_bad_line)
    first, source, target = catalogue.message_language, reading.source, reading.target
    turned, foreign = orientation(first, catalogue.language, source, target, assumed="en")
    message_side = target if turned else source
    if not (foreign or first or closeness("en", message_side)):
        warn(f"{file.name}: its messages are taken for {message_side}; the header has no X-Source-Language")
    for entry in catalogue.entries:
        sides = on_one_line(entry.source), on_one_line(entry.target)
        fault = entry.fault or damage_in("".join(sides)) or (f"language={foreign}" if foreign else "")
        yield record_of(sides[turned], sides[not turned], Origin(file.name, entry.line), fault)


def catalogue_languages(file: InputFile) -> tuple[str, ...]:
    """The languages of messages and translations; the messages are English unless the header says else."""
    catalogue = _read(file.path, file.name, "skip")
    if not catalogue.language:
        return ()
    return tuple(language_key(code) for code in (catalogue.message_language or "en", catalogue.language))


def _read(path: str | Path, name: str, on_bad_line: OnBadLine) -> _Catalogue:
    try:
        data = b"".join(read_chunks(path, name))
    except Damaged as damage:
        raise UserError(f"{name}: {damage}") from damage
    is_binary = data.startswith((b"\xde\x12\x04\x95", b"\x95\x04\x12\xde")) or ".mo" in PurePath(name).suffixes
    entries, metadata = _read_mo(data, name) if is_binary else _read_po(path, data, name, on_bad_line)
    stated = (metadata.get(key, "").strip() for key in ("Language", "Language-Code"))
    language = next((code for code in (*stated, _folder_language(name)) if is_language(code)), "")
    message_language = metadata.get("X-Source-Language", "").strip()
    return _Catalogue(message_language if is_language(message_language) else "", language, tuple(entries))


def _folder_language(name: str) -> str:
    """The language of .../zh_CN/LC_MESSAGES/x.po, where gettext looks for it."""
    parts = PurePath(name).parts
    return parts[-3] if len(parts) >= 3 and parts[-2] == "LC_MESSAGES" else ""


def _read_po(path: str | Path, data: bytes, name: str, on_bad_line: OnBadLine) -> tuple[list[_Entry], dict[str, str]]:
    lines = _po_lines(path, data, name, on_bad_line)
    try:
        catalogue: Any = polib.pofile(_Text("\n".join(lines)), encoding="utf-8")
    except OSError as error:
        found = _POLIB_LINE.search(str(error))
        line, reason = found.groups() if found else ("1", "")
        raise UserError(f"{name}:{line}: not in PO format{': ' if reason else ''}{reason}") from error
    return [entry for message in catalogue for entry in _po_entries(message)], catalogue.metadata


def _po_lines(path: str | Path, data: bytes, name: str, on_bad_line: OnBadLine) -> list[str]:
    """Decoded lines whose strings are all closed; under "skip" damaged places are marked."""
    declared = _CHARSET.search(data)
    encoding = declared.group(1).decode() if declared else "utf-8"
    encoding = "utf-8-sig" if encoding.lower() in _UNKNOWN_CHARSETS else encoding
    if encoding == "utf-8-sig" and on_bad_line == "stop":
        lines = [line.text for line in read_lines(path, name=name)]
    else:
        text = _decoded(data, encoding, name, on_bad_line).replace("\r\n", "\n")
        lines = mark_controls(text).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        string = _STRING_LINE.match(line)
        if string and _UNCLOSED.fullmatch(string.group(1)):
            if number < len(lines) or on_bad_line == "stop":
                raise UserError(f"{name}:{number}: not in PO format: a string without its closing quote")
            lines[-1] = mark_cut(line.rstrip("\\"))
    return lines


def _decoded(data: bytes, encoding: str, name: str, on_bad_line: OnBadLine) -> str:
    try:
        return data.decode(encoding, "strict" if on_bad_line == "stop" else MARK_BAD_BYTES)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name}:{line}: not {encoding} (byte 0x{data[error.start]:02x})") from error
    except (LookupError, UnicodeError) as error:
        raise UserError(f"{name}: unknown charset {encoding!r} in its header") from error


def _po_entries(message: Any) -> Iterator[_Entry]:
    line = max(message.linenum, 1)
    fault = "obsolete" if message.obsolete else "fuzzy" if message.fuzzy else ""
    default = _zope_default(message)
    for source, target in _pairs_of(message):
        yield _Entry(default or source, target, line, fault or ("" if target.strip() else "untranslated"))


def _zope_default(message: Any) -> str:
    """Zope and Plone use names (label_save) as messages; the text is in a comment: `#. Default: "Save"`."""
    default = _ZOPE_DEFAULT.search(message.comment)
    if default is None or re.search(r"\s", message.msgid):
        return ""
    return "".join(_QUOTED.findall(default.group(1))).replace('\\"', '"')


def _ends_early(data: bytes) -> bool:
    """Whether a string that the tables of an MO name, or its closing NUL, lies behind the end: `polib` reads what is
    there of it."""
    order = "<" if data.startswith(b"\xde\x12\x04\x95") else ">"
    if len(data) < _MO_HEAD:
        return True
    count, *tables = struct.unpack_from(f"{order}3I", data, 8)
    if any(start + 8 * count > len(data) for start in tables):
        return True
    entries = (struct.unpack_from(f"{order}2I", data, start + 8 * row) for start in tables for row in range(count))
    return any(start + length + 1 > len(data) for length, start in entries)


def _read_mo(data: bytes, name: str) -> tuple[list[_Entry], dict[str, str]]:
    declared = _CHARSET.search(data)
    if _ends_early(data):
        raise UserError(f"{name}: not in MO format, or cut short")
    try:
        # polib takes bytes too; its stubs say str only.
        catalogue: Any = polib.mofile(cast(Any, data), encoding=declared.group(1).decode() if declared else "utf-8")
    except (OSError, struct.error, IndexError, OverflowError) as error:
        raise UserError(f"{name}: not in MO format, or cut short") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not {error.encoding} (byte 0x{error.object[error.start]:02x})") from error
    except LookupError as error:
        raise UserError(f"{name}: unknown charset in its header") from error
    entries = [
        _Entry(source, target, number, "" if target.strip() else "untranslated")
        for number, message in enumerate(catalogue, 1)
        for source, target in _pairs_of(message)
    ]
    return entries, catalogue.metadata


def _pairs_of(message: Any) -> list[tuple[str, str]]:
    if not message.msgid_plural:
        return [(message.msgid, message.msgstr)]
    forms: dict[int, str] = message.msgstr_plural
    first, last = (forms[min(forms)], forms[max(forms)]) if forms else ("", "")
    return [(message.msgid, first), (message.msgid_plural, last)]

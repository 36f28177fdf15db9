"""What is a stream that has no name?"""

from __future__ import annotations

import json
import re

from dragoman.corpus.columns import names_in
from dragoman.corpus.sides import names_two_sides

_COMPILED = (b"\xde\x12\x04\x95", b"\x95\x04\x12\xde")
_MARKS_AND_SPACE = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_XLIFF = re.compile(rb"<(\w+:)?xliff[\s>]")
_CATALOGUE = re.compile(rb'(#[^\n]*\n\s*)*msg(id|ctxt)\s+"')


def container_in(head: bytes, has_names: bool) -> str:
    """The container that begins so; TSV if it is no other. has_names: the user says names of columns or keys."""
    if head.startswith(_COMPILED):
        return ".mo"
    head = head.replace(b"\0", b"").lstrip(_MARKS_AND_SPACE)
    if head.startswith((b"<?xml", b"<tmx", b"<xliff", b"<!")):
        return ".xliff" if _XLIFF.search(head) else ".tmx"
    if _CATALOGUE.match(head):
        return ".po"
    return _container_of_lines(head.partition(b"\n")[0].decode(errors="replace"), has_names)


def _container_of_lines(first: str, has_names: bool) -> str:
    if _is_object(first):
        return ".jsonl"
    if has_names:
        return ".csv"
    if "\t" in first:
        return ".tsv"
    if " ||| " in first:
        return ".pharaoh"
    return ".csv" if any(names_two_sides(names_in(first, delimiter)) for delimiter in ",;") else ".tsv"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False

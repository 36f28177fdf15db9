"""How do pictures, tables and sentences become one page that needs nothing else?

HTML without scripts, fonts or addresses: it can be sent by mail and read without a network, on white and on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dragoman.drawing.picture import INKS, Picture, shown
from dragoman.drawing.svg import FONTS, element, style


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head. right: columns of figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page: a title, sentences, then a picture or a table. folded: opened by a click."""

    title: str
    notes: tuple[str, ...] = ()
    content: Picture | Table | None = None
    folded: bool = False


def page(title: str, language: str, sections: Sequence[Section]) -> str:
    """A whole file. language: that of its words, in HTML's sense."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{escape(language)}"><head><meta charset="utf-8"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}"/>',
            f"<title>{_text(title)}</title><style>{_style()}{style()}</style></head><body>",
            f"<h1>{_text(title)}</h1>",
            *map(_section, sections),
            "</body></html>\n",
        ]
    )


def _style() -> str:
    def rules(side: int) -> str:
        paper, ink, faint, line = (INKS[name][side] for name in ("paper", "ink", "faint", "line"))
        return (
            f"body{{background:{paper};color:{ink}}}p.note{{color:{faint}}}td,th{{border-bottom:1px solid {line}}}"
            f".wide{{border:1px solid {line}}}"
        )

    return (
        f"body{{font-family:{FONTS};margin:2rem auto;max-width:75rem;padding:0 1rem;line-height:1.45}}"
        "h1{font-size:1.35rem}h2,summary{font-size:1.1rem;font-weight:600;margin-top:1.6rem}"
        ".wide{overflow-x:auto;border-radius:6px;padding:.3rem}table{border-collapse:collapse}"
        "td,th{padding:.2rem .7rem;text-align:start}td.right,th.right{text-align:end;font-variant-numeric:tabular-nums}"
        f":root{{color-scheme:light dark}}{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}"
    )


def _section(section: Section) -> str:
    notes = "\n".join(f'<p class="note" dir="auto">{_text(note)}</p>' for note in section.notes)
    content = ""
    if isinstance(section.content, Picture):
        content = f'<div class="wide">{element(section.content)}</div>'
    elif section.content is not None:
        content = _table(section.content)
    if section.folded:
        return f"<details><summary>{_text(section.title)}</summary>\n{notes}\n{content}</details>"
    return f"<section><h2>{_text(section.title)}</h2>\n{notes}\n{content}</section>"


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        sides = [' class="right"' if place in table.right else ' dir="auto"' for place in range(len(cells))]
        drawn = [f"<{tag}{side}>{_text(cell)}</{tag}>" for side, cell in zip(sides, cells, strict=True)]
        return f"<tr>{''.join(drawn)}</tr>"

    body = "\n".join(row(cells, "td") for cells in table.rows)
    return f'<div class="wide"><table><thead>{row(table.head, "th")}</thead><tbody>\n{body}\n</tbody></table></div>'


def _text(text: str) -> str:
    return escape(shown(text))

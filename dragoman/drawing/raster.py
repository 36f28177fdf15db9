"""How is a picture written as PNG, where the installed fonts can?

matplotlib draws to bytes; no display is asked for. A sign that no font has would become an empty frame: it is refused.
"""

from __future__ import annotations

import io
import logging
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

from matplotlib import font_manager, ft2font
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from dragoman.contracts import UserError
from dragoman.drawing.picture import INKS, Box, Dot, Ink, Picture, Stroke, Word, shown

FIRST = "DejaVu Sans"  # comes with matplotlib
DOTS = 144.0  # an inch; a picture's pixel is 1/96 of it
POINT = 0.75  # a pixel in points
MARGIN = 12.0
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # a font without bold letters is no news
LARGEST = 20_000.0  # dots of a side


def png(picture: Picture) -> bytes:
    """UserError where a sign has no font, where the signs must be joined and matplotlib does not, or the picture is too
    large."""
    words = [shown(word) for word in picture.words()]
    families = families_for(words)
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    if max(width, height) * DOTS / 96 > LARGEST:
        raise UserError(f"the picture is too large for a PNG ({width:.0f} x {height:.0f}): take .svg or .html")
    figure = Figure(figsize=(width / 96, height / 96), dpi=DOTS, facecolor=_colour("paper"))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN))
    axes.axis("off")
    for order, mark in enumerate(picture.marks):
        if isinstance(mark, Box):
            place = (mark.x, mark.y), mark.width, mark.height
            if mark.fill:
                face = _colour(mark.fill)
                axes.add_patch(Rectangle(*place, facecolor=face, alpha=mark.opacity, linewidth=0, zorder=order))
            if mark.border:
                edge, thick = _colour(mark.border), mark.thick * POINT
                axes.add_patch(Rectangle(*place, fill=False, edgecolor=edge, linewidth=thick, zorder=order))
        elif isinstance(mark, Stroke):
            x, y = zip(*mark.points, strict=True)
            dashes = "--" if mark.dashed else "-"
            axes.plot(x, y, dashes, color=_colour(mark.ink), linewidth=mark.thick * POINT, zorder=order)
        elif isinstance(mark, Dot):
            axes.add_patch(Circle((mark.x, mark.y), mark.radius, facecolor=_colour(mark.ink), zorder=order))
        else:
            _write(axes, mark, families, order)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", facecolor=_colour("paper"))
    return drawn.getvalue()


def _write(axes: Axes, word: Word, families: list[str], order: int) -> None:
    side = {"start": "left", "middle": "center", "end": "right"}[word.at]
    axes.text(
        word.x,
        word.y,
        shown(word.text),
        fontsize=word.size * POINT,
        family=families,
        color=_colour(word.ink),
        ha=side,
        va="baseline",
        rotation=word.turned,
        rotation_mode="anchor",
        weight="bold" if word.bold else "normal",
        parse_math=False,
        zorder=order,
    )


def _colour(ink: Ink) -> str:
    return INKS[ink][0]


# --- fonts --------------------------------------------------------------------------------------


def families_for(texts: Iterable[str]) -> list[str]:
    """Installed fonts that together have every sign of these texts, DejaVu Sans first. UserError where none has one."""
    missing = {sign for text in texts for sign in text if _has_shape(sign)}
    joined = sorted(sign for sign in missing if _joins(sign))
    if joined and not getattr(ft2font, "__libraqm_version__", None):
        raise UserError(f"this matplotlib cannot write the script of {_told(joined)}: take .svg or .html")
    families = [FIRST]
    for entry in chain(_entries(font_manager.fontManager.ttflist), _new_entries()):
        if not missing:
            break
        known = {sign for sign in missing if ord(sign) in _signs_of(entry.fname)}
        if known and entry.name not in families:
            families.append(entry.name)
        missing -= known
    if missing:
        raise UserError(f"no installed font has {_told(sorted(missing))}: take .svg or .html")
    return families


def _new_entries() -> Iterator[font_manager.FontEntry]:
    """The same of fonts that were installed after matplotlib made its list, which it keeps for good."""
    fonts = font_manager.fontManager
    known, before = {entry.fname for entry in fonts.ttflist}, len(fonts.ttflist)
    for file in sorted(set(font_manager.findSystemFonts()) - known):
        with suppress(OSError, RuntimeError):  # no font that it can read
            fonts.addfont(file)
    yield from _entries(fonts.ttflist[before:])


def _entries(fonts: Iterable[font_manager.FontEntry]) -> list[font_manager.FontEntry]:
    """Upright fonts of usual weight; not those whose every sign is an empty frame."""
    usual = [
        entry
        for entry in fonts
        if entry.style == "normal" and entry.weight in (400, "normal", "regular") and "Last Resort" not in entry.name
    ]
    return sorted(usual, key=lambda entry: entry.name != FIRST)


def _signs_of(file: str) -> frozenset[int]:
    try:
        font = ft2font.FT2Font(file)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(font.get_charmap())


def _has_shape(sign: str) -> bool:
    return unicodedata.category(sign) not in ("Cf", "Cc", "Zs", "Zl", "Zp") and not 0xFE00 <= ord(sign) <= 0xFE0F


def _joins(sign: str) -> bool:
    """Is it written from the right, or does its script join signs?"""
    if unicodedata.bidirectional(sign) in ("R", "AL"):
        return True
    return 0x0900 <= ord(sign) < 0x1000 or 0x1780 <= ord(sign) < 0x1800  # Indic scripts, Thai to Myanmar, Khmer


def _told(signs: list[str]) -> str:
    named = ", ".join(f"{sign} (U+{ord(sign):04X})" for sign in signs[:3])
    return f"{named} and {len(signs) - 3} more" if len(signs) > 3 else named

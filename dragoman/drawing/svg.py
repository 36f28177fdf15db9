"""How is a picture written as SVG?

Text that refers to nothing outside of itself. Colours are classes: a viewer that asks for a dark page gets the inks for
it.
"""

from __future__ import annotations

from html import escape

from dragoman.drawing.picture import INKS, Box, Dot, Mark, Picture, Stroke, Word, shown

FONTS = (
    "system-ui, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'PingFang SC', 'Microsoft YaHei', "
    "'WenQuanYi Micro Hei', 'DejaVu Sans', sans-serif"
)
MARGIN = 12.0


def style() -> str:
    """The inks as classes, `blue` to fill and `s-blue` to draw lines with."""
    light = "".join(f".{ink}{{fill:{on_white}}}.s-{ink}{{stroke:{on_white}}}" for ink, (on_white, _) in INKS.items())
    dark = "".join(f".{ink}{{fill:{on_black}}}.s-{ink}{{stroke:{on_black}}}" for ink, (_, on_black) in INKS.items())
    plain = f"svg{{font-family:{FONTS}}}svg text{{white-space:pre}}.none{{fill:none}}"
    return f"{plain}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def svg(picture: Picture) -> str:
    """A whole file."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{element(picture, alone=True)}\n'


def element(picture: Picture, alone: bool = False) -> str:
    """The svg element; alone: with its own style and background, for a file of its own."""
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="{-MARGIN:g} {-MARGIN:g} {width:.6g} {height:.6g}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">', f"<title>{_text(picture.title)}</title>"]
    if alone:
        lines += [f"<style>{style()}</style>", _box(Box(-MARGIN, -MARGIN, width, height, "paper"))]
    return "\n".join([*lines, *map(_drawn, picture.marks), "</svg>"])


def _drawn(mark: Mark) -> str:
    if isinstance(mark, Box):
        return _box(mark)
    if isinstance(mark, Stroke):
        points = " ".join(f"{x:.6g},{y:.6g}" for x, y in mark.points)
        dashes = ' stroke-dasharray="5 4"' if mark.dashed else ""
        return f'<polyline class="none s-{mark.ink}" stroke-width="{mark.thick:g}"{dashes} points="{points}"/>'
    if isinstance(mark, Dot):
        place = f'cx="{mark.x:.6g}" cy="{mark.y:.6g}" r="{mark.radius:g}"'
        return f'<circle class="{mark.ink}" {place}>{_title(mark.title)}</circle>'
    return _word(mark)


def _box(box: Box) -> str:
    place = f'x="{box.x:.6g}" y="{box.y:.6g}" width="{box.width:.6g}" height="{box.height:.6g}"'
    inks = f"{box.fill or 'none'}{f' s-{box.border}' if box.border else ''}"
    looks = f' fill-opacity="{box.opacity:.3f}"' if box.opacity < 1 else ""
    looks += f' stroke-width="{box.thick:g}"' if box.border else ""
    return f'<rect class="{inks}" {place}{looks}>{_title(box.title)}</rect>'


def _word(word: Word) -> str:
    turn = f' transform="rotate({-word.turned:g} {word.x:.6g} {word.y:.6g})"' if word.turned else ""
    at = f' text-anchor="{word.at}"' if word.at != "start" else ""
    weight = ' font-weight="600"' if word.bold else ""
    place = f'x="{word.x:.6g}" y="{word.y:.6g}" font-size="{word.size:g}"'
    return f'<text class="{word.ink}" {place}{at}{weight}{turn}>{_text(word.text)}</text>'


def _title(text: str) -> str:
    return f"<title>{_text(text)}</title>" if text else ""


def _text(text: str) -> str:
    return escape(shown(text))

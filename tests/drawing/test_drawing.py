"""Pictures are well-formed whatever stands in them and refer to nothing; a PNG is refused where signs have no font."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import font_manager, ft2font, get_data_path

from dragoman.contracts import UserError
from dragoman.drawing import raster
from dragoman.drawing.branches import Node, branching
from dragoman.drawing.chart import Curve, bars, curves, plane
from dragoman.drawing.heatmap import heat_map, small_map
from dragoman.drawing.page import Section, Table, page
from dragoman.drawing.picture import Box, Picture, Word, below, shortened, shown, side_by_side, text_width
from dragoman.drawing.svg import svg

ODD = [
    "<b>&amp;\"'",
    "]]>",
    "\x00\x1b\x85",
    "\ud800\ufffe",
    "مرحبا",
    "你好",
    "👩\u200d👧",
    "\u202eabc",
    "$x^2$",
    "",
    " ",
]
SVG = "{http://www.w3.org/2000/svg}"


def root_of(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(svg(picture).encode("utf-8"))


def every_picture(labels: list[str]) -> list[Picture]:
    count = len(labels)
    weights = np.linspace(-1, 1, count * count).reshape(count, count)
    nodes = [Node(n, n - 1 if n else None, label, label, "kept", told=label) for n, label in enumerate(labels)]
    return [
        heat_map(weights, labels, labels, title="heat"),
        small_map(np.abs(weights), "small", 5),
        bars(labels, [n / count for n in range(count)], title="bars"),
        curves([Curve(label, (0, 1), (1.0, 2.0)) for label in labels], across="x", up="y", title="curves"),
        plane(np.arange(2.0 * count).reshape(-1, 2), range(count), labels, title="plane"),
        branching(nodes, title="tree"),
    ]


@pytest.mark.parametrize("picture", every_picture(ODD), ids=lambda picture: picture.title)
def test_odd_signs_leave_the_svg_well_formed(picture: Picture) -> None:
    root = root_of(picture)
    texts = ["".join(map(str, each.itertext())) for name in ("text", "title") for each in root.iter(SVG + name)]
    assert root.tag == f"{SVG}svg"
    if picture.title not in ("small", "plane"):
        assert any("<b>&amp;\"'" in text for text in texts)
        assert any("مرحبا" in text for text in texts)
        assert any("␀␛" in text for text in texts)
    assert not any(sign in text for text in texts for sign in "\x00\ud800\ufffe")
    assert float(root.get("width", "0")) > picture.width


def test_a_page_is_well_formed_and_needs_nothing_else() -> None:
    pictures = every_picture(ODD)
    sections = [Section(odd, (odd,), picture, folded=True) for odd, picture in zip(ODD, pictures, strict=False)]
    sections.append(Section("table", (), Table(("a", "b"), tuple((odd, odd) for odd in ODD), (1,))))
    text = page('<odd> & "title"', "en", sections)
    root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>").strip().encode("utf-8"))
    assert root.findtext("head/title") == '<odd> & "title"'
    assert len(root.findall(f".//{SVG}svg")) == len(pictures)
    tags = {each.tag.rpartition("}")[2] for each in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "image", "use", "object"}
    addresses = {value for each in root.iter() for value in each.attrib.values() if "//" in value}
    assert addresses == set()
    assert "url(" not in text
    assert "@import" not in text
    assert "prefers-color-scheme:dark" in text


def test_a_heat_map_has_a_cell_for_each_weight_and_figures_in_those_that_count() -> None:
    picture = heat_map(np.array([[0.05, 0.95], [1.0, 0.0], [0.5, 0.5]]), ["a", "b", "c"], ["x", "y"])
    cells = [mark for mark in picture.marks if isinstance(mark, Box)]
    assert [cell.opacity for cell in cells] == [0.05, 0.95, 1.0, 0.0, 0.5, 0.5]
    assert [cell.title for cell in cells][:2] == ["a · x: 0.050", "a · y: 0.950"]
    assert [mark.text for mark in picture.marks if isinstance(mark, Word)] == [
        *("x", "y", "a", "95", "b", "100", "c", "50", "50")
    ]


def test_a_logarithmic_curve_leaves_out_what_has_no_logarithm() -> None:
    words = list(curves([Curve("a", (0, 1, 2), (1.0, 0.0, 1e-3))], across="", up="", logarithmic=True).words())
    assert {"1e0", "1e-3", "a"} <= set(words)
    assert "nothing to draw" in list(curves([Curve("a", (0,), (0.0,))], across="", up="", logarithmic=True).words())


def test_pictures_stand_below_and_beside_each_other_without_touching() -> None:
    small = [Picture(10, 10, (Box(0, 0, 10, 10),), name) for name in "abcde"]
    under = [mark for mark in below(small).marks if isinstance(mark, Box)]
    assert all(one.y + one.height < other.y for one, other in pairwise(under))
    rows = [mark for mark in side_by_side(small, 2).marks if isinstance(mark, Box)]
    assert sorted({mark.y for mark in rows}) == [mark.y for mark in rows[::2]]
    assert all(one.x + one.width < other.x for one, other in zip(rows[::2], rows[1::2], strict=False))


def test_long_labels_are_shortened_to_fit() -> None:
    assert shortened("short", 100) == "short"
    assert shortened("你" * 50, 60) == "你" * 4 + "…"
    assert text_width(shortened("abc" * 50, 60)) <= 60
    assert shown("a\tb\x7f\x85\udfff") == "a␉b␡\ufffd\ufffd"


# --- fonts --------------------------------------------------------------------------------------


def test_a_png_of_signs_that_a_font_has(tmp_path: Path) -> None:
    drawn = raster.png(heat_map(np.eye(2), ["▁den", "$x$ größer"], ["мир", "a_b^c"], title="plain"))
    assert drawn.startswith(b"\x89PNG")


def test_a_png_is_refused_where_a_sign_has_no_font() -> None:
    nowhere = "\U00105678"  # private use
    with pytest.raises(UserError, match=r"no installed font has .*U\+105678.*take \.svg or \.html"):
        raster.png(Picture(10, 10, (Word(0, 0, f"a{nowhere}"),)))


def test_fonts_of_empty_frames_are_not_counted() -> None:
    assert all("Last Resort" not in entry.name for entry in raster._entries(font_manager.fontManager.ttflist))


def test_a_font_that_was_installed_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """matplotlib keeps its list of fonts from one day to the next."""
    fonts, file = font_manager.fontManager, f"{get_data_path()}/fonts/ttf/STIXNonUni.ttf"
    others = [entry for entry in fonts.ttflist if not entry.name.startswith(("STIX", "Last Resort"))]
    sign = chr(max(raster._signs_of(file).difference(*(raster._signs_of(entry.fname) for entry in others))))
    monkeypatch.setattr(fonts, "ttflist", others)
    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    with pytest.raises(UserError, match="no installed font has"):
        raster.families_for([sign])
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [file, __file__])
    assert raster.families_for([sign]) == [raster.FIRST, "STIXNonUnicode"]


def test_signs_that_are_joined_are_refused_where_matplotlib_does_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ft2font, "__libraqm_version__", None, raising=False)
    with pytest.raises(UserError, match="cannot write the script of"):
        raster.families_for(["abc", "مرحبا"])
    assert raster.families_for(["abc", "größer"]) == [raster.FIRST]


def test_signs_without_a_shape_need_no_font() -> None:
    assert raster.families_for(["a\u200d\u200b\ufe0f \u3000"]) == [raster.FIRST]


def test_a_picture_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(UserError, match="too large for a PNG"):
        raster.png(Picture(30_000, 10, ()))

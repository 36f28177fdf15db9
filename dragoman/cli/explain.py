"""What does a model see while it translates, and why does it say this?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli.align import loaded_aligner
from dragoman.cli.loading import loaded, purpose_of
from dragoman.cli.options import Device, File, Folder, SearchFlags, Threads, refuse_given
from dragoman.cli.screen import say
from dragoman.contracts import UserError
from dragoman.wording import json_text

if TYPE_CHECKING:
    from dragoman.drawing.page import Section
    from dragoman.seeing import Linked

SUFFIXES = (".html", ".svg", ".png", ".json")


def explain(
    model: Folder,
    sentence: str | None = None,
    /,
    *,
    reference: str = "",
    out: File | None = None,
    gates: Annotated[bool, Parameter(help="Show the gates and states of a recurrent network instead.")] = False,
    gradients: Annotated[bool, Parameter(help="Show how far back its gradients reach instead.")] = False,
    states: Annotated[
        File | None,
        Parameter(help="Map these sentences by their states instead: paraphrases on a line, tabs between."),
    ] = None,
    map_: Annotated[Literal["pca", "tsne"], Parameter(name="--map", help="How --states is drawn.")] = "pca",
    good_chrf: Annotated[
        float, Parameter(help="A translation below this chrF against the reference counts as worse than it.")
    ] = 50.0,
    aligner: Annotated[
        Folder | None, Parameter(help="A trained aligner, whose links of sentence and translation are shown too.")
    ] = None,
    search: SearchFlags = SearchFlags(),
    device: Device = "auto",
    threads: Threads = 0,
) -> None:
    """Show how a translation came about: attention, the probability of each piece, the search, all heads.

    Of an aligner: the links between a sentence and its --reference. Without --out the short of it is printed.

    Parameters
    ----------
    model:
        A model folder.
    sentence:
        A sentence of the source language.
    reference:
        A translation of it: its probabilities, and whether model or search is to blame where it differs. For an
        aligner the text that the sentence is linked with.
    out:
        A page (.html), a picture (.svg, .png) or all numbers (.json).
    """
    from dragoman.corpus.streams import refuse_overwriting

    refuse_overwriting([model, states, aligner], [out])
    if out is not None and Path(out).suffix.lower() not in SUFFIXES:
        raise UserError(f"{out}: written are {', '.join(SUFFIXES)}")
    if purpose_of(model) == "align":
        given = {
            "--gates": gates,
            "--gradients": gradients,
            "--states": states,
            "--map": map_ != "pca",
            "--aligner": aligner,
            "--good-chrf": good_chrf != 50.0,
            **search.given(),
            "--device": device not in ("auto", "cpu"),
        }
        refuse_given("an aligner shows links", given)
        _tell(model, sentence or "", out, *_links(model, sentence, reference, threads))
        return
    modes = {"--gates": gates, "--gradients": gradients, "--states": states is not None}
    chosen = [name for name, given in modes.items() if given]
    if len(chosen) > 1:
        raise UserError(f"{' and '.join(chosen)}: give one of them")
    if (sentence is None) == (states is None):
        raise UserError("explain: give one of a sentence and --states FILE")
    if states is None:
        refuse_given("--map is for --states", {"--map": map_ != "pca"})
    else:
        refuse_given("--states reads and searches nothing", {"--reference": reference, **search.given()})
    if chosen:
        refuse_given(f"{chosen[0]} shows no translation", {"--aligner": aligner})
    found = _found(model, sentence, reference, chosen, states, map_, good_chrf, aligner, search, device, threads)
    _tell(model, sentence or states or "", out, *found)


def _tell(model: str, what: str, out: str | None, found: Any, sections: Sequence[Section], lines: list[str]) -> None:
    """Print the short of it, or write numbers, a page or a picture."""
    from dragoman.system.explain import as_json

    if out is None:
        print("\n".join(lines))
    elif out.lower().endswith(".json"):
        _write(out, json_text(as_json(found)) + "\n")
    else:
        _draw(out, f"{Path(model).name}: {' '.join(what.split())}", sections)


def _links(model: str, sentence: str | None, reference: str, threads: int) -> tuple[Linked, list[Section], list[str]]:
    """What an aligner says of two texts, as data, as sections of a page, and in short."""
    from dragoman.cli.explained import linked_lines
    from dragoman.system.explain import linked
    from dragoman.system.shown import linked_sections

    if sentence is None or not reference:
        raise UserError("explain: an aligner looks at two texts: give a sentence, and its translation as --reference")
    seen = linked(loaded_aligner(model, threads), sentence, reference)
    return seen, linked_sections(seen), linked_lines(seen)


def _found(
    model: str,
    sentence: str | None,
    reference: str,
    chosen: Sequence[str],
    states: str | None,
    map_: Literal["pca", "tsne"],
    good_chrf: float,
    aligner: str | None,
    search: SearchFlags,
    device: str,
    threads: int,
) -> tuple[Any, list[Section], list[str]]:
    """What was asked for as data, as sections of a page, and in short."""
    from dragoman.cli import explained as short
    from dragoman.system import explain as asking
    from dragoman.system import shown
    from dragoman.system.sentences import map_sentences, read_groups

    groups = read_groups(states) if states is not None else None
    system, options = loaded(model, None, device, threads), search.options()
    if groups is not None:
        mapped = map_sentences(system, *groups, map_)
        return mapped, shown.map_sections(mapped), short.map_lines(mapped)
    text = sentence or ""
    if "--gates" in chosen:
        refuse_given("--gates shows the model's own translation", {"--reference": reference})
        opened = asking.gates(system, text, options)
        return opened, shown.gate_sections(opened), short.gate_lines(opened)
    if "--gradients" in chosen:
        faded = asking.gradients(system, Path(model), text, reference, options)
        return faded, shown.gradient_sections(faded), short.gradient_lines(faded)
    explained = asking.explain(system, text, reference, options, good_chrf)
    if aligner is not None:
        links = asking.linked(loaded_aligner(aligner, threads), text, explained.explanation.text)
        explained = replace(explained, linked=links)
    return explained, shown.explanation_sections(explained), short.explanation_lines(explained)


def _draw(out: str, title: str, sections: Sequence[Section]) -> None:
    from dragoman.corpus.files import writing_bytes
    from dragoman.drawing.page import page
    from dragoman.drawing.svg import svg
    from dragoman.system.shown import picture_of

    if out.lower().endswith(".html"):
        _write(out, page(title, "en", sections))
        return
    picture, too_wide = picture_of(sections, title)
    if out.lower().endswith(".svg"):
        _write(out, svg(picture))
    else:
        from dragoman.drawing.raster import png

        drawn = png(picture)
        with writing_bytes(out) as file:
            file.write(drawn)
    if too_wide:
        say(f"too wide for one picture, so it is left out: {', '.join(too_wide)}; .html has everything")


def _write(out: str, text: str) -> None:
    from dragoman.corpus.lines import writing

    with writing(out) as file:
        file.write(text)

"""How is a text begun and gone on with, so that not a sign of its beginning changes?

A beginning may end inside of a word that the model knows as one piece ("transl" of "translate"); cut into pieces by
itself it would be followed by what follows such a stump. So its last word is not cut: piece by piece those are drawn
that spell it, the last of which may go beyond its end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from dragoman.contracts import Flag, Sampling, UserError
from dragoman.neural.language import LanguageNetwork
from dragoman.neural.network import Carried
from dragoman.neural.outputs import repeats
from dragoman.search.constraints import OutputRules
from dragoman.search.sample import draw_streams, draw_uniforms, sample_search
from dragoman.search.steps import Candidate
from dragoman.text import pieces
from dragoman.text.normalise import nfc
from dragoman.text.running import RunningText
from dragoman.text.vocabulary import CharacterSegmenter
from dragoman.text.words import word_spans
from dragoman.texts import Generated, Generating, settled


@dataclass(frozen=True)
class Begun:
    """How a text begins. pieces: those that the model is given; given: so many of them it had no choice in; beyond:
    the signs of the others that go beyond the prefix."""

    pieces: tuple[int, ...]
    given: int
    beyond: str = ""


def written(
    network: LanguageNetwork, pipeline: RunningText, prefix: str, options: Generating, device: torch.device
) -> list[Generated]:
    """`options.count` texts; equal ones may be among them. Text i depends on seed, prefix and i alone.

    UserError for options that make no sense, and for a line end in the prefix of a model of lines.
    """
    sampling = settled(options)
    if not pipeline.has_lines and ("\n" in prefix or "\r" in prefix):
        raise UserError("the prefix has a line end in it, and this model was trained on single lines")
    streams_N = draw_streams(sampling.seed, [0], options.count)[0]
    begun = beginnings(network, pipeline, prefix, sampling, streams_N, device)
    found = sample_search(
        network.scorer(pipeline.first),
        torch.empty((options.count, 0), dtype=torch.int64, device=device),
        count=1,
        sampling=sampling,
        max_lengths_B=[len(one.pieces) + options.longest + 1 for one in begun],
        keys_B=streams_N.tolist(),
        rules=OutputRules(pipeline.pieces),
        prefixes=[one.pieces for one in begun] if prefix else None,
    )
    return [generated(pipeline, prefix, one, own[0]) for one, own in zip(begun, found, strict=True)]


def generated(pipeline: RunningText, prefix: str, begun: Begun, found: Candidate) -> Generated:
    """The prefix and what comes behind it; of a text that the limit cut, the end that was forced is not counted."""
    new = found.pieces[len(begun.pieces) :]
    inside = bool(begun.pieces) and begun.pieces[-1] != pieces.LINE_END
    text = prefix + begun.beyond + (pipeline.go_on(new) if inside else pipeline.decode(new))
    tokens = found.token_log_probabilities[begun.given : len(found.pieces) + (not found.capped)]
    flags = [Flag.LENGTH_CAP] if found.capped else []
    if not text[len(prefix) :].strip():
        flags.append(Flag.EMPTY)
    if repeats([text[start:end] for start, end in word_spans(text)]):
        flags.append(Flag.REPEATS)
    return Generated(text, math.fsum(tokens), tuple(tokens), tuple(flags))


# --- beginnings ---------------------------------------------------------------------------------


@torch.inference_mode()
def beginnings(
    network: LanguageNetwork,
    pipeline: RunningText,
    prefix: str,
    sampling: Sampling,
    streams_N: np.ndarray,
    device: torch.device,
) -> list[Begun]:
    """How each text begins: all but the last word as it is cut, the last word drawn. Where it cannot be spelt (a word
    that is not known, signs that are bytes) it is cut as well."""
    known = pipeline.encode_text(prefix) if prefix else []
    plain = Begun(tuple(known), len(known))
    before, rest = parted(prefix)
    if isinstance(pipeline.segmenter, CharacterSegmenter) or not rest:
        return [plain] * len(streams_N)
    base = pipeline.encode_text(before) if before else []
    wanted = pieces.escape(nfc(rest)).replace(" ", pieces.SPACE)
    if not base or base[-1] == pieces.LINE_END:
        wanted = pieces.SPACE + wanted  # every line is cut as if it followed a space
    inputs_1T = torch.tensor([[pipeline.first, *base]], device=device)
    carried: Carried = ()
    for first, last in network.windows(inputs_1T.shape[1]):
        states_1TD, carried = network.read(inputs_1T[:, first:last], carried)
    spelling = Spelling(network, Surfaces.of(pipeline), sampling)
    made = [spelling.draw(wanted, states_1TD[:, -1], carried, int(stream)) for stream in streams_N]
    return [
        plain if one is None else Begun((*base, *one[0]), len(base), pieces.unescape(one[1].replace(pieces.SPACE, " ")))
        for one in made
    ]


def parted(prefix: str) -> tuple[str, str]:
    """The prefix without the last word of its last line, and that, with a space before it; white space at the end of
    the line is such a last word too.

    >>> parted("The qui"), parted("The "), parted("The\\n"), parted("don't")
    (('The', ' qui'), ('The', ' '), ('The\\n', ''), ("don'", 't'))
    """
    line = prefix[prefix.rfind("\n") + 1 :]
    rest = line[len(line.rstrip()) :]
    if line and not rest:
        rest = line[word_spans(line)[-1][0] :]
        if line[: len(line) - len(rest)].endswith(" "):
            rest = f" {rest}"
    return prefix[: len(prefix) - len(rest)], rest


@dataclass(frozen=True)
class Surfaces:
    """The signs that pieces stand for, by their first sign; bytes and special pieces have none."""

    ids: dict[str, int]
    by_first: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, pipeline: RunningText) -> Surfaces:
        """Those of a vocabulary."""
        table, by_first = pipeline.pieces, dict[str, list[str]]()
        learnt = pieces.FIRST_FREE + len(table.byte_ids)
        ids = {surface: index for index, surface in enumerate(table.pieces[learnt:], start=learnt)}
        for surface in ids:
            by_first.setdefault(surface[0], []).append(surface)
        return cls(ids, {first: tuple(surfaces) for first, surfaces in by_first.items()})

    def fitting(self, wanted: str) -> list[str]:
        """Those that begin with what is wanted, and those with which it begins."""
        return [one for one in self.by_first.get(wanted[0], ()) if one.startswith(wanted) or wanted.startswith(one)]


@dataclass(frozen=True)
class Spelling:
    """How pieces are drawn that spell given signs."""

    network: LanguageNetwork
    surfaces: Surfaces
    sampling: Sampling

    def draw(self, wanted: str, state_1D: torch.Tensor, carried: Carried, stream: int) -> tuple[list[int], str] | None:
        """Pieces that together begin with `wanted`, and what they have beyond it; None where none fit. state_1D: what
        predicts the first one."""
        drawn: list[int] = []
        while wanted:
            fitting = self.surfaces.fitting(wanted)
            if not fitting:
                return None
            ids_C = [self.surfaces.ids[surface] for surface in fitting]
            logits_C = self.network.output(state_1D)[0, ids_C].double().cpu().numpy() / self.sampling.temperature
            chosen = fitting[self.choice(logits_C, stream, len(drawn))]
            drawn.append(self.surfaces.ids[chosen])
            wanted, beyond = wanted[len(chosen) :], chosen[len(wanted) :]
            if wanted:
                states_11D, carried = self.network.read(torch.tensor([drawn[-1:]], device=state_1D.device), carried)
                state_1D = states_11D[:, 0]
        return drawn, beyond

    def choice(self, logits_C: np.ndarray, stream: int, time: int) -> int:
        """One of them, by its probability among them."""
        if self.sampling.top_k == 1:
            return int(logits_C.argmax())
        mass_C = np.exp(logits_C - logits_C.max()).cumsum()
        uniform = draw_uniforms(np.array([[stream]], dtype=np.uint64), time)[0, 0]
        return int(np.searchsorted(mass_C, uniform * mass_C[-1], side="right").clip(max=len(mass_C) - 1))

"""What do gates, states and gradients do along a sentence?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from dragoman.contracts import Request, SearchOptions, SentencePair, UserError
from dragoman.neural.batches import Batch
from dragoman.neural.cells import CELLS
from dragoman.neural.explaining import forced, named, settled_for
from dragoman.neural.observing import Stepped, observed_cells
from dragoman.neural.scoring import target_log_probabilities
from dragoman.neural.segments import scored_parts
from dragoman.neural.seq2seq import NeuralTranslator
from dragoman.search.steps import rank
from dragoman.seeing import Fading, Gates, Gradients, Track
from dragoman.text.pieces import labels

CELL = re.compile(r"(encoder|decoder)\.(?:layers\.)?(\d+)(?:\.(\d+))?")
SHOWN_GATES = ("forget", "update")
STEPS, RUNS = 100, 20  # of fresh cells
SCALES = {"rnn": (0.5,), "rnn-relu": (2.0,)}


def read_and_written(
    translator: NeuralTranslator, text: str, options: SearchOptions
) -> tuple[Sequence[int], Sequence[int], int]:
    """Source and output pieces of the first part of a text, and how many parts there are."""
    settled = settled_for(translator, options)
    segments = translator.segments([Request(text)])
    if not segments:
        raise UserError("the sentence is blank")
    found = translator.candidates(segments[:1], settled)[0]
    return segments[0].pieces, rank(found, settled.alpha, settled.length_form)[0].pieces, len(segments)


# --- gates --------------------------------------------------------------------------------------


@torch.inference_mode()
def gates_of(translator: NeuralTranslator, text: str, options: SearchOptions) -> Gates:
    """See `ShowsGates`."""
    source, target, count = read_and_written(translator, text, options)
    batch, network = forced(translator, source, target), translator.networks[0]
    with observed_cells(network) as seen:
        network.hidden(batch.sources_BS, batch.inputs_BT)
    return Gates(
        kind=translator.kind,
        cell=translator.options.cell,
        source_pieces=(*labels(translator.pipeline.source.pieces, source), "</s>"),
        target_pieces=("<s>", *named(translator, target)[:-1]),
        tracks=tuple(_track(translator, name, steps) for name, steps in seen.items()),
        part_count=count,
    )


def _track(translator: NeuralTranslator, name: str, steps: Sequence[Stepped]) -> Track:
    layer, reads, backwards = _place(translator, name)
    order = steps[::-1] if backwards else steps
    gate = next((gate for gate in SHOWN_GATES if gate in order[0].gates), "")
    memory: Literal["C", "H"] = "C" if len(order[0].state) > 1 else "H"
    return Track(
        layer=layer,
        side="source" if reads else "target",
        gate=gate,
        gate_TH=_rows([step.gates[gate] for step in order]) if gate else None,
        memory=memory,
        memory_TH=_rows([step.state[-1] for step in order]),
    )


def _place(translator: NeuralTranslator, name: str) -> tuple[str, bool, bool]:
    """A layer in words, whether it reads, and whether it does so backwards."""
    known = CELL.fullmatch(name)
    assert known is not None, name
    layer = f"{known[1]} layer {int(known[2]) + 1}"
    if known[1] == "decoder":
        return layer, False, False
    directions = translator.networks[0].encoder.backwards  # type: ignore[union-attr]
    back = bool(directions[int(known[3])])  # type: ignore[index]
    return f"{layer}, {'backwards' if back else 'forwards'}", True, back


def _rows(steps: Sequence[Tensor]) -> np.ndarray:
    return torch.stack([step.flatten() for step in steps]).float().cpu().numpy()


# --- gradients ----------------------------------------------------------------------------------


def gradients_of(translator: NeuralTranslator, text: str, reference: str, options: SearchOptions) -> Gradients:
    """See `ShowsGates`. h_k is the state that the cell hands on at step k of its reading, L = -log p of the output."""
    source, target, _ = read_and_written(translator, text, options)
    if reference:
        ((source, target),) = scored_parts(translator.pipeline, SentencePair(text, reference))
    batch = forced(translator, source, target)
    loss, states = _traced(translator, batch)
    fadings = []
    for name, steps in states.items():
        found = torch.autograd.grad(loss, steps, retain_graph=True, allow_unused=True)
        norms = [0.0 if each is None else float(each.norm()) for each in reversed(found)]
        fadings.append(Fading(_place(translator, name)[0], tuple(norms)))
    return Gradients(
        kind=translator.kind,
        cell=translator.options.cell,
        pieces=(*labels(translator.pipeline.source.pieces, source), "</s>"),
        loss=float(loss.detach()),
        model=tuple(fadings),
        fresh=fresh_fadings(translator.options.encoder_width),
        runs=RUNS,
    )


@torch.enable_grad()
def _traced(translator: NeuralTranslator, batch: Batch) -> tuple[Tensor, dict[str, list[Tensor]]]:
    """The loss, and the states of each cell that reads, step by step."""
    with observed_cells(translator.networks[0]) as seen:
        loss = -target_log_probabilities(translator.networks, batch).sum()
    reading = {name: steps for name, steps in seen.items() if name.startswith("encoder")}
    return loss, {name: [step.state[0] for step in steps] for name, steps in reading.items()}


def fresh_fadings(width: int, steps: int = STEPS, runs: int = RUNS) -> tuple[Fading, ...]:
    """Untrained cells read random sequences x ~ N(0, 1); L = v'h_T with a random v of length 1, the mean over `runs`.

    The tanh cell also with its matrix W_h halved, the ReLU cell with it doubled: SCALES.
    """
    found = []
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        for name, kind in CELLS.items():
            for scale in (1.0, *SCALES.get(name, ())):
                torch.manual_seed(1)
                cell = kind(width, width).requires_grad_(False)
                cell.state.weight *= scale
                states = [tuple(each.requires_grad_() for each in cell.start(torch.zeros(runs, width)))]
                for products_BG in cell.products(torch.randn(runs, steps, width)).unbind(1):
                    states.append(cell.step(products_BG, states[-1]))
                direction_BH = torch.nn.functional.normalize(torch.randn(runs, width), dim=-1)
                hidden = [state[0] for state in states[1:]]
                gradients = torch.autograd.grad((hidden[-1] * direction_BH).sum(), hidden)
                norms = tuple(float(each.norm(dim=-1).mean()) for each in reversed(gradients))
                found.append(Fading(name if scale == 1 else f"{name}, W_h x {scale:g}", norms))
    return tuple(found)

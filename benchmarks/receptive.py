"""How far does each encoder see, in how many steps that wait for one another, and how long does a layer take?

python -m benchmarks.receptive [--picture FILE]: the norm of the gradient of each state with respect to each embedding
for encoders as they begin, before they learn, in one picture (build/bench/receptive.png); and the time of one layer of
256 features, forward and backward, at 16 to 2,048 positions, two sentences at once, one thread, fp32: medians of five,
in seconds of the processor, so that the load of the machine matters little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

from benchmarks.steps import RESULTS, Result, step, table
from dragoman.neural.attention import MultiHeadAttention
from dragoman.neural.cells import CELLS, LstmCell
from dragoman.neural.convolution import ConvolutionBlock
from dragoman.neural.encoders import ENCODERS
from dragoman.neural.recipes import RecurrentOptions, TransformerOptions
from dragoman.neural.transformer import EncoderLayer

LENGTH, WIDTH = 40, 32
ENCODERS_SHOWN: dict[str, dict[str, Any]] = {
    "LSTM, 1 layer": {"encoder": "uni", "encoder_layers": 1},
    "convolution, k = 3, 4 layers": {"encoder": "conv", "encoder_layers": 4},
    "self-attention, 1 layer": {"encoder": "attention", "encoder_layers": 1},
    "LSTM, both directions, 1 layer": {"encoder": "bi", "encoder_width": WIDTH // 2, "encoder_layers": 1},
    "the same, dilation 2": {"encoder": "conv", "dilation": 2, "encoder_layers": 4},
    "convolution, both sides, 4 layers": {"encoder": "conv-bi", "encoder_layers": 4},
}
FAINTEST = 1e-4  # of the largest gradient; what is below is drawn like it, what is 0 stays white

LENGTHS = tuple(2**power for power in range(4, 12))
FEATURES, KERNEL, HEADS, BATCH, TIMES = 256, 3, 4, 2, 5
LAYERS_TIMED: dict[str, tuple[str, str, str]] = {  # work, steps, path
    "LSTM, fused": ("n d^2", "n", "n"),
    "LSTM, step by step": ("n d^2", "n", "n"),
    "convolution": ("k n d^2", "1", "n/k, dilated log_k n"),
    "self-attention": ("n^2 d", "1", "1"),
    "self-attention and feed-forward": ("n^2 d + n d^2", "1", "1"),
}


# --- how far ------------------------------------------------------------------------------------


def gradients(changes: dict[str, Any]) -> list[list[float]]:
    """T x S, the Frobenius norm of dh_t / dx_s."""
    torch.manual_seed(1)
    shape = {"embedding": WIDTH, "encoder_width": WIDTH, "inner": 4 * WIDTH} | changes
    options = RecurrentOptions(**shape)
    encoder = ENCODERS[options.encoder](options).eval()
    inputs_1SD = torch.randn(1, LENGTH, WIDTH)
    inputs_ESD = inputs_1SD.repeat(encoder.width, 1, 1).requires_grad_()  # sentence e is asked for feature e
    states_ETE, _ = encoder(inputs_ESD, None)
    asked_TE = states_ETE.diagonal(dim1=0, dim2=2)
    rows = [torch.autograd.grad(asked_TE[t].sum(), inputs_ESD, retain_graph=True)[0] for t in range(LENGTH)]
    return [row_ESD.square().sum((0, 2)).sqrt().tolist() for row_ESD in rows]


def draw(found: dict[str, list[list[float]]], file: Path) -> None:
    """One panel an encoder, one scale for all; white: no influence at all."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 6.2), dpi=80, layout="constrained")
    panels = figure.subplots(2, len(found) // 2, sharex=True, sharey=True)
    shades = colormaps["viridis"].with_extremes(bad="white")
    image: Any = None
    for panel, (name, norms) in zip(panels.flat, found.items(), strict=True):
        largest = max(max(row) for row in norms)
        shares = [[max(each / largest, FAINTEST) if each else float("nan") for each in row] for row in norms]
        image = panel.imshow(shares, norm=LogNorm(FAINTEST, 1), cmap=shades, interpolation="nearest")
        panel.set_title(name, fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("embedding s")
    for panel in panels[:, 0]:
        panel.set_ylabel("state t")
    figure.colorbar(image, ax=panels, label="|dh_t / dx_s|, the largest = 1", shrink=0.8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file)


# --- how long -----------------------------------------------------------------------------------


def layers() -> dict[str, Callable[[Tensor], Tensor]]:
    """One layer of each kind; the cell that goes step by step is an LSTM that is not told of its kernel."""
    torch.manual_seed(1)

    class Stepping(LstmCell):
        @property
        def fused(self) -> None:  # type: ignore[override]
            return None

    shape = TransformerOptions(
        width=FEATURES, heads=HEADS, inner=4 * FEATURES, dropout=0, attention_dropout=0, inner_dropout=0
    )
    fused, stepping = CELLS["lstm"](FEATURES, FEATURES), Stepping(FEATURES, FEATURES)
    block = ConvolutionBlock(FEATURES, FEATURES, KERNEL)
    attention, whole = MultiHeadAttention(FEATURES, HEADS, 0.0), EncoderLayer(shape)
    return {
        "LSTM, fused": lambda inputs: fused.run(inputs)[0],
        "LSTM, step by step": lambda inputs: stepping.run(inputs)[0],
        "convolution": lambda inputs: block(inputs),
        "self-attention": lambda inputs: attention(inputs, *attention.remember(inputs), None)[0],
        "self-attention and feed-forward": lambda inputs: whole(inputs, None),
    }


def seconds(layer: Callable[[Tensor], Tensor], length: int) -> dict[str, float]:
    """Medians, of the forward pass alone and with the backward pass."""
    inputs_BTD = torch.randn(BATCH, length, FEATURES, requires_grad=True)
    taken: dict[str, list[float]] = {"forward": [], "both": []}
    for _ in range(TIMES + 1):
        began = time.process_time()
        with torch.no_grad():
            layer(inputs_BTD)
        between = time.process_time()
        torch.autograd.backward(layer(inputs_BTD).sum())
        taken["forward"].append(between - began)
        taken["both"].append(time.process_time() - between)
    return {name: median(each[1:]) for name, each in taken.items()}  # the first one warms up


def timed(layer: Callable[[Tensor], Tensor]) -> Result:
    """At each length."""
    return {str(length): seconds(layer, length) for length in LENGTHS}


def main(picture: Path | None) -> None:
    """Draw, measure, print."""
    torch.set_num_threads(1)
    found = step("receptive-gradients", lambda: {name: gradients(each) for name, each in ENCODERS_SHOWN.items()})
    norms = {name: found[name] for name in ENCODERS_SHOWN}
    for file in filter(None, (RESULTS / "receptive.png", picture)):
        draw(norms, file)
        print(f"{file}: {file.stat().st_size:,} bytes")
    reach: list[tuple[object, ...]] = [
        (name, max(sum(each > 0 for each in row) for row in rows)) for name, rows in norms.items()
    ]
    print(table(("encoder", f"most embeddings, of {LENGTH}, that a state depends on"), reach))
    measured = {
        name: step(f"receptive-{name.replace(' ', '-').replace(',', '')}", partial(timed, layer))
        for name, layer in layers().items()
    }
    for kind, title in (("forward", "forward"), ("both", "forward and backward")):
        rows: list[tuple[object, ...]] = [
            (name, *costs, *(f"{1000 * measured[name][str(length)][kind]:.3g}" for length in LENGTHS))
            for name, costs in LAYERS_TIMED.items()
        ]
        header = ("a layer", "work", "serial steps", "longest path", *(f"ms at {length}" for length in LENGTHS))
        print(f"\n{title}, n positions, d = {FEATURES} features, k = {KERNEL}\n{table(header, rows)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.receptive", description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, help="a further place for the picture")
    main(parser.parse_args().picture)

"""What do the parts of a network compute while it runs?

Nothing in a network knows that it is observed: inside the block hooks hang on its attention, and its cells take one
step after another in place of the fused kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn

from dragoman.neural.attention import Attention, MultiHeadAttention
from dragoman.neural.cells import Cell, State


class Stepped(NamedTuple):
    """What a cell did at one step. gates: by name, none of a cell without them."""

    gates: dict[str, Tensor]
    state: State


@contextmanager
def observed_attention(network: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """Inside, the weights of each attention by its name in the network, a tensor for each time it is asked:
    ... x T x S, B x H x T x S of one with heads."""
    seen: dict[str, list[Tensor]] = {}
    with ExitStack() as hooks:
        for name, module in network.named_modules():
            if isinstance(module, MultiHeadAttention):
                hooks.enter_context(module.register_forward_pre_hook(_want_weights, with_kwargs=True))
            if isinstance(module, Attention | MultiHeadAttention):
                kept = seen.setdefault(name, [])
                hooks.enter_context(module.register_forward_hook(lambda _, __, made, kept=kept: kept.append(made[1])))
        yield seen


def _want_weights(module: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    return given[:4], {**named, "weighed": True}


@contextmanager
def observed_cells(network: nn.Module) -> Iterator[dict[str, list[Stepped]]]:
    """Inside, what each cell did by its name in the network, step by step in the order in which it reads."""
    cells = {name: module for name, module in network.named_modules() if isinstance(module, Cell)}
    seen: dict[str, list[Stepped]] = {name: [] for name in cells}
    try:
        for name, cell in cells.items():
            cell.by_steps = True
            cell.step = _watched(cell, seen[name])  # type: ignore[method-assign]
        yield seen
    finally:
        for cell in cells.values():
            del cell.by_steps, cell.step


def _watched(cell: Cell, kept: list[Stepped]) -> Any:
    """The step of a cell, which leaves what it did."""
    usual = cell.step

    def step(products_BG: Tensor, state: State) -> State:
        new = usual(products_BG, state)
        opened = getattr(cell, "open", None)
        kept.append(Stepped(opened(products_BG, state)._asdict() if opened else {}, new))
        return new

    return step

"""How does a network translate in fewer bits than it was trained in, and does that pay on this machine?

`at_precision` replaces a network's matrices (each nn.Linear and the OutputLayer) by products in bf16 or int8;
embeddings, norms, softmax, attention and log-probabilities stay in fp32. `usable` knows what is faster here.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.contracts import Precision
from dragoman.neural.network import Network, OutputLayer

LARGEST = 127
BLOCK, FEWEST_ROWS = 8, 17  # CUDA multiplies int8 where the sides are multiples of 8, and not under 17 rows
TIMED = (64, 256, 1024)  # rows, inputs, outputs: some sentences' beams in a small feed-forward layer
REPEATS, PATIENCE = 3, 0.02  # no further repeat after so many seconds


# --- the products -------------------------------------------------------------------------------


def quantise(rows_ND: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers q = round(x / s) from -127 to 127, int8, and s = max |x| / 127, N x 1: one for each row."""
    scales_N1 = rows_ND.abs().amax(-1, keepdim=True) / LARGEST
    least = torch.finfo(scales_N1.dtype).tiny  # a row of zeros is divided by something else than its zero
    return (rows_ND / scales_N1.clamp_min(least)).round_().to(torch.int8), scales_N1


def integer_product(rows_ND: Tensor, weight_WD: Tensor) -> Tensor:
    """rows weight', N x W in int32, exact up to D = 133,000. D and W are multiples of BLOCK where CUDA does it."""
    count = len(rows_ND)
    if rows_ND.is_cuda and count < FEWEST_ROWS:
        rows_ND = functional.pad(rows_ND, (0, 0, 0, FEWEST_ROWS - count))
    return torch._int_mm(rows_ND, weight_WD.mT)[:count]


class Int8Product(nn.Module):
    """x W' + b by whole numbers of 8 bits, whose sums are exact; W outputs, D inputs.

    y = s_x s_w (q_x q_w') + b, where q and s are those of `quantise`, one scale for each row of x and each output of
    the weights: what a row comes to does not depend on the rows beside it.
    """

    weight_WD: Tensor
    scales_W: Tensor
    bias_W: Tensor | None

    def __init__(self, whole_WD: Tensor, scales_W: Tensor, bias_W: Tensor | None = None) -> None:
        super().__init__()
        outputs, inputs = whole_WD.shape
        self.register_buffer("weight_WD", functional.pad(whole_WD, (0, -inputs % BLOCK, 0, -outputs % BLOCK)))
        self.register_buffer("scales_W", scales_W)
        self.register_buffer("bias_W", bias_W)

    @classmethod
    def quantised(cls, weight_WD: Tensor, bias_W: Tensor | None = None) -> Int8Product:
        """From weights in fp32."""
        whole_WD, scales_W1 = quantise(weight_WD.detach())
        return cls(whole_WD, scales_W1[:, 0], None if bias_W is None else bias_W.detach())

    def of(self, ids_W: Tensor) -> Int8Product:
        """Some of the outputs alone: the same numbers."""
        bias_W = None if self.bias_W is None else self.bias_W[ids_W]
        return Int8Product(self.weight_WD[ids_W], self.scales_W[ids_W], bias_W)

    def forward(self, states: Tensor) -> Tensor:
        whole_ND, scales_N1 = quantise(states.flatten(0, -2))
        filling = self.weight_WD.shape[1] - whole_ND.shape[1]
        if filling:
            whole_ND = functional.pad(whole_ND, (0, filling))
        outputs = len(self.scales_W)
        sums_NW = integer_product(whole_ND, self.weight_WD)[:, :outputs]
        result_NW = sums_NW.float().mul_(scales_N1).mul_(self.scales_W)
        if self.bias_W is not None:
            result_NW += self.bias_W
        return result_NW.view(*states.shape[:-1], outputs)


class BFloat16Product(nn.Module):
    """x W' + b with factors and result rounded to the 8 significant bits of bfloat16, returned as fp32."""

    weight_WD: Tensor
    bias_W: Tensor | None

    def __init__(self, weight_WD: Tensor, bias_W: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("weight_WD", weight_WD.detach().bfloat16())
        self.register_buffer("bias_W", None if bias_W is None else bias_W.detach().bfloat16())

    def of(self, ids_W: Tensor) -> BFloat16Product:
        """Some of the outputs alone: the same numbers."""
        return BFloat16Product(self.weight_WD[ids_W], None if self.bias_W is None else self.bias_W[ids_W])

    def forward(self, states: Tensor) -> Tensor:
        return functional.linear(states.bfloat16(), self.weight_WD, self.bias_W).float()


PRODUCTS: dict[Precision, Callable[[Tensor, Tensor | None], nn.Module]] = {
    "bf16": BFloat16Product,
    "int8": Int8Product.quantised,
}


def at_precision(network: Network, precision: Precision) -> Network:
    """A network like this one, for decoding, with its products at `precision`; at the network's own it is itself.

    What is not replaced (embeddings, norms) is shared, nothing is changed. ValueError for a network that is not fp32.
    """
    if precision == network.precision:
        return network
    if network.precision != "fp32":
        raise ValueError(f"a network in {network.precision} has no other weights: begin with the one in fp32")
    ready: dict[int, Any] = {id(parameter): parameter for parameter in network.parameters()}
    for module in network.modules():
        if isinstance(module, nn.Linear | OutputLayer):
            ready[id(module)] = PRODUCTS[precision](module.weight, getattr(module, "bias", None))
    copied = copy.deepcopy(network, ready)  # which takes what it is told to have copied already
    copied.precision = precision
    return copied


# --- what pays ----------------------------------------------------------------------------------


def usable(precision: Precision, device: torch.device) -> tuple[Precision, str]:
    """The precision to take on a device where `precision` is asked for, and a line if it is another (`choose`)."""
    return choose(precision, seconds(device)) if precision != "fp32" else ("fp32", "")


def choose(asked: Precision, seconds: Mapping[Precision, float]) -> tuple[Precision, str]:
    """What is asked for if it is faster than fp32; else bf16 if that is; else fp32. And why, in one line."""
    if asked == "fp32" or seconds[asked] < seconds["fp32"]:
        return asked, ""
    taken: Precision = "bf16" if seconds["bf16"] < seconds["fp32"] else "fp32"
    ratio = seconds[asked] / seconds["fp32"]
    why = f"takes {ratio:.1f} times as long as fp32" if ratio < math.inf else "has no exact products"
    return taken, f"{asked} {why} on this processor: {taken} is used"


@cache
def seconds(device: torch.device) -> dict[Precision, float]:
    """How long one product of the TIMED shape takes one thread at each precision; infinite where there is none, or no
    exact one. Measured once in a process, within a tenth of a second or two.

    One thread, as the processes have that share a long input: several wait for each other, int8's small steps most.
    """
    draw = torch.Generator().manual_seed(1)
    rows, inputs, outputs = TIMED
    states_ND = torch.randn(rows, inputs, generator=draw).to(device)
    weight_WD = torch.randn(outputs, inputs, generator=draw).to(device)
    products: dict[Precision, Callable[[Tensor], Tensor]] = {
        "fp32": partial(functional.linear, weight=weight_WD),
        "bf16": BFloat16Product(weight_WD),
        "int8": Int8Product.quantised(weight_WD),
    }
    taken: dict[Precision, float] = dict.fromkeys(products, math.inf)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.inference_mode():
        for precision, product in products.items():
            try:
                if precision != "int8" or is_exact(device):
                    taken[precision] = shortest(partial(product, states_ND), device)
            except (RuntimeError, AttributeError):  # no such kernel
                continue
    torch.set_num_threads(threads)
    return taken


def is_exact(device: torch.device) -> bool:
    """Are integer products those of 64 bits, the largest sums among them? (Without VNNI kernels may saturate.)"""
    draw = torch.Generator().manual_seed(1)
    rows_ND, weight_WD = (
        torch.randint(-LARGEST, LARGEST + 1, (count, 64), generator=draw, dtype=torch.int8) for count in (24, 48)
    )
    rows_ND[0], weight_WD[0], weight_WD[1] = LARGEST, LARGEST, -LARGEST
    found_NW = integer_product(rows_ND.to(device), weight_WD.to(device)).cpu()
    return torch.equal(found_NW.long(), rows_ND.long() @ weight_WD.long().mT)


def shortest(action: Callable[[], Tensor], device: torch.device) -> float:
    """Seconds of the fastest of a few calls, after one to warm up."""
    found: list[float] = []
    action()
    while len(found) < REPEATS and sum(found) < PATIENCE:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        began = time.perf_counter()
        action()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        found.append(time.perf_counter() - began)
    return min(found)

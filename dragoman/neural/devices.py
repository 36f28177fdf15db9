"""On which device, and with how many threads, does a network run?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from dragoman.contracts import UserError
from dragoman.processes import keep_freed_memory


def pick(device: str = "auto", threads: int = 0, *, deterministic: bool = False) -> torch.device:
    """The torch device for "auto", "cpu", "cuda", "cuda:1", "mps". threads: 0 leaves torch's choice.

    deterministic: ask for kernels that give the same sums each time on CUDA, so that a seed means something there.
    """
    if threads:
        torch.set_num_threads(threads)
    keep_freed_memory()
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, ValueError) as error:
        raise UserError(f"device {device!r} cannot be used here: {str(error).splitlines()[0]}") from None
    if deterministic and chosen.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
    return chosen


class WithoutContent(TorchFunctionMode):
    """A network that is made inside has shapes and no numbers: its parameters are on torch's "meta" device, and none is
    drawn there (torch would load its compiler to see what comes of that)."""

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if function in (nn.init.normal_, nn.init.uniform_, Tensor.normal_, Tensor.uniform_):
            return args[0] if args else given["tensor"]
        if function is torch.empty:
            given["device"] = "meta"
        return function(*args, **given)


def products_dtype(precision: Literal["auto", "fp32", "bf16"], device: torch.device) -> torch.dtype:
    """What matrix products are taken in while training; "auto": bfloat16 where the hardware multiplies it.

    Weights, sums, norms, softmax and the optimiser stay fp32. On a processor without bf16 instructions "bf16" works
    too, far slower than fp32.
    """
    if precision == "auto":
        fast = torch.cuda.is_bf16_supported(including_emulation=False) if device.type == "cuda" else _cpu_has_bf16()
        return torch.bfloat16 if fast and device.type in ("cpu", "cuda") else torch.float32
    return torch.bfloat16 if precision == "bf16" else torch.float32


def _cpu_has_bf16() -> bool:
    told = torch.cpu.get_capabilities()
    return bool(told.get("avx512_bf16") or told.get("amx_bf16"))

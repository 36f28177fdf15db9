"""On which device, and with how many threads, does a network run?"""

from __future__ import annotations

import os

import torch

from dragoman.contracts import UserError


def pick(device: str = "auto", threads: int = 0, *, deterministic: bool = False) -> torch.device:
    """The torch device for "auto", "cpu", "cuda", "cuda:1", "mps". threads: 0 leaves torch's choice.

    deterministic: ask for kernels that give the same sums each time on CUDA, so that a seed means something there.
    """
    if threads:
        torch.set_num_threads(threads)
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

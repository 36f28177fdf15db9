"""Does a training fit into the memory of this machine? (Asked before it starts: a system that runs out kills it.)"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dragoman.contracts import UserError
from dragoman.neural import checkpoints
from dragoman.neural.batches import Batch
from dragoman.neural.crew import members_on
from dragoman.neural.loss import CHUNK
from dragoman.neural.network import Predictor
from dragoman.neural.recipes import LearningOptions

BYTES_A_PARAMETER = 12  # weight and AdamW's two moments, fp32 each
BYTES_A_GRADIENT = 4  # of a parameter, for each part of a batch
BESIDE_WHAT_IS_KEPT = 1.5  # gradients and passing results while the backward pass goes on
BYTES_A_LOGIT = 12  # logits, their product and its gradient, for each part
CGROUP = Path("/sys/fs/cgroup")


def refuse_too_large(network: Predictor, options: LearningOptions, longest: int, products: torch.dtype) -> None:
    """UserError where a training on the CPU needs more memory than is free; nothing is known of other systems."""
    free = free_bytes()
    if checkpoints.device_of(network).type != "cpu" or free is None:
        return
    needed = needed_bytes(network, options.tokens_per_batch, longest, products)
    if needed > free:
        raise UserError(
            f"training needs about {needed / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free: lower "
            f"tokens_per_batch ({options.tokens_per_batch}) and raise accumulate, or take a smaller network"
        )


def needed_bytes(network: Predictor, tokens: int, longest: int, products: torch.dtype = torch.float32) -> int:
    """An estimate: parameters with what the optimiser keeps, and what the backward pass needs of a batch.

    The latter is counted on one pair of `longest` pieces, where attention weights are largest, and taken for
    `tokens` positions.
    """
    kept = saved_bytes(network, longest, products) / longest * max(tokens, longest) * BESIDE_WHAT_IS_KEPT
    parameters = sum(parameter.numel() for parameter in network.parameters())
    each = parameters * BYTES_A_GRADIENT + CHUNK * len(network.target_table) * BYTES_A_LOGIT
    return int(parameters * BYTES_A_PARAMETER + kept + members_on(checkpoints.device_of(network)) * each)


def saved_bytes(network: Predictor, length: int, products: torch.dtype) -> int:
    """What the forward pass of one pair of `length` pieces keeps for the backward pass, parameters aside."""
    device = checkpoints.device_of(network)
    own = {parameter.data_ptr() for parameter in network.parameters()}
    seen: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    def give(tensor: Any) -> Any:
        return tensor

    ids_1T = torch.full((1, length), network.target_table.end, device=device)
    batch = Batch(ids_1T, ids_1T, ids_1T, length)
    was_training = network.training
    with torch.random.fork_rng(), torch.autograd.graph.saved_tensors_hooks(keep, give):
        network.train()
        with torch.autocast(device.type, dtype=products, enabled=products != torch.float32):
            states_BTD, carried = network.states(batch, ())
    network.train(was_training)
    del states_BTD, carried
    return sum(seen.values())


def free_bytes() -> int | None:
    """Memory that this process may still take: of the machine, or of its container where that has less.
    None where neither is told."""
    if sys.platform != "linux":
        return None
    told = []
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            told.append(int(line.split()[1]) * 1024)
    try:
        limit, used = ((CGROUP / name).read_text(encoding="ascii") for name in ("memory.max", "memory.current"))
        kept = dict(line.split() for line in (CGROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        told.append(int(limit) - int(used) + int(kept["inactive_file"]))  # cached files give way
    except (OSError, ValueError, KeyError):  # no such container, or "max"
        pass
    return min(told) if told else None

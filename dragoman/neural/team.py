"""How do several processes learn one network together? (torch.distributed, started by torchrun)

Each process takes its share of the rows of every batch; the gradients of all are added up before each
update, so that the update is the one that a single process would make of the whole batch. Rank 0 leads: it fits
the pieces, looks at the dev set, writes, and says when it is over; the others follow.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn

PATIENCE = timedelta(hours=12)  # the others wait while rank 0 fits pieces or translates the dev set

T = TypeVar("T")


@dataclass(frozen=True)
class Team:
    """This process among those that train together; alone (world 1) it sends nothing."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def share(self, thing: T) -> T:
        """What rank 0 says, in every process."""
        if self.world == 1:
            return thing
        carried = [thing if self.leads else None]
        dist.broadcast_object_list(carried, src=0)
        return carried[0]  # type: ignore[return-value]

    def start_alike(self, network: nn.Module) -> None:
        """Give every process the parameters of rank 0."""
        if self.world > 1:
            for parameter in network.parameters():
                dist.broadcast(parameter.data, src=0)

    def add_up(self, network: nn.Module, likelihood: torch.Tensor) -> torch.Tensor:
        """Put into every process the sum of all processes' gradients; returns the sum of their likelihoods.

        One message: all gradients in a row. A process without rows in this batch adds zeros.
        """
        if self.world == 1:
            return likelihood
        parameters = list(network.parameters())
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad.flatten() for parameter in parameters if parameter.grad is not None]
        message = torch.cat([*gradients, likelihood.to(gradients[0]).view(1)])
        dist.all_reduce(message)
        sums = torch.split(message[:-1], [gradient.numel() for gradient in gradients])
        for parameter, total in zip(parameters, sums, strict=True):
            parameter.grad = total.view_as(parameter)
        return message[-1]

    def draw_apart(self, seed: int, updates: int) -> None:
        """Have a follower drop out other units than rank 0, the same ones each time this update is made."""
        if not self.leads:
            torch.manual_seed(zlib.crc32(f"{seed} {self.rank} {updates}".encode()))


def join(rank: int, world: int, device: torch.device) -> Team:
    """Meet the other processes where torchrun says (MASTER_ADDR and the like); alone this does nothing."""
    if world > 1 and not dist.is_initialized():
        backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(backend, rank=rank, world_size=world, timeout=PATIENCE)
    return Team(rank, world)


def own_device(device: str) -> str:
    """The device of this process: "cuda", and "auto" where there is one, is another card for each of a machine."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" else device


def call(rank: int, world: int, device: str, word: str) -> str:
    """The word of rank 0, in every process, before they begin: what there is to train, if anything."""
    return join(rank, world, torch.device(own_device(device))).share(word)


def leave() -> None:
    """End the connection to the other processes, if there is one."""
    if dist.is_initialized():
        dist.destroy_process_group()

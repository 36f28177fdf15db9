"""What must lie on disk so that an interrupted training goes on as if nothing had happened?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from dragoman.contracts import UserError
from dragoman.neural.optimiser import AdamW
from dragoman.whole import whole

STATE = "state.json"


class Kept(NamedTuple):
    """A kept checkpoint: what it is chosen by (greater is better), its update, all its dev figures."""

    figure: float
    updates: int
    figures: dict[str, float]


@dataclass
class Standing:
    """Where a training stands. `epoch` and `batch`: the next batch to take; `position`: of the schedule;
    `seconds`: work so far, all sittings together; `looked`: update of the last look at the dev set;
    `looks`: how many in a row brought nothing better; `done`: why the training ended ("" = it did not),
    under the limits `under`; `best`: checkpoints kept, best first."""

    updates: int = 0
    epoch: int = 0
    batch: int = 0
    position: float = 0.0
    seconds: float = 0.0
    look_seconds: float = 0.0
    looked: int = -1
    looks: int = 0
    done: str = ""
    under: dict[str, float] = field(default_factory=dict)
    best: list[Kept] = field(default_factory=list)


def write_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """A safetensors file, written aside and renamed."""
    with whole(path) as aside:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, aside)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file, on the CPU."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)


def weights_of(network: nn.Module) -> dict[str, Tensor]:
    """Each parameter once, under its first name (tied ones are not stored twice)."""
    return dict(network.named_parameters())


def device_of(network: nn.Module) -> torch.device:
    """Where the network's parameters are."""
    return next(network.parameters()).device


def load_weights(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put stored weights into a network of the same shape; UserError that names the first that does not fit."""
    parameters = weights_of(network)
    for name in sorted(parameters.keys() | tensors.keys()):
        shapes = [tuple(side[name].shape) if name in side else "none" for side in (parameters, tensors)]
        if shapes[0] != shapes[1]:
            raise UserError(f"the weights do not fit the network: {name} has shape {shapes[1]}, wanted {shapes[0]}")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[name])


def save_state(
    folder: Path,
    standing: Standing,
    network: nn.Module,
    optimiser: AdamW,
    carried: Sequence[Tensor] = (),
) -> None:
    """All that the next update depends on. state.json is replaced last and names the tensor file. carried: what the
    next batch may go on from."""
    tensors: dict[str, Tensor] = {f"weights/{name}": tensor for name, tensor in weights_of(network).items()}
    for name, parameter in weights_of(network).items():
        for key, value in optimiser.state.get(parameter, {}).items():
            tensors[f"optimiser/{key}/{name}"] = value
    tensors |= {f"carried/{place}": tensor for place, tensor in enumerate(carried)}
    tensors["random/cpu"] = torch.get_rng_state()
    device = device_of(network)
    if device.type == "cuda":
        tensors["random/cuda"] = torch.cuda.get_rng_state(device)
    name = f"state-{standing.updates}.safetensors"
    write_tensors(tensors, folder / name)
    report = {**asdict(standing), "epochs": standing.epoch, "tensors": name}
    with whole(folder / STATE) as aside:
        aside.write_text(json.dumps(report), encoding="utf-8")
    for old in folder.glob("state-*.safetensors"):
        if old.name != name:
            old.unlink()


class State(NamedTuple):
    """A stored state: the fields of a Standing, and the tensors of weights, optimiser and random generators."""

    report: dict[str, Any]
    tensors: dict[str, Tensor]


def read_state(folder: Path) -> State | None:
    """The state in a work folder; None when there is none."""
    if not (folder / STATE).exists():
        return None
    report = json.loads((folder / STATE).read_text(encoding="utf-8"))
    return State(report, read_tensors(folder / report["tensors"]))


def put_on(state: State, network: nn.Module, optimiser: AdamW) -> Standing:
    """Bring network, optimiser and random generators to a stored state."""
    report, tensors = state
    parameters = weights_of(network)
    load_weights(network, {name: tensors[f"weights/{name}"] for name in parameters})
    for key, value in tensors.items():
        if key.startswith("optimiser/"):
            _, field_name, name = key.split("/", 2)
            optimiser.state.setdefault(parameters[name], {})[field_name] = value.to(parameters[name].device)
    torch.set_rng_state(tensors["random/cpu"])
    device = device_of(network)
    if "random/cuda" in tensors and device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random/cuda"], device)
    known = {name: report[name] for name in asdict(Standing()) if name in report}
    known["best"] = [Kept(*kept) for kept in known["best"]]
    return Standing(**known)


def carried_of(state: State, device: torch.device) -> tuple[Tensor, ...]:
    """What the next batch may go on from."""
    count = sum(name.startswith("carried/") for name in state.tensors)
    return tuple(state.tensors[f"carried/{place}"].to(device) for place in range(count))


def checkpoint(folder: Path, updates: int) -> Path:
    """The file of the weights that were kept after so many updates."""
    return folder / f"best-{updates}.safetensors"


def average(folder: Path, updates: list[int]) -> dict[str, Tensor]:
    """The mean of the named checkpoints' weights."""
    total: dict[str, Tensor] = {}
    for each in updates:
        for name, tensor in read_tensors(checkpoint(folder, each)).items():
            total[name] = total[name] + tensor if name in total else tensor.clone()
    return {name: tensor / len(updates) for name, tensor in total.items()}

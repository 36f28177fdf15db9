"""How does a state go from one step to the next?

Each cell is one step that reads like its equations, its gates by name. `run` takes whole sequences: by torch's fused
kernels, with the same parameters, where the cell has one; else step by step, the products of the inputs taken out of
the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

State = tuple[Tensor, ...]
"""H, B x H, or of an LSTM (H, C)."""


SURELY = 1e4  # its sigmoid is 1, that of its negative 0


class Cell(nn.Module):
    """A recurrent cell: `products` of the inputs, X W_x + b of all gates side by side (G = gates x H), then `step`.

    With layer norm (Ba et al. 2016, section 3.1) both products are normalised, X W_x + b and H W_h, and an LSTM's C
    before it is shown. Then, and in fewer bits, there is no fused kernel.
    """

    gates: ClassVar[tuple[str, ...]]
    by_state: ClassVar[int] = 0  # how many of them take H W_h from the matrix `state`; 0: all
    memories: ClassVar[int] = 1  # tensors of a state
    by_steps: bool = False  # True while somebody observes the steps

    def __init__(self, inputs: int, width: int, layer_norm: bool = False) -> None:
        super().__init__()
        self.width = width
        size, by_state = len(self.gates) * width, (self.by_state or len(self.gates)) * width
        self.input = nn.Linear(inputs, size)
        self.state = nn.Linear(width, by_state, bias=False)
        self.input_norm = nn.LayerNorm(size) if layer_norm else nn.Identity()
        self.state_norm = nn.LayerNorm(by_state) if layer_norm else nn.Identity()
        self.initialise()

    def initialise(self) -> None:
        """Glorot-uniform input matrices, orthogonal state matrices (Saxe et al. 2014), gate by gate; zero biases."""
        for matrix in self.input.weight.chunk(len(self.gates)):
            nn.init.xavier_uniform_(matrix)
        for matrix in self.state.weight.chunk(self.by_state or len(self.gates)):
            nn.init.orthogonal_(matrix)
        nn.init.zeros_(self.input.bias)

    def start(self, like_BX: Tensor) -> State:
        """A state of zeros for so many sequences."""
        return tuple(like_BX.new_zeros(len(like_BX), self.width) for _ in range(self.memories))

    def products(self, inputs: Tensor) -> Tensor:
        """... x G, whatever the steps of the inputs ... x D."""
        made: Tensor = self.input_norm(self.input(inputs))
        return made

    def step(self, products_BG: Tensor, state: State) -> State:
        """The next state."""
        raise AssertionError("each cell steps in its own way")

    @property
    def fused(self) -> Callable[..., Sequence[Tensor]] | None:
        """torch's kernel for this cell, if there is one."""
        return None

    def kernel_weights(self) -> list[Tensor]:
        """W_x, W_h and two biases as the kernel wants them."""
        return [self.input.weight, self.state.weight, self.input.bias, torch.zeros_like(self.input.bias)]

    @property
    def path(self) -> str:
        """Which way `run` takes."""
        plain = isinstance(self.input, nn.Linear) and isinstance(self.input_norm, nn.Identity)
        return "fused" if plain and self.fused is not None and not self.by_steps else "step by step"

    def run(
        self, inputs_BTD: Tensor, state: State | None = None, present_BT: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """States B x T x H after each input, and the last one. state: to begin with; None is zeros.

        present_BT: False where a row has ended (its inputs are filled up behind); the last state is that of the last
        real position. What stands behind that among the states means nothing.
        """
        state = self.start(inputs_BTD[:, 0]) if state is None else state
        if self.path == "fused":
            return self.run_fused(inputs_BTD, state, present_BT)
        states = []
        for time, made_BG in enumerate(self.products(inputs_BTD).unbind(1)):
            new = self.step(made_BG, state)
            if present_BT is not None:
                new = tuple(torch.where(present_BT[:, time, None], *each) for each in zip(new, state, strict=True))
            state = new
            states.append(state[0])
        return torch.stack(states, 1), state

    def run_fused(self, inputs_BTD: Tensor, state: State, present_BT: Tensor | None) -> tuple[Tensor, State]:
        """The same by the kernel."""
        assert self.fused is not None
        weights, begin = self.kernel_weights(), tuple(each[None].contiguous() for each in state)
        if present_BT is not None:
            inputs_BTD, weights = self.held(inputs_BTD, weights, ~present_BT)
        states_BTH, *last = self.fused(
            inputs_BTD, begin if self.memories > 1 else begin[0], weights, True, 1, 0.0, self.training, False, True
        )
        if present_BT is None:
            return states_BTH, tuple(each[0] for each in last)
        ends_B = present_BT.sum(1) - 1
        return states_BTH, (states_BTH[torch.arange(len(ends_B)), ends_B], *(each[0] for each in last[1:]))

    def held(self, inputs_BTD: Tensor, weights: list[Tensor], ended_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Inputs and weights with which the kernel keeps what is not among its states B x T x H."""
        return inputs_BTD, weights


class TanhCell(Cell):
    """H_t = tanh(X_t W_xh + H_{t-1} W_hh + b) (Elman 1990)."""

    gates = ("candidate",)

    def step(self, products_BG: Tensor, state: State) -> State:
        return (self.squash(products_BG + self.state_norm(self.state(state[0]))),)

    def squash(self, values: Tensor) -> Tensor:
        return values.tanh()

    @property
    def fused(self) -> Callable[..., Sequence[Tensor]]:
        return torch.rnn_tanh


class ReluCell(TanhCell):
    """H_t = max(0, X_t W_xh + H_{t-1} W_hh + b) (Le et al. 2015): above 0 it never saturates."""

    def squash(self, values: Tensor) -> Tensor:
        return values.relu()

    @property
    def fused(self) -> Callable[..., Sequence[Tensor]]:
        return torch.rnn_relu


class LstmGates(NamedTuple):
    """Each B x H, from 0 to 1; candidate: from -1 to 1."""

    admit: Tensor
    forget: Tensor
    candidate: Tensor
    show: Tensor


class LstmCell(Cell):
    """Long short-term memory (Hochreiter & Schmidhuber 1997; the gate F is of Gers et al. 2000).

    I, F, O = sigma(X W_x* + H_{t-1} W_h* + b_*), C~ = tanh(X W_xc + H_{t-1} W_hc + b_c),
    C_t = F C_{t-1} + I C~, H_t = O tanh(C_t). Along C_t gradients fade less; they explode all the same. The biases of F
    begin at 1 (Jozefowicz et al. 2015). The gates are named for what they do: admit I, forget F, show O.
    """

    gates = LstmGates._fields
    memories = 2

    def __init__(self, inputs: int, width: int, layer_norm: bool = False) -> None:
        super().__init__(inputs, width, layer_norm)
        self.memory_norm = nn.LayerNorm(width) if layer_norm else nn.Identity()

    def initialise(self) -> None:
        super().initialise()
        nn.init.ones_(self.input.bias.chunk(4)[LstmGates._fields.index("forget")])

    def open(self, products_BG: Tensor, state: State) -> LstmGates:
        """The gates at this step."""
        admit, forget, candidate, show = (products_BG + self.state_norm(self.state(state[0]))).chunk(4, -1)
        return LstmGates(admit.sigmoid(), forget.sigmoid(), candidate.tanh(), show.sigmoid())

    def step(self, products_BG: Tensor, state: State) -> State:
        gates = self.open(products_BG, state)
        memory_BH = gates.forget * state[1] + gates.admit * gates.candidate
        return gates.show * self.memory_norm(memory_BH).tanh(), memory_BH

    @property
    def fused(self) -> Callable[..., Sequence[Tensor]]:
        return torch.lstm

    def held(self, inputs_BTD: Tensor, weights: list[Tensor], ended_BT: Tensor) -> tuple[Tensor, list[Tensor]]:
        """One more input, 1 behind the end of a row, shuts I and opens F, so that C stays what it was, to the bit."""
        shut, opened, zeros = (weights[0].new_full((self.width, 1), value) for value in (-SURELY, SURELY, 0.0))
        column_G1 = torch.cat([shut, opened, zeros, zeros])
        inputs_BTD = torch.cat([inputs_BTD, ended_BT[..., None].to(inputs_BTD)], -1)
        return inputs_BTD, [torch.cat([weights[0], column_G1], 1), *weights[1:]]


class GruGates(NamedTuple):
    """Each B x H, from 0 to 1; candidate: from -1 to 1."""

    reset: Tensor
    update: Tensor
    candidate: Tensor


class GruCell(Cell):
    """Gated recurrent unit that resets before the product (Chung et al. 2014); U admits the new state.

    R, U = sigma(X W_x* + H_{t-1} W_h* + b_*), C~ = tanh(X W_xc + (R H_{t-1}) W_hc + b_c), H_t = U C~ + (1 - U) H_{t-1}.
    torch has no kernel for this form.
    """

    gates = GruGates._fields
    by_state = 2

    def __init__(self, inputs: int, width: int, layer_norm: bool = False) -> None:
        super().__init__(inputs, width, layer_norm)
        self.candidate = nn.Linear(width, width, bias=False)
        self.candidate_norm = nn.LayerNorm(width) if layer_norm else nn.Identity()
        nn.init.orthogonal_(self.candidate.weight)

    def open(self, products_BG: Tensor, state: State) -> GruGates:
        """The gates at this step."""
        asked_BG, candidate_BH = products_BG[..., : 2 * self.width], products_BG[..., 2 * self.width :]
        reset, update = (asked_BG + self.state_norm(self.state(state[0]))).sigmoid().chunk(2, -1)
        return GruGates(reset, update, (candidate_BH + self.candidate_norm(self.candidate(reset * state[0]))).tanh())

    def step(self, products_BG: Tensor, state: State) -> State:
        gates = self.open(products_BG, state)
        return (state[0] + gates.update * (gates.candidate - state[0]),)


class GruAfterCell(Cell):
    """The same that resets after the product, as torch does: C~ = tanh(X W_xc + b_c + R (H_{t-1} W_hc + b_hc)).

    Cho et al. 2014 and torch call U what is 1 - U here: for their kernel its weights and biases change their sign.
    """

    gates = GruGates._fields

    def __init__(self, inputs: int, width: int, layer_norm: bool = False) -> None:
        super().__init__(inputs, width, layer_norm)
        self.inner_bias_H = nn.Parameter(torch.zeros(width))

    def open(self, products_BG: Tensor, state: State) -> GruGates:
        """The gates at this step."""
        reset, update, candidate = products_BG.chunk(3, -1)
        reset_too, update_too, inner = self.state_norm(self.state(state[0])).chunk(3, -1)
        reset = (reset + reset_too).sigmoid()
        candidate = (candidate + reset * (inner + self.inner_bias_H)).tanh()
        return GruGates(reset, (update + update_too).sigmoid(), candidate)

    def step(self, products_BG: Tensor, state: State) -> State:
        gates = self.open(products_BG, state)
        return (state[0] + gates.update * (gates.candidate - state[0]),)

    @property
    def fused(self) -> Callable[..., Sequence[Tensor]]:
        return torch.gru

    def kernel_weights(self) -> list[Tensor]:
        zeros_H = torch.zeros_like(self.inner_bias_H)
        inner_bias_G = torch.cat([zeros_H, zeros_H, self.inner_bias_H])
        return [*map(self._their_sign, (self.input.weight, self.state.weight, self.input.bias)), inner_bias_G]

    def _their_sign(self, gates_GX: Tensor) -> Tensor:
        reset, update, candidate = gates_GX.chunk(3)
        return torch.cat([reset, -update, candidate])


CELLS: dict[str, type[Cell]] = {
    "lstm": LstmCell,
    "gru": GruAfterCell,
    "gru-before": GruCell,
    "rnn": TanhCell,
    "rnn-relu": ReluCell,
}
"""A new cell is a class above and a row here."""

"""Which step follows from the gradients? (torch.optim answers too, but loads the compiler of torch, which nothing here
uses: two seconds and 75 MB for every process that trains.)"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class AdamW:
    """Adam (Kingma & Ba 2015) with the decay of weights beside the gradient (Loshchilov & Hutter 2019). Step t is

        m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2
        w <- (1 - rate decay) w - rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)

    Vectors (biases, gains of norms) do not decay. `rate` may be set before every step. state: t, m and v of each
    parameter from its first gradient on, under the names that torch.optim has for them.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        decay: float = 0.0,
        epsilon: float = 1e-8,
    ) -> None:
        self.parameters = list(parameters)
        self.rate, self.betas, self.decay, self.epsilon = rate, betas, decay, epsilon
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change every parameter that has a gradient."""
        moved: list[tuple[Tensor, Tensor]] = [
            (parameter, parameter.grad) for parameter in self.parameters if parameter.grad is not None
        ]
        self._move([each for each in moved if each[0].dim() > 1], self.decay)
        self._move([each for each in moved if each[0].dim() <= 1], 0.0)

    def _move(self, moved: list[tuple[Tensor, Tensor]], decay: float) -> None:
        if not moved:
            return
        states = [self._state_of(parameter) for parameter, _ in moved]
        steps, means, squares = ([state[name] for state in states] for name in ("step", "exp_avg", "exp_avg_sq"))
        torch._foreach_add_(steps, 1.0)
        torch._fused_adamw_(
            [parameter for parameter, _ in moved],
            [gradient for _, gradient in moved],
            means,
            squares,
            [],
            steps,
            lr=self.rate,
            beta1=self.betas[0],
            beta2=self.betas[1],
            weight_decay=decay,
            eps=self.epsilon,
            amsgrad=False,
            maximize=False,
        )

    def _state_of(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return self.state[parameter]

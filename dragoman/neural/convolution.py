"""How does a position read its neighbours, all positions at the same time?"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from dragoman.neural.dropout import Dropout


class Convolution(nn.Module):
    """y_t = W [x_{t-(k-1)r}; ...; x_{t-r}; x_t] + b: a window of k positions, r apart, that ends at t (causal).

    r is the dilation (van den Oord et al. 2016). centred: t stands in the middle of its window. Where a window
    reaches over an end of the text it finds zeros. The windows are laid out flat for one nn.Linear, which
    `quantised.at_precision` knows.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, dilation: int = 1, centred: bool = False) -> None:
        super().__init__()
        self.kernel, self.dilation = kernel, dilation
        self.behind = (kernel - 1) // 2 if centred else 0  # positions of the window behind t
        self.product = nn.Linear(kernel * inputs, outputs)

    def forward(self, inputs_BTD: Tensor) -> Tensor:
        length = inputs_BTD.shape[1]
        apart = min(self.dilation, length)  # what lies further off is outside all the same
        before, behind = ((self.kernel - 1 - self.behind) * apart, self.behind * apart)
        filled_BTD = functional.pad(inputs_BTD, (0, 0, before, behind))
        windows_BTX = torch.cat([filled_BTD[:, i * apart : i * apart + length] for i in range(self.kernel)], -1)
        made_BTD: Tensor = self.product(windows_BTX)
        return made_BTD


class ConvolutionBlock(nn.Module):
    """(x + f(x)) sqrt(1/2): f(x) = A sigma(B), [A; B] the convolution of x (Gehring et al. 2017, section 3), where
    half of what is made says how much of the other half comes through; or f(x) = max(0, A) (Bai et al. 2018).

    The root keeps the variance of the sum. x is brought to the width of f(x) by a matrix where they differ.
    With layer norm the convolution reads LN(x).
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        kernel: int,
        dilation: int = 1,
        *,
        gated: bool = True,
        centred: bool = False,
        layer_norm: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.gated = gated
        self.norm = nn.LayerNorm(inputs) if layer_norm else nn.Identity()
        self.dropout = Dropout(dropout)
        self.convolution = Convolution(inputs, 2 * width if gated else width, kernel, dilation, centred)
        self.road = nn.Identity() if inputs == width else nn.Linear(inputs, width, bias=False)
        self.initialise()

    def initialise(self) -> None:
        """N(0, 4/n) before a gate, which lets a half through, N(0, 2/n) before max(0, .), n inputs of a window: f(x)
        has the variance of x while that is small (Gehring et al. 2017, section 3.5; He et al. 2015). Zero biases."""
        product = self.convolution.product
        nn.init.normal_(product.weight, std=math.sqrt((4 if self.gated else 2) / product.in_features))
        nn.init.zeros_(product.bias)
        if isinstance(self.road, nn.Linear):
            nn.init.xavier_uniform_(self.road.weight)

    def forward(self, inputs_BTD: Tensor, present_BT: Tensor | None = None) -> Tensor:
        """present_BT: False behind the end of a row, where windows find zeros too; None: nowhere."""
        read_BTD = self.dropout(self.norm(inputs_BTD))
        if present_BT is not None:
            read_BTD = read_BTD * present_BT[..., None]
        made_BTX = self.convolution(read_BTD)
        change_BTD = functional.glu(made_BTX) if self.gated else made_BTX.relu()
        summed_BTD: Tensor = (self.road(inputs_BTD) + change_BTD) * math.sqrt(0.5)
        return summed_BTD

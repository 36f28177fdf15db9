"""How wrong are the predictions? Cross-entropy against a large vocabulary, never whole in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

CHUNK = 512


class Loss(NamedTuple):
    """Sums over target pieces, natural logs; `smoothed` is what is minimised."""

    smoothed: Tensor
    negative_log_likelihood: Tensor


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Logits are formed for CHUNK rows at a time; the gradients are made in the same pass.

    With p = softmax, the gradient of a row of logits is p - (1 - eps) onehot(target) - eps / V. Its last part is
    the same for all rows and pieces: the gradients get it as one row and one column, the mean logit is a
    product with the mean row of the output matrix, and the logits themselves are passed over as seldom as may be.
    The way back scales the gradients where they lie, so it can be gone once.
    """

    @staticmethod
    def forward(
        ctx: Any, states_ND: Tensor, output_VD: Tensor, targets_N: Tensor, smoothing: float, products: torch.dtype
    ) -> Any:
        vocabulary = len(output_VD)
        needs_gradient = states_ND.requires_grad or output_VD.requires_grad
        states_gradient_ND = torch.empty_like(states_ND) if needs_gradient else None
        output_gradient_VD: Tensor | None = None
        mean_output_D = output_VD.mean(0)
        smoothed, plain = states_ND.new_zeros(()), states_ND.new_zeros(())
        factor_VD = output_VD.to(products)
        for start in range(0, len(states_ND), CHUNK):
            states_CD, targets_C1 = states_ND[start : start + CHUNK], targets_N[start : start + CHUNK, None]
            factor_CD = states_CD.to(products)
            logits_CV = (factor_CD @ factor_VD.mT).float()
            top_C1, right_C1 = logits_CV.amax(1, keepdim=True), logits_CV.gather(1, targets_C1)
            p_CV = torch.softmax(logits_CV, 1, out=logits_CV)
            total_C1 = top_C1 - p_CV.amax(1, keepdim=True).log()  # log sum exp, from the largest: p >= 1 / V
            missed = (total_C1 - right_C1).sum()
            plain += missed
            smoothed += (1 - smoothing) * missed + smoothing * (total_C1[:, 0] - states_CD @ mean_output_D).sum()
            if states_gradient_ND is not None:
                gradient_CV = p_CV.scatter_add_(1, targets_C1, p_CV.new_full(targets_C1.shape, smoothing - 1))
                gradient_CV = gradient_CV.to(products)
                states_gradient_ND[start : start + CHUNK] = gradient_CV @ factor_VD
                change_VD = gradient_CV.mT @ factor_CD
                output_gradient_VD = (
                    change_VD.float() if output_gradient_VD is None else output_gradient_VD.add_(change_VD)
                )
        if states_gradient_ND is not None and output_gradient_VD is not None and smoothing:
            states_gradient_ND.sub_(mean_output_D, alpha=smoothing)
            output_gradient_VD.sub_(states_ND.sum(0), alpha=smoothing / vocabulary)
        ctx.gradients = states_gradient_ND, output_gradient_VD
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> Any:
        states_gradient_ND, output_gradient_VD = ctx.gradients
        ctx.gradients = None  # freed with their last use
        return states_gradient_ND.mul_(upstream[0]), output_gradient_VD.mul_(upstream[0]), None, None, None


def cross_entropy(
    states_ND: Tensor, output_VD: Tensor, targets_N: Tensor, smoothing: float, products: torch.dtype = torch.float32
) -> Loss:
    """Label-smoothed cross-entropy of softmax(states output') (Szegedy et al. 2016, section 7).

    (1 - eps) * -log p(target) + eps / V * sum_v -log p(v), summed over the N rows. Equal to
    `torch.nn.functional.cross_entropy(..., label_smoothing=eps, reduction="sum")`. products: what the three large
    matrix products are taken in (bfloat16 where the hardware has it); states, sums and gradients are fp32.
    """
    smoothed, plain = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states_ND, output_VD, targets_N, smoothing, products
    )
    return Loss(smoothed, plain)


def guidance(weights_BTS: Tensor, wanted_BTS: Tensor) -> Tensor:
    """- sum_ts G_ts log A_ts (Garg et al. 2019): how far what was looked at is from what is linked.

    wanted_BTS: a row for each target piece, which sums to 1, or to 0 where nothing is linked: that is not judged.
    """
    least = torch.finfo(weights_BTS.dtype).tiny  # a weight of 0 has no logarithm
    return -(wanted_BTS * weights_BTS.clamp_min(least).log()).sum()

"""A linear layer with noise in its weights."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def noisy_linear(
    x: Float[Tensor, "*batch feature"],
    weight: Float[Tensor, "out feature"],
    bias: Float[Tensor, " out"],
    weight_scale: Float[Tensor, "out feature"],
    bias_scale: Float[Tensor, " out"],
    noise: Float[Tensor, "*_ both"],
) -> Float[Tensor, "*batch out"]:
    r"""A linear layer whose weights and biases have factorized noise of learned size.

    $$y = (W + S \circ f(\epsilon')\, f(\epsilon)^\top)\, x + b + s \circ f(\epsilon')
        = W x + b + f(\epsilon') \circ \left(S\, (f(\epsilon) \circ x) + s\right), \qquad
      f(\epsilon) = \mathrm{sgn}(\epsilon) \sqrt{|\epsilon|}$$

    No matrix of noise is made, so that every row may have noise of its own.

    Args:
        x: Inputs.
        weight: Mean $W$ of the weights.
        bias: Mean $b$ of the biases.
        weight_scale: Size $S$ of the noise of each weight.
        bias_scale: Size $s$ of the noise of each bias.
        noise: Standard normal numbers $\epsilon$ for the inputs, then $\epsilon'$ for the outputs:
            for each row of `x`, or for all rows along axes of size 1 or that are left out.

    Reference:
        lamb2022, section 10.4.5; Fortunato et al. 2018, equations 9 to 11.
    """
    shaped = noise.sign() * noise.abs().sqrt()
    inner, outer = shaped.tensor_split([weight.shape[1]], dim=-1)
    return F.linear(x, weight, bias) + outer * F.linear(inner * x, weight_scale, bias_scale)

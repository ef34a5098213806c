"""The part of a line of code after attention, with a gradient by hand.

Function after function, so that what is between the layers of one lies in the processor's cache. It
keeps elements behind the attention and hidden units before their GELU, and makes all else again
that costs no product; and it sums functions up without keeping what each of them gives.

Forward, for one function with compatibilities c:

    a = x + c (W_o z + b_o),  h = W_1 norm(a) + b_1,  m = W_2 gelu(h) + b_2,  y = a + c m

Its output is y, or Σ c y over functions. Backward, d of a quantity is the gradient of the loss by
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients
from farfield.functional._autograd._products import add_product, product

NORM_EPS: Final = 1e-5
"""Of torch's layer normalization."""


class FinishWeights(NamedTuple):
    """Output layer, normalization and network, by function: (function, out, in).

    Attributes:
        out: The layer behind attention.
        out_bias: (feature).
        norm: (feature).
        norm_bias: (feature).
        first: The first layer of the network.
        first_bias: (hidden).
        second: The second.
        second_bias: (feature).
    """

    out: Tensor
    out_bias: Tensor
    norm: Tensor
    norm_bias: Tensor
    first: Tensor
    first_bias: Tensor
    second: Tensor
    second_bias: Tensor


class FinishByHand(torch.autograd.Function):
    """`plain` of the same arguments, with an analytic gradient.

    Takes elements (function, batch, item, feature), or 1 for all functions, what they gathered
    (function, batch, item, feature), compatibilities (function, batch, item), the weights, and
    whether the functions are summed up, each times its compatibility. Gives (function, …) or
    (1, …).
    """

    @staticmethod
    def forward(ctx: Any, plain: Callable[..., Tensor], *given: Any) -> Tensor:
        """Function after function."""
        x, gathered, share = given[:3]
        weights, summed = FinishWeights(*given[3:-1]), given[-1]
        attended = gathered.new_empty(gathered.shape)
        hidden = gathered.new_empty(*gathered.shape[:-1], weights.first.shape[1])
        found = gathered.new_zeros(gathered[:1].shape) if summed else torch.empty_like(attended)
        for u in range(len(gathered)):
            c = share[u].reshape(-1, 1)
            a, h = attended[u].flatten(0, 1), hidden[u].flatten(0, 1)
            told = add_product(weights.out_bias, gathered[u].flatten(0, 1), weights.out[u].t())
            torch.addcmul(x[u if len(x) > 1 else 0].flatten(0, 1), c, told, out=a)
            normal = F.layer_norm(a, a.shape[-1:], weights.norm, weights.norm_bias)
            h.copy_(add_product(weights.first_bias, normal, weights.first[u].t()))
            y = add_product(weights.second_bias, F.gelu(h), weights.second[u].t())
            if summed:
                found[0].flatten(0, 1).addcmul_(c, y.mul_(c).add_(a))
            else:
                torch.addcmul(a, c, y, out=found[u].flatten(0, 1))
        ctx.save_for_backward(*given[:-1], attended, hidden)
        ctx.rest = plain, summed
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Function after function."""
        plain, summed = ctx.rest
        *primals, attended, hidden = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            again = differentiable_gradients(
                lambda *given: plain(*given, summed), primals, [gradient]
            )
            return (None, *again, None)
        x, gathered, share = primals[:3]
        weights = FinishWeights(*primals[3:])
        # Not `zeros_like`, which has the strides of what it is like: rows must be views.
        to_x, to_gathered = x.new_zeros(x.shape), gathered.new_empty(gathered.shape)
        to_share, to_weights = (
            torch.empty_like(share),
            FinishWeights(*map(torch.zeros_like, weights)),
        )
        for u in range(len(gathered)):
            c = share[u].reshape(-1, 1)
            given = gradient[0 if summed else u].flatten(0, 1)
            a, h = attended[u].flatten(0, 1), hidden[u].flatten(0, 1)
            of_a, of_c = _network_back(u, given, c, a, h, weights, to_weights, summed=summed)
            to_x[u if len(x) > 1 else 0].flatten(0, 1).add_(of_a)
            # With r = W_oᵀ da: dc += r · z + da · b_o, dz = c r
            rows = gathered[u].flatten(0, 1)
            r = product(of_a, weights.out[u])
            of_c += (r * rows).sum(-1) + of_a @ weights.out_bias
            to_share[u] = of_c.view_as(share[u])
            torch.mul(r, c, out=to_gathered[u].flatten(0, 1))
            of_out = of_a.mul_(c)  # dW_o = Σ c da zᵀ, db_o = Σ c da
            to_weights.out[u] = product(of_out.t(), rows)
            to_weights.out_bias.add_(of_out.sum(0))
        return None, to_x, to_gathered, to_share, *to_weights, None


def _network_back(
    u: int,
    given: Tensor,
    c: Tensor,
    attended: Tensor,
    hidden: Tensor,
    weights: FinishWeights,
    to: FinishWeights,
    *,
    summed: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients of elements before the network of a function, and of shares in it.

    Given dy, or the gradient of Σ c y; e = gelu(h) and r = W_2ᵀ dy.
    """
    e, r = F.gelu(hidden), product(given, weights.second[u])
    # dy · m
    of_c = (r * e).sum(-1) + given @ weights.second_bias
    own = given * c
    if summed:  # of c a + c² m: dc = 2 c dy · m + dy · a, de = c² r, dm = c² dy, da = c dy
        of_c = 2 * c.squeeze(-1) * of_c + (given * attended).sum(-1)
        r, of_m = r.mul_(c * c), own * c
    else:  # of a + c m: dc = dy · m, de = c r, dm = c dy, da = dy
        r, of_m = r.mul_(c), own
        own = given
    # dW_2 = Σ dm eᵀ, dh = gelu′(h) de, dW_1 = Σ dh norm(a)ᵀ, d norm(a) = W_1ᵀ dh
    to.second[u] = product(of_m.t(), e)
    to.second_bias.add_(of_m.sum(0))
    of_h = torch.ops.aten.gelu_backward(r, hidden)
    normal, mean, root = torch.native_layer_norm(
        attended, attended.shape[-1:], weights.norm, weights.norm_bias, NORM_EPS
    )
    to.first[u] = product(of_h.t(), normal)
    to.first_bias.add_(of_h.sum(0))
    of_a, of_norm, of_norm_bias = torch.ops.aten.native_layer_norm_backward(
        product(of_h, weights.first[u]),
        attended,
        list(attended.shape[-1:]),
        mean,
        root,
        weights.norm,
        weights.norm_bias,
        [True, True, True],
    )
    to.norm.add_(of_norm)
    to.norm_bias.add_(of_norm_bias)
    return of_a.add_(own), of_c

"""A line of code: its formula, then its gradient by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield._machine import on_cpu
from farfield.functional._autograd._products import add_product, is_rewritten, product
from farfield.functional._autograd._unroll import differentiable_gradients
from farfield.functional._interpreter._modulated_attention import (
    AttendByHand,
    ModulatedLayer,
    modulated_attention,
    modulated_linear,
    modulated_mlp,
)

WORTHWHILE: Final = 2**21
"""Multiplications of the scores of one set from which on it is attended to by itself."""

_Options = tuple[Tensor | None, int, float, float]
"""Mask, heads, scale and ε."""


class LineParameters(NamedTuple):
    """Weights of a line of code, formed once for the functions there are.

    Attributes:
        norm1_weight: (feature).
        norm1_bias: (feature).
        query: Of the keys' width, heads side by side.
        key: Likewise; None where elements themselves are the keys (`folded_query`).
        value: Heads side by side.
        out: Behind attention.
        norm2_weight: (feature).
        norm2_bias: (feature).
        mlp: The layers of the network for each element.
        position_scores: By `relative_position_scores`; None without positions.

    Reference:
        gondal2021, section 2, equations 9 and 10.
    """

    norm1_weight: Tensor
    norm1_bias: Tensor
    query: ModulatedLayer
    key: ModulatedLayer | None
    value: ModulatedLayer
    out: ModulatedLayer
    norm2_weight: Tensor
    norm2_bias: Tensor
    mlp: tuple[ModulatedLayer, ...]
    position_scores: Tensor | None = None


@final
@dataclass(frozen=True, kw_only=True)
class LineRules:
    r"""Rules of a line of code: its options without weights.

    Args:
        num_heads: Number of heads of its attention.
        key_size: Numbers in a key of one head, by which scores are scaled; None is as many as in a
            query.
        residual: Whether attention and network are added to their input, or replace it.
        eps: $\epsilon$ of the attention.

    Reference:
        gondal2021, section 2, equations 7, 9 and 10.
    """

    num_heads: int
    key_size: int | None = None
    residual: bool = True
    eps: float = 1e-6


def line_of_code(
    x: Float[Tensor, "_ batch item feature"],
    compatibility: Float[Tensor, "function batch item"],
    parameters: LineParameters,
    rules: LineRules,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
) -> Float[Tensor, "function batch item feature"]:
    r"""Compute attention and then a network for each element, in a stream for each function.

    $$a_{ui} = x_{ui} + C_{ui} \, \mathrm{ModAttn}(\{\mathrm{LN}(x_{uj})\}_j; c_u, \{C_{uj}\}_j),
      \qquad y_{ui} = a_{ui} + C_{ui} \, \mathrm{ModMLP}(\mathrm{LN}(a_{ui}); c_u)$$

    An element that a function has no access to stays unchanged.

    Args:
        x: The elements by function; with a first axis of length 1 all streams start from the same.
        compatibility: $C$.
        parameters: The weights.
        rules: The rest.
        key_padding_mask: True where an element is padding.

    Reference:
        gondal2021, section 2, equations 9 and 10.
    """
    return run_line(x, compatibility, parameters, rules, key_padding_mask)


def run_line(
    x: Tensor,
    compatibility: Tensor,
    parameters: LineParameters,
    rules: LineRules,
    key_padding_mask: Tensor | None,
    *,
    summed: bool = False,
) -> Tensor:
    """Compute `line_of_code`, or the sum over functions times compatibilities as one stream.

    Args:
        x: As in `line_of_code`.
        compatibility: As in `line_of_code`.
        parameters: As in `line_of_code`.
        rules: As in `line_of_code`.
        key_padding_mask: As in `line_of_code`.
        summed: Whether it is the sum.
    """
    norm = parameters.norm1_weight, parameters.norm1_bias
    normal = F.layer_norm(x, x.shape[-1:], *norm)
    if key_padding_mask is not None:
        compatibility = compatibility.masked_fill(key_padding_mask, 0.0)
    gathered = _gather(normal, compatibility, parameters, rules, key_padding_mask)
    weights = _finish_weights(parameters)
    if weights is None or not rules.residual or not _may_be_by_hand(x):
        return _finish(x, gathered, compatibility, parameters, rules, summed=summed)
    # torch leaves `apply` untyped.
    return FinishByHand.apply(  # type: ignore[no-untyped-call]
        _finish_plain, x, gathered, compatibility, *weights, summed
    )


def _attend(
    normal: Tensor,
    compatibility: Tensor,
    query: ModulatedLayer,
    key: ModulatedLayer | None,
    value: ModulatedLayer,
    position_scores: Tensor | None,
    options: _Options,
) -> Tensor:
    mask, num_heads, scale, eps = options
    return modulated_attention(
        modulated_linear(normal, query),
        normal if key is None else modulated_linear(normal, key),
        modulated_linear(normal, value),
        compatibility,
        num_heads=num_heads,
        scale=scale,
        position_scores=position_scores,
        key_padding_mask=mask,
        eps=eps,
    )


def _finish(
    x: Tensor,
    gathered: Tensor,
    compatibility: Tensor,
    parameters: LineParameters,
    rules: LineRules,
    *,
    summed: bool,
) -> Tensor:
    """Apply output layer and network, each times the compatibility of function and element."""
    share = compatibility.unsqueeze(-1)
    attended = share * modulated_linear(gathered, parameters.out)
    x = x + attended if rules.residual else attended
    norm = parameters.norm2_weight, parameters.norm2_bias
    normal = F.layer_norm(x, x.shape[-1:], *norm)
    processed = share * modulated_mlp(normal, parameters.mlp)
    found = x + processed if rules.residual else processed
    return (share * found).sum(0, keepdim=True) if summed else found


def folded_query(query: ModulatedLayer, key: ModulatedLayer, num_heads: int) -> ModulatedLayer:
    r"""Compute queries folded with the key weights, so that they score the elements themselves.

    $$(W^q_{uh} x_i) \cdot (W^k_{uh} x_j) = (W^{k \top}_{uh} W^q_{uh} x_i) \cdot x_j$$

    All heads and functions then have the same keys, and scores are few, large products.

    Args:
        query: Of the queries, without bias.
        key: Of the keys, without bias.
        num_heads: Number of heads.

    Reference:
        gondal2021, section 2, equations 6 and 7.
    """
    q, k = (torch.unflatten(layer.weight, 1, (num_heads, -1)) for layer in (query, key))
    return ModulatedLayer((k.transpose(-1, -2) @ q).flatten(1, 2))


def _gather(
    normal: Tensor,
    compatibility: Tensor,
    parameters: LineParameters,
    rules: LineRules,
    mask: Tensor | None,
) -> Tensor:
    """Compute attention over normalized elements, before its output layer."""
    query, key, value = parameters.query, parameters.key, parameters.value
    size = query.weight.shape[1] // rules.num_heads if rules.key_size is None else rules.key_size
    options = (mask, rules.num_heads, size**-0.5, rules.eps)
    if key is not None or value.bias is None or not _is_worthwhile(normal, query):
        return _attend(
            normal, compatibility, query, key, value, parameters.position_scores, options
        )
    # torch leaves `apply` untyped.
    return AttendByHand.apply(  # type: ignore[no-untyped-call]
        _attend_plain,
        normal,
        compatibility,
        query.weight.flatten(0, 1),
        value.weight.flatten(0, 1),
        value.bias.repeat(len(compatibility)),
        parameters.position_scores,
        *options,
    )


def _attend_plain(
    normal: Tensor,
    compatibility: Tensor,
    query: Tensor,
    value: Tensor,
    bias: Tensor,
    position_scores: Tensor | None,
    *options: Any,
) -> Tensor:
    """Compute attention with the arguments of `AttendByHand`."""
    functions = len(compatibility)
    by_function = [torch.unflatten(weight, 0, (functions, -1)) for weight in (query, value)]
    shift = torch.unflatten(bias, 0, (functions, 1, 1, -1))
    layers = [ModulatedLayer(weight) for weight in by_function]
    mask, num_heads, scale, eps = options
    return modulated_attention(
        modulated_linear(normal, layers[0]),
        normal,
        modulated_linear(normal, layers[1]) + shift,
        compatibility,
        num_heads=num_heads,
        scale=scale,
        position_scores=position_scores,
        key_padding_mask=mask,
        eps=eps,
    )


def _finish_weights(parameters: LineParameters) -> FinishWeights | None:
    """Compute weights for `FinishByHand`; None unless the network has two layers with biases."""
    layers = (parameters.out, *parameters.mlp)
    biases = [layer.bias for layer in layers if layer.bias is not None]
    if len(layers) != 3 or len(biases) != 3:
        return None
    out, first, second = layers
    norm = parameters.norm2_weight, parameters.norm2_bias
    return FinishWeights(
        out.weight, biases[0], *norm, first.weight, biases[1], second.weight, biases[2]
    )


def _finish_plain(
    x: Tensor, gathered: Tensor, compatibility: Tensor, *weights_and_summed: Any
) -> Tensor:
    """Apply output layer and network with the arguments of `FinishByHand`."""
    *weights, summed = weights_and_summed
    own = FinishWeights(*weights)
    layers = (
        ModulatedLayer(own.out, own.out_bias),
        ModulatedLayer(own.first, own.first_bias),
        ModulatedLayer(own.second, own.second_bias),
    )
    share = compatibility.unsqueeze(-1)
    x = x + share * modulated_linear(gathered, layers[0])
    normal = F.layer_norm(x, x.shape[-1:], own.norm, own.norm_bias)
    found = x + share * modulated_mlp(normal, layers[1:])
    return (share * found).sum(0, keepdim=True) if summed else found


def _may_be_by_hand(x: Tensor) -> bool:
    """Tell if the gradient by hand covers this input."""
    return on_cpu(x) and x.dtype in {torch.float32, torch.float64} and not is_rewritten()


def _is_worthwhile(normal: Tensor, query: ModulatedLayer) -> bool:
    """Tell if the products of a set are so large that it is worthwhile to handle it by itself."""
    return (
        _may_be_by_hand(normal)
        and len(normal) == 1
        and normal.shape[1] > 0
        and normal.shape[-2] ** 2 * query.weight[..., 0].numel() >= WORTHWHILE
    )


NORM_EPS: Final = 1e-5
"""Constant of torch's layer normalization."""


# Function after function, so that hidden units of one function lie in the processor's cache.
# It keeps elements behind the attention and hidden units before their GELU, and makes all else
# again that costs no product; and it sums functions up without keeping the output of each.
#
# Forward, for one function with compatibilities c:
#
#     a = x + c (W_o z + b_o),  h = W_1 norm(a) + b_1,  m = W_2 gelu(h) + b_2,  y = a + c m
#
# Its output is y, or Σ c y over functions. Backward, d of a quantity is the gradient of the loss by
# it.
# As fast as by autograd for 32 sets of 67 elements; a network holds 92 MB for 4 sets, not 131.
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

    Takes elements (function, batch, item, feature), or 1 for all functions, the values that they
    gathered (function, batch, item, feature), compatibilities (function, batch, item), the weights,
    and whether the functions are summed up, each times its compatibility. Gives (function, …) or
    (1, …).
    """

    @staticmethod
    def forward(ctx: Any, plain: Callable[..., Tensor], *given: Any) -> Tensor:
        """Run function after function."""
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
        """Differentiate function after function."""
        plain, summed = ctx.rest
        *primals, attended, hidden = ctx.saved_tensors
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            again = differentiable_gradients(
                lambda *given: plain(*given, summed), primals, [gradient]
            )
            return (None, *again, None)
        x, gathered, share = primals[:3]
        weights = FinishWeights(*primals[3:])
        # Not `zeros_like`, which takes over strides: rows must be views.
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
    """Compute the gradients of elements before the network of a function, and of shares in it.

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

"""Change of a state by its reads, with a gradient that keeps few maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import as_table, is_rewritten, linear, product
from farfield.functional._autograd._unroll import differentiable_gradients
from farfield.functional._nfm._nfm_read import (
    NFMRead,
    SharedGrid,
    WrittenState,
    by_state,
    check_written,
    grids_of,
    nearest_state,
    nfm_read,
    nfm_scores,
    nfm_sum,
    nfm_weights,
)
from farfield.functional._nfm._nfm_rules import NFMRules


class NFMWeights(NamedTuple):
    """Weights with which a layer reads; biases are None where there are none.

    Attributes:
        query: (head · key, feature).
        query_bias: (head · key).
        hidden: First convolution of the output network, (feature, head · value, height, width).
        hidden_bias: (feature).
        norm: Gain of the batch normalization, (feature).
        norm_bias: (feature).
        out: Second convolution, (feature, feature, height, width).
        out_bias: (feature).
        gamma: Factor of the output.

    Reference:
        lamb2022, section 10.3.2.1.
    """

    query: Tensor
    query_bias: Tensor | None
    hidden: Tensor
    hidden_bias: Tensor | None
    norm: Tensor
    norm_bias: Tensor
    out: Tensor
    out_bias: Tensor | None
    gamma: Tensor


Moving = tuple[Tensor, Tensor]
"""Running mean and variance, which move in training."""


def nfm_trace(
    x: Float[Tensor, "batch *position _"],
    written: Sequence[WrittenState],
    weights: NFMWeights,
    moving: Moving,
    rules: NFMRules,
    *,
    training: bool = False,
    generator: torch.Generator | None = None,
) -> tuple[Float[Tensor, "batch *position _"], NFMRead]:
    r"""Compute the change of a state by its read, and the read.

    $$\gamma \, \sigma(\mathrm{BN}(A W_{o1})) W_{o2}$$

    with $A$ the values of `nfm_read`.

    Args:
        x: The state, features last.
        written: As in `nfm_read`.
        weights: Those of the layer.
        moving: Running mean and variance, which move in training.
        rules: The options.
        training: Whether statistics are those of the batch, and weights are dropped.
        generator: As in `nfm_read`.

    Raises:
        ValueError: As `nfm_read`.

    Reference:
        lamb2022, section 10.3.2.1.
    """
    query = _projected(x, weights.query, weights.query_bias)
    read = nfm_read(query, written, rules, training=training, generator=generator)
    network = partial(_output, moving=moving, rules=rules, training=training)
    return _features_last(network(x, read.values, *weights[2:]), x.shape), read


def _output(
    x: Tensor, read: Tensor, *weights: Any, moving: Moving, rules: NFMRules, training: bool
) -> Tensor:
    """Apply the output network to values that were read, as `_convolution` gives its result.

    Args:
        x: The state.
        read: The values.
        weights: Those of the network, in their order.
        moving: Running mean and variance.
        rules: The options.
        training: Whether statistics are those of the batch.
    """
    hidden, hidden_bias, norm, norm_bias, out, out_bias, gamma = weights
    given = torch.cat((read, x), -1) if rules.residual_input else read
    maps = given.reshape(x.shape[0], *x.shape[1:-1], *[1] * (4 - x.ndim), given.shape[-1])
    inner = _features_last(_convolution(maps, hidden, hidden_bias), maps.shape).movedim(-1, 1)
    inner = F.batch_norm(inner, *moving, norm, norm_bias, training).movedim(1, -1).relu()
    # With the weights in place of their products, no map has to be kept for gamma's gradient.
    bias = None if out_bias is None else gamma * out_bias
    return _convolution(inner, gamma * out, bias)


def _convolution(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Convolve maps with their features last; give rows of one position each, or torch's maps."""
    if weight.shape[-1] == 1:
        return linear(as_table(x), weight.flatten(1), bias)
    padding = weight.shape[-1] // 2
    return F.conv2d(x.movedim(-1, 1), weight, bias, padding=padding)


def _features_last(found: Tensor, shape: torch.Size) -> Tensor:
    """Shape rows, or torch's maps, as `shape` with their features last."""
    last = found if found.ndim == 2 else found.movedim(1, -1)
    return last.reshape(*shape[:-1], last.shape[-1])


def _projected(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Apply a linear layer at all positions, as one product."""
    return linear(as_table(x), weight, bias).reshape(*x.shape[:-1], weight.shape[0])


def nfm_change(
    x: Float[Tensor, "batch *position _"],
    written: Sequence[WrittenState],
    weights: NFMWeights,
    moving: Moving,
    rules: NFMRules,
    *,
    training: bool = False,
) -> Float[Tensor, "batch *position _"]:
    """Compute the change that `nfm_trace` gives.

    For gradients keys, values and attention are kept, the rest is computed again. Where weights are
    dropped, and where torch rewrites the computation, autograd keeps all.

    Args:
        x: As in `nfm_trace`.
        written: As in `nfm_trace`.
        weights: As in `nfm_trace`.
        moving: As in `nfm_trace`.
        rules: As in `nfm_trace`.
        training: As in `nfm_trace`.

    Raises:
        ValueError: As `nfm_read`.

    Reference:
        lamb2022, section 10.3.2.1.
    """
    check_written(x, written)
    options = _Options(len(written), moving, rules, training)
    if is_rewritten() or not torch.is_grad_enabled() or (training and rules.dropout):
        return _plain(options, x, *weights, *(tensor for each in written for tensor in each))
    tensors = [tensor for each in written for tensor in each]
    if not rules.space_to_depth:
        tensors = [nearest_state(tensor, tuple(x.shape[1:-1])) for tensor in tensors]
    # The output of a `Function` that is a view may not be changed in place: its axes are moved
    # outside; torch leaves `apply` untyped.
    found: Tensor = _ChangeByHand.apply(  # type: ignore[no-untyped-call]
        options, x, *weights, *tensors
    )
    return _features_last(found, x.shape)


class _Options(NamedTuple):
    """Arguments without gradients."""

    states: int
    moving: Moving
    rules: NFMRules
    training: bool


def _plain(options: _Options, x: Tensor, *tensors: Any) -> Tensor:
    """Compute the change for autograd, from weights and alternating keys and values."""
    weights, keys, values = _sorted_out(options, tensors)
    written = [WrittenState(*pair) for pair in zip(keys, values, strict=True)]
    training = options.training
    return nfm_trace(x, written, weights, options.moving, options.rules, training=training)[0]


# It holds 0.4 MB for 16 × 128 maps of 16 × 16, autograd 6.8; it takes 1.1 to 1.3 times as long.
class _ChangeByHand(torch.autograd.Function):
    """`_plain` as `_output` gives it, with the gradient of its attention written out.

    With P the weights, made of the scores S, and D the gradient of the loss by its output:
    D_P = D_A Vᵀ, D_V = Pᵀ D_A, D_Q = D_S K / d and D_K = D_Sᵀ Q / d; and, for a softmax,
    D_S = P (D_P - Σ P D_P).
    """

    @staticmethod
    def forward(ctx: Any, options: _Options, x: Tensor, *tensors: Any) -> Tensor:
        weights, keys, values = _sorted_out(options, tensors)
        rules = options.rules
        query = _projected(x, weights.query, weights.query_bias)
        grids = grids_of(query, keys)
        scores = nfm_scores(query / rules.temperature, keys, grids, rules)
        attention = nfm_weights(scores, rules)
        ctx.save_for_backward(scores if rules.subtract_next else attention, x, *tensors)
        ctx.rest = options, grids
        read = nfm_sum(attention, values, grids, rules)
        network = partial(_output, moving=options.moving, rules=rules, training=options.training)
        return network(x, read, *weights[2:])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        options, grids = ctx.rest
        kept, x, *tensors = ctx.saved_tensors
        # Computed again, the network must not move the statistics again.
        options = options._replace(moving=(options.moving[0].clone(), options.moving[1].clone()))
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            plain = partial(_plain, options)
            gradient = _features_last(gradient, x.shape)
            return (None, *differentiable_gradients(plain, (x, *tensors), [gradient]))
        weights, keys, values = _sorted_out(options, tensors)
        rules = options.rules
        attention = nfm_weights(kept, rules) if rules.subtract_next else kept
        read = nfm_sum(attention, values, grids, rules)
        network = partial(_output, moving=options.moving, rules=rules, training=options.training)
        of_x, of_read, *of_network = _gradients(network, (x, read, *weights[2:]), gradient)
        of_read = cast("Tensor", of_read)
        of_scores = _of_scores(kept, nfm_scores(of_read, values, grids, rules), rules)
        of_scores = of_scores / rules.temperature
        of_query = as_table(nfm_sum(of_scores, keys, grids, rules))
        query = _projected(x, weights.query, weights.query_bias)
        own = product(of_query, weights.query).reshape(x.shape)
        return (
            None,
            own if of_x is None else own + of_x,
            product(of_query.t(), as_table(x)),
            None if weights.query_bias is None else of_query.sum(0),
            *of_network,
            *_of_states((query, of_read), (of_scores, attention), keys, grids, rules),
        )


def _sorted_out(
    options: _Options, tensors: Sequence[Any]
) -> tuple[NFMWeights, Sequence[Tensor], Sequence[Tensor]]:
    """Compute weights, keys and values."""
    first = len(tensors) - 2 * options.states
    return NFMWeights(*tensors[:first]), tensors[first::2], tensors[first + 1 :: 2]


def _gradients(
    function: Callable[..., Tensor], primals: Sequence[Tensor | None], gradient: Tensor
) -> list[Tensor | None]:
    """Compute the gradients of a function, which is computed again, by all its primals."""
    leaves = [None if each is None else each.detach().requires_grad_() for each in primals]
    with torch.enable_grad():
        found = function(*leaves)
    given = [leaf for leaf in leaves if leaf is not None]
    of_given = iter(torch.autograd.grad(found, given, gradient, allow_unused=True))
    return [None if leaf is None else next(of_given) for leaf in leaves]


def _of_scores(kept: Tensor, of_weights: Tensor, rules: NFMRules) -> Tensor:
    """Compute the gradient of scores from the gradient of attention weights."""
    if not rules.subtract_next:
        of_each = kept * of_weights
        return of_each - kept * of_each.sum(0)
    (found,) = _gradients(partial(nfm_weights, rules=rules), (kept,), of_weights)
    return cast("Tensor", found)


def _of_states(
    seen: tuple[Tensor, Tensor],
    entries: tuple[Tensor, Tensor],
    keys: Sequence[Tensor],
    grids: Sequence[SharedGrid],
    rules: NFMRules,
) -> Iterator[Tensor]:
    """Yield the gradients of keys and values, alternating, from the gradients of entries."""
    (of_keys, _), (of_values, _) = (by_state(each, grids, rules) for each in entries)
    for grid, key, *parts in zip(grids, keys, of_keys, of_values, strict=True):
        turned = grid.turned(tuple(key.shape[1:-1]))
        for x, part in zip(seen, parts, strict=True):
            wide = grid.of_reader(x, rules.num_heads) * grid.spread(part).unsqueeze(-1)
            yield turned.gather(wide)

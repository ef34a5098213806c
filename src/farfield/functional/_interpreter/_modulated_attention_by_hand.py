"""Modulated attention whose keys are the elements, with a gradient by hand.

Set after set, so that what belongs to one lies in the processor's cache; the products, of all heads
and functions at once, by the faster of torch's kernels. Forward, for one function and head:

    P = softmax(s (q kᵀ) + positions),  n_i = Σ_j P_ij C_j v_j,  ρ_i = Σ_j P_ij C_j
    f_i = C_i / (ε + C_i ρ_i),  o_i = f_i n_i

Backward, d of a quantity is the gradient of the loss by it, and D is that by the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor

from farfield.functional._autograd._gradient_of_gradient import differentiable_gradients
from farfield.functional._autograd._products import add_product, product

PRIMALS: Final = 6
"""Arguments that have gradients."""

_Options = tuple[Tensor | None, int, float, float]
"""Mask, heads, scale and ε."""


class _Set(NamedTuple):
    """Views on one set: of I elements, in F functions, with H heads.

    Attributes:
        query: (I · F · H, feature).
        key: (I, feature).
        value: (I, F, H, feature of a head).
        share: (F, I).
        weights: Softmax, (I, F · H, I).
        rows: Sums of weights times shares, (F, H, I, 1).
        gathered: (F, H, I, feature of a head).
    """

    query: Tensor
    key: Tensor
    value: Tensor
    share: Tensor
    weights: Tensor
    rows: Tensor
    gathered: Tensor


class AttendByHand(torch.autograd.Function):
    """`plain` of the same arguments, with an analytic gradient.

    Takes elements (1, batch, item, feature), compatibilities (function, batch, item), the weight of
    queries (function · head · feature, feature), weight and bias of values (function · head ·
    feature of a head, feature), scores of positions or None, a mask or None, the number of heads,
    the scale and ε. Gives (function, batch, item, feature).
    """

    @staticmethod
    def forward(ctx: Any, plain: Callable[..., Tensor], *given: Any) -> Tensor:
        """Project all sets at once, attend set after set."""
        normal, share, of_query, of_value, bias, position = given[:PRIMALS]
        options: _Options = given[PRIMALS:]
        functions, batch, items = share.shape
        rows = normal.flatten(0, 2)
        query = product(rows, of_query.t())
        value = add_product(bias, rows, of_value.t())
        weights = rows.new_empty(batch, items, len(of_query) // normal.shape[-1], items)
        sums = rows.new_empty(batch, functions, options[1], items, 1)
        gathered = rows.new_empty(functions, batch, items, len(of_value) // functions)
        kept = (query, normal, value, share, weights, sums, gathered)
        by_place = None if position is None else _by_place(position, options[2])
        for number, own in enumerate(_sets(kept, options[1])):
            _attend(own, by_place, None if options[0] is None else options[0][number], options)
        ctx.save_for_backward(*given[:PRIMALS], query, value, weights, sums, gathered)
        ctx.rest = plain, options
        return gathered

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Attend backward set after set, then project back all at once."""
        plain, options = ctx.rest
        primals, kept = ctx.saved_tensors[:PRIMALS], ctx.saved_tensors[PRIMALS:]
        if torch.is_grad_enabled():  # This gradient is to be differentiated itself.
            again = differentiable_gradients(
                lambda *given: plain(*given, *options), primals, [gradient]
            )
            return (None, *again, *(None for _ in options))
        normal, share, of_query, of_value, _, position = primals
        query, value, weights, sums, gathered = kept
        given = (query, normal, value, share, weights, sums, gathered)
        made = (part.new_empty(part.shape) for part in given[:4])
        back = (*made, weights, sums, gradient)
        by_place = None if position is None else torch.zeros_like(weights[0])
        for own, out in zip(_sets(given, options[1]), _sets(back, options[1]), strict=True):
            _attend_back(own, out, by_place, options)
        to_query, to_normal, to_value, to_share = back[:4]
        rows = normal.flatten(0, 2)
        found = to_normal.flatten(0, 2)
        found += product(to_query, of_query)
        found += product(to_value, of_value)
        return (
            *(None, to_normal, to_share),
            # As the transpose of its transpose, since the narrower of the two is copied.
            *(product(rows.t(), to_query).t(), product(rows.t(), to_value).t(), to_value.sum(0)),
            None if by_place is None else _by_function(by_place, share.shape[0], options[2]),
            *(None for _ in options),
        )


def _sets(tensors: Sequence[Tensor], heads: int) -> Iterator[_Set]:
    query, key, value, share, weights, rows, gathered = tensors
    functions, batch, items = share.shape
    queries = query.view(batch, -1, key.shape[-1])
    values = value.view(batch, items, functions, heads, -1)
    for n in range(batch):
        found = torch.unflatten(gathered[:, n], -1, (heads, -1)).transpose(1, 2)
        yield _Set(queries[n], key[0, n], values[n], share[:, n], weights[n], rows[n], found)


def _attend(own: _Set, by_place: Tensor | None, mask: Tensor | None, options: _Options) -> None:
    """Write weights, their sums and what is gathered."""
    _, _, scale, eps = options
    scores = product(own.query, own.key.t() * scale).view_as(own.weights)
    if by_place is not None:
        scores.add_(by_place)
    if mask is not None:
        scores.masked_fill_(mask, torch.finfo(scores.dtype).min)
    torch.softmax(scores, -1, out=own.weights)
    found = torch.bmm(own.weights.transpose(0, 1), _values(own))
    found = found.view(*own.gathered.shape[:-1], -1)
    own.rows.copy_(found[..., -1:])
    torch.mul(found[..., :-1], _factor(own, eps), out=own.gathered)


def _attend_back(own: _Set, out: _Set, by_place: Tensor | None, options: _Options) -> None:
    """Write the gradients of queries, keys, values and shares, and add up that of positions."""
    _, _, scale, eps = options
    factor, share = _factor(own, eps), own.share[:, None, :, None]
    # f_i df_i = do_i · o_i
    along = (out.gathered * own.gathered).sum(-1, keepdim=True)
    of_found = along.new_empty(*own.gathered.shape[:-1], own.gathered.shape[-1] + 1)
    # dn_i = f_i do_i, dρ_i = −f_i² df_i
    torch.mul(out.gathered, factor, out=of_found[..., :-1])
    torch.mul(along, factor, out=of_found[..., -1:]).neg_()
    # C_i dC_i, by f_i alone: f_i df_i ε / (ε + C_i ρ_i)
    by_query = (along * eps / (own.rows * share + eps)).sum(1).squeeze(-1)
    of_found = of_found.flatten(0, 1)
    # dP_ij = C_j (dn_i · v_j + dρ_i)
    of_weights = torch.bmm(of_found, _values(own).transpose(1, 2)).transpose(0, 1).contiguous()
    of_scores = torch._softmax_backward_data(  # noqa: SLF001 # the one that autograd calls
        of_weights, own.weights, -1, of_weights.dtype
    )
    if by_place is not None:
        by_place.add_(of_scores)
    # dq_i = s Σ_j D_ij k_j, dk_j = s Σ_i D_ij q_i
    of_scores = of_scores.flatten(0, 1).mul_(scale)
    out.query.copy_(product(of_scores, own.key))
    out.key.copy_(product(of_scores.t(), own.query))
    # dv_j = C_j Σ_i P_ij dn_i, dC_j += Σ_i P_ij (dn_i · v_j + dρ_i)
    of_values = torch.bmm(own.weights.permute(1, 2, 0), of_found)
    of_values = of_values.view(*own.gathered.shape[:-1], -1).permute(2, 0, 1, 3)
    torch.mul(of_values[..., :-1], own.share.t()[:, :, None, None], out=out.value)
    by_key = (of_values[..., :-1] * own.value).sum(-1).add_(of_values[..., -1]).sum(-1)
    # Where an element has no share, nothing that depends on what it gathers goes on from here.
    safe = own.share.masked_fill(own.share == 0, 1.0)
    torch.add(by_key.t(), by_query / safe, out=out.share)


def _factor(own: _Set, eps: float) -> Tensor:
    """C_i / (ε + C_i Σ_j P_ij C_j)."""
    share = own.share[:, None, :, None]
    return share / (own.rows * share + eps)


def _values(own: _Set) -> Tensor:
    """Values times shares and, behind them, the shares: (F · H, I, feature of a head + 1)."""
    items, functions, heads, features = own.value.shape
    made = own.value.new_empty(functions, heads, items, features + 1)
    share = own.share[:, None, :, None]
    torch.mul(own.value.permute(1, 2, 0, 3), share, out=made[..., :-1])
    made[..., -1:] = share
    return made.flatten(0, 1)


def _by_place(position: Tensor, scale: float) -> Tensor:
    """(F, H, I, I), of query and key, as (I, F · H, I)."""
    return (scale * position).permute(2, 0, 1, 3).flatten(1, 2)


def _by_function(by_place: Tensor, functions: int, scale: float) -> Tensor:
    """The way back."""
    return torch.unflatten(by_place * scale, 1, (functions, -1)).permute(1, 2, 0, 3)

"""Modulated layers and attention: their formula, then its gradient by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from farfield.functional._autograd._products import add_product, linear, product
from farfield.functional._autograd._unroll import differentiable_gradients


class ModulatedLayer(NamedTuple):
    """A modulated linear layer whose codes are fixed.

    Attributes:
        weight: One for each function, by `modulated_weight`: (function, out, in).
        bias: Shared by the functions: (out); or None for zeros.

    Reference:
        gondal2021, section 2, equation 4.
    """

    weight: Tensor
    bias: Tensor | None = None


def modulated_weight(
    weight: Float[Tensor, "out in"],
    code_weight: Float[Tensor, "in code"],
    codes: Float[Tensor, "function code"],
) -> Float[Tensor, "function out in"]:
    r"""Modulate a shared weight by the code of each function.

    $$W_u = W \, \mathrm{diag}(\mathrm{LN}(W_c c_u))$$

    so that $W_u x = W (x \odot \mathrm{LN}(W_c c_u))$ for every element $x$, whatever their number.

    Args:
        weight: $W$.
        code_weight: $W_c$.
        codes: $c$, one for each function.

    Raises:
        ValueError: If there is one input only, which a layer normalization makes 0.

    Reference:
        gondal2021, section 2, equation 4.
    """
    if weight.shape[-1] < 2:
        raise ValueError(
            f"weight must have at least 2 inputs, got {weight.shape[-1]}: layer normalization "
            "makes a single one 0"
        )
    return weight * F.layer_norm(linear(codes, code_weight), weight.shape[-1:]).unsqueeze(-2)


def modulated_linear(
    x: Float[Tensor, "_ *row in"], layer: ModulatedLayer
) -> Float[Tensor, "function *row out"]:
    r"""Apply the layer of each function to its elements: $y_{ui} = W_u x_{ui} + b$.

    Args:
        x: Elements by function; with a first axis of length 1 all functions have the same.
        layer: The layer.

    Raises:
        ValueError: If `x` is for another number of functions, or has another width.

    Reference:
        gondal2021, section 2, equation 4.
    """
    functions, outputs, inputs = layer.weight.shape
    if x.shape[0] not in (1, functions) or x.shape[-1] != inputs:
        raise ValueError(
            f"x must be (function, …, {inputs}) for {functions} functions, or for 1 where all "
            f"have the same, got shape {tuple(x.shape)}"
        )
    if x.shape[0] == 1:
        bias = None if layer.bias is None else layer.bias.repeat(functions)
        found = linear(x[0], layer.weight.flatten(0, 1), bias)
        return torch.unflatten(found, -1, (functions, outputs)).movedim(-2, 0)
    pairs = zip(x.unbind(0), layer.weight.unbind(0), strict=True)
    return torch.stack([linear(own, weight, layer.bias) for own, weight in pairs])


def modulated_mlp(
    x: Float[Tensor, "_ *row in"], layers: Sequence[ModulatedLayer]
) -> Float[Tensor, "function *row out"]:
    """Apply modulated linear layers one after another, with a GELU between any two.

    Args:
        x: As in `modulated_linear`.
        layers: The layers.

    Reference:
        gondal2021, section 2, equation 5.
    """
    first, *others = layers
    x = modulated_linear(x, first)
    for layer in others:
        x = modulated_linear(F.gelu(x), layer)
    return x


class RelativePositionParameters(NamedTuple):
    """Weights of the relative positions of patches, of rows and of columns alike.

    Attributes:
        row_embedding: One for every distance between rows: (2 · height − 1, key).
        column_embedding: One for every distance between columns: (2 · width − 1, key).
        row_head: (head, key).
        column_head: (head, key).
        row_code: (head, code).
        column_code: (head, code).

    Reference:
        gondal2021, section 4.2, after the released code.
    """

    row_embedding: Tensor
    column_embedding: Tensor
    row_head: Tensor
    column_head: Tensor
    row_code: Tensor
    column_code: Tensor


def relative_position_scores(
    codes: Float[Tensor, "function code"],
    parameters: RelativePositionParameters,
    num_leading: int = 0,
) -> Float[Tensor, "function head item item"]:
    r"""Compute biases of the attention from patch $i$ to patch $j$ for their relative position.

    $$r_{uhij} = a_h \cdot R_{\rho_j - \rho_i} + \alpha_h \cdot c_u
      + b_h \cdot K_{\kappa_j - \kappa_i} + \beta_h \cdot c_u$$

    for patches in rows $\rho$ and columns $\kappa$, row by row; 0 from and to leading elements that
    are no patches. The terms of the code $c_u$ separate patches from leading elements: they are the
    same for all patches, and a softmax over patches alone does not change with them.

    Args:
        codes: $c$.
        parameters: $R$, $K$, $a$, $b$, $\alpha$ and $\beta$, in this order.
        num_leading: How many elements stand before the patches.

    Reference:
        gondal2021, section 4.2, after the released code.
    """
    sides = []
    for embedding, head, code in (
        (parameters.row_embedding, parameters.row_head, parameters.row_code),
        (parameters.column_embedding, parameters.column_head, parameters.column_code),
    ):
        size = (len(embedding) + 1) // 2
        position = torch.arange(size, device=codes.device)
        distance = position - position.unsqueeze(-1) + size - 1  # of key from query
        by_head = linear(head, embedding)[:, distance]
        sides.append(by_head + linear(codes, code)[:, :, None, None])
    rows, columns = sides
    scores = rows[:, :, :, None, :, None] + columns[:, :, None, :, None, :]
    return F.pad(scores.flatten(4, 5).flatten(2, 3), (num_leading, 0, num_leading, 0))


def modulated_attention(  # noqa: PLR0913 # inputs of attention and four options
    query: Float[Tensor, "function batch item _"],
    key: Float[Tensor, "_ batch item _"],
    value: Float[Tensor, "function batch item feature"],
    compatibility: Float[Tensor, "function batch item"],
    *,
    num_heads: int,
    scale: float | None = None,
    position_scores: Float[Tensor, "function _ item item"] | None = None,
    key_padding_mask: Bool[Tensor, "batch item"] | None = None,
    eps: float = 1e-6,
) -> Float[Tensor, "function batch item feature"]:
    r"""Compute attention among elements in each function, heads side by side.

    $$\tilde y_{uhi} = \sum_j W_{uhij} v_{uhj}, \qquad
      W_{uhij} = \frac{\tilde W_{uhij}}{\epsilon + \sum_l \tilde W_{uhil}}, \qquad
      \tilde W_{uhij} = C_{ui} C_{uj} \, \mathrm{softmax}_j\left(
        \frac{q_{uhi} \cdot k_{uhj} + r_{uhij}}{\sqrt d}\right)$$

    Elements that a function has no access to neither gather nor are gathered.

    Args:
        query: $q$, heads side by side, $d$ numbers each.
        key: $k$, likewise; or of one head, which all have.
        value: $v$, heads side by side.
        compatibility: $C$.
        num_heads: Number of heads.
        scale: In place of $1 / \sqrt d$; None is that.
        position_scores: $r$ by function and head; None is zeros.
        key_padding_mask: True where an element is padding: it is not gathered.
        eps: $\epsilon$.

    Raises:
        ValueError: If the heads do not divide the width of keys or values.

    Reference:
        gondal2021, section 2, equations 7 and 8; positions as in the released code.
    """
    for name, width in (("query", query.shape[-1]), ("value", value.shape[-1])):
        if num_heads < 1 or width % num_heads:
            raise ValueError(
                f"num_heads must divide the {width} features of {name}, got num_heads={num_heads}"
            )
    size = query.shape[-1] // num_heads
    q, k, v = (
        torch.unflatten(part, -1, (-1, width)).transpose(2, 3)
        for part, width in ((query, size), (key, size), (value, value.shape[-1] // num_heads))
    )
    scores = q @ k.transpose(-1, -2)
    if position_scores is not None:
        scores = scores + position_scores.unsqueeze(1)
    scores = scores * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if key_padding_mask is not None:
        hidden = key_padding_mask[:, None, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        compatibility = compatibility.masked_fill(key_padding_mask, 0.0)
    own = compatibility[:, :, None, :, None]
    # The compatibilities of the query stand before the sums: nothing of (item, item) is kept twice.
    weights = scores.softmax(-1) * compatibility[:, :, None, None, :]
    gathered = own * (weights @ v) / (eps + own * weights.sum(-1, keepdim=True))
    return gathered.transpose(2, 3).flatten(3)


PRIMALS: Final = 6
"""Arguments that have gradients."""

_Options = tuple[Tensor | None, int, float, float]
"""Mask, heads, scale and ε."""


# Set after set, so that the tensors of one lie in the processor's cache; the products, of all
# heads and functions at once, by the faster of torch's kernels. Forward, for one function and head:
#
#     P = softmax(s (q kᵀ) + positions),  n_i = Σ_j P_ij C_j v_j,  ρ_i = Σ_j P_ij C_j
#     f_i = C_i / (ε + C_i ρ_i),  o_i = f_i n_i
#
# Backward, d of a quantity is the gradient of the loss by it, and D is that by the scores.
# 1.15 times as fast as by autograd for 32 sets of 67 elements; a network holds 92 MB, not 150.
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
        by_position = None if position is None else _by_position(position, options[2])
        for number, own in enumerate(_sets(kept, options[1])):
            _attend(own, by_position, None if options[0] is None else options[0][number], options)
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
        by_position = None if position is None else torch.zeros_like(weights[0])
        for own, out in zip(_sets(given, options[1]), _sets(back, options[1]), strict=True):
            _attend_back(own, out, by_position, options)
        to_query, to_normal, to_value, to_share = back[:4]
        rows = normal.flatten(0, 2)
        found = to_normal.flatten(0, 2)
        found += product(to_query, of_query)
        found += product(to_value, of_value)
        return (
            *(None, to_normal, to_share),
            # As the transpose of its transpose, since the narrower of the two is copied.
            *(product(rows.t(), to_query).t(), product(rows.t(), to_value).t(), to_value.sum(0)),
            None if by_position is None else _by_function(by_position, share.shape[0], options[2]),
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


def _attend(own: _Set, by_position: Tensor | None, mask: Tensor | None, options: _Options) -> None:
    """Write weights, their sums and the gathered values."""
    _, _, scale, eps = options
    scores = product(own.query, own.key.t() * scale).view_as(own.weights)
    if by_position is not None:
        scores.add_(by_position)
    if mask is not None:
        scores.masked_fill_(mask, torch.finfo(scores.dtype).min)
    torch.softmax(scores, -1, out=own.weights)
    found = torch.bmm(own.weights.transpose(0, 1), _values(own))
    found = found.view(*own.gathered.shape[:-1], -1)
    own.rows.copy_(found[..., -1:])
    torch.mul(found[..., :-1], _factor(own, eps), out=own.gathered)


def _attend_back(own: _Set, out: _Set, by_position: Tensor | None, options: _Options) -> None:
    """Write gradients of queries, keys, values and shares; add up gradients of positions."""
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
    if by_position is not None:
        by_position.add_(of_scores)
    # dq_i = s Σ_j D_ij k_j, dk_j = s Σ_i D_ij q_i
    of_scores = of_scores.flatten(0, 1).mul_(scale)
    out.query.copy_(product(of_scores, own.key))
    out.key.copy_(product(of_scores.t(), own.query))
    # dv_j = C_j Σ_i P_ij dn_i, dC_j += Σ_i P_ij (dn_i · v_j + dρ_i)
    of_values = torch.bmm(own.weights.permute(1, 2, 0), of_found)
    of_values = of_values.view(*own.gathered.shape[:-1], -1).permute(2, 0, 1, 3)
    torch.mul(of_values[..., :-1], own.share.t()[:, :, None, None], out=out.value)
    by_key = (of_values[..., :-1] * own.value).sum(-1).add_(of_values[..., -1]).sum(-1)
    # Where an element has no share, nothing that depends on its gathered values goes on from here.
    safe = own.share.masked_fill(own.share == 0, 1.0)
    torch.add(by_key.t(), by_query / safe, out=out.share)


def _factor(own: _Set, eps: float) -> Tensor:
    """Compute C_i / (ε + C_i Σ_j P_ij C_j)."""
    share = own.share[:, None, :, None]
    return share / (own.rows * share + eps)


def _values(own: _Set) -> Tensor:
    """Join values times shares and the shares: (F · H, I, feature of a head + 1)."""
    items, functions, heads, features = own.value.shape
    made = own.value.new_empty(functions, heads, items, features + 1)
    share = own.share[:, None, :, None]
    torch.mul(own.value.permute(1, 2, 0, 3), share, out=made[..., :-1])
    made[..., -1:] = share
    return made.flatten(0, 1)


def _by_position(position: Tensor, scale: float) -> Tensor:
    """Lay (F, H, I, I), of query and key, out as (I, F · H, I)."""
    return (scale * position).permute(2, 0, 1, 3).flatten(1, 2)


def _by_function(by_position: Tensor, functions: int, scale: float) -> Tensor:
    """Undo `_by_position`."""
    return torch.unflatten(by_position * scale, 1, (functions, -1)).permute(1, 2, 0, 3)

"""Allocation, usage and temporal links of the memory of a differentiable neural computer."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from farfield.functional._rims._rims_reading import stable_order


def slot_usage(
    usage: Float[Tensor, "*batch slot"],
    written: Float[Tensor, "*batch slot"],
    read: Float[Tensor, "*batch head slot"],
    free: Float[Tensor, "*batch head"],
) -> Float[Tensor, "*batch slot"]:
    r"""Compute the usage of every slot, after the writing and reading of the step before.

    $$u_i \leftarrow (u_i + w_i - u_i w_i) \prod_r (1 - f_r w^r_i)$$

    Args:
        usage: $u$ before.
        written: Weights of the last write, $w$.
        read: Weights of the last reads, $w^r$.
        free: Share of the slots it read that a head frees, $f_r$ in 0…1.

    Reference:
        graves2016, methods, "Dynamic memory allocation".
    """
    kept = (1 - free.unsqueeze(-1) * read).prod(-2)
    return (usage + written - usage * written) * kept


def slot_allocation(usage: Float[Tensor, "*batch slot"]) -> Float[Tensor, "*batch slot"]:
    r"""Compute weights of free slots to write to, the least used first.

    $$a_{\phi_j} = (1 - u_{\phi_j}) \prod_{i < j} u_{\phi_i}$$

    with $\phi$ the slots in ascending order of their usage; equals keep their order. The weights
    sum to $1 - \prod_i u_i$: all is given away unless everything is in use. The order itself has
    no gradient.

    Args:
        usage: How much each slot is in use, 0…1.

    Reference:
        graves2016, equation 1 of the methods.
    """
    order = stable_order(usage)
    ordered = usage.gather(-1, order)
    weights = (1 - ordered) * _product_of_those_before(ordered)
    return weights.gather(-1, order.argsort(dim=-1))


def _product_of_those_before(x: Tensor) -> Tensor:
    """Multiply all earlier numbers, in doubling reach; torch's product has trouble with zeros."""
    product = torch.cat((torch.ones_like(x[..., :1]), x[..., :-1]), dim=-1)
    reach = 1
    while reach < x.shape[-1]:
        further = product[..., reach:] * product[..., :-reach]
        product = torch.cat((product[..., :reach], further), dim=-1)
        reach *= 2
    return product


def slot_links(
    links: Float[Tensor, "*batch slot slot"],
    precedence: Float[Tensor, "*batch slot"],
    written: Float[Tensor, "*batch slot"],
) -> tuple[Float[Tensor, "*batch slot slot"], Float[Tensor, "*batch slot"]]:
    r"""Update temporal links of the slots and their precedence by one more write.

    $$L_{ij} \leftarrow (1 - w_i - w_j) L_{ij} + w_i p_j, \qquad L_{ii} = 0, \qquad
      p \leftarrow \left(1 - \sum_i w_i\right) p + w$$

    Rows and columns of $L$ sum to at most one. $L w^r$ leads from slots that were read to slots
    written after them, and $L^\top w^r$ to slots written before them.

    Args:
        links: $L$ before.
        precedence: $p$ before.
        written: Weights of the write, $w$; sum to at most one.

    Reference:
        graves2016, methods, "Temporal memory linkage".
    """
    row, column = written.unsqueeze(-1), written.unsqueeze(-2)
    changed = (1 - row - column) * links + row * precedence.unsqueeze(-2)
    apart = 1 - torch.eye(links.shape[-1], dtype=links.dtype, device=links.device)
    return changed * apart, (1 - written.sum(-1, keepdim=True)) * precedence + written

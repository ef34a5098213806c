"""Items drawn when asked for stand in for a tensor of them, and are drawn no more than needed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from farfield.core import Problems
from farfield.core.internal import LazyItems

LATENT = torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8]])


def pictures(latent: Tensor) -> Tensor:
    """A 2×3 picture a row, every pixel of it telling the row."""
    return (latent[:, :1, None] * 10 + latent[:, 1:, None]).expand(-1, 2, 3).clone()


def drawn(counts: list[int] | None = None) -> LazyItems:
    """The table; with `counts`, every call notes there how many items it drew."""

    def draw(latent: Tensor) -> Tensor:
        if counts is not None:
            counts.append(len(latent))
        return pictures(latent)

    return LazyItems(latent=LATENT, draw=draw)


def problems(items: Tensor | LazyItems) -> Problems:
    index = torch.tensor([[3, 1], [1, 1], [1, 3]])
    return Problems(items=items, index=index, target=torch.zeros(3))


def test_they_look_like_the_tensor_they_stand_for() -> None:
    items, tensor = drawn(), pictures(LATENT)
    assert (len(items), items.shape, items.dtype) == (len(tensor), tensor.shape, tensor.dtype)
    assert not items.is_floating_point()
    rows = torch.tensor([2, 0, 2])
    assert torch.equal(items.index_select(0, rows), tensor.index_select(0, rows))
    index = torch.tensor([[3, 0, 3], [0, 0, 1]])
    assert torch.equal(items[index], tensor[index])
    assert torch.equal(items[2], tensor[2])


@pytest.mark.parametrize(
    "index",
    [slice(1, 3), slice(None, None, 2), slice(0, 0), torch.tensor([True, False, True, False])],
    ids=["some", "every second", "none", "mask"],
)
def test_a_slice_or_a_mask_takes_what_it_takes_of_the_tensor(index: slice | Tensor) -> None:
    assert torch.equal(drawn()[index], pictures(LATENT)[index])


def test_problems_over_them_are_those_over_the_tensor() -> None:
    lazy, eager = problems(drawn()), problems(pictures(LATENT))
    assert torch.equal(lazy.sequences(), eager.sequences())
    assert torch.equal(lazy.table(), eager.table())
    small = lazy.compact()
    assert torch.equal(small.index, eager.compact().index)
    assert torch.equal(small.table(), eager.compact().table())
    assert isinstance(small.items, LazyItems)


def test_an_item_that_occurs_often_is_drawn_once() -> None:
    counts: list[int] = []
    items = drawn(counts)
    counts.clear()
    assert items[torch.tensor([[3, 1], [1, 1], [1, 3]])].shape == (3, 2, 2, 3)
    problems(items).compact()
    assert [count for count in counts if count] == [2]


def test_problems_that_show_every_item_are_compact() -> None:
    index = torch.arange(6).reshape(3, 2)
    whole = Problems(items=torch.randn(6, 2), index=index, target=torch.zeros(3))
    assert whole.compact() is whole
    assert torch.equal(whole[1:].compact().index, index[:2])
    mixed = Problems(items=whole.items, index=index.flip(0), target=torch.zeros(3))
    assert mixed.compact() is mixed
    assert torch.equal(mixed[:2].compact().sequences(), mixed[:2].sequences())


def test_real_items_take_the_type_asked_for() -> None:
    real = LazyItems(latent=LATENT, draw=lambda latent: pictures(latent).float())
    moved = problems(real).to("cpu", torch.float64)
    assert moved.items.dtype == moved.table().dtype == torch.float64
    symbols = problems(drawn()).to("cpu", torch.float64)
    assert symbols.items.dtype == symbols.table().dtype == torch.int64


@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="latent must have one row per item"):
        LazyItems(latent=torch.tensor(3), draw=pictures)
    with pytest.raises(
        ValueError, match=r"draw must give one item for each row, got shape \(1,\) for none"
    ):
        LazyItems(latent=LATENT, draw=lambda _: torch.zeros(1))
    with pytest.raises(ValueError, match="dim must be 0"):
        drawn().index_select(1, torch.tensor([0]))

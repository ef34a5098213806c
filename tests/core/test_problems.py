"""Problems: rows over one table of items, checked where a mistake would go unnoticed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from farfield.core import Problems


def made(batch: int = 6, time: int = 3, items: int = 5) -> Problems:
    """Problems in which every number tells where it came from."""
    index = torch.arange(batch * time).reshape(batch, time) % items
    return Problems(
        items=torch.arange(items * 4, dtype=torch.float32).reshape(items, 2, 2),
        index=index,
        target=torch.arange(batch),
        latent={"rule": 100 + torch.arange(batch), "shapes": index + 10},
    )


def test_the_length_is_the_number_of_problems() -> None:
    assert len(made(batch=6)) == 6
    assert len(made(batch=0)) == 0


@pytest.mark.parametrize("rows", [slice(1, 5, 2), torch.tensor([1, 3])])
def test_rows_are_taken_from_everything_but_the_table(rows: slice | Tensor) -> None:
    whole = made()
    part = whole[rows]
    assert part.items is whole.items
    assert part.index.tolist() == [whole.index[1].tolist(), whole.index[3].tolist()]
    assert part.target.tolist() == [1, 3]
    assert part.latent["rule"].tolist() == [101, 103]
    assert part.latent["shapes"].tolist() == (part.index + 10).tolist()


def test_sequences_put_the_items_in_place() -> None:
    problems = made()
    sequences = problems.sequences()
    assert sequences.shape == (6, 3, 2, 2)
    for problem in range(6):
        for place in range(3):
            item = int(problems.index[problem, place])
            assert sequences[problem, place].tolist() == problems.items[item].tolist()


def test_moving_changes_the_type_of_real_items_alone() -> None:
    moved = made().to("cpu", torch.float64)
    assert moved.items.dtype == torch.float64
    assert moved.index.dtype == moved.target.dtype == moved.latent["rule"].dtype == torch.int64
    assert moved.items.tolist() == made().items.tolist()


def test_moving_leaves_symbols_integers() -> None:
    symbols = Problems(
        items=torch.arange(5), index=torch.tensor([[0, 4]]), target=torch.tensor([1])
    )
    assert symbols.to("cpu", torch.float64).items.dtype == torch.int64


def test_moving_takes_everything_along() -> None:
    moved = made().to("meta")
    tensors = (moved.items, moved.index, moved.target, *moved.latent.values())
    assert [tensor.device.type for tensor in tensors] == ["meta"] * 5


@pytest.mark.parametrize(
    "index", [torch.zeros(4, dtype=torch.int64), torch.zeros(4, 2), torch.zeros(4, 2).int()]
)
def test_an_index_of_wrong_shape_or_type_is_refused(index: Tensor) -> None:
    with pytest.raises(ValueError, match=r"index must be an int64 tensor of \(batch, time\), got"):
        Problems(items=torch.zeros(3, 2), index=index, target=torch.zeros(4))


@pytest.mark.parametrize("target", [torch.zeros(3), torch.tensor(1.0), torch.zeros(5, 4)])
def test_a_target_without_one_row_per_problem_is_refused(target: Tensor) -> None:
    index = torch.zeros(4, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match=r"target must have one row per problem \(4\), got"):
        Problems(items=torch.zeros(3, 2), index=index, target=target)


def test_a_latent_without_one_row_per_problem_is_refused_by_name() -> None:
    index = torch.zeros(4, 2, dtype=torch.int64)
    with pytest.raises(ValueError, match="rule must have one row per problem"):
        Problems(
            items=torch.zeros(3, 2),
            index=index,
            target=torch.zeros(4),
            latent={"rule": torch.zeros(3)},
        )


@pytest.mark.parametrize("outside", [-1, 5])
def test_an_index_outside_the_table_is_found(outside: int) -> None:
    problems = made()
    problems.check_index()
    problems.index[3, 1] = outside
    with pytest.raises(ValueError, match="index must lie in 0…4"):
        problems.check_index()


def test_no_problems_point_nowhere() -> None:
    empty = made(batch=0)
    empty.check_index()
    assert empty.sequences().shape == (0, 3, 2, 2)


def test_every_position_can_have_an_item_of_its_own() -> None:
    index = torch.tensor([[0, 1, 0], [1, 1, 0]])
    latent = {"kind": torch.tensor([3, 4])}
    problems = Problems(items=torch.eye(2), index=index, target=torch.tensor([1, 0]), latent=latent)
    items = torch.arange(12.0).reshape(6, 2)
    changed = problems.with_items(items)
    assert torch.equal(changed.sequences(), items.reshape(2, 3, 2))
    assert (changed.target is problems.target, changed.latent) == (True, latent)
    assert torch.equal(problems.unshared().sequences(), problems.sequences())
    assert len(problems.unshared().items) == 6
    with pytest.raises(ValueError, match="items must be one for each of 6 positions, got 2"):
        problems.with_items(torch.eye(2))

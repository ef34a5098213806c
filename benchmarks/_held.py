"""Peak memory of the tensors of a piece of work."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


@final
class Held(TorchDispatchMode):
    """Count the bytes of tensors that operators have made, until nothing refers to them."""

    def __init__(self) -> None:
        super().__init__()
        self.holders: Counter[int] = Counter()
        self.now = self.most = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor):
                self._take(tensor)
        return made

    def _take(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key, size = storage.data_ptr(), storage.nbytes()
        self.now += size * (not self.holders[key])
        self.most = max(self.most, self.now)
        self.holders[key] += 1
        weakref.finalize(tensor, self._let_go, key, size)

    def _let_go(self, key: int, size: int) -> None:
        self.holders[key] -= 1
        self.now -= size * (not self.holders[key])


def most_bytes(work: Callable[[], object]) -> int:
    """Measure the peak bytes of tensors made by `work`, without the workspace of operators.

    Args:
        work: For instance one training step.
    """
    mode = Held()
    with mode:
        work()
    return mode.most

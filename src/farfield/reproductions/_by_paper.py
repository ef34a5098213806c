"""Things with names like `webb2021/table-11`, made paper by paper on request."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import cache
from importlib import import_module
from typing import Final, Protocol, TypeVar, final

PAPERS: Final = ("gondal2021", "webb2020", "lamb2022", "ren2017", "webb2021")
"""Keys of the papers with claims."""


class Named(Protocol):
    """Protocol of objects with a name."""

    @property
    def key(self) -> str:
        """Name, `PAPER/…`."""


N = TypeVar("N", bound=Named)


@final
class ByPaper(MutableMapping[str, N]):
    """A dictionary whose entries are made when the first of the same paper is asked for.

    Thousands of experiments take seconds to make; a report of one table needs those of its paper.

    Args:
        module: Module of a paper, with braces for the paper's key.
        name: Name of their container there.
    """

    def __init__(self, module: str, name: str) -> None:
        @cache
        def load(paper: str) -> dict[str, N]:
            if paper not in PAPERS:
                return {}
            return {one.key: one for one in getattr(import_module(module.format(paper)), name)}

        self._load = load

    def _of(self, key: str) -> dict[str, N]:
        return self._load(key.partition("/")[0])

    def __getitem__(self, key: str) -> N:
        return self._of(key)[key]

    def __setitem__(self, key: str, value: N) -> None:
        self._of(key)[key] = value

    def __delitem__(self, key: str) -> None:
        del self._of(key)[key]

    def __iter__(self) -> Iterator[str]:
        for paper in PAPERS:
            yield from self._load(paper)

    def __len__(self) -> int:
        return sum(1 for _ in self)

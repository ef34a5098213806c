"""Named random streams: every draw of the library comes from one of these."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import final

import numpy as np
import torch

from farfield.core._arguments import check_fields
from farfield.core._hints import Seed


@final
@dataclass(frozen=True)
class Stream:
    """A place in the tree of random numbers, addressed by a seed and a path of words.

    Two streams with different paths are independent; the same seed and path give the same numbers
    on every machine, whatever else was drawn. A stream holds no state: each call of `numpy` or
    `torch` returns a fresh generator that starts at the stream's first number, so a run that was
    interrupted needs nothing but the path to go on. The global generators are never touched.

    Args:
        seed: Number of the run, at least 0.
        path: What is drawn, from general to special, e.g. `("same_different", "shapes")`.

    Raises:
        ValueError: If the seed is negative, or a part of the path is neither a word nor a number.
    """

    seed: Seed
    path: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def child(self, *path: str | int) -> Stream:
        """The stream one or more steps further down the tree."""
        return Stream(self.seed, (*self.path, *path))

    @property
    def key(self) -> int:
        """The 128-bit key of the stream: the head of SHA-256 over seed and path."""
        text = json.dumps([self.seed, *self.path], ensure_ascii=False, separators=(",", ":"))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")

    def numpy(self) -> np.random.Generator:
        """A fresh counter-based generator (Philox 4×64, Salmon et al. 2011) keyed by the path."""
        return np.random.Generator(np.random.Philox(key=self.key))

    def torch(self, device: torch.device | str = "cpu") -> torch.Generator:
        """A fresh torch generator on `device`, seeded by the path."""
        return torch.Generator(device=device).manual_seed(self.key & (2**63 - 1))


def stream(seed: int, *path: str | int) -> Stream:
    """The stream of run `seed` for the purpose that `path` names.

    Args:
        path: What is drawn, from general to special.

    Example:
        >>> stream(0, "noise").numpy().integers(10, size=3)
        array([7, 9, 3])
        >>> stream(0, "noise").numpy().integers(10, size=3)  # the same place, the same numbers
        array([7, 9, 3])
    """
    return Stream(seed, path)

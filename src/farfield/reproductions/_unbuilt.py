"""Placeholders for published models that are not implemented here."""

from __future__ import annotations

from typing import final

from torch import nn


@final
class Unbuilt(nn.Module):
    """A published model that is not implemented here.

    It gives a published cell its row in the ledger. Its experiment has a unique key, and is
    never run.

    Args:
        model: Its name, e.g. `"MXGNet"`.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, *, model: str) -> None:
        super().__init__()
        raise NotImplementedError(f"{model} is not built here")

"""Devices and processes of this machine."""

from __future__ import annotations

import re

import torch


def check_machine(device: str, workers: int | None = None) -> None:
    """Raise `ValueError` for an unavailable device or an impossible number of processes.

    Args:
        device: `"cpu"` or `"cuda"`, the latter also with a number, as in `"cuda:1"`.
        workers: Number of processes; as many as there are cores if `None`.

    Raises:
        ValueError: If the device is not available, or `workers` is not positive.
    """
    kind, _, number = device.partition(":")
    if device != "cpu" and not re.fullmatch(r"cuda(:\d+)?", device):
        raise ValueError(f"device must be 'cpu' or 'cuda', got {device!r}")
    if kind == "cuda" and torch.cuda.device_count() <= int(number or 0):
        raise ValueError(f"device is {device!r}, but torch finds no such GPU here; use 'cpu'")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")

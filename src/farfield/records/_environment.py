"""The machine and the versions behind a number."""

from __future__ import annotations

import datetime as dt
import functools
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np
import torch

from farfield import __version__
from farfield._files import python_digest
from farfield._system import proc_lines
from farfield.core.internal import num_cores

_CHECKOUT: Final = Path(__file__).resolve().parents[3]
"""Folder of the checkout, where Farfield runs from one."""


def _is_checkout() -> bool:
    return (_CHECKOUT / ".git").exists()


def _git(*words: str) -> str | None:
    """Call git in the checkout; `None` if git is missing or fails."""
    try:
        ran = subprocess.run(["git", "-C", str(_CHECKOUT), *words], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.decode(errors="backslashreplace").strip()


@functools.cache
def _commit() -> str:
    """Find the commit of the checkout, with `+` if files differ; `release` without a checkout."""
    if not _is_checkout():
        return "release"
    commit = _git("rev-parse", "--short=12", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src")
    if commit is None or changed is None:
        return "unknown"
    return commit + ("+" if changed else "")


def missing_commits(commits: Iterable[str]) -> frozenset[str] | None:
    """Find the commits that the history of the checkout lacks.

    Args:
        commits: Commits of records, in hexadecimal digits.

    Returns:
        Commits that are not in the history of `HEAD`; `None` where nobody can tell: Farfield does
        not run from a checkout, the checkout is shallow, or git is missing.
    """
    if not _is_checkout() or _git("rev-parse", "--is-shallow-repository") != "false":
        return None
    history = _git("rev-list", "HEAD")
    if history is None:
        return None
    known = history.split()
    return frozenset(
        commit for commit in commits if not any(one.startswith(commit) for one in known)
    )


@functools.cache
def _code() -> str:
    """Compute the digest of Farfield's code, as installed."""
    return python_digest([Path(__file__).resolve().parents[1]])


@functools.cache
def _processor() -> str:
    """Read the model name of the processor."""
    lines = proc_lines("cpuinfo")
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _capability(device: str) -> str:
    """Find the instruction set of the device, on which sums depend."""
    if device.startswith("cuda"):
        return ".".join(map(str, torch.cuda.get_device_capability(device)))
    return torch.backends.cpu.get_cpu_capability()


def environment(*, device: str, engine: str, matmul: str = "float32") -> dict[str, str]:
    """Describe machine and versions, for a record.

    Args:
        device: Device the networks were on, as torch names it.
        engine: How the population ran, and why so where there was a choice.
        matmul: Precision of matrix products of float32; noted of a GPU, where there is a choice.
    """
    on_gpu = device.startswith("cuda")
    name = torch.cuda.get_device_name(device) if on_gpu else _processor()
    return {
        "farfield": __version__,
        "commit": _commit(),
        "code": _code(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": name,
        "capability": _capability(device),
        "cores": str(num_cores()),
        "device": device,
        **({"matmul": matmul} if on_gpu else {}),
        "engine": engine,
        "finished": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }

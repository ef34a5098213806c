"""The machine and the versions behind a number."""

from __future__ import annotations

import datetime as dt
import functools
import platform
import subprocess
from pathlib import Path

import numpy as np
import torch

from farfield import __version__
from farfield._files import python_digest
from farfield._system import proc_lines
from farfield.core import num_cores


@functools.cache
def _commit() -> str:
    """Commit of the checkout Farfield runs from, with `+` where files differ; else `release`."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return "release"
    git = ["git", "-C", str(folder)]
    try:
        commit = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, check=False
        )
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no", "--", "src"],
            capture_output=True,
            check=False,
        )
    except OSError:
        return "unknown"
    return commit.stdout.decode(errors="backslashreplace").strip() + (
        "+" if changed.stdout.strip() else ""
    )


@functools.cache
def _code() -> str:
    """Digest of Farfield's own code, wherever it was installed from."""
    return python_digest([Path(__file__).resolve().parents[1]])


@functools.cache
def _processor() -> str:
    """Model name of the processor."""
    lines = proc_lines("cpuinfo")
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _capability(device: str) -> str:
    """Instruction set of the device, on which sums depend."""
    if device.startswith("cuda"):
        return ".".join(map(str, torch.cuda.get_device_capability(device)))
    return torch.backends.cpu.get_cpu_capability()


def environment(*, device: str, engine: str, matmul: str = "float32") -> dict[str, str]:
    """Machine and versions, as a record states them.

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

"""Files of a benchmark's results, and notes on the machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks._worker import ROOT

RESULTS: Final = ROOT / "benchmarks" / "results"


def name_of_today(described: Mapping[str, str]) -> str:
    """Name a file by date and processor.

    Args:
        described: The machine.
    """
    slug = re.sub(r"\W+", "-", f"{described['processor']} {described['cores']} cores").lower()
    return f"{datetime.now(UTC):%Y-%m-%d}-{slug}"


def write(
    results: Mapping[str, Any],
    folder: Path,
    name: str,
    page: Callable[[Mapping[str, Any]], str],
) -> Path:
    """Write the JSON, and the Markdown made from it.

    Args:
        results: The measurements.
        folder: Where the two files go.
        name: Their name, without suffix.
        page: Makes the Markdown.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(results), encoding="utf-8")
    return path

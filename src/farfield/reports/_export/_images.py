"""Images of the networks of a claim, where it leaves these free."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from farfield.records import Record
from farfield.reproductions import Claim

PAPER_DIGEST: Final = "5bcab740c0313f98abfa170d3aa8d1760191aa24d50b8550b465343dcf587434"
"""`array_digest` of the 100 images of webb2021."""

BUILT_IN: Final = "built-in images"
PAPER_IMAGES: Final = "the paper's own images"


def images_of(claim: Claim, record: Record) -> str:
    """Text of the task's fields that the claim leaves free; empty if there are none.

    Args:
        claim: The claim.
        record: One of its runs.
    """
    if not claim.free:
        return ""
    task: Mapping[str, object] = record.experiment.get("task", {})
    free = {name: task[name] for name in claim.free if name in task}
    if not free:
        return BUILT_IN
    described = json.dumps(free, sort_keys=True)
    if PAPER_DIGEST in described:
        return PAPER_IMAGES
    return f"own images {hashlib.sha256(described.encode()).hexdigest()[:8]}"

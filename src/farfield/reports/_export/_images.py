"""Which images the networks of a claim were shown, where it leaves that free."""

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
    """What the record's task has in the fields that the claim leaves free, in words, if any are.

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

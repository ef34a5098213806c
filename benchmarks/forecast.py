"""Does the profile predict? Rank mechanisms at the farthest regime from the nearer regimes alone.

Run from the root of the checkout, with scikit-learn, and with the public data of
`benchmarks/guide.py` where it is found:

    python -m benchmarks.forecast                     # the page, from records: a minute
    python -m benchmarks.forecast --train             # curves on public data: an hour on one core
    python -m benchmarks.forecast --train --sets wine # a part

Curves are of twelve small networks on each public set, over its graded shifts, and of the recorded
mechanisms of the tables. Tasks are split by the hash of their name, before any rule is tried, and
every choice is made on the first half (`--development` writes nothing and shows that half alone).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import torch
import tyro
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import _forecast_report, _pages
from benchmarks.guide import (
    Data,
    Loss,
    OverPositions,
    accuracy,
    all_data,
    learn,
    reader,
    supervised,
)
from farfield.analysis.internal import describe_items, shifts_of
from farfield.core import tap_layers
from farfield.functional import mixup, vat_loss
from farfield.models import Transformer
from farfield.records import environment

RESULTS: Final = _pages.RESULTS / "forecast"
CURVES: Final = RESULTS / "curves.json"
SEEDS: Final = 5
MOST: Final = 500
"""Most items of a test."""

PARTS: Final = (1 / 8, 1 / 4, 1 / 2, 1.0)
"""Strengths, as parts of the greatest one of a shift."""

Network = tuple[Callable[[], nn.Module], Loss]
"""Maker of a network, and its loss."""


# --- Twelve mechanisms ---------------------------------------------------------------------------


class OverTime(nn.Module):
    """A layer over the rows of an image or the steps of a series, and a linear layer.

    Args:
        layer: The layer.
        head: The linear layer behind the last state; None if the layer answers.
    """

    def __init__(self, layer: nn.Module, head: nn.Module | None = None) -> None:
        super().__init__()
        self.first, self.layer, self.head = nn.LazyLinear(32), layer, head

    def forward(self, x: Tensor) -> Tensor:
        """Answer `(item, channel, height, width)` or `(item, channel, time)`."""
        rows = x.transpose(1, 2).flatten(2)
        found = self.layer(self.first(rows))
        return found if self.head is None else self.head(found[0][:, -1])


def layered(data: Data, act: type[nn.Module] = nn.ReLU, width: int = 64) -> nn.Sequential:
    """Build two layers over the numbers of an item.

    Args:
        data: The set.
        act: Class of the activation.
        width: Units of a layer.
    """
    size = data.x[0].numel()
    return nn.Sequential(
        nn.Flatten(), nn.Linear(size, width), act(), nn.Linear(width, width), act(),
        nn.Linear(width, data.num_classes),
    )  # fmt: skip


def behind(network: nn.Sequential, index: int, module: nn.Module) -> nn.Sequential:
    """Insert a module into a network.

    Args:
        network: The network.
        index: Index of the module.
        module: The module.
    """
    return nn.Sequential(*network[:index], module, *network[index:])


def manifold(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
    """Compute manifold mixup at a layer that is drawn."""
    weight, partner = float(torch.distributions.Beta(2.0, 2.0).sample()), torch.randperm(len(x))
    layers = [name for name, one in model.named_children() if sum(1 for _ in one.parameters())]
    with tap_layers(
        model,
        {layers[int(torch.randint(2, ()))]: lambda h: weight * h + (1 - weight) * h[partner]},
    ):
        logits = model(x)
    return weight * F.cross_entropy(logits, y) + (1 - weight) * F.cross_entropy(logits, y[partner])


def smoothed(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
    """Compute the cross-entropy with a tenth of the target spread over all classes."""
    return F.cross_entropy(model(x), y, label_smoothing=0.1)


def noisy(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
    """Compute the cross-entropy of items with noise of half of their spread."""
    return F.cross_entropy(model(x + 0.5 * torch.randn_like(x)), y)


def mixed(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
    """Compute mixup."""
    return mixup(model, x, y)


def mechanisms(data: Data) -> dict[str, Network]:
    """Return the twelve networks of a set, by name.

    Args:
        data: The set.
    """
    some = data.x[:500].flatten(1)
    near = torch.cdist(some, some).fill_diagonal_(torch.inf).min(1).values
    radius = max(0.5 * float(near.median()), 1e-3)

    def vat(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
        return F.cross_entropy(model(x), y) + vat_loss(model, x, radius=radius)

    losses: dict[str, Loss] = {
        "plain": supervised, "mixup": mixed, "manifold mixup": manifold,
        "label smoothing": smoothed, "vat": vat, "noise": noisy,
    }  # fmt: skip
    if data.kind == "table":
        plain = lambda: layered(data)  # noqa: E731 — one of several makers
        made: dict[str, Network] = {name: (plain, loss) for name, loss in losses.items()}
        return made | {
            "batch norm": (lambda: behind(layered(data), 2, nn.BatchNorm1d(64)), supervised),
            "layer norm": (lambda: behind(layered(data), 2, nn.LayerNorm(64)), supervised),
            "dropout": (lambda: behind(layered(data), 5, nn.Dropout(0.5)), supervised),
            "linear": (lambda: nn.Linear(data.x.shape[1], data.num_classes), supervised),
            "wide": (lambda: layered(data, width=512), supervised),
            "tanh": (lambda: layered(data, nn.Tanh), supervised),
        }
    batch_norm = nn.BatchNorm2d if data.kind == "image" else nn.BatchNorm1d
    made = {name: ((lambda: reader(data)), loss) for name, loss in losses.items()}
    return made | {
        "batch norm": (lambda: reader(data, batch_norm), supervised),
        "context norm": (lambda: reader(data, OverPositions), supervised),
        "layer norm": (lambda: reader(data, lambda size: nn.GroupNorm(1, size)), supervised),
        "mlp": (lambda: layered(data), supervised),
        "gru": (
            lambda: OverTime(nn.GRU(32, 48, batch_first=True), nn.Linear(48, data.num_classes)),
            supervised,
        ),
        "transformer": (lambda: OverTime(Transformer(32, data.num_classes)), supervised),
    }


# --- Curves --------------------------------------------------------------------------------------


def floor_of(y: Tensor) -> float:
    """Return the share of the commonest class.

    Args:
        y: Classes.
    """
    return float(torch.bincount(y).max() / len(y))


def shifted(data: Data) -> dict[str, dict[str, Any]]:
    """Change the test by every shift: strengths, their unit and the changed items, by name.

    Shifts of single columns or of the length are left out, as are steps too coarse for four
    strengths.

    Args:
        data: The set.
    """
    kind = {"image": "images"}.get(data.kind, data.kind)
    axes = {"images": "item channel height width", "series": "item feature time"}.get(kind)
    x = data.test_x[:MOST].numpy()
    known = describe_items(x, kind=kind, axes=axes, training=data.x.numpy())
    found = {}
    for one in shifts_of(known, x, data.test_y[:MOST].numpy()):
        if one.reweights or one.name[0].isdigit():
            continue
        strengths = [one.nearest(part * one.end) for part in PARTS]
        if min(np.diff([0.0, *strengths])) <= 0:
            continue
        changed = [torch.from_numpy(np.asarray(one(x, d), np.float32)) for d in strengths]
        if any(items.shape != x.shape for items in changed):
            continue
        found[one.name] = {"unit": one.unit, "strengths": strengths, "items": changed}
    return found


def curves(data: Data, seeds: int, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Train the twelve networks on a set, and score them at every strength of every shift.

    Args:
        data: The set.
        seeds: Number of networks of each mechanism.
        before: Curves of earlier networks, which are not trained again.
    """
    changes, y = shifted(data), data.test_y[:MOST]
    if before:
        changes = {name: changes[name] for name in before["shifts"]}
    known = before["scores"] if before else {}
    scores: dict[str, list[dict[str, list[float]]]] = {
        name: [*nets] for name, nets in known.items()
    }
    for name, (make, loss) in mechanisms(data).items():
        for seed in range(len(scores.get(name, ())), seeds):
            torch.manual_seed(seed)
            model = make()
            model(data.x[:2])  # lazy layers get their size
            learn(model, data.x, data.y, loss)
            torch.manual_seed(seed)
            found = {
                shift: [accuracy(model, x, y) for x in one["items"]]
                for shift, one in changes.items()
            }
            found["training"] = [accuracy(model, data.x, data.y)]
            found["none"] = [accuracy(model, data.test_x[:MOST], y)]
            rounded = {key: [round(v, 4) for v in values] for key, values in found.items()}
            scores.setdefault(name, []).append(rounded)
    about = {shift: {k: one[k] for k in ("unit", "strengths")} for shift, one in changes.items()}
    return {"kind": data.kind, "floor": round(floor_of(y), 4), "shifts": about, "scores": scores}


def record_curves(sets: tuple[str, ...], seeds: int) -> None:
    """Train on the sets, and write the curves after each.

    Args:
        sets: Names of the sets; all that are found if empty.
        seeds: Number of networks of each mechanism.
    """
    console, began = Console(), time.monotonic()
    torch.set_num_threads(1)
    for data in all_data():
        if sets and data.name not in sets:
            continue
        before = json.loads(CURVES.read_text("utf-8")) if CURVES.is_file() else {"tasks": {}}
        found = curves(data, seeds, before["tasks"].get(data.name))
        tasks = before["tasks"] | {data.name: found}
        described = environment(device="cpu", engine="one thread")
        results = {"environment": described, "tasks": dict(sorted(tasks.items()))}
        CURVES.parent.mkdir(parents=True, exist_ok=True)
        CURVES.write_text(json.dumps(results, ensure_ascii=False) + "\n", encoding="utf-8")
        console.print(f"{data.name} {time.monotonic() - began:.0f} s")


def main(
    train: bool = False,
    sets: tuple[str, ...] = (),
    seeds: int = SEEDS,
    development: bool = False,
) -> None:
    """Write the page from the recorded curves; train them first if asked.

    Args:
        train: Whether networks are trained; networks that were recorded are not trained again.
        sets: Names of the sets to train on; all that are found if empty.
        seeds: Number of networks of each mechanism.
        development: Whether to show the tasks of development alone, and to write nothing.
    """
    if train:
        record_curves(sets, seeds)
        return
    tasks = json.loads(CURVES.read_text(encoding="utf-8"))["tasks"]
    recorded = _forecast_report.recorded_pairs()
    if development:
        tasks = {name: one for name, one in tasks.items() if not _forecast_report.is_held(name)}
        recorded = [one for one in recorded if not one.held]
    rows = _forecast_report.rows_of(tasks, recorded)
    found = _forecast_report.summary(rows) | _forecast_report.alone(tasks)
    if development:
        Console().print(json.dumps(found, indent=1))
        return
    note = _forecast_report.note_of(tasks, recorded)
    shifts = _forecast_report.by_shift(rows)
    results = {"note": note, "summary": found, "shifts": shifts, "rows": rows}
    _pages.write(results, RESULTS, "forecast", _forecast_report.page)


if __name__ == "__main__":
    tyro.cli(main)

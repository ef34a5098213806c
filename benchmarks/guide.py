"""Advice of *which mechanism when* on public data that it was not written from.

Run from the root of the checkout, where scikit-learn is installed. Series come from the package
aeon and tables from the package river, which need not be importable: only their files are read.
Images come from the folder `FARFIELD_DATA`. Sets that are missing are left out, and named:

    python -m benchmarks.guide                       # about two hours on one core
    python -m benchmarks.guide --advice few-labels   # a part

Each advice is a pair of small networks that differ in one mechanism, with equal steps and batches,
over ten seeds; no value is chosen by a test. The results are written after every set.
"""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import os
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from scipy.io import loadmat
from sklearn import datasets
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import _pages
from farfield.analysis.internal import describe_items, shifts_of
from farfield.core import tap_layers
from farfield.functional import ict_loss, mean_teacher, mixup, vat_loss
from farfield.metrics import paired_interval
from farfield.models import CoRelNet, Transformer
from farfield.nn import ContextNorm, ContextWhitening, HoldingRNN, RIMs
from farfield.records import environment

RESULTS: Final = _pages.RESULTS / "guide"
SEEDS: Final = 10
STEPS: Final = 200
BATCH: Final = 64
RATE: Final = 3e-3
MOST: Final = 2000
"""Most items of training, and of a test."""

Score = dict[str, dict[str, float]]
"""Score by the name of a side and of a regime."""


@dataclass(frozen=True)
class Data:
    """Items with labels, half of them for training.

    Args:
        name: Name of the set.
        kind: image, series or table.
        x: Items of training, standardized by their own mean and spread.
        y: Their classes.
        test_x: Other items.
        test_y: Their classes.
    """

    name: str
    kind: str
    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(torch.cat([self.y, self.test_y]).max()) + 1


def of_arrays(name: str, kind: str, parts: list[tuple[NDArray[Any], NDArray[Any]]]) -> Data:
    """Make a set of arrays; a single pair is split in halves at random.

    Args:
        name: Name of the set.
        kind: image, series or table.
        parts: Items and labels of training and test, or of both together.
    """
    kinds = {label: number for number, label in enumerate(np.unique(parts[0][1]).tolist())}
    if len(parts) == 1:
        order = np.random.Generator(np.random.Philox(key=0)).permutation(len(parts[0][0]))
        x, y = parts[0][0][order], parts[0][1][order]
        parts = [(x[: len(x) // 2], y[: len(x) // 2]), (x[len(x) // 2 :], y[len(x) // 2 :])]
    axes = (0,) if kind == "table" else (0, 2) if kind == "series" else None
    first = parts[0][0].astype(np.float64)
    mean, spread = first.mean(axes, keepdims=True), first.std(axes, keepdims=True)
    spread = np.where(spread > 0, spread, 1)
    tensors = []
    for all_items, all_labels in parts:
        known = [label in kinds for label in all_labels.tolist()]
        items, labels = all_items[known][:MOST], all_labels[known][:MOST]
        tensors.append(torch.from_numpy(((items - mean) / spread).astype(np.float32)))
        tensors.append(torch.tensor([kinds[label] for label in labels.tolist()]))
    return Data(name, kind, *tensors)


# --- Public data ---------------------------------------------------------------------------------


def package_folder(name: str) -> Path | None:
    """Find the folder of an installed package without importing it.

    Args:
        name: Name of the package.
    """
    found = find_spec(name)
    return Path(found.origin).parent if found and found.origin else None


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read a file of the format of MNIST.

    Args:
        path: The file, compressed.
    """
    content = gzip.decompress(path.read_bytes())
    axes = [int.from_bytes(content[4 * i + 4 : 4 * i + 8], "big") for i in range(content[3])]
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(axes)


def images() -> Iterator[Data]:
    """Yield images of digits, characters and clothes, of at most 16 × 16 pixels."""
    digits = datasets.load_digits()
    yield of_arrays("digits", "image", [(digits.images[:, None], digits.target)])
    folder = Path(os.environ.get("FARFIELD_DATA", ""))
    for name, train, test in (
        ("kmnist", "train-first7011", "t10k"),
        ("fashion_mnist", "train-first8226", "t10k-first6978"),
    ):
        if (folder / name).is_dir():
            parts = [
                (
                    halved(read_idx(folder / name / f"{part}-images-idx3-ubyte.gz")[:, None]),
                    read_idx(folder / name / f"{part}-labels-idx1-ubyte.gz"),
                )
                for part in (train, test)
            ]
            yield of_arrays(name, "image", parts)
    if (path := folder / "svhn" / "train_first1083_32x32.mat").is_file():
        found = loadmat(path)
        gray = found["X"].mean(2).transpose(2, 0, 1)[:, None]
        yield of_arrays("svhn", "image", [(halved(gray), found["y"][:, 0])])


def halved(x: NDArray[Any]) -> NDArray[Any]:
    """Average squares of 2 × 2 pixels.

    Args:
        x: Images with channels first.
    """
    count, channels, height, width = x.shape
    return x.reshape(count, channels, height // 2, 2, width // 2, 2).mean((3, 5))


SERIES: Final = (
    "ArrowHead", "BasicMotions", "GunPoint", "ItalyPowerDemand", "JapaneseVowels_eq", "OSULeaf",
    "PickupGestureWiimoteZ_eq",
)  # fmt: skip


def series() -> Iterator[Data]:
    """Yield series of the package aeon, resampled to 48 steps if they are longer."""
    root = package_folder("aeon")
    for name in SERIES if root else ():
        folder = root / "datasets" / "data" / name.removesuffix("_eq")
        if not folder.is_dir():
            folder = root / "datasets" / "data" / name
        parts = [read_series(folder / f"{name}_{part}.ts") for part in ("TRAIN", "TEST")]
        x, y = (np.concatenate(one) for one in zip(*parts, strict=True))
        yield of_arrays(name, "series", [(x, y)])


def read_series(path: Path) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Read series of equal length, `(item, channel, time)`, and their labels.

    Args:
        path: A file of the format ts.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    rows = [line.split(":") for line in lines[begin + 1 :] if line.strip()]
    x = np.array([[one.split(",") for one in row[:-1]] for row in rows], np.float64)
    steps = min(48, x.shape[2])
    at = np.linspace(0, x.shape[2] - 1, steps).round().astype(int)
    return x[:, :, at], np.array([row[-1].strip() for row in rows])


def tables() -> Iterator[Data]:
    """Yield tables of scikit-learn and of the package river."""
    for name in ("breast_cancer", "wine", "iris"):
        found = getattr(datasets, f"load_{name}")()
        yield of_arrays(name, "table", [(found.data, found.target)])
    root = package_folder("river")
    if root is None:
        return
    text = gzip.decompress((root / "datasets" / "phishing.csv.gz").read_bytes()).decode()
    yield of_arrays("phishing", "table", [columns(csv.reader(io.StringIO(text)))])
    with zipfile.ZipFile(root / "datasets" / "segment.csv.zip") as archive:
        text = archive.read(archive.namelist()[0]).decode()
    yield of_arrays("segment", "table", [columns(csv.reader(io.StringIO(text)))])
    with zipfile.ZipFile(root / "datasets" / "banana.zip") as archive:
        lines = archive.read(archive.namelist()[0]).decode().split("\n")
    pairs = [line.split() for line in lines if line.strip()]
    x = np.array([[cell.split(":")[1] for cell in pair[1:]] for pair in pairs], np.float64)
    yield of_arrays("banana", "table", [(x, np.array([pair[0] for pair in pairs]))])


def columns(lines: Iterator[list[str]]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Split the lines of a table into numbers and the last column.

    Args:
        lines: The lines, the names of the columns first.
    """
    _, *rows = lines
    return np.array([row[:-1] for row in rows], np.float64), np.array([row[-1] for row in rows])


@cache
def all_data() -> tuple[Data, ...]:
    """Return every set whose files are found."""
    return (*images(), *series(), *tables())


# --- Networks ------------------------------------------------------------------------------------


class OverPositions(nn.Module):
    """Context normalization of a map: its pixels or steps are the context."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = ContextNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize each channel over the positions of a map."""
        return self.norm(x.flatten(2).mT).mT.reshape(x.shape)


def reader(data: Data, norm: Callable[[int], nn.Module] | None = None) -> nn.Sequential:
    """Build a small network: two convolutions over images or series, two layers over tables.

    Args:
        data: The set.
        norm: Makes the first normalizer from a number of channels; none if None.
    """
    first = norm(16) if norm else nn.Identity()
    if data.kind == "table":
        return nn.Sequential(
            nn.Linear(data.x.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, data.num_classes),
        )  # fmt: skip
    conv, pool, size = (
        (nn.Conv2d, nn.AdaptiveMaxPool2d, 16) if data.kind == "image"
        else (nn.Conv1d, nn.AdaptiveMaxPool1d, 4)
    )  # fmt: skip
    return nn.Sequential(
        conv(data.x.shape[1], 16, 3, padding=1), first, nn.ReLU(),
        (nn.MaxPool2d if data.kind == "image" else nn.MaxPool1d)(2),
        conv(16, 32, 3, padding=1), nn.ReLU(), pool(4), nn.Flatten(),
        nn.Linear(32 * size, data.num_classes),
    )  # fmt: skip


Loss = Callable[[nn.Module, Tensor, Tensor, int], Tensor]


def supervised(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
    """Compute the cross-entropy of a batch."""
    return F.cross_entropy(model(x), y)


def learn(
    model: nn.Module, x: Tensor, y: Tensor, loss: Loss = supervised, steps: int = STEPS
) -> nn.Module:
    """Train a network by Adam, on batches drawn by torch's generator.

    Args:
        model: The network.
        x: Items.
        y: Classes.
        loss: Function from network, items, classes and the number of the step.
        steps: Number of updates.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(steps):
        chosen = torch.randint(len(x), (BATCH,))
        optimizer.zero_grad()
        loss(model, x[chosen], y[chosen], step).backward()
        optimizer.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Compute the share of right answers.

    Args:
        model: The network.
        x: Items.
        y: Classes.
    """
    return float((model(x).argmax(-1) == y).float().mean())


# --- Advice --------------------------------------------------------------------------------------


def light(data: Data, seed: int) -> Score:
    """Test items that are brighter or larger: context norm beside batch norm and no norm.

    Args:
        data: Images or series.
        seed: Number of the run.
    """
    batch_norm = nn.BatchNorm2d if data.kind == "image" else nn.BatchNorm1d
    spread = float(data.x.std())
    changes = {
        "same": data.test_x,
        "half": data.test_x / 2,
        "double": data.test_x * 2,
        "offset+": data.test_x + spread,
        "offset-": data.test_x - spread,
    }
    found: Score = {}
    for name, norm in {
        "batch norm": batch_norm,
        "none": None,
        "context norm": OverPositions,
    }.items():
        torch.manual_seed(seed)
        model = learn(reader(data, norm), data.x, data.y)
        found[name] = {key: accuracy(model, x, data.test_y) for key, x in changes.items()}
    return found


class Recurrent(nn.Module):
    """The last state of a recurrent layer, and a linear layer."""

    def __init__(self, layer: nn.Module, num_classes: int) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(48, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """Answer after the last step of `(batch, time, feature)`."""
        return self.head(self.layer(x)[0][:, -1])


def longer(data: Data, seed: int) -> Score:
    """Test longer sequences: a pause follows, longer than in training.

    Args:
        data: Series.
        seed: Number of the run.
    """
    x, test = data.x.mT[:, ::2], data.test_x.mT[:, ::2]
    size = x.shape[-1] + 1

    def with_pause(rows: Tensor, steps: int) -> Tensor:
        marked = F.pad(rows, (0, 1))
        pause = F.pad(torch.zeros(len(rows), steps, size - 1), (0, 1), value=1.0)
        return torch.cat([marked, pause], 1)

    layers: dict[str, Callable[[], nn.Module]] = {
        "lstm": lambda: nn.LSTM(size, 48, batch_first=True),
        "gru": lambda: nn.GRU(size, 48, batch_first=True),
        "holding rnn": lambda: HoldingRNN(size, 48, batch_first=True),
        "rims": lambda: RIMs(size, 48, num_mechanisms=6, num_active=4, batch_first=True),
    }
    found: Score = {}

    def loss(model: nn.Module, rows: Tensor, labels: Tensor, _: int) -> Tensor:
        return F.cross_entropy(model(with_pause(rows, int(torch.randint(1, 7, ())))), labels)

    for name, layer in layers.items():
        torch.manual_seed(seed)
        model = learn(Recurrent(layer(), data.num_classes), x, data.y, loss, 300)
        found[name] = {
            f"pause {steps}": accuracy(model, with_pause(test[:200], steps), data.test_y[:200])
            for steps in (6, 30, 150)
        }
    return found


def few_labels(data: Data, seed: int) -> Score:
    """Test few labels: VAT and ICT beside labels alone, all values set without labels.

    Args:
        data: Any set.
        seed: Number of the run.
    """
    torch.manual_seed(seed)
    order = torch.randperm(len(data.x))
    labeled = torch.cat([order[data.y[order] == k][:4] for k in range(data.num_classes)])
    x, y = data.x[labeled], data.y[labeled]
    some = data.x[order[:500]].flatten(1)
    near = torch.cdist(some, some).fill_diagonal_(torch.inf).min(1).values
    radius = max(0.5 * float(near.median()), 1e-3)

    def others() -> Tensor:
        return data.x[torch.randint(len(data.x), (BATCH,))]

    def vat(model: nn.Module, items: Tensor, labels: Tensor, _: int) -> Tensor:
        return F.cross_entropy(model(items), labels) + vat_loss(model, others(), radius=radius)

    teacher: list[nn.Module] = []

    def ict(model: nn.Module, items: Tensor, labels: Tensor, step: int) -> Tensor:
        if not teacher:
            teacher.append(copy.deepcopy(model))
        decay = min(0.99, 1 - 1 / (step + 1))
        teacher[0].load_state_dict(
            mean_teacher(teacher[0].state_dict(), model.state_dict(), decay=decay)
        )
        weight = 10 * min(1.0, step / 150)
        return mixup(model, items, labels) + weight * ict_loss(model, teacher[0], others())

    found: Score = {}
    for name, loss in {"labels alone": supervised, "vat": vat, "ict": ict}.items():
        torch.manual_seed(seed)
        model = learn(reader(data), x, y, loss, 300)
        judged = teacher[0].eval() if name == "ict" else model
        found[name] = {"test": accuracy(judged, data.test_x, data.test_y)}
    return found


def deformed(data: Data, seed: int) -> Score:
    """Test images that are turned, sheared, moved or noisy: mixup and manifold mixup.

    Args:
        data: Images.
        seed: Number of the run.
    """
    pictures = data.test_x.numpy()
    shifts = {
        one.name: one
        for one in shifts_of(describe_items(pictures, axes="item channel height width"), pictures)
    }
    changes = {"same": data.test_x}
    for name, strength in (("rotation", 25.0), ("shear", 25.0), ("noise", 0.15), ("shift", 0.1)):
        changes[name] = torch.from_numpy(shifts[name](pictures, strength, seed))

    def mixed(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
        return mixup(model, x, y)

    def manifold(model: nn.Module, x: Tensor, y: Tensor, _: int) -> Tensor:
        weight, partner = float(torch.distributions.Beta(2.0, 2.0).sample()), torch.randperm(len(x))
        layer = ("0", "4")[int(torch.randint(2, ()))]
        with tap_layers(model, {layer: lambda h: weight * h + (1 - weight) * h[partner]}):
            logits = model(x)
        return weight * F.cross_entropy(logits, y) + (1 - weight) * F.cross_entropy(
            logits, y[partner]
        )

    found: Score = {}
    for name, loss in {"plain": supervised, "mixup": mixed, "manifold mixup": manifold}.items():
        torch.manual_seed(seed)
        model = learn(reader(data), data.x, data.y, loss)
        found[name] = {key: accuracy(model, x, data.test_y) for key, x in changes.items()}
    return found


class Pairs(nn.Module):
    """An encoder of single images, a context, and a reasoner over two images."""

    def __init__(self, data: Data, context: nn.Module, reasoner: nn.Module) -> None:
        super().__init__()
        self.encoder = reader(data)
        self.encoder[-1] = nn.Linear(512, 32)
        self.context, self.reasoner = context, reasoner

    def forward(self, x: Tensor) -> Tensor:
        """Answer whether two images are the same, `(batch, 2, channel, height, width)`."""
        z = self.encoder(x.flatten(0, 1)).reshape(len(x), 2, 32)
        return self.reasoner(self.context(z))


def new_items(data: Data, seed: int) -> Score:
    """Test new items under the same rule: equal images, of classes that training lacks.

    Args:
        data: Images.
        seed: Number of the run.
    """
    old, new = data.y < data.num_classes // 2, data.test_y >= data.num_classes // 2
    known, strange = data.x[old], data.test_x[new]
    level = float(data.x.max() - data.x.min()) / 255

    def pairs(items: Tensor, count: int) -> tuple[Tensor, Tensor]:
        same = torch.arange(count) % 2
        first = torch.randint(len(items), (count,))
        other = (first + torch.randint(1, len(items), (count,))) % len(items)
        return torch.stack([items[first], items[torch.where(same == 1, first, other)]], 1), same

    def loss(model: nn.Module, _: Tensor, __: Tensor, ___: int) -> Tensor:
        shown, same = pairs(known, BATCH)
        return F.cross_entropy(model(shown), same)

    sides: dict[str, Callable[[], nn.Module]] = {
        "transformer": lambda: Pairs(data, nn.Identity(), Transformer(32, 2)),
        "transformer, context norm": lambda: Pairs(data, ContextNorm(32), Transformer(32, 2)),
        "corelnet": lambda: Pairs(data, nn.Identity(), CoRelNet(32, 2, length=2)),
        "corelnet, context norm": lambda: Pairs(data, ContextNorm(32), CoRelNet(32, 2, length=2)),
        "corelnet, whitening": lambda: Pairs(data, ContextWhitening(32), CoRelNet(32, 2, length=2)),
    }
    found: Score = {}
    for name, make in sides.items():
        torch.manual_seed(seed)
        model = learn(make(), data.x, data.y, loss)
        torch.manual_seed(1000 + seed)
        found[name] = {}
        for regime, items in (("old classes", data.test_x[~new]), ("new classes", strange)):
            shown, same = pairs(items, 500)
            found[name][regime] = accuracy(model, shown, same)
        shown, same = pairs(strange, 500)
        noise = torch.randn_like(shown)
        for grey in (1, 16):
            found[name][f"new, noise {grey}"] = accuracy(model, shown + grey * level * noise, same)
    return found


@dataclass(frozen=True)
class Advice:
    """A row of the guide.

    Args:
        about: The difference from training.
        kinds: Kinds of sets that it is about.
        base: Side that the others are compared with.
        far: Regimes that count, all together; empty for all.
        run: Function from set and seed to scores.
    """

    about: str
    kinds: tuple[str, ...]
    base: str
    far: tuple[str, ...]
    run: Callable[[Data, int], Score]


ADVICE: Final = {
    "light": Advice(
        "Items are brighter or larger", ("image", "series"), "batch norm",
        ("half", "double", "offset+", "offset-"), light,
    ),
    "few-labels": Advice(
        "Few labels, many items", ("table", "image", "series"), "labels alone", (), few_labels
    ),
    "longer": Advice(
        "Sequences are longer", ("series",), "gru", ("pause 30", "pause 150"), longer,
    ),
    "deformed": Advice(
        "Images are deformed", ("image",), "plain", ("rotation", "shear", "noise", "shift"),
        deformed,
    ),
    "new-items": Advice(
        "Items are new, the rule is not", ("image",), "transformer", ("new classes",), new_items
    ),
    "not-identical": Advice(
        "Items are new and not quite identical", ("image",), "transformer", ("new, noise 16",),
        new_items,
    ),
}  # fmt: skip


def verdicts(runs: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Compare each side with its base on each set: mean difference and 95 % interval over seeds.

    Args:
        runs: Scores by advice, set and seed.
    """
    rows = []
    for key, advice in ADVICE.items():
        source = "new-items" if key == "not-identical" else key
        for data in dict.fromkeys(run["data"] for run in runs if run["advice"] == source):
            found = [
                run["scores"] for run in runs if (run["advice"], run["data"]) == (source, data)
            ]

            def far(scores: Score, side: str, advice: Advice = advice) -> float:
                return float(np.mean([scores[side][name] for name in advice.far or scores[side]]))

            base = [far(one, advice.base) for one in found]
            for side in found[0]:
                if side == advice.base:
                    continue
                ours = [far(one, side) for one in found]
                gain = paired_interval(ours, base) if len(found) > 1 else None
                rows.append({
                    "advice": key, "data": data, "side": side, "base": advice.base,
                    "ours": float(np.mean(ours)), "theirs": float(np.mean(base)),
                    "gain": float(np.mean(ours) - np.mean(base)), "seeds": len(found),
                    "low": gain.interval.low if gain else None,
                    "high": gain.interval.high if gain else None,
                })  # fmt: skip
    return rows


def verdict(row: Mapping[str, Any]) -> str:
    """Return win, loss or neither: a win has an interval above 0.

    Args:
        row: A row of `verdicts`.
    """
    if row["low"] is None:
        return "neither"
    return "win" if row["low"] > 0 else "loss" if row["high"] < 0 else "neither"


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Count wins and losses of each side of each advice.

    Args:
        rows: The rows of `verdicts`.
    """
    counted = []
    for key, side in dict.fromkeys((row["advice"], row["side"]) for row in rows):
        chosen = [row for row in rows if (row["advice"], row["side"]) == (key, side)]
        found = [verdict(row) for row in chosen]
        counted.append({
            "advice": key, "side": side, "base": chosen[0]["base"], "sets": len(chosen),
            "wins": found.count("win"), "losses": found.count("loss"),
            "gain": float(100 * np.mean([row["gain"] for row in chosen])),
        })  # fmt: skip
    return counted


def page(results: Mapping[str, Any]) -> str:
    """Format the results as Markdown: wins and losses, then every set.

    Args:
        results: Runs, steps and machine.
    """
    rows = verdicts(results["runs"])
    lines = [
        "# Advice on public data", "",
        results["note"], "A *win* is a set on which the 95 % interval of the difference, paired by",
        "seed, is above 0.", "",
        "| advice | mechanism | against | sets | wins | losses | mean gain |",
        "|---|---|---|--:|--:|--:|--:|",
    ]  # fmt: skip
    lines += [
        f"| {ADVICE[one['advice']].about} | {one['side']} | {one['base']} | {one['sets']} | "
        f"{one['wins']} | {one['losses']} | {one['gain']:+.1f} |"
        for one in summary(rows)
    ]
    lines += ["", "| advice | set | mechanism | right, % | base, % | difference | |",
              "|---|---|---|--:|--:|--:|---|"]  # fmt: skip
    for row in rows:
        ends = "" if row["low"] is None else f" [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
        lines.append(
            f"| {row['advice']} | {row['data']} | {row['side']} | {100 * row['ours']:.1f} | "
            f"{100 * row['theirs']:.1f} | {100 * row['gain']:+.1f}{ends} | {verdict(row)} |"
        )
    return "\n".join([*lines, ""])


def main(
    advice: tuple[str, ...] = tuple(name for name in ADVICE if name != "not-identical"),
    seeds: int = SEEDS,
) -> None:
    """Train both sides of each advice on every set, and write the results after each.

    Args:
        advice: Names of the advice.
        seeds: Number of seeds.

    Runs of other advice of the same day are kept.
    """
    console, began = Console(), time.monotonic()
    torch.set_num_threads(1)
    described = environment(device="cpu", engine="one thread")
    path = RESULTS / f"{_pages.name_of_today(described)}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.is_file() else []
    runs = [run for run in before if run["advice"] not in advice]
    for key in advice:
        kinds = ADVICE[key].kinds
        for data in sorted(all_data(), key=lambda one: one.kind not in kinds[:1]):
            if data.kind not in kinds:
                continue
            for seed in range(seeds):
                scores = ADVICE[key].run(data, seed)
                runs.append({"advice": key, "data": data.name, "seed": seed, "scores": scores})
            console.print(f"{key} {data.name} {time.monotonic() - began:.0f} s")
            sets = ", ".join(one.name for one in all_data())
            results = {
                "note": f"Small networks, {STEPS} to 300 steps, {seeds} seeds. Sets: {sets}.",
                "environment": described, "summary": summary(verdicts(runs)), "runs": runs,
            }  # fmt: skip
            _pages.write(results, RESULTS, _pages.name_of_today(described), page)


if __name__ == "__main__":
    tyro.cli(main)

"""One line against a change of light
==================================

Digits are read row by row, with and without `ContextNorm`::

    python examples/digits_under_brightness.py          # the table, from the record beside it
    python examples/digits_under_brightness.py --train  # trains again and writes that record

Both networks are an LSTM over the 28 rows of an image of MNIST (`farfield fetch mnist`), trained
alike. Tests show the images of the test file unchanged, three times as bright, and with every
pixel raised by a half.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import farfield
from farfield.metrics import mean_and_standard_error
from farfield.nn import ContextNorm
from farfield.tasks import DATA_SETS

RECORD = Path(__file__).with_suffix(".json")
SEEDS, STEPS, BATCH, HIDDEN = 3, 400, 64, 64
LIGHT: dict[str, Callable[[Tensor], Tensor]] = {
    "as in training": lambda images: images,
    "three times as bright": lambda images: 3 * images,
    "every pixel + 0.5": lambda images: images + 0.5,
}


class Reader(nn.Module):
    """A classifier of images (batch, row, column) that reads them row by row."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm
        self.lstm = nn.LSTM(28, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Compute the logits of the ten digits."""
        rows, _ = self.lstm(self.norm(images))
        return self.output(rows[:, -1])


READERS: dict[str, Callable[[], nn.Module]] = {
    "LSTM": nn.Identity,
    "LSTM after `ContextNorm(28)`": lambda: ContextNorm(28),  # the one line
}


def digits(name: str) -> tuple[Tensor, Tensor]:
    """Read images with pixels 0…1 and their labels, `"train"` or `"t10k"`."""
    images = DATA_SETS["mnist"].read(f"{name}-images-idx3-ubyte.gz")
    labels = DATA_SETS["mnist"].read(f"{name}-labels-idx1-ubyte.gz")
    return torch.tensor(images) / 255, torch.tensor(labels).long()


def train(norm: Callable[[], nn.Module], seed: int) -> nn.Module:
    """Train one network."""
    torch.manual_seed(seed)
    images, labels = digits("train")
    network = Reader(norm())
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for rows in torch.randint(len(images), (STEPS, BATCH)):
        loss = F.cross_entropy(network(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return network.eval()


@torch.no_grad()
def scores(network: nn.Module) -> dict[str, float]:
    """Measure the accuracy in percent in each light."""
    images, labels = digits("t10k")
    return {
        name: 100 * (network(change(images)).argmax(-1) == labels).float().mean().item()
        for name, change in LIGHT.items()
    }


def measure() -> dict[str, object]:
    """Make the record: scores of every network, with versions and settings."""
    found = {
        name: [scores(train(norm, seed)) for seed in range(SEEDS)] for name, norm in READERS.items()
    }
    return {"farfield": farfield.__version__, "torch": torch.__version__, "steps": STEPS} | {
        "scores": found
    }


def table(found: dict[str, list[dict[str, float]]]) -> str:
    """Format mean and standard error of each network in each light, as Markdown."""
    lines = [f"| accuracy, percent | {' | '.join(LIGHT)} |", "|---|" + "--:|" * len(LIGHT)]
    for name, runs in found.items():
        cells = [mean_and_standard_error([run[light] for run in runs]) for light in LIGHT]
        texts = [f"{cell.mean:.1f} ± {cell.standard_error:.1f}" for cell in cells]
        lines.append(f"| {name} | {' | '.join(texts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--train" in sys.argv:
        RECORD.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    print(table(json.loads(RECORD.read_text(encoding="utf-8"))["scores"]))

"""Series of the package aeon under shifts: mechanisms, plain baselines and floors.

Run from the root of the checkout, where scikit-learn is installed. The files of aeon are read and
the package is not imported: it is installed (`pip install 'farfield[series]'`), or its wheel is
unpacked in a folder on the path.

    python -m benchmarks.series --networks 3   # some minutes on one core

Eight sets of classes and one of numbers, each with a training and a test part. The test part
is changed five ways: amplitude, offset, speed, lateness and missing steps. Networks see unchanged
series alone. No value is chosen by a test: steps, widths and rate are those of `benchmarks.guide`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks import _pages
from benchmarks._report import bar
from benchmarks.guide import BATCH, RATE, OverPositions
from farfield.metrics import paired_interval
from farfield.nn import DivisiveNorm1d, RIMs
from farfield.records import environment
from farfield.tasks._sequences._series_files import (
    PARTS,
    read_series,
    series_files,
    shifted,
    standardized,
)
from farfield.tasks._sequences._shifted_series import MISSING

RESULTS: Final = _pages.RESULTS / "series"
CLASSES: Final = (
    "ACSF1", "ArrowHead", "BasicMotions", "GunPoint", "ItalyPowerDemand", "JapaneseVowels",
    "OSULeaf", "PickupGestureWiimoteZ",
)  # fmt: skip
NUMBERS: Final = ("Covid3Month",)
LENGTH: Final = 48
"""Steps of a series; longer and shorter series are resampled."""
STEPS: Final = 150
CHANGES: Final = (
    "unchanged", "amplitude × 2", "amplitude / 2", "offset + 1", "speed × 1.5", "speed / 1.5",
    "6 steps late", "30 % of steps missing",
)  # fmt: skip
"""Name of each change on the page, in the order of `shifted`."""
MOST_TESTED: Final = 200
PAIRS: Final = {
    "context norm": "no norm",
    "batch norm": "no norm",
    "divisive norm": "no norm",
    "rims": "lstm",
    "nearest neighbor": "no norm",
    "ridge on random kernels": "no norm",
}
"""Rows of the page, each with the row that it is compared with."""


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the measurement.

    Args:
        networks: Number of networks of each kind and set.
        sets: Names of the sets; all if empty.
        beside: Other load of the machine, for the page.
        name: Name of the result files; by default date and processor.
    """

    networks: int = 3
    sets: tuple[str, ...] = ()
    beside: str = ""
    name: str | None = None


@final
@dataclass(frozen=True, kw_only=True)
class Series:
    """Training and test series of a set, `(item, channel, time)`, standardized by training.

    Args:
        name: Name of the set.
        x: Training series.
        y: Their classes, or numbers.
        test_x: Test series.
        test_y: Their classes, or numbers.
    """

    name: str
    x: NDArray[np.float32]
    y: NDArray[Any]
    test_x: NDArray[np.float32]
    test_y: NDArray[Any]

    @property
    def outputs(self) -> int:
        """Number of outputs of a network: classes, or 1."""
        return int(self.y.max()) + 1 if self.y.dtype == np.int64 else 1


def read_set(name: str) -> Series:
    """Read a set.

    Args:
        name: Name of the set.

    Raises:
        ValueError: If the files of aeon are not found.
    """
    files = series_files(None, name)
    parts = [read_series(files[part], LENGTH) for part in PARTS]
    if name in NUMBERS:
        raw = [np.array(labels, float) for _, labels in parts]
        targets = [((y - raw[0].mean()) / raw[0].std()).astype(np.float32) for y in raw]
    else:
        kinds = {label: number for number, label in enumerate(sorted({*parts[0][1]}))}
        targets = [np.array([kinds[label] for label in labels]) for _, labels in parts]
    items = standardized(*(x for x, _ in parts))
    chosen = np.random.Generator(np.random.Philox(key=0)).permutation(len(items[1]))[:MOST_TESTED]
    return Series(
        name=name, x=items[0], y=targets[0], test_x=items[1][chosen], test_y=targets[1][chosen]
    )


def changed(x: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Change series in each way, by the name of the regime on the page.

    Args:
        x: Standardized series, `(item, channel, time)`.
    """
    lost = np.random.Generator(np.random.Philox(key=1)).random((len(x), 1, LENGTH)) < MISSING
    return dict(zip(CHANGES, shifted(x, lost).values(), strict=True))


# --- Contenders -----------------------------------------------------------------------------------


class OverChannels(nn.Module):
    """Divisive normalization of a map: each step by its neighboring channels."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = DivisiveNorm1d(channels, window=5)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize the channels of each step."""
        return self.norm(x.mT).mT


class Last(nn.Module):
    """The last state of a recurrent layer, and a linear layer."""

    def __init__(self, layer: nn.Module, outputs: int) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Linear(32, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Answer after the last of every second step."""
        return self.head(self.layer(x.mT[:, ::2])[0][:, -1])


def convolutional(channels: int, outputs: int, norm: Callable[[int], nn.Module]) -> nn.Module:
    """Build two convolutions with a normalizer behind the first.

    Args:
        channels: Channels of the series.
        outputs: Number of outputs.
        norm: Function from a number of channels to the normalizer.
    """
    return nn.Sequential(
        nn.Conv1d(channels, 16, 5, padding=2), norm(16), nn.ReLU(), nn.MaxPool1d(2),
        nn.Conv1d(16, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(4), nn.Flatten(),
        nn.Linear(128, outputs),
    )  # fmt: skip


NETWORKS: Final[dict[str, Callable[[int, int], nn.Module]]] = {
    "no norm": lambda c, k: convolutional(c, k, lambda _: nn.Identity()),
    "batch norm": lambda c, k: convolutional(c, k, nn.BatchNorm1d),
    "context norm": lambda c, k: convolutional(c, k, OverPositions),
    "divisive norm": lambda c, k: convolutional(c, k, OverChannels),
    "lstm": lambda c, k: Last(nn.LSTM(c, 32, batch_first=True), k),
    "rims": lambda c, k: Last(RIMs(c, 32, num_mechanisms=4, num_active=2, batch_first=True), k),
}


def learn(data: Series, build: Callable[[int, int], nn.Module], seed: int) -> nn.Module:
    """Train a network on unchanged series.

    Args:
        data: The set.
        build: Function from channels and outputs to the network.
        seed: Number of the network.
    """
    torch.manual_seed(seed)
    model = build(data.x.shape[1], data.outputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    x, y = torch.from_numpy(data.x), torch.from_numpy(data.y)
    for _ in range(STEPS):
        rows = torch.randint(len(x), (BATCH,))
        outputs = model(x[rows])
        loss = (
            F.mse_loss(outputs[:, 0], y[rows])
            if data.outputs == 1
            else F.cross_entropy(outputs, y[rows])
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def answers(data: Series, kind: str, seed: int) -> Callable[[NDArray[np.float32]], NDArray[Any]]:
    """Fit a contender, and return its answers as a function of series.

    Args:
        data: The set.
        kind: Name of the contender.
        seed: Number of the network, or of the draw of random kernels.
    """
    if kind in NETWORKS:
        model = learn(data, NETWORKS[kind], seed)

        def ask(x: NDArray[np.float32]) -> NDArray[Any]:
            with torch.no_grad():
                outputs = model(torch.from_numpy(np.ascontiguousarray(x)))
            found: NDArray[Any] = (
                outputs[:, 0] if data.outputs == 1 else outputs.argmax(1)
            ).numpy()
            return found

        return ask
    flat, numbers = data.x.reshape(len(data.x), -1), data.outputs == 1
    if kind == "nearest neighbor":
        fitted = (KNeighborsRegressor if numbers else KNeighborsClassifier)(n_neighbors=1)
        fitted.fit(flat, data.y)
        return lambda x: fitted.predict(x.reshape(len(x), -1))
    kernels = RBFSampler(gamma=1 / flat.shape[1], n_components=500, random_state=seed).fit(flat)
    ridge = (RidgeCV if numbers else RidgeClassifierCV)(alphas=np.logspace(-3, 3, 7))
    ridge.fit(kernels.transform(flat), data.y)
    return lambda x: ridge.predict(kernels.transform(x.reshape(len(x), -1)))


def score(data: Series, found: NDArray[Any]) -> float:
    """Compute the percentage of right answers, or R² in percent for numbers, at least −100.

    Args:
        data: The set.
        found: Answers to its test series.
    """
    if data.outputs > 1:
        return 100 * float((found == data.test_y).mean())
    errors = np.square(found - data.test_y).sum()
    return max(-100.0, 100 * float(1 - errors / np.square(data.test_y - data.test_y.mean()).sum()))


def floor(data: Series) -> float:
    """Score the most frequent class of training, or its mean.

    Args:
        data: The set.
    """
    best = np.bincount(data.y).argmax() if data.outputs > 1 else data.y.mean()
    return score(data, np.full(len(data.test_y), best))


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Measure all contenders on each set.

    Args:
        options: The options.
    """
    for name in options.sets or (*CLASSES, *NUMBERS):
        data = read_set(name)
        regimes = changed(data.test_x)
        scores: dict[str, dict[str, list[float]]] = {}
        for kind in (*NETWORKS, "nearest neighbor", "ridge on random kernels"):
            asked = [answers(data, kind, seed) for seed in range(options.networks)]
            scores[kind] = {
                regime: [score(data, one(x)) for one in asked] for regime, x in regimes.items()
            }
        yield {
            "name": name,
            "training": len(data.x),
            "tested": len(data.test_x),
            "floor": floor(data),
            "scores": scores,
        }


# --- Page -----------------------------------------------------------------------------------------


def compared(lines: list[Mapping[str, Any]], ours: str, theirs: str, regime: str) -> str:
    """Write wins, losses and the mean difference over sets with its interval.

    Args:
        lines: Results of each set.
        ours: Name of a contender.
        theirs: Name of the other one.
        regime: Name of the regime.
    """
    means = [
        [float(np.mean(line["scores"][kind][regime])) for line in lines] for kind in (ours, theirs)
    ]
    sides = [
        paired_interval(line["scores"][ours][regime], line["scores"][theirs][regime]).interval
        for line in lines
    ]
    known = [side for side in sides if side is not None]
    wins, losses = sum(side.low > 0 for side in known), sum(side.high < 0 for side in known)
    found = paired_interval(*means)
    text = f"{np.mean(means[0]) - np.mean(means[1]):+.1f}"
    if found.interval is not None:
        text += f" [{found.interval.low:+.1f}, {found.interval.high:+.1f}]"
    return f"{wins}–{losses}: {text}"


def markdown(results: Mapping[str, Any]) -> str:
    """Write the results as a Markdown page.

    Args:
        results: Environment, settings and lines.
    """
    lines, settings = results["lines"], results["settings"]
    regimes = list(lines[0]["scores"]["no norm"])
    rows = [
        ("beside", *regimes),
        ("---",) * (len(regimes) + 1),
        *(
            (f"{ours}, beside {theirs}", *(compared(lines, ours, theirs, r) for r in regimes))
            for ours, theirs in PAIRS.items()
        ),
    ]
    kinds = list(lines[0]["scores"])
    means = [
        ("set", "training", "tested", "floor", *kinds),
        ("---",) * (len(kinds) + 4),
        *(
            (
                f"{line['name']}, {regime}", str(line["training"]), str(line["tested"]),
                f"{line['floor']:.0f}",
                *(f"{np.mean(line['scores'][kind][regime]):.0f}" for kind in kinds),
            )
            for line in lines
            for regime in regimes
        ),
    ]  # fmt: skip
    machine = ", ".join(f"{name} {value}" for name, value in results["environment"].items())
    said = (
        f"Sets of the package aeon, {LENGTH} steps a series. Networks of {STEPS} updates see "
        f"unchanged series; the test is shifted. **Underpowered**: {settings['networks']} networks "
        f"of each kind, {settings['tested']} test series at most. A cell has the sets won and lost "
        "(the 95 % interval of paired networks lies on one side of 0), then the mean difference "
        "over sets in percentage points with its 95 % interval. Of numbers (Covid3Month) the score "
        "is R². Nothing is chosen by a test, and losses are shown like wins. The random kernels "
        "are scikit-learn's `RBFSampler`."
    )
    return "\n\n".join(
        [
            "# Series under shifts", said, f"Machine and versions: {machine}.",
            "## Wins and losses",
            "\n".join(map(bar, rows)), "## Scores in percent", "\n".join(map(bar, means)),
        ]
    ) + "\n"  # fmt: skip


def main(options: Options) -> None:
    """Measure and write the page."""
    torch.set_num_threads(1)
    described = environment(device="cpu", engine="one thread")
    settings = {"networks": options.networks, "tested": MOST_TESTED, "beside": options.beside}
    results = {"environment": described, "settings": settings, "lines": [*measure(options)]}
    name = options.name or _pages.name_of_today(described)
    print(_pages.write(results, RESULTS, name, markdown))


if __name__ == "__main__":
    main(tyro.cli(Options))

"""The whole ledger at the papers' budgets: its cost, and the number of cores that still pays.

Run from the root of the checkout, for about a minute and a half:

    python -m benchmarks.ledger

Nothing is trained. Steps are those of the claims; seconds of a step, and scores of a run, are those
of the exported records of the same kind of experiment, on whatever processor they ran; seconds on a
GPU and of the folder of records are those of the latest pages of `benchmarks.gpu` and
`benchmarks.store`. Networks are built, and their bytes counted.
"""

from __future__ import annotations

import heapq
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final, final

import tyro

from benchmarks import _pages
from benchmarks._report import bar, page_of_table
from benchmarks._rounds import Lines, publish
from benchmarks._worker import ROOT
from benchmarks.gpu import GRID
from farfield.core import stream
from farfield.execution.internal import cost_kind
from farfield.experiments import Experiment
from farfield.reports import FIGURES
from farfield.reports.internal import exported_at
from farfield.reproductions import TABLES, Budget, Claim
from farfield.tasks import is_at_hand

RESULTS: Final = _pages.RESULTS / "ledger"
NETWORKS: Final = 10
CORES: Final = (1, 2, 16, 64, 256, 1024, 4096)
COLUMNS: Final = (
    "paper", "experiments", "networks", "steps (10⁹)", "records (MB)", "weights (GB)",
    "networks timed", "core hours", "longest (h)", "on a GPU", "GPU hours",
)  # fmt: skip
CLUSTER_COLUMNS: Final = (
    "cores", "hours", "longest first", "cores at work (%)", "writing (%)", "MB/s to the driver",
)  # fmt: skip
COUNTED: Final = (
    "experiments", "steps", "weights", "unsized", "timed", "seconds", "longest", "on gpu",
    "gpu seconds",
)  # fmt: skip

Json = Mapping[str, Any]
Kind = tuple[object, ...]


@final
@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the count.

    Args:
        rounds: Not used; all that is counted is exact.
        quick: One paper.
        beside: Further remarks for the page; empty for none.
        name: Name of the result files; by default date and processor.
    """

    rounds: int = 1
    quick: bool = False
    beside: str = ""
    name: str | None = None


def claims_of(paper: str | None) -> list[Claim]:
    """Collect the claims of tables and figures that can be run, of one paper or of all."""
    tables = [*TABLES.values(), *(figure.table for figure in FIGURES.values())]
    found = [claim for table in tables for claim in table.claims if not claim.unbuilt]
    return [claim for claim in found if paper in (None, claim.paper)]


def latest(folder: str) -> Json:
    """Read the newest results of another benchmark; full results of a GPU, where it has one."""
    paths = sorted((_pages.RESULTS / folder).glob("*.json"), reverse=True)
    pages = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return next(page for page in pages if _is_measured_in_full(page["settings"]))


def _is_measured_in_full(settings: Json) -> bool:
    return not settings.get("quick") and settings.get("device", "cuda") == "cuda"


def measured(claims: Iterable[Claim]) -> tuple[dict[Kind, float], float]:
    """Read the seconds of a step by kind of experiment, and the scores of a run, from records."""
    seconds, scores = defaultdict[Kind, list[float]](list), list[int]()
    finders = [exported_at(ROOT / "results", budget, NETWORKS) for budget in Budget]
    for claim in claims:
        records = [record for find in finders for record in find(claim)]
        kind = cost_kind(claim.experiment)
        seconds[kind] += [record.seconds / record.steps for record in records]
        scores += [len(record.scores) for record in records]
    return {kind: median(taken) for kind, taken in seconds.items() if taken}, fmean(scores)


def on_gpu() -> dict[Kind, float]:
    """Read the seconds of a step of ten networks on a GPU, by kind of experiment."""
    lines = {(line["model"], line["task"]): line["replayed"] for line in latest("gpu")["lines"]}
    grid = [claim for home in GRID for claim in TABLES[home].claims]
    return {
        cost_kind(claim.experiment): lines[
            claim.row.removesuffix(" + TCN"), claim.experiment.task.name
        ]
        for claim in grid
    }


def weight_bytes(experiment: Experiment) -> int:
    """Count the bytes of a trained network; 0 where data to build it is missing."""
    if not is_at_hand(experiment.task):
        return 0
    network = experiment.model.build(experiment.task, stream(0, "ledger"))
    return sum(tensor.nbytes for tensor in network.state_dict().values())


def simulated(seconds: Iterable[float], cores: int, write: float) -> float:
    """Simulate the seconds until all networks are written.

    Networks start in their order as soon as a core is free, and are written one after another.
    """
    free, written = [0.0] * cores, 0.0
    ends = []
    for taken in seconds:
        end = heapq.heappop(free) + taken
        heapq.heappush(free, end)
        ends.append(end)
    for end in sorted(ends):
        written = max(written, end) + write
    return written


def count(quick: bool) -> tuple[Lines, Lines]:
    """Compute a line for each paper and for all papers, and a line for each number of cores."""
    claims = claims_of("webb2020" if quick else None)
    seconds, scores = measured(claims)
    gpu, store = on_gpu(), latest("store")["lines"][-1]
    stored = store["bytes"] / store["runs"] / latest("store")["settings"]["scores"]
    sizes = dict[Kind, int]()
    lines, runs, seen = Lines(), list[tuple[float, int]](), set[str]()
    for paper in dict.fromkeys(claim.paper for claim in claims):
        stages = [stage for claim in claims if claim.paper == paper
                  for stage in claim.experiment.stages]  # fmt: skip
        found = {stage.key: stage for stage in stages if stage.key not in seen}
        seen |= set(found)
        line = dict.fromkeys(COUNTED, 0)
        for experiment in found.values():
            kind, steps = cost_kind(experiment), experiment.recipe.steps
            if kind not in sizes:
                sizes[kind] = weight_bytes(experiment)
            line["experiments"] += 1
            line["steps"] += NETWORKS * steps
            line["weights"] += NETWORKS * sizes[kind]
            line["unsized"] += NETWORKS * (sizes[kind] == 0)
            if kind in seconds:
                taken = steps * seconds[kind]
                line["timed"] += NETWORKS
                line["seconds"] += NETWORKS * taken
                line["longest"] = max(line["longest"], taken)
                runs += [(taken, sizes[kind])] * NETWORKS
            if kind in gpu:
                line["on gpu"] += NETWORKS
                line["gpu seconds"] += steps * gpu[kind]
        networks = NETWORKS * line["experiments"]
        lines.append(line | {"paper": paper, "records": networks * scores * stored})
    total = {name: sum(line[name] for line in lines) for name in lines[0] if name != "paper"}
    total["longest"] = max(line["longest"] for line in lines)
    lines.append(total | {"paper": "all"})
    write, sent = median(store["seconds"]["write"]), sum(size for _, size in runs)
    each = [taken for taken, _ in runs]
    clusters = Lines()
    for cores in CORES:
        until = simulated(each, cores, write)
        clusters.append(
            {
                "cores": cores,
                "seconds": until,
                "longest first": simulated(sorted(each, reverse=True), cores, write),
                "at work": sum(each) / until / cores,
                "writing": write * len(each) / until,
                "rate": sent / until,
            }
        )
    return lines, clusters


def row(line: Json, lines: Sequence[Json]) -> tuple[str, ...]:
    """Format one row of the table of papers, or of the table of clusters."""
    del lines
    if "cores" in line:
        return (
            f"{line['cores']:,}",
            f"{line['seconds'] / 3600:,.1f}",
            f"{line['longest first'] / 3600:,.1f}",
            f"{100 * line['at work']:.1f}",
            f"{100 * line['writing']:.2g}",
            f"{1e-6 * line['rate']:.2g}",
        )
    return (
        line["paper"],
        f"{line['experiments']:,}",
        f"{NETWORKS * line['experiments']:,}",
        f"{1e-9 * line['steps']:.3g}",
        f"{1e-6 * line['records']:,.0f}",
        f"{1e-9 * line['weights']:,.2f}",
        f"{line['timed']:,}",
        f"{line['seconds'] / 3600:,.0f}",
        f"{line['longest'] / 3600:,.1f}",
        f"{line['on gpu']:,}",
        f"{line['gpu seconds'] / 3600:,.1f}",
    )


def breaks_first(results: Json) -> str:
    """Describe the first limit that a larger cluster meets."""
    clusters, total = results["clusters"], results["lines"][-1]
    idle = next((line for line in clusters if line["at work"] < 0.5), None)
    full = next((line for line in clusters if line["writing"] > 0.5), None)
    longest = total["longest"] / 3600
    first = (
        f"From {idle['cores']:,} cores on, less than half of them have work: the longest network "
        f"takes {longest:,.1f} hours by itself, and nothing makes it shorter but a faster core or "
        "a GPU."
        if idle
        else "All these cores have work."
    )
    second = (
        f"From {full['cores']:,} cores on, the one process that writes is busy half of the time."
        if full
        else f"The one process that writes is never busy more than "
        f"{100 * max(line['writing'] for line in clusters):.2g} % of the time, so it is not that."
    )
    store = latest("store")["lines"]
    ratio = median(store[-1]["seconds"]["write"]) / median(store[0]["seconds"]["write"])
    third = (
        f"Nor is it the folder of records: with {store[-1]['runs']:,} runs in it, "
        f"{store[-1]['runs'] / NETWORKS / total['experiments']:,.0f} times the ledger, a run is "
        f"written in {ratio:.1f} times the time with {store[0]['runs']:,}."
    )
    return f"{first} {second} {third}"


def markdown(results: Json) -> str:
    """Write the results as a Markdown page."""
    total = results["lines"][-1]
    said = (
        "Every experiment behind a table or figure that is built, with those that it starts from, "
        f"{NETWORKS} networks each, at the papers' steps; one that several papers share is the "
        "first's. *Networks timed*: those of a kind (task, length, network, rule, batch and "
        "optimizer) with exported records; *core hours* are theirs alone, at the seconds that a "
        "step took in the records, on whatever processor, scores and all. *On a GPU*: those of a "
        "kind that [benchmarks/gpu](../gpu) has timed, ten as one program, without their "
        "scores. *Records*: at the scores of an exported run and the bytes of a score in "
        "[benchmarks/store](../store).\n\n"
        f"{NETWORKS * total['experiments'] - total['timed']:,} of "
        f"{NETWORKS * total['experiments']:,} networks have no record of their kind: the hours "
        f"are the least that it takes. {total['unsized']:,} networks need data that was not at "
        "hand, and are left out of the weights."
    )
    page = page_of_table(results, "The whole ledger at the papers' budgets", said, COLUMNS, row)
    lines = results["clusters"]
    rows = [CLUSTER_COLUMNS, ["---" for _ in CLUSTER_COLUMNS], *(row(one, lines) for one in lines)]
    clusters = "\n".join(map(bar, rows))
    about = (
        "The networks that are timed, simulated: each core takes the next in the order of the "
        "ledger, and one process writes them one after another. *Longest first*: hours in another "
        "order. *Writing*: the part of the time "
        "in which it writes. *To the driver*: trained networks on their way to it."
    )
    return f"{page}\n## On a cluster\n\n{about}\n\n{clusters}\n\n{breaks_first(results)}\n"


def main(options: Options) -> None:
    """Count, show it and write it down."""
    lines, clusters = count(options.quick)
    parts = {"lines": lambda _: lines, "clusters": lambda _: clusters}
    publish(options, {"networks": NETWORKS}, parts, RESULTS, markdown, row)


if __name__ == "__main__":
    main(tyro.cli(Options))

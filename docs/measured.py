"""Numbers of pages, filled in from records by `python docs/measured.py`.

A number that was measured is a link whose title names a cell, on a page of `docs`:

    [100.0 ± 0.0 (10)](results/webb2021.md#table-9 "esbn+tcn/withheld-98")

The link leads to the table, and this script writes its text: the mean over the networks with all
steps, its standard error, and the number of networks. `in training` behind the cell means the score
of the same networks on their training problems. Where the link leads to a figure, such as
`results/lamb2022.md#figure-3-quick`, its title names a quantity that was measured on trained
networks. Where it leads to `../benchmarks/results/guide`, its title names an advice, a mechanism
and `wins`, `losses` or `gain` in the last file there; where it leads to
`../benchmarks/results/forecast`, pairs and a rule or a quantity. The test command fails when it
would write something else.
"""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache
from pathlib import Path

from farfield._text import fixed
from farfield.reports import tabular_of, tabulate
from farfield.reports.internal import Levels, exported_at
from farfield.reproductions import TABLES, Budget
from farfield.tasks import TRAINING

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results"
FIND = exported_at(RESULTS, Budget.PAPER)
IN_TRAINING = " in training"
LEVELS = Levels(measure=False)  # no number of a page is a floor or a ceiling
NUMBER = re.compile(r'\[[^]]*\](?=\(results/(\w+)\.md#([\w-]+) "([^"]+)"\))')
FORECAST = re.compile(r'\[[^]]*\](?=\(\.\./benchmarks/results/forecast "([^"]+)"\))')
GUIDED = re.compile(r'\[[^]]*\](?=\(\.\./benchmarks/results/guide "([^"]+)"\))')


@cache
def number(home: str, title: str) -> str:
    """Format the measurement of a cell, e.g. `99.6 ± 0.3 (5)`, or of the networks of a figure.

    Args:
        home: Name of the table, or of the export of a figure.
        title: Name of the cell, or of the quantity.

    Raises:
        ValueError: If there is no such cell or quantity, or it has no record with all steps.
    """
    if (RESULTS / f"{home}.json").is_file():
        return finding(home, title)
    cell = title.removesuffix(IN_TRAINING)
    table = TABLES[home].select(cell)
    (claim,) = table.claims
    find = FIND
    if cell != title:
        trained = dataclasses.replace(claim, regime=TRAINING)
        table = dataclasses.replace(table, claims=(trained,), others=())
        find = lambda _: FIND(claim)  # noqa: E731 — the same networks
    shown = tabular_of(tabulate(table, find, Budget.PAPER, LEVELS))
    text = dict(zip(shown.headings, shown.cells[0], strict=True))["ours ± SE (n)"]
    if not re.match(r"\d", text):
        raise ValueError(f"cell of {home} must have a record with all steps, got {cell}: {text}")
    return text


def finding(home: str, what: str) -> str:
    """Format the measurement of a figure.

    Args:
        home: Name of its export.
        what: The quantity.

    Raises:
        ValueError: If the figure did not measure it.
    """
    exhibits = json.loads((RESULTS / f"{home}.json").read_text("utf-8"))["exhibits"]
    ours = {one["what"]: one["ours"] for exhibit in exhibits for one in exhibit["findings"]}
    if what not in ours:
        raise ValueError(f"finding must be one of {home}, got {what}")
    return str(ours[what])


@cache
def guided(title: str) -> str:
    """Format the wins or the mean gain of a mechanism on the sets of an advice.

    Args:
        title: Names of the advice, of the mechanism and of the quantity, between slashes.

    Raises:
        ValueError: If there is no such mechanism.
    """
    advice, side, what = title.split("/")
    path = max((DOCS.parent / "benchmarks" / "results" / "guide").glob("*.json"))
    rows = json.loads(path.read_text("utf-8"))["summary"]
    found = [one for one in rows if (one["advice"], one["side"]) == (advice, side)]
    if not found:
        raise ValueError(f"mechanism must be one of {path.name}, got {title}")
    (row,) = found
    return f"{row['gain']:+.1f}" if what == "gain" else f"{row[what]} of {row['sets']}"


@cache
def forecasted(title: str) -> str:
    """Format the rank correlation of a rule over pairs, or another quantity of them.

    Args:
        title: Horizon, half, pairs, and rule or quantity, between slashes; or `shift` and its name.

    Raises:
        ValueError: If there is no such rule or quantity.
    """
    pairs, _, what = title.rpartition("/")
    path = DOCS.parent / "benchmarks" / "results" / "forecast" / "forecast.json"
    results = json.loads(path.read_text("utf-8"))
    if pairs == "shift" and what in results["shifts"]:
        return fixed(results["shifts"][what]["mean"], 2)
    found = results["summary"].get(pairs, {})
    if what in found.get("rules", {}):
        rule = found["rules"][what]
        mean, low, high = (fixed(round(rule[key], 2) + 0.0, 2) for key in ("mean", "low", "high"))
        return f"{mean} ({low} to {high})"
    if what not in found:
        raise ValueError(f"quantity must be one of {path.name}, got {title}")
    if what == "coverage":
        return f"{100 * found[what]:.0f} %"
    return f"{found[what]}" if isinstance(found[what], int) else fixed(found[what], 2)


def fill(page: str) -> str:
    """Fill the numbers of a page from the records.

    Args:
        page: The page, as Markdown.
    """
    page = FORECAST.sub(lambda link: f"[{forecasted(link[1])}]", page)
    page = GUIDED.sub(lambda link: f"[{guided(link[1])}]", page)
    return NUMBER.sub(lambda link: f"[{number(f'{link[1]}/{link[2]}', link[3])}]", page)


def main() -> None:
    """Fill every page that has numbers of records."""
    for path in DOCS.glob("*.md"):
        page = path.read_text(encoding="utf-8")
        if (filled := fill(page)) != page:
            path.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()

"""The list of runs that are still wanted."""

import shlex
import tomllib
from pathlib import Path

from each import each
from farfield.reports import FIGURES
from farfield.reports._export._export import options_of
from farfield.reproductions import TABLES

PATH = Path(__file__).resolve().parents[2] / "results" / "wanted.toml"
RUNS = tomllib.loads(PATH.read_text(encoding="utf-8"))["run"]


@each("run", RUNS)
def test_a_wanted_run_names_cells_that_exist(run) -> None:
    assert run.keys() == {"command", "minutes", "device", "why"}
    program, verb, name, *words = shlex.split(run["command"])
    given = options_of(words)
    assert (program, verb, given["--budget"]) == ("farfield", "reproduce", ["paper"])
    assert given.keys() <= {"--budget", "--seeds", "--cell", "--device"}
    table = TABLES[name] if name in TABLES else FIGURES[name].table
    chosen = table.select(*given.get("--cell", []))
    assert not all(claim.unbuilt for claim in chosen.claims)
    assert given.get("--device", ["cpu"]) == [run["device"]]
    assert run["minutes"] > 0


def test_no_run_is_wanted_twice() -> None:
    assert len({run["command"] for run in RUNS}) == len(RUNS)

"""`farfield bench`: a module of one's own beside the recorded mechanisms."""

from __future__ import annotations

from farfield.cli._arguments import REPORTS, Bench
from farfield.cli._console import make_console, say
from farfield.core import printable
from farfield.execution import Display, jobs_of
from farfield.records import Store
from farfield.suites import SUITES, bench, fitted, load_module


def bench_module(command: Bench) -> None:
    """Train a module where it fits, print its scores and ranks, and write picture and tables.

    Args:
        command: Which module and suite.
    """
    module = load_module(command.module)
    fitting, _ = fitted(module, command.suite)
    suite, console = SUITES[command.suite], make_console()
    seeds = range(command.seeds or suite.seeds)
    jobs = jobs_of([experiment for _, experiment in fitting], seeds)
    labels = {experiment.key: item.subject for item, experiment in fitting}
    say(console, f"{command.module} on the suite {command.suite}: {suite.about}.")
    store = Store(command.records)
    at_once = command.workers or (None if command.device == "cpu" else 1)
    with Display(jobs, labels, console, at_once) as display:
        found = bench(
            module, command.suite, store=store, seeds=seeds, device=command.device,
            workers=command.workers, report=display.take,
        )  # fmt: skip
    say(console, f"\n{found}\n")
    name = f"bench-{module.__name__}-{command.suite}-{fitting[0][1].key[:6]}"
    folder = command.out or REPORTS / name
    for path in found.write(folder):
        say(console, f"  {printable(path)}")

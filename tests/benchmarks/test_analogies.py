"""What is measured on visual analogies, and the page made from it."""

import json

import pytest
import torch
from rich.console import Console

from benchmarks import _analogies_contenders as contending
from benchmarks import _analogies_report as report
from benchmarks import _products, analogies


def turns(*processor, count=1):
    return [{"count": count, "seconds": 2 * each, "processor": each} for each in processor]


def results():
    training = [
        {"name": "loop, every candidate analogy", "encoded": 28.0, "flops": 147e9, "target": 4.4},
        {"name": "loop, every position", "encoded": 10.0, "flops": 54e9, "target": 1.6},
        {"name": "library", "encoded": 6.7, "flops": 5e9, "target": None},
    ]
    measured = [turns(0.5, 0.9, 0.8), turns(0.1, 0.2, 0.15), turns(0.1, 0.3, 0.1)]
    for line, each in zip(training, measured, strict=True):
        line["turns"] = each
    return {
        "environment": {"processor": "some processor"},
        "settings": {
            "rounds": 3,
            "seconds": 0.5,
            "evaluations": 2,
            "by_problem": 32,
            "problems": 19_040,
            "beside": "Others trained networks.",
        },
        "training": training,
        "evaluation": {
            "region-6": [
                {
                    "name": "loop, every position",
                    "target": 20.0,
                    "turns": turns(0.2, 0.2, count=32),
                },
                {"name": "library", "target": None, "turns": turns(4.0, 3.808, count=19_040)},
            ]
        },
        "regions": {
            "objects": 2401,
            "megabytes": 118.0,
            "images": turns(0.2, 0.4, 0.3),
            "regimes": 6,
            "problems": 114_240,
            "draws": turns(0.1),
            "target_seconds": 2.0,
            "target_megabytes": 120.0,
        },
    }


def test_rows_hold_medians_of_the_rounds_ratios():
    every, place, ours = report.training_rows(results()["training"])
    row = dict(zip(report.TRAINING_COLUMNS, every, strict=True))
    assert (row["processor ms"], row["clock ms"], row["GFLOP"]) == ("800.0", "1600.0", "147.0")
    assert (row["times the library"], row["range"]) == ("5.00", "3.00–8.00")  # of 5, 3 and 8
    assert (row["target"], row["met"], row["times the next"]) == ("4.4", "yes", "5.00")
    assert place[-3:] == ("1.6", "no", "1.00")
    assert ours[-5:] == ("1", "–", "–", "–", "–")


def test_evaluation_is_scaled_to_the_region():
    place, ours = report.evaluation_rows(results()["evaluation"]["region-6"], 19_040)
    assert place[1:4] == ("32", "119.0", "238.0")
    assert place[4:] == ("30.50", "29.75–31.25", "20.0", "yes")
    assert ours[1:4] == ("19,040", "3.9", "7.8")


@pytest.mark.parametrize("megabytes, met", [(118.0, "yes"), (121.0, "no")])
def test_a_region_is_within_time_and_memory(megabytes, met):
    images, problems = report.region_rows(results()["regions"] | {"megabytes": megabytes})
    assert images == ("a region's images", "2,401", f"{megabytes}", "0.30", "2 s, 120 MB", met)
    assert problems[1] == "114,240"


def test_page_says_what_ran_beside():
    page = report.markdown(results())
    assert "Others trained networks." in page
    assert "some processor" in page
    assert "evaluate 32 problems" in page
    assert "the 19,040 problems of region-6" in page
    assert "| loop, every position | 10.0 | 54.0 |" in page


@pytest.mark.parametrize("width", [80, 200])
def test_terminal_shows_whole_numbers_in_the_columns_it_has_room_for(width):
    console = Console(width=width)
    with console.capture() as capture:
        for table in report.terminal(results(), width):
            console.print(table)
    assert "…" not in capture.get()
    assert {"5.00", "30.50", "118.0"} <= set(capture.get().split())


def test_contenders_take_turns():
    seen = []
    found = analogies.in_turns([lambda: seen.append("a") or 1, lambda: seen.append("b") or 2], 2)
    assert (seen, found) == (["a", "b", "a", "b"], [[1, 1], [2, 2]])


def test_images_of_a_problem_are_counted():
    table, index = torch.zeros(10, 128, 128, 3, dtype=torch.uint8), torch.arange(10)[None]
    counted = [contending.images_encoded(loop, table, index) for loop in contending.LOOPS.values()]
    assert counted == [28, 10, 7]
    assert contending.TRAINING_TARGETS.keys() | contending.EVALUATION_TARGETS.keys() <= {
        *contending.LOOPS
    }


def test_flops_are_counted_forward_and_backward():
    weight, inputs = torch.randn(7, 5, requires_grad=True), torch.randn(3, 5, requires_grad=True)
    work = lambda: torch.nn.functional.linear(inputs, weight).sum().backward()  # noqa: E731
    assert _products.flops(work) == 3 * (2 * 3 * 5 * 7)


@pytest.mark.parametrize(
    "path", sorted(analogies.RESULTS.glob("*.json")), ids=lambda path: path.stem
)
def test_every_page_is_made_from_its_json(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == report.markdown(results)


@pytest.mark.slow
def test_a_region_is_measured():
    drawn = analogies.regions(1)
    assert (drawn["objects"], drawn["problems"]) == (2401, 6 * 19_040)
    assert drawn["megabytes"] == pytest.approx(2401 * 128 * 128 * 3 / 1e6)
    assert drawn["images"][0]["processor"] > 0

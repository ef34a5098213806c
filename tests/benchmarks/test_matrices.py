"""What is measured on progressive matrices, and the page made from it."""

from benchmarks import matrices


def line(name, target, *turns):
    measured = [{"described": drawn, "rendered": shown} for drawn, shown in turns]
    return {"name": name, "megabytes": 0.1024, "target": target, "turns": measured}


def test_rows_hold_medians_of_problems_a_second():
    slow = line("slow", 2_000, (0.0002, 0.0003), (0.0002, 0.0002), (0.0004, 0.0006))
    fast = line("fast", 2_000, (0.0001, 0.0001))
    other = line("other", None, (0.001, 0.001))
    found = [dict(zip(matrices.COLUMNS, row, strict=True)) for row in matrices.rows([slow, fast])]
    assert found[0] == {
        "problems": "slow",
        "MB each": "0.102",
        "described /s": "5,000",
        "rendered /s": "3,333",
        "both /s": "2,000",
        "range": "1,000–2,500",
        "goal met": "yes",
    }
    assert found[1]["both /s"] == "5,000"
    assert matrices.rows([other])[0][-1] == "–"
    results = {
        "settings": {"rounds": 3, "problems": 100, "beside": "Nothing ran."},
        "environment": {"processor": "some processor"},
        "lines": [slow, fast, other],
        "scored": [{"shared": 0.01, "sequences": each} for each in (0.02, 0.03, 0.05)],
    }
    page = matrices.markdown(results)
    assert "| slow | 0.102 | 5,000 | 3,333 | 2,000 | 1,000–2,500 | yes |" in page
    assert "Nothing ran." in page
    assert "100 problems a second with the premises" in page
    assert "3.00 times (2.00–5.00) as many" in page
    assert "processor some processor" in page


def test_every_kind_is_described_and_rendered():
    for task in matrices.kinds(3).values():
        seconds = matrices.measured(task, 0)
        assert set(seconds) == {"described", "rendered"}
        assert all(each > 0 for each in seconds.values())


def test_scoring_is_timed_both_ways(monkeypatch):
    monkeypatch.setattr(matrices, "BATCH", 2)
    assert matrices.scored(True) > 0
    assert matrices.scored(False) > 0

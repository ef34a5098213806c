"""Series under shifts: reading files, changes by hand, nearest neighbors, and bad files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.tasks import ShiftedSeries, is_at_hand
from farfield.tasks._sequences._series_files import SERIES, read_series, shifted, standardized

STEPS = 48


def text_of(rows: np.ndarray, labels: list[str]) -> str:
    lines = [
        ":".join([*(",".join(map(str, channel)) for channel in row), label])
        for row, label in zip(rows.tolist(), labels, strict=True)
    ]
    return "\n".join(["#words", "@problemName a", "@data", *lines, ""])


def small(folder: Path, **fields: int) -> ShiftedSeries:
    """A task over made-up files of two classes."""
    generator = stream(0, "series").numpy()
    (folder / "GunPoint").mkdir(parents=True, exist_ok=True)
    for part, count in (("TRAIN", 24), ("TEST", 40)):
        labels = [str(1 + number % 2) for number in range(count)]
        rows = generator.random((count, 1, 30)).round(3)
        (folder / "GunPoint" / f"GunPoint_{part}.ts").write_text(text_of(rows, labels))
    return ShiftedSeries(series="GunPoint", folder=str(folder), **fields)


def test_channels_of_any_length_are_resampled_and_missing_steps_filled(tmp_path: Path) -> None:
    path = tmp_path / "a.ts"
    path.write_text("#words\n@problemName a\n@data\n0,2:1,?,3:b\n4,4,4:0,0:a\n")
    x, labels = read_series(path, STEPS)
    assert labels == ["b", "a"]
    line = np.arange(STEPS) / (STEPS - 1)
    np.testing.assert_allclose(x[0], [2 * line, 1 + 2 * line], rtol=1e-12)
    np.testing.assert_allclose(x[1], [np.full(STEPS, 4), np.zeros(STEPS)])


@pytest.mark.parametrize(
    "text, message",
    [
        ("@problemName a\n", r"a\.ts must have a line @data, .* got 0 lines"),
        (
            "@data\n1,2:3,4:b\n1,2:a\n",
            r"equally many channels and a label, got 2 lines with \[2, 3",
        ),
        ("@data\n?,?:b\n", r"must have a known step in each channel, got .*\?,\?"),
        ("@data\n1,x:b\n", r"must have numbers or \?, got .*x"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.ts"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_series(path, STEPS)


def test_missing_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"file must be a set of series, got none at .*TRAIN\.ts"):
        ShiftedSeries(folder=str(tmp_path)).draw(stream(0))
    assert not is_at_hand(ShiftedSeries(folder=str(tmp_path)))
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    assert not is_at_hand(ShiftedSeries())
    with pytest.raises(ValueError, match="folder must name the folder of the series, got None"):
        ShiftedSeries().draw(stream(0))
    small(tmp_path / "aeon")
    assert is_at_hand(ShiftedSeries())


def test_other_channels_or_classes_than_the_set_has_are_refused(tmp_path: Path) -> None:
    task = small(tmp_path)
    path = tmp_path / "GunPoint" / "GunPoint_TEST.ts"
    path.write_text(path.read_text() + "0,1:3\n")
    with pytest.raises(ValueError, match=r"of both parts \(1, 1, 2, 2\), got \(1, 1, 2, 3\)"):
        task.draw(stream(0))


def test_standardized_by_training() -> None:
    generator = np.random.default_rng(0)
    x, test = 5 + 3 * generator.random((2, 7, 2, 9))
    x[:, 1] = 4.0
    found = standardized(x, test)
    mean, spread = x[:, :1].mean(), x[:, :1].std()
    np.testing.assert_allclose(found[1][:, 0], (test[:, 0] - mean) / spread, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[0][:, 1], 0)


def test_changes_by_hand() -> None:
    time = np.arange(STEPS)
    x = time.astype(np.float32)[None, None]
    lost = (time % 3 < 2)[None, None]
    found = {name: values[0, 0] for name, values in shifted(x, lost).items()}
    np.testing.assert_allclose(found["amplitude-doubled"], 2 * time)
    np.testing.assert_allclose(found["amplitude-halved"], time / 2)
    np.testing.assert_allclose(found["offset-1"], time + 1)
    np.testing.assert_allclose(found["late-6"], np.maximum(time - 6, 0))
    np.testing.assert_allclose(found["faster-1.5"], np.minimum(1.5 * time, STEPS - 1))
    np.testing.assert_allclose(found["slower-1.5"], time / 1.5, rtol=1e-6)
    np.testing.assert_allclose(found["missing-30"], np.maximum(time - (time + 1) % 3, 0))


def test_sets_of_a_run(tmp_path: Path) -> None:
    task = small(tmp_path)
    sets = task.draw(stream(1))
    assert list(sets) == [regime.name for regime in task.regimes]
    assert [len(problems) for problems in sets.values()] == [24, *[40] * 8]
    shown = {name: problems.items[problems.index] for name, problems in sets.items()}
    assert shown["training"].mean() == pytest.approx(0, abs=1e-6)
    torch.testing.assert_close(shown["offset-1"], shown["unchanged"] + 1)
    lost = (shown["missing-30"] != shown["unchanged"])[:, 1:].double().mean()
    assert lost == pytest.approx(0.3, abs=4 * (0.3 * 0.7 / (40 * 47)) ** 0.5)
    training = sets["training"]
    assert task.score(task.by_hand(training, training), training).all()
    other = task.draw(stream(2))
    assert torch.equal(other["offset-1"].items, sets["offset-1"].items)
    assert not torch.equal(other["missing-30"].items, sets["missing-30"].items)


def test_a_fifth_is_held_out_for_validation(tmp_path: Path) -> None:
    task = small(tmp_path).with_validation()
    assert task.validation_series == 10
    sets = task.draw(stream(0))
    shown = [sets[name].items[sets[name].index] for name in ("training", "validation")]
    assert [len(x) for x in shown] == [14, 10]
    assert not {row.numpy().tobytes() for row in shown[0]} & {
        row.numpy().tobytes() for row in shown[1]
    }
    with pytest.raises(ValueError, match="validation_series must be below 24, got 24"):
        small(tmp_path, validation_series=24).draw(stream(0))


@pytest.mark.parametrize("series", SERIES)
def test_real_sets_have_their_channels_and_classes(series: str) -> None:
    task = ShiftedSeries(series=series)  # type: ignore[arg-type]
    if not is_at_hand(task):
        pytest.skip("the package aeon is not on this machine")
    sets = task.draw(stream(0))
    assert sets["unchanged"].items.isfinite().all()
    by_hand = task.by_hand(sets["unchanged"], sets["training"])
    assert task.score(by_hand, sets["unchanged"]).mean() > 1.04 / task.num_outputs

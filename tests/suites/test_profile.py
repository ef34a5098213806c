"""Where a model stops working: known answers, readings of models, refusals, files."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import brentq
from scipy.stats import norm
from torch import nn

from farfield.analysis import Shift, forecast
from farfield.core.internal import UnknownNameError
from farfield.suites import profile
from farfield.suites.internal import ShiftProfile, read_profile
from farfield.tasks import ArrayTask, SameDifferent

RNG = np.random.default_rng(0)


def two_gaussians(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Items at the quantiles of two Gaussians around ±1.5, so that a score is its integral."""
    z = norm.ppf((np.arange(count // 2) + 0.5) / (count // 2))
    x = np.concatenate([z + 1.5, z - 1.5])[:, None]
    return x, np.repeat([1, 0], count // 2)


def moved(x, d, generator):
    return x + d


def noisy(x, d, generator):
    return x + d * generator.standard_normal(x.shape)


OFFSET = Shift(name="own offset", unit="sd", end=4.0, change=moved)
NOISE = Shift(name="own noise", unit="sd", end=4.0, change=noisy)


def sign(x: np.ndarray) -> np.ndarray:
    return (x[:, 0] > 0).astype(int)


def test_a_linear_model_fails_where_its_formula_says() -> None:
    """½ (Φ(1.5 − d) + Φ(1.5 + d)) and Φ(1.5 / √(1 + d²)) lose half of their skill there."""
    found = profile(sign, two_gaussians(8000), shifts=[OFFSET, NOISE], items=8000)
    assert found.score == pytest.approx(norm.cdf(1.5), abs=1e-3)
    assert found.floor == 0.5
    offset, noise = found["own offset"], found["own noise"]
    assert offset.failure.value == pytest.approx(1.666, rel=0.01)
    assert offset.onset.value == pytest.approx(0.678, rel=0.01)
    assert noise.failure.value == pytest.approx(2.420, rel=0.06)
    assert noise.onset.value == pytest.approx(0.705, rel=0.06)
    assert offset.failure.low < 1.666 < offset.failure.high


def test_the_end_of_a_shift_is_forecast_from_its_first_half() -> None:
    found = profile(sign, two_gaussians(2000), shifts=[OFFSET, NOISE, "who"])
    rows = {row["shift"]: row for row in found.forecasts.values}
    assert set(rows) == {"own offset", "own noise"}  # no item changes where items are reweighted
    row, curve = rows["own noise"], found["own noise"]
    near = {d: s for d, s in zip(curve.strengths, curve.means, strict=True) if d <= 2}
    expected = forecast({"": near}, at=4, floor=0.5)
    assert (row["forecast"], row["low"]) == (expected.scores[""], expected.intervals[""].low)
    assert (row["measured_to"], row["measured"]) == (max(near), curve.means[-1])
    assert row["inside"] == (row["low"] <= row["measured"] <= row["high"])
    inside = sum(row["inside"] for row in rows.values())
    assert f"\n\n{inside} of 2 measured scores at the end of a shift are in" in str(found)


def test_models_without_accuracy_have_no_forecasts() -> None:
    x = RNG.normal(size=(300, 2))
    found = profile(lambda rows: rows.sum(1), (x, x.sum(1)), shifts=["noise"])
    assert found.forecasts.cells == ()
    assert "first half" not in str(found)


def test_many_forecasts_are_cut() -> None:
    x = RNG.normal(size=(300, 3)) + np.repeat([[1.0], [-1.0]], 150, 0)
    data = (x, np.repeat([1, 0], 150))
    found = profile(lambda rows: (rows.sum(1) > 0).astype(int), data, shifts=["light"])
    more = len(found.forecasts.cells) - 12
    assert more > 0
    assert f" {more} more rows are in forecasts.csv." in str(found)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    hits = onsets = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 400)
        x = rng.normal(size=(400, 1)) + np.where(y == 1, 1.5, -1.5)[:, None]
        curve = profile(sign, (x, y), shifts=[OFFSET], seed=seed)["own offset"]
        hits += curve.failure.low <= 1.666 <= curve.failure.high
        onsets += curve.onset.low <= 0.678 <= curve.onset.high
    assert min(hits, onsets) >= 25  # 95 % of 30 are 28.5; fewer than 25 have a probability of 0.3 %


def test_a_scale_about_zero_never_breaks_a_sign() -> None:
    x, y = two_gaussians(200)
    found = profile(sign, (x, y), shifts=["0×", "0÷"])
    assert [curve.failure.holds for curve in found.curves] == [True, True]
    assert all(np.ptp(curve.means) == 0 for curve in found.curves)
    assert str(found["0×"].failure) == "> 7"


def test_a_lost_column_takes_its_share() -> None:
    x, y = two_gaussians(2000)
    level = 0.5
    found = profile(sign, (np.hstack([x, x]), y), shifts=["missing"], level=level)
    # Cells at the median, 0, are answered 0: skill 1 − d.
    assert found["missing"].failure.value == pytest.approx(0.5, abs=0.02)


def test_a_model_that_reads_one_step_fails_at_one_step() -> None:
    x = RNG.normal(size=(300, 10, 1))
    y = (x[:, 4, 0] > 0).astype(int)
    found = profile(lambda s: (s[:, 4, 0] > 0).astype(int), (x, y), axes="item time feature",
                    shifts=["lag"])["lag"].failure  # fmt: skip
    assert (found.value, found.low, found.high) == (0.1, 0.0, 0.1)


def test_a_model_of_one_length_says_so_and_another_reads_longer_series(tmp_path) -> None:
    y = np.arange(200) % 2
    x = np.where(y, 1.0, -1.0)[:, None, None] * np.array([1, 1, 1, 0, -1, -1, -1, -1])[:, None]
    data, options = (x, y), {"axes": "item time feature", "shifts": ["length+"], "items": 200}
    fixed = profile(lambda x: (x.reshape(len(x), 8)[:, 0] > 0).astype(int), data, **options)
    assert fixed.curves == ()
    assert fixed.skipped["length+"].startswith("the model refuses: ValueError: cannot reshape")
    assert "length+ (the model refuses" in str(fixed)
    assert "\n\nNo shift breaks it.\n\n" in str(fixed)
    assert all(file.is_file() for file in fixed.write(tmp_path))
    last = profile(lambda x: (x[:, -1, 0] < 0).astype(int), data, **options)["length+"]
    assert last.failure.value == last.onset.value == 0.125  # the first value is read again


def test_reweighting_changes_no_item() -> None:
    x, y = two_gaussians(2000)
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return sign(rows)

    found = profile(counted, (x, y), shifts=["who"])
    assert {curve.name for curve in found.curves} == {
        "more of 0+", "more of 0-", "more of class 0", "more of class 1"
    }  # fmt: skip
    assert sum(calls) < 2000 * 8  # once for each shift, and to find out how to call it


def test_without_labels_a_model_agrees_with_itself() -> None:
    def changed(d):  # share of the items between −d and 0
        return (norm.cdf([-1.5, 1.5]) - norm.cdf([-1.5 - d, 1.5 - d])).mean()

    x, _ = two_gaussians(4000)
    found = profile(sign, x, shifts=[OFFSET], items=4000)
    assert found.score == 1
    assert found.metric.startswith("agreement")
    truth = brentq(lambda d: changed(d) - 0.25, 0, 4)
    assert found["own offset"].failure.value == pytest.approx(truth, rel=0.01)


def test_numbers_are_scored_by_what_they_explain() -> None:
    x = norm.ppf((np.arange(1000) + 0.5) / 1000)[:, None]
    found = profile(lambda rows: rows[:, 0], (x, x[:, 0].copy()), shifts=[OFFSET])
    assert (found.metric, found.score, found.floor) == ("R²", 1, 0)
    # R² = 1 − d² / var is ½ at d = √½ sd.
    assert found["own offset"].failure.value == pytest.approx(math.sqrt(0.5) * x.std(), rel=0.02)


class Sign(nn.Module):
    """Scores of two classes from a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 2)
        self.dropout = nn.Dropout(0.9)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor([[-1.0], [1.0]]))
            self.layer.bias.zero_()

    def forward(self, x):
        return self.dropout(self.layer(x))


class Estimator:
    def __init__(self, method: str, answer) -> None:
        self.classes_ = np.array(["no", "yes"])
        setattr(self, method, answer)


def probabilities(x):
    p = norm.cdf(x[:, 0])
    return np.stack([1 - p, p], 1)


MODELS = {
    "module": Sign(),
    "probabilities": Estimator("predict_proba", probabilities),
    "decision": Estimator("decision_function", lambda x: x[:, 0]),
    "labels": Estimator("predict", lambda x: np.where(x[:, 0] > 0, "yes", "no")),
    "one logit": lambda x: x[:, 0] * 3,
    "one probability": lambda x: norm.cdf(x[:, :1]),
    "tensors": lambda x: torch.stack([torch.zeros(len(x)), x[:, 0].float()], 1),
}


@pytest.mark.parametrize("name", MODELS)
def test_each_kind_of_model_is_read_alike(name: str) -> None:
    x, y = two_gaussians(400)
    labels = np.array(["no", "yes"])[y] if isinstance(MODELS[name], Estimator) else y
    found = profile(MODELS[name], (x, labels), shifts=[OFFSET])
    plain = profile(sign, (x, y), shifts=[OFFSET])
    assert found.score == plain.score
    assert np.array_equal(found["own offset"].scores, plain["own offset"].scores)
    assert "no labels" not in found.notes


def test_a_module_is_left_in_the_mode_that_it_had() -> None:
    model = Sign().train()
    profile(model, two_gaussians(400), shifts=[OFFSET])
    assert model.training


def test_modules_are_moved_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    model, moves = Sign(), []
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr(model, "to", moves.append)  # no GPU is needed
    for device in (None, "cpu", "cuda", "cuda:1"):
        profile([model, model], two_gaussians(40), shifts=[OFFSET], device=device)
    assert moves == [None, None, "cpu", "cpu", "cuda", "cuda", "cuda:1", "cuda:1"]


def test_a_device_that_is_missing_or_of_no_use_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for count, model, device, message in (
        (0, Sign(), "cuda", "device is 'cuda', but torch finds no such GPU here"),
        (1, Sign(), "gpu", "device must be 'cpu' or 'cuda', got 'gpu'"),
        (1, sign, "cuda", "device must be cpu for a model that is no torch.nn.Module"),
    ):
        monkeypatch.setattr("torch.cuda.device_count", lambda count=count: count)
        with pytest.raises(ValueError, match=message):
            profile(model, two_gaussians(40), shifts=[OFFSET], device=device)


def test_a_task_of_arrays_is_profiled() -> None:
    x, y = two_gaussians(400)
    task = ArrayTask({"training": (x, y), "test": (x[::2], y[::2])})
    found = profile(sign, task, shifts=[OFFSET])
    plain = profile(sign, (x[::2].astype(np.float32), y[::2]), shifts=[OFFSET])
    assert found.count == 200
    assert found["own offset"].failure == plain["own offset"].failure
    with pytest.raises(ValueError, match="data must be a task of single items, got 2 a problem"):
        profile(sign, SameDifferent(withheld=98))


def test_a_data_frame_stays_one() -> None:
    x, y = two_gaussians(400)
    frame = pd.DataFrame({"size": x[:, 0], "city": np.where(y, "a", "b")})

    def by_name(rows):
        if not rows["city"].isin(["a", "b"]).all():
            raise KeyError("unknown city")
        return (rows["size"] > 0).astype(int).to_numpy()

    found = profile(by_name, (frame, y))
    assert "size+" in {curve.name for curve in found.curves}
    assert "unknown city" in found.skipped["city: unseen category"]


def test_several_networks_have_a_point_each() -> None:
    x, y = two_gaussians(2000)
    networks = [lambda rows, b=b: (rows[:, 0] > b).astype(int) for b in (-0.1, 0.0, 0.1)]
    curve = profile(networks, (x, y), shifts=[OFFSET])["own offset"]
    assert len(curve.networks) == 3
    assert list(curve.networks) == sorted(curve.networks)
    assert curve.networks[0] < curve.failure.value < curve.networks[2]


def test_neighbors_know_what_is_left_of_the_answer() -> None:
    x = RNG.normal(size=(400, 6, 6)).astype(np.float32)
    y = np.arange(400) % 2
    x[y == 1, :3] += 2
    found = profile(lambda i: (i[:, :3].mean((1, 2)) > 1).astype(int), (x, y),
                    axes="item height width", shifts=["offset+", "noise"])  # fmt: skip
    offset, noise = found["offset+"].notes, found["noise"].notes
    assert offset["information"] == pytest.approx(1, abs=0.02)  # distances do not change
    assert noise["information"] < 0.8
    assert offset["worst class"] == "0"
    assert offset["commonest answer"] == "1"


def test_neighbors_and_distances_by_hand() -> None:
    """Two classes 100 apart; the model is the nearest neighbor, so both fail at one strength."""
    y = np.arange(400) % 2
    x = np.stack([100.0 * y + RNG.normal(size=400), 1e-3 * RNG.normal(size=400)], 1)
    found = profile(lambda rows: np.abs(rows[:, :1] - [0, 100]).argmin(1), (x, y), shifts=["0+"])
    curve = found["0+"]
    assert curve.notes["ratio"] == pytest.approx(1, abs=0.02)
    spread = 1.4826 * np.median(np.abs(x[:, 0] - np.median(x[:, 0])))
    rows = x / x.std(0)
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    gap = np.median(np.where(y[:, None] == y, np.inf, apart).min(1))
    moved = curve.failure.value * spread / x[:, 0].std()
    assert curve.notes["displacement"] == pytest.approx(moved / gap)


def test_neighbors_measure_each_channel_in_its_own_unit() -> None:
    y = np.arange(400) % 2
    x = RNG.normal(size=(400, 5, 2)) + 3 * y[:, None, None] * [1, 0]
    first = np.ascontiguousarray(x.swapaxes(1, 2))
    last = [
        profile(lambda rows: (rows[:, :, 0].mean(1) > 1.5).astype(int), (x * [1, unit], y),
                axes="item time feature", shifts=["noise"], level=0.8)["noise"].notes
        for unit in (1, 1000)
    ]  # fmt: skip
    assert last[0]["information"] > 0.5
    assert last[1] == pytest.approx(last[0])
    big = profile(lambda rows: (rows[:, 0].mean(1) > 1.5).astype(int), (first * [[1], [1000]], y),
                  axes="item channel time", shifts=["noise"], level=0.8)["noise"].notes  # fmt: skip
    assert big == pytest.approx(last[0])


def test_items_are_changed_once_at_each_strength() -> None:
    seen = []

    def counted(x, d, generator):
        seen.append(d)
        return x + d

    curve = profile(sign, two_gaussians(400), shifts=[replace(OFFSET, change=counted)]).curves[0]
    assert "ratio" in curve.notes
    inner = [d for d in seen if 0 < d < OFFSET.end]
    assert sorted(inner) == sorted([*curve.strengths[1:-1], curve.failure.value])


def test_worst_first_and_groups() -> None:
    x, y = two_gaussians(400)
    found = profile(sign, (x, y), without=["who", "noise"])
    reaches = [curve.reach for curve in found.curves]
    assert reaches == sorted(reaches)
    assert {curve.group for curve in found.curves} == {"light", "detail"}
    assert "noise" not in {curve.name for curve in found.curves}


X, Y = two_gaussians(100)
REFUSED = {
    "no skill": (lambda x: np.arange(len(x)) % 2, (X, Y), {}, "model must work without a shift"),
    "few items": (sign, (X[:20], Y[:20]), {}, "data must have at least 30 items, got 20"),
    "lengths": (sign, (X, Y[:9]), {}, "y must have a label for each of 100 items"),
    "columns": (sign, (X, Y[:, None]), {}, r"y must have one axis, got shape \(100, 1\)"),
    "nan": (sign, (X, np.where(Y, np.nan, 0.0)), {}, "y must be finite, got 50"),
    "answers": (lambda x: np.zeros(3), (X, Y), {}, "one answer an item, got an array of shape"),
    "raises": (lambda x: 1 / 0, (X, Y), {}, "got ZeroDivisionError for two of them"),
    "object": (3, (X, Y), {}, "model must be a torch.nn.Module, have predict_proba"),
    "classes": (lambda x: np.zeros((len(x), 3)), (X, Y + 5), {}, "for each of the 2 classes of y"),
    "shift": (sign, (X, Y), {"shifts": ["blur"]}, "shifts must be shifts of these items"),
    "nothing": (sign, (X, Y), {"shifts": [replace(OFFSET, change=lambda x, d, g: x)]},
                "'own offset' must change an item at strength 4"),
    "number": (sign, (X, Y), {"shifts": [replace(OFFSET, change=lambda x, d, g: x[1:])]},
               "must keep the number of items, 100, got 99"),
    "sets": (sign, {"a": (X, Y), "b": (X, Y)}, {}, "data must have a set named test, got a, b"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_answer_is_refused(name: str) -> None:
    model, data, options, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        profile(model, data, **options)


def test_an_interrupt_keeps_what_is_done() -> None:
    def stopping(x, d, generator):
        raise KeyboardInterrupt

    stop = Shift(name="stop", unit="d", end=1.0, change=stopping)
    found = profile(sign, two_gaussians(100), shifts=[OFFSET, stop])
    assert [curve.name for curve in found.curves] == ["own offset"]
    assert "Stopped before all shifts were measured." in found.notes


@pytest.fixture(scope="module")
def measured() -> ShiftProfile:
    x = RNG.random((200, 6, 6)).astype(np.float32)
    y = np.arange(200) % 2
    x[y == 1] += 0.5
    return profile(
        lambda i: (i.mean((1, 2)) > 0.75).astype(int), (x, y), axes="item height width",
        shifts=["light", "blur"], subject="<b>mine</b>",
    )  # fmt: skip


def test_files_of_a_profile(measured: ShiftProfile, tmp_path) -> None:
    names = {path.name for path in measured.write(tmp_path / "page")}
    assert names == {"profile.html", "profile.png", "profile.json", "points.csv", "curves.csv",
                     "forecasts.csv", "table.md", "table.tex"}  # fmt: skip
    page = (tmp_path / "page/profile.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "<h2>Forecast from the first half</h2>" in page
    assert "http" not in page.replace("image/png;base64", "")
    assert page == measured._repr_html_()
    curves = pd.read_csv(tmp_path / "page/curves.csv")
    assert set(curves["shift"]) == {curve.name for curve in measured.curves}
    restored = read_profile(tmp_path / "page/profile.json")
    assert str(restored) == str(measured)
    for ours, theirs in zip(measured.curves, restored.curves, strict=True):
        assert np.array_equal(ours.scores, theirs.scores)
    assert pickle.loads(pickle.dumps(measured)).heading == measured.heading


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"version": 2}', b"\xff\xfe"])
def test_a_file_that_is_no_profile_is_refused(content: bytes, tmp_path) -> None:
    path = tmp_path / "profile.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="must be a profile that farfield profile wrote"):
        read_profile(path)


def test_profiles_of_the_same_items_are_compared() -> None:
    x, y = two_gaussians(2000)
    before = profile(lambda rows: (rows[:, 0] > 0.3).astype(int), (x, y), shifts=[OFFSET])
    after = profile(sign, (x, y), shifts=[OFFSET])
    (row,) = after.against(before).values
    assert row["after"] - row["before"] < 0  # a bias against the offset held longer
    assert row["low"] <= row["after"] - row["before"] <= row["high"] < 0
    assert after.against(before).cells[0][-1] == "worse"
    with pytest.raises(ValueError, match="other must be a profile of the same items"):
        after.against(profile(sign, (x[1:], y[1:]), shifts=[OFFSET]))


def test_required_strengths() -> None:
    found = profile(sign, two_gaussians(2000), shifts=[OFFSET])
    assert found.require({"own offset": 1.0}) == ()
    (line,) = found.require({"own offset": 3.0})
    assert line.startswith("own offset must hold to 3 sd, fails at 1.7 [")
    with pytest.raises(UnknownNameError, match="unknown shift 'noise'"):
        found.require({"noise": 1.0})


def test_a_number_of_a_table_may_be_an_integer() -> None:
    x = RNG.normal(size=(300, 2))
    y = (10 * x[:, 0]).round().astype(int)
    found = profile(lambda rows: 10 * rows[:, 0], (x, y), shifts=["0+", "1+"])
    assert (found.metric, found.score > 0.99) == ("R²", True)
    assert found["1+"].failure.holds


def test_a_column_without_spread_and_a_table_without_numbers() -> None:
    x, y = two_gaussians(200)
    found = profile(sign, (np.hstack([x, np.zeros_like(x)]), y))
    assert found.skipped["1+"] == found.skipped["1×"] == "it changes none of these items"
    words = pd.DataFrame({"city": np.where(y, "a", "b"), "kind": ["c"] * 200})
    found = profile(lambda rows: (rows["city"] == "a").astype(int).to_numpy(), (words, y))
    assert {curve.name for curve in found.curves} >= {"missing", "city: unseen category"}

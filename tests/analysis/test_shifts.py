"""Every shift is the identity at strength 0 and changes items beyond; some by hand."""

import numpy as np
import pandas as pd
import pytest
import torch

from farfield.analysis import Shift
from farfield.analysis.internal import describe_items, shifts_of
from farfield.core import Problems, stream

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (60, 8, 8, 3), np.uint8)
FRAME = pd.DataFrame({"age": RNG.normal(40, 9, 200), "city": RNG.choice(["a", "b"], 200)})
KINDS = {
    "gray": (RNG.random((60, 8, 8)).astype(np.float32), {"axes": "item height width"}),
    "color": (BYTES, {}),
    "channels first": (RNG.normal(size=(60, 3, 6, 9)).astype(np.float32), {}),
    "series": (RNG.normal(size=(60, 20, 2)), {"axes": "item time feature"}),
    "series, channels first": (RNG.normal(size=(60, 2, 20)), {"axes": "item channel time"}),
    "series of one": (RNG.normal(size=(60, 20)), {"kind": "series"}),
    "table": (RNG.normal(size=(200, 3)), {}),
    "frame": (FRAME, {}),
    "set": (RNG.normal(size=(60, 7, 2)), {"axes": "item element feature"}),
    "symbols": (RNG.integers(0, 5, (60, 12)), {}),
    "text": (np.array(["the quick brown fox jumps", "over the lazy dog"] * 30, dtype=object), {}),
}
EACH = [
    pytest.param(x, shift, id=f"{kind}: {shift.name}")
    for kind, (x, options) in KINDS.items()
    for shift in shifts_of(describe_items(x, **options), x, np.arange(len(x)) % 2)
]


def same(first, second) -> bool:
    if isinstance(first, pd.DataFrame):
        return first.equals(second)
    return first.shape == second.shape and bool((first == second).all())


@pytest.mark.parametrize(("x", "shift"), EACH)
def test_a_shift_grows_from_nothing(x, shift: Shift) -> None:
    before = x.copy()
    weighs = shift.reweights
    assert np.ptp(shift(x, 0)) == 0 if weighs else shift(x, 0) is x
    strengths = shift.strengths(4)
    assert strengths[0] == 0
    assert len(strengths) > 1
    for d in strengths[1:]:
        changed = shift(x, d)
        assert len(changed) == len(x)
        assert weighs or not same(changed, x)
        assert same(shift(x, d), changed) if not weighs else (shift(x, d) == changed).all()
        if not weighs and isinstance(x, np.ndarray):
            assert changed.dtype == x.dtype
    assert same(x, before)


def offered(x, **options) -> dict[str, Shift]:
    return {one.name: one for one in shifts_of(describe_items(x, **options), x)}


def test_rotation_by_half_a_turn_is_exact() -> None:
    x = np.arange(32, dtype=np.float32).reshape(2, 4, 4) / 32
    turned = offered(x, axes="item height width")["rotation"](x, 180)
    assert np.allclose(turned, x[:, ::-1, ::-1], atol=1e-6)


def test_a_shift_by_some_pixels_by_hand() -> None:
    x = np.zeros((40, 8, 8), np.float32)
    x[:, 3:5, 3:5] = 1
    moved = offered(x, axes="item height width")["shift"](x, 0.25)  # two pixels in any direction
    rows = (moved.sum(2) * np.arange(8)).sum(1) / moved.sum((1, 2))
    columns = (moved.sum(1) * np.arange(8)).sum(1) / moved.sum((1, 2))
    assert np.allclose(np.hypot(rows - 3.5, columns - 3.5), 2, atol=0.01)


def test_light_of_bytes_of_fractions_and_of_channels_first_agree() -> None:
    for name in ("brightness+", "contrast-"):
        of_bytes = offered(BYTES)[name](BYTES, 0.3)
        fractions = (BYTES / 255).astype(np.float32)
        of_fractions = offered(fractions)[name](fractions, 0.3)
        assert np.abs(of_bytes / 255 - of_fractions).max() <= 0.51 / 255
        first = np.ascontiguousarray(fractions.transpose(0, 3, 1, 2))
        assert np.allclose(offered(first)[name](first, 0.3), of_fractions.transpose(0, 3, 1, 2))


def test_series_by_hand() -> None:
    x = np.array([[0.0, 1, 2, 3, 4]])[..., None]
    found = offered(x, axes="item time feature")
    assert found["lag"](x, 0.4)[0, :, 0].tolist() == [0, 0, 0, 1, 2]
    assert found["speed+"](x, 1)[0, :, 0].tolist() == [0, 2, 4, 4, 4]
    assert found["speed-"](x, 1)[0, :, 0].tolist() == [0, 0.5, 1, 1.5, 2]
    sd = 1.4826  # median of the distances 2, 1, 0, 1, 2
    assert np.allclose(found["offset+"](x, 2)[0, :, 0], np.arange(5) + 2 * sd)
    assert np.allclose(found["drift-"](x, 2)[0, :, 0], np.arange(5) * (1 - 2 * sd / 4))
    assert found["amplitude-"](x, 1)[0, :, 0].tolist() == [0, 0.5, 1, 1.5, 2]
    assert found["lag"].strengths(8) == (0, 0.2, 0.4)  # whole steps
    assert found["length+"](x, 0.6)[0, :, 0].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
    assert found["length+"](x, 3).shape == (1, 20, 1)
    first = np.ascontiguousarray(x.swapaxes(1, 2))
    longer = offered(first, axes="item channel time")["length+"](first, 0.6)
    assert longer[0, 0].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]


def test_longer_symbols_by_hand() -> None:
    x = np.array([[3, 1, 2, 1]])
    longer = offered(x)["length+"]
    assert longer(x, 0.75).tolist() == [[3, 1, 2, 1, 3, 1, 2]]
    assert longer.nearest(0.7) == 0.75


def test_a_gap_holds_the_last_value() -> None:
    x = np.tile(np.arange(1.0, 11), (50, 1))[..., None]
    gap = offered(x, axes="item time feature")["gap"](x, 0.3)[..., 0]
    lost = gap != np.arange(1, 11)
    assert set(lost.sum(1)) <= {2, 3}  # a run at the beginning has its own last value
    for row, is_lost in zip(gap, lost, strict=True):
        first = is_lost.argmax()
        assert len(set(row[max(first - 1, 0) : first + is_lost.sum()].tolist())) == 1


def test_a_table_by_hand() -> None:
    x = np.array([[1.0, 10], [2, 20], [3, 30], [4, 40], [5, 50]] * 30)
    found = offered(x)
    assert np.allclose(found["1+"](x, 1) - x, [0, 14.826])
    assert (found["0×"](x, 3) == x * [8, 1]).all()
    assert (found["all÷"](x, 1) == x / 2).all()
    assert (found["missing"](x, 0.4)[:, 0] == 3).sum() >= 60  # a share of the cells exactly
    both = found["missing"](x, 1)
    assert (both == [3, 30]).all()


def test_reweighting_moves_the_mean_and_costs_items() -> None:
    x = np.random.default_rng(1).normal(size=(20_000, 1))
    more = offered(x)["more of 0+"]
    weights = more(x, 1.0)
    z = (x[:, 0] - x.mean()) / x.std()
    assert (weights * z).mean() == pytest.approx(1, abs=1e-6)
    share = weights.sum() ** 2 / (weights**2).sum() / len(x)
    assert share == pytest.approx(np.exp(-1), rel=0.05)  # e^(-t²) for a Gaussian column
    ends = more(x, more.end)
    assert ends.sum() ** 2 / (ends**2).sum() == pytest.approx(50, rel=0.01)


def test_unseen_categories_and_their_share() -> None:
    shift = offered(FRAME)["city: unseen category"]
    assert (shift(FRAME, 0.25)["city"] == "a category never seen").sum() == 50


def test_sets_by_hand() -> None:
    x = np.tile(np.arange(10.0), (30, 1))[..., None]
    found = offered(x, axes="item element feature")
    fewer = found["fewer"](x, 0.3)
    assert fewer.shape == (30, 7, 1)
    assert (np.diff(fewer[..., 0]) > 0).all()  # the rest keeps its order
    assert found["more"](x, 0.5).shape == (30, 15, 1)
    moved = found["order"](x, 0.4)
    assert set((moved != x).sum((1, 2))) == {4}
    assert (np.sort(moved, 1) == x).all()


def test_a_shift_is_a_perturbation_of_problems() -> None:
    items = torch.rand(5, 8, 8)
    problems = Problems(items=items, index=torch.arange(5)[:, None], target=torch.zeros(5))
    shift = offered(items.numpy(), axes="item height width")["brightness+"]
    change = shift.at(0.25, of="far")
    assert (change.regime.name, change.regime.distance) == ("brightness+-0.25-far", 0.25)
    found = change(None, problems, None, stream(3))
    assert torch.allclose(found.items, (items + 0.25).clamp(max=1))
    weigher = shifts_of(describe_items(KINDS["table"][0]), KINDS["table"][0])[-1]
    with pytest.raises(ValueError, match="shift must change items, got more of 2-"):
        weigher.at(1.0)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (np.zeros((5, 4, 4)), {}, 'axes must be given .*: "item time feature" or'),
        (np.zeros((5, 4, 4)), {"axes": "item time colour"}, "axes must be item and 2 of"),
        (np.zeros((5, 4, 4)), {"axes": "item height feature"}, "height and width or neither"),
        (np.zeros((0, 4)), {}, "items must be at least 1"),
        ([1, 2], {}, "items must be an array or a data frame, got list"),
        (np.zeros((5, 4)), {"kind": "picture"}, "kind must be images"),
        (np.array([["a", "b"]]), {"axes": "item column"}, "items must be numbers, got an array of"),
    ],
)
def test_unclear_items_are_refused(x, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        describe_items(x, **options)


def test_unknown_columns_are_refused() -> None:
    x = KINDS["table"][0]
    with pytest.raises(ValueError, match=r"columns must be of the table \(0, 1, 2\), got '7'"):
        shifts_of(describe_items(x), x, None, ["7"])

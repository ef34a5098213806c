"""Bouncing balls: how they move, what is seen, scores and floors, frozen versions."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.core.internal import LazyItems, UnknownNameError
from farfield.metrics.internal import measure_of
from farfield.tasks import TASKS, TRAINING, VALIDATION, BouncingBalls
from farfield.tasks._balls._ball_motion import (
    RADII,
    SPEED,
    bounce,
    mean_frame_loss,
    moved,
    repeated_loss,
    started,
    visible,
)
from farfield.tasks.internal import RolledOut, form_of, metric_of
from oracles import bouncing_balls as oracle
from tasks.sets import drawn

FOUR = BouncingBalls(training_sequences=60, validation_sequences=40, test_sequences=50)
MANY = BouncingBalls(
    balls=(6, 8),
    test_balls=((6, 8), (4, 4), (12, 12)),
    side=20,
    num_frames=12,
    training_sequences=30,
    validation_sequences=20,
    test_sequences=25,
)
TINY = BouncingBalls(
    side=12, num_frames=10, training_sequences=1, validation_sequences=1, test_sequences=300
)
# The head of SHA-256 over all sets of run 0; a change of it raises `version`.
CELLS = {FOUR: "10b1bb4a041d56ee", MANY: "7a27ff54914c5d02"}
every_cell = pytest.mark.parametrize("task", list(CELLS), ids=["four", "many"])
BALLS = {
    FOUR: {
        TRAINING: (4, 4),
        VALIDATION: (4, 4),
        "balls-4": (4, 4),
        "balls-6-8": (6, 8),
        "curtain": (4, 4),
    },
    MANY: {
        TRAINING: (6, 8),
        VALIDATION: (6, 8),
        "balls-6-8": (6, 8),
        "balls-4": (4, 4),
        "balls-12": (12, 12),
        "curtain": (6, 8),
    },
}


@cache
def seen_to_move(numbers: tuple[int, ...] = (1, 2, 4, 8, 12) * 8) -> tuple[np.ndarray, np.ndarray]:
    """Places and speeds in every frame, and radii."""
    moving, radii = started(stream(0, "test").numpy(), np.array(numbers), 12)
    return moved(moving, radii, 51), radii


def balls_of(problems: Problems) -> np.ndarray:
    """Place along X and Y and radius, (batch, time, slot, 3)."""
    latent = problems.items.latent[problems.index]
    return latent[..., :-2].unflatten(-1, (-1, 3)).numpy()


def digest(sets: dict[str, Problems]) -> str:
    total = hashlib.sha256()
    for regime, problems in sets.items():
        columns = (problems.items.latent, problems.index, *problems.latent.values())
        for column in columns:
            total.update(f"{regime}{tuple(column.shape)}".encode())
            total.update(column.numpy().tobytes())
    return total.hexdigest()[:16]


@every_cell
def test_drawn_sets_are_frozen_for_this_version(task: BouncingBalls) -> None:
    assert task.version == 1
    assert digest(drawn(task)) == CELLS[task]


def test_energy_is_kept() -> None:
    frames, radii = seen_to_move()
    energy = (radii[:, None] ** 2 * (frames[..., 2] ** 2 + frames[..., 3] ** 2)).sum(-1)
    np.testing.assert_allclose(energy, np.broadcast_to(energy[:, :1], energy.shape), rtol=1e-12)
    turned = (np.diff(frames[..., 2:], axis=1) != 0).any(-1)
    assert turned.any(1)[radii > 0].mean() > 0.8  # they do meet something


@given(
    st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    st.tuples(st.floats(0.06, 0.11), st.floats(0.06, 0.11)),
    st.floats(0, 6.28),
)
def test_two_balls_that_meet_keep_momentum_and_energy(
    speeds: list[float], sizes: tuple[float, float], angle: float
) -> None:
    apart = sum(sizes)
    moving = np.array([[[0.5, 0.5, *speeds[:2]], [0, 0, *speeds[2:]]]])
    moving[0, 1, :2] = 0.5 + apart * math.cos(angle), 0.5 + apart * math.sin(angle)
    radii = np.array([sizes])
    after = moving.copy()
    bounce(after, radii, np.array([0]), np.array([4]))
    mass = radii[0] ** 2
    for axis in (2, 3):
        assert mass @ after[0, :, axis] == pytest.approx(mass @ moving[0, :, axis], abs=1e-15)
    energy = [mass @ (some[0, :, 2] ** 2 + some[0, :, 3] ** 2) for some in (moving, after)]
    assert energy[1] == pytest.approx(energy[0], abs=1e-15)
    normal = moving[0, 0, :2] - moving[0, 1, :2]
    before, then = ((some[0, 0, 2:] - some[0, 1, 2:]) @ normal for some in (moving, after))
    assert then == pytest.approx(-before, abs=1e-14)  # they part as fast as they met
    assert np.array_equal(after[..., :2], moving[..., :2])


def test_away_from_walls_momentum_is_kept() -> None:
    moving = np.array([[[0.4, 0.52, 0.03, 0.0], [0.6, 0.5, -0.02, 0.001]]])
    radii = np.array([[0.08, 0.06]])
    frames = moved(moving, radii, 8)
    mass = radii[0] ** 2
    momentum = np.einsum("tbk,b->tk", frames[0, :, :, 2:], mass)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(8, 0), rtol=0, atol=1e-16)
    assert frames[0, -1, 0, 2] < 0 < frames[0, -1, 1, 2]  # and they have met


def test_a_wall_turns_one_speed_around() -> None:
    moving = np.array([[[0.5, 0.85, 0.01, 0.03]]])
    frames = moved(moving, np.array([[0.1]]), 4)[0, :, 0]
    np.testing.assert_allclose(frames[:, 1], [0.85, 0.88, 0.89, 0.86], atol=1e-15)
    np.testing.assert_allclose(frames[:, 0], [0.5, 0.51, 0.52, 0.53], atol=1e-15)
    assert frames[-1, 2:].tolist() == [0.01, -0.03]


def test_balls_stay_in_the_box_and_out_of_each_other() -> None:
    frames, radii = seen_to_move()
    here = (radii > 0)[:, None, :, None]
    own = radii[:, None, :, None]
    places = frames[..., :2]
    assert np.where(here, places - own, 1).min() > -1e-14
    assert np.where(here, 1 - own - places, 1).min() > -1e-14
    first, second = np.triu_indices(12, 1)
    gaps = np.linalg.norm(places[:, :, first] - places[:, :, second], axis=-1)
    gaps -= (radii[:, first] + radii[:, second])[:, None]
    both = ((radii[:, first] > 0) & (radii[:, second] > 0))[:, None]
    assert np.where(both, gaps, 1).min() > -1e-13
    assert (frames[~(radii > 0)[:, None].repeat(51, 1)] == [-1, -1, 0, 0]).all()


def test_motion_is_that_of_one_ball_at_a_time() -> None:
    moving, radii = started(stream(3, "test").numpy(), np.array([1, 3, 5, 8]), 8)
    frames = moved(moving, radii, 25)
    for sequence, number in enumerate((1, 3, 5, 8)):
        balls = np.concatenate([moving[sequence], radii[sequence, :, None]], axis=1)[:number]
        expected = oracle.motion(balls, 25)
        np.testing.assert_allclose(frames[sequence, :, :number, :2], expected, rtol=0, atol=1e-9)


def test_time_runs_back_as_it_ran() -> None:
    moving, radii = started(stream(4, "test").numpy(), np.array([4] * 20), 4)
    there = moved(moving, radii, 16)
    turned = there[:, -1].copy()
    turned[..., 2:] *= -1
    back = moved(turned, radii, 16)[:, ::-1]
    np.testing.assert_allclose(back[..., :2], there[..., :2], rtol=0, atol=1e-8)


def test_starts_are_uniform_where_there_is_room() -> None:
    moving, radii = started(stream(5, "test").numpy(), np.array([8] * 2_000), 8)
    for values, low, high in (
        (radii, *RADII),
        (moving[..., 2], -SPEED, SPEED),
        (moving[..., 3], -SPEED, SPEED),
    ):
        for ball in range(8):
            shares = np.sort((values[:, ball] - low) / (high - low))
            expected = (np.arange(2_000) + 0.5) / 2_000
            assert abs(shares - expected).max() < 2.2 / math.sqrt(2_000)
    room = moving[:, 0, :2] - radii[:, 0, None], 1 - 2 * radii[:, 0, None]
    shares = np.sort(room[0] / room[1], axis=0)
    assert abs(shares - ((np.arange(2_000) + 0.5) / 2_000)[:, None]).max() < 2.2 / math.sqrt(2_000)


@every_cell
def test_regimes_have_their_numbers_of_balls(task: BouncingBalls) -> None:
    assert [regime.name for regime in task.regimes] == list(BALLS[task])
    for regime, problems in drawn(task).items():
        fewest, most = BALLS[task][regime]
        numbers = (balls_of(problems)[..., 2] > 0).sum(-1)
        assert (numbers == problems.latent["balls"].numpy()[:, None]).all()
        assert set(numbers.ravel()) == set(range(fewest, most + 1))
        assert len(problems) == task.counts[regime]
        assert problems.index.shape[1] == task.length == task.num_frames
        curtain = problems.latent["curtain"].numpy()
        width = task.side // 4 if regime == "curtain" else 0
        assert (curtain[:, 1] - curtain[:, 0] == width).all()
        assert 0 <= curtain.min() <= curtain.max() <= task.side
        if regime == "curtain":
            assert len(set(curtain[:, 0])) > 5


def test_distances_are_balls_or_hidden_columns() -> None:
    assert [(r.distance, r.unit.partition(" ")[0]) for r in MANY.regimes] == [
        (0, "balls"),
        (0, "balls"),
        (0, "balls"),
        (4, "balls"),
        (6, "balls"),
        (5, "hidden"),
    ]
    assert [r.distance for r in FOUR.regimes] == [0, 0, 0, 4, 8]
    assert TASKS["bouncing-balls"] is BouncingBalls
    assert metric_of(FOUR) == "cross-entropy"
    assert measure_of("cross-entropy").lower_is_better
    assert form_of(FOUR).answer == "everywhere"
    assert (FOUR.item_shape, FOUR.num_outputs, FOUR.length) == ((32, 32), 1024, 51)


@every_cell
def test_items_are_the_frames_of_the_balls(task: BouncingBalls) -> None:
    for problems in drawn(task).values():
        assert isinstance(problems.items, LazyItems)
        shown, balls = problems[:2].sequences(), balls_of(problems)
        for row, place in ((0, 0), (0, 7), (1, 11)):
            curtain = tuple(problems.latent["curtain"][row].tolist())
            expected = oracle.frame(balls[row, place], curtain, task.side)
            assert np.array_equal(shown[row, place].numpy(), expected)
            assert expected.any()


@every_cell
def test_scores_are_cross_entropies_of_the_next_frame(task: BouncingBalls) -> None:
    generator = torch.Generator().manual_seed(0)
    for problems in drawn(task).values():
        some = problems[:2].compact()
        shape = (*some.index.shape, task.num_outputs)
        outputs = 3 * torch.randn(shape, generator=generator, dtype=torch.float64)
        shown = some.sequences()
        for row, found in enumerate(task.score(outputs, some).tolist()):
            logits = outputs[row, :-1].reshape(-1, task.side, task.side).numpy()
            losses = [
                oracle.cross_entropy(*pair, tuple(some.latent["curtain"][row].tolist()))
                for pair in zip(logits, shown[row, 1:].numpy(), strict=True)
            ]
            assert found == pytest.approx(np.mean(losses), rel=1e-9)
        assert torch.equal(task.loss(outputs, some), task.score(outputs, some))
        assert torch.equal(task.score(task.oracle(some), some), torch.zeros(2))


def test_of_the_frames_given_none_is_scored_and_all_are_learned() -> None:
    task = dataclasses.replace(FOUR, given=15)
    generator = torch.Generator().manual_seed(0)
    for regime in ("balls-4", "curtain"):
        some = drawn(FOUR)[regime][:3]
        outputs = 3 * torch.randn(3, 51, 1024, generator=generator)
        rolled = FOUR.roll_out_scores(outputs[:, 14:-1], some)["cross-entropy"]
        torch.testing.assert_close(task.score(outputs, some), rolled.mean(1))
        assert torch.equal(task.loss(outputs, some), FOUR.loss(outputs, some))
        assert not torch.allclose(task.loss(outputs, some), task.score(outputs, some), rtol=1e-3)
    assert digest(task.draw(stream(0))) == CELLS[FOUR]  # the same sequences
    assert isinstance(task, RolledOut)


def test_what_is_hidden_and_the_last_answer_are_not_scored() -> None:
    problems = drawn(FOUR)["curtain"][:5]
    outputs = torch.zeros(5, 51, 1024)
    hidden = ~visible(problems.latent["curtain"], 32).flatten(1)[:, None]
    assert int(hidden.sum()) == 5 * 8 * 32
    changed = torch.where(hidden, 7.0, outputs)
    changed[:, -1] = -3
    assert torch.equal(FOUR.score(changed, problems), FOUR.score(outputs, problems))
    assert float((problems.sequences().flatten(2) * hidden).max()) == 0
    without = Problems(items=problems.items, index=problems.index, target=problems.target)
    assert float(FOUR.score(outputs, without)[0]) == pytest.approx(math.log(2))


def test_roll_outs_are_scored_frame_by_frame() -> None:
    for regime in ("balls-4", "curtain"):
        problems = drawn(FOUR)[regime][:2]
        shown = problems.sequences()
        generator = torch.Generator().manual_seed(1)
        frozen = 9.0 * shown[:, 14:15].expand(-1, 36, -1, -1) - 4
        outputs = frozen + torch.randn(frozen.shape, generator=generator)
        scores = FOUR.roll_out_scores(outputs.flatten(2), problems)
        assert list(scores) == ["cross-entropy", "position error"]
        for row, place in ((0, 0), (1, 20), (0, 35)):
            start, stop = curtain = tuple(problems.latent["curtain"][row].tolist())
            right = shown[row, 15 + place].numpy()
            logits = outputs[row, place].numpy().astype(np.float64)
            loss = float(scores["cross-entropy"][row, place])
            assert loss == pytest.approx(oracle.cross_entropy(logits, right, curtain), rel=1e-5)
            white = logits > 0
            white[:, start:stop] = False
            error = float(scores["position error"][row, place])
            assert error == pytest.approx(oracle.blob_distance(white, right > 0, 8), rel=1e-12)
        right = FOUR.roll_out_scores(FOUR.oracle(problems)[:, 14:-1], problems)
        assert float(right["cross-entropy"].max()) == 0
        assert float(right["position error"].max()) == 0


def uncertainty(white: float, total: float) -> float:
    shares = [share for share in (white / total, 1 - white / total) if share]
    return -sum(share * math.log(share) for share in shares)


def test_floors_are_those_of_loops() -> None:
    generator = np.random.default_rng(0)
    seen = generator.random((5, 3, 4)) < 0.7
    before, shown = (generator.random((2, 5, 6, 3, 4)) < 0.3) & seen[:, None]
    total = 6 * seen.sum()
    nats = 0.0
    for row, column in np.ndindex(3, 4):
        pixels = 6 * seen[:, row, column].sum()
        nats += pixels * uncertainty(shown[:, :, row, column].sum(), pixels)
    assert mean_frame_loss(shown, seen) == pytest.approx(nats / total, rel=1e-12)
    counts = {(was, now): 0 for was in (False, True) for now in (False, True)}
    for sequence, place, row, column in np.ndindex(5, 6, 3, 4):
        if seen[sequence, row, column]:
            where = sequence, place, row, column
            counts[bool(before[where]), bool(shown[where])] += 1
    nats = 0.0
    for was in (False, True):
        pixels = counts[was, False] + counts[was, True]
        nats += pixels * uncertainty(counts[was, True], pixels)
    assert repeated_loss(before, shown, seen) == pytest.approx(nats / total, rel=1e-12)


def test_the_floor_is_the_score_of_the_mean_frame() -> None:
    for regime in ("balls-4", "balls-6-8", "curtain"):
        problems = drawn(TINY)[regime]
        shown = problems.sequences()[:, 1:]
        seen = visible(problems.latent["curtain"], 12)[:, None]
        share = (shown.sum((0, 1)) / (seen.sum((0, 1)) * 9)).double()
        outputs = torch.logit(share.clamp(1e-4, 1 - 1e-4)).flatten().expand(300, 10, 144)
        found = float(TINY.score(outputs, problems).mean())
        assert TINY.chance(regime) == pytest.approx(found, rel=0.04)
        late = dataclasses.replace(TINY, given=6).chance(regime)
        assert late == pytest.approx(TINY.chance(regime), rel=0.04)
        assert late != TINY.chance(regime)


@pytest.mark.parametrize("ahead", [1, 4])
def test_repeating_frames_costs_what_it_deserves(ahead: int) -> None:
    for regime in ("balls-4", "balls-6-8", "curtain"):
        problems = drawn(TINY)[regime]
        shown = problems.sequences()
        seen = visible(problems.latent["curtain"], 12)[:, None].expand_as(shown[:, ahead:])
        before, after = shown[:, :-ahead].bool(), shown[:, ahead:].double()
        share = torch.where(before, after[before].mean(), after[~before & seen].mean())
        losses = F.binary_cross_entropy(share, after, reduction="none")[seen]
        assert TINY.copy_loss(regime, ahead) == pytest.approx(float(losses.mean()), rel=0.04)
    assert TINY.copy_loss(TRAINING, ahead) == TINY.copy_loss("balls-4", ahead)
    assert TINY.copy_loss("balls-4") < TINY.copy_loss("balls-4", 4) < 1.1 * TINY.chance("balls-4")


@every_cell
def test_samples_are_new_and_of_the_regime(task: BouncingBalls) -> None:
    for regime, (fewest, most) in BALLS[task].items():
        numbers = set(task.sample(regime, 6, stream(0).numpy()).latent["balls"].tolist())
        assert numbers <= set(range(fewest, most + 1))
    for ask in (
        task.copy_loss,
        task.numbers,
        lambda regime: task.made(regime, 5, stream(0).numpy()),
    ):
        with pytest.raises(UnknownNameError, match="unknown regime 'nowhere'"):
            ask("nowhere")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"balls": (0, 4)}, "balls must be an int 1…12, got 0"),
        ({"balls": (5, 4)}, "balls must be an int 5…12, got 4"),
        ({"balls": (4, 13)}, "balls must be an int 4…12, got 13"),
        ({"test_balls": ((8, 6),)}, "test_balls must be an int 8…12, got 6"),
        ({"test_balls": ((4, 4), (4, 4))}, "test_balls must differ from each other"),
        ({"side": 3}, "side must be an int 4…256, got 3"),
        ({"num_frames": 1}, "num_frames must be an int 2…1000, got 1"),
        ({"given": 0}, "given must be an int 1…50, got 0"),
        ({"given": 51}, "given must be an int 1…50, got 51"),
        ({"training_sequences": 0}, "training_sequences must be an int"),
        ({"validation_sequences": 0}, "validation_sequences must be an int"),
        ({"test_sequences": 0}, "test_sequences must be an int"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BouncingBalls(**fields)


def test_bad_outputs_and_lags_are_named() -> None:
    problems = drawn(FOUR)["balls-4"][:2]
    for shape in ((2, 50, 1024), (2, 51, 1000), (1, 51, 1024)):
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, time, outputs\)"):
            FOUR.score(torch.zeros(shape), problems)
    for shape in ((2, 51, 1024), (2, 0, 1024), (1, 36, 1024), (2, 36, 1000)):
        with pytest.raises(ValueError, match=r"outputs must be of \(batch, frames, outputs\)"):
            FOUR.roll_out_scores(torch.zeros(shape), problems)
    with pytest.raises(ValueError, match="ahead must be an int 1…50, got 0"):
        FOUR.copy_loss("balls-4", 0)

"""What becomes of a claim, on records nobody trained."""

import dataclasses
import math

import msgspec
import pytest
from benchmarks.verdicts import Case, normal, outcomes

from farfield.experiments import ByHand, Experiment, Recipe
from farfield.experiments.internal import PredictionNetwork
from farfield.reports import tabulate
from farfield.reproductions import Table, Unpublished, Verdict, VerdictRule, judge
from farfield.reproductions.internal import Confirmation, summarize
from farfield.tasks import Adding, DynamicObjects, GlyphSet
from reproductions import made_up

CELL = made_up.claim(90.0, 0.5)


def verdict(percents, claim=CELL, others=(), **changes):
    return judge(claim, made_up.records(claim, percents, **changes), others).verdict


def test_verdicts_bear_the_words_of_the_design():
    assert [word.value for word in Verdict] == [
        "reproduced",
        "compatible, wide",
        "inconclusive",
        "direction only",
        "not reproduced",
        "underpowered",
        "reached",
        "reached, not confirmed",
        "reached, by hand too",
        "missed",
        "measured",
        "diverged",
        "needs data",
        "not run",
    ]


def test_the_same_number_is_reproduced():
    judgement = judge(CELL, made_up.records(CELL, made_up.spread_out(90.2, 0.5)))
    assert judgement.verdict is Verdict.REPRODUCED
    assert judgement.difference.value == pytest.approx(0.2)
    assert judgement.ours.mean == pytest.approx(90.2)
    assert judgement.ours.standard_error == pytest.approx(0.5)
    assert (judgement.seeds, judgement.fraction) == (10, 1.0)


def test_a_clear_difference_inside_the_margin_is_none():
    tight = made_up.claim(90.0, 0.1)
    judgement = judge(tight, made_up.records(tight, made_up.spread_out(91.0, 0.1)))
    assert judgement.difference.clear
    assert judgement.verdict is Verdict.REPRODUCED
    judgement = judge(CELL, made_up.records(CELL, made_up.spread_out(91.2, 0.05)))
    assert judgement.difference.clear
    assert judgement.difference.interval.high > 2.0
    assert judgement.verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("mean", [86.0, 94.0, 50.0])
def test_a_true_difference_is_called(mean):
    assert verdict(made_up.spread_out(mean, 0.5)) is Verdict.NOT_REPRODUCED


def test_three_seeds_are_underpowered_whatever_they_say():
    for mean in (90.0, 50.0):
        judgement = judge(CELL, made_up.records(CELL, made_up.spread_out(mean, 0.5, 3)))
        assert judgement.verdict is Verdict.UNDERPOWERED
        assert judgement.reason == "3 of 10 networks"
        assert judgement.difference.value == pytest.approx(mean - 90.0)


def test_fewer_steps_are_underpowered_whatever_they_say():
    for mean in (90.0, 50.0):
        records = made_up.records(CELL, made_up.spread_out(mean, 0.5), steps=99)
        judgement = judge(CELL, records)
        assert judgement.verdict is Verdict.UNDERPOWERED
        assert judgement.reason == "99 of 100 steps"
        assert judgement.fraction == 0.99


def test_more_seeds_than_published_are_welcome():
    assert verdict(made_up.spread_out(90.0, 0.5, 30)) is Verdict.REPRODUCED


def test_one_seed_has_no_interval():
    judgement = judge(CELL, made_up.records(CELL, [90.0]))
    assert judgement.verdict is Verdict.UNDERPOWERED
    assert judgement.difference.interval.high == 100.0


def alone(mean: float = 63.0):
    """A cell of which one network was published, without a spread."""
    own = dataclasses.replace(made_up.published(mean, 0.0, runs=1), spread=None)
    return dataclasses.replace(made_up.claim(), published=own)


def test_a_number_without_spread_scatters_as_ours_do():
    claim = alone()
    found = judge(claim, made_up.records(claim, [62.9, 63.0, 63.1]))
    assert found.verdict is Verdict.REPRODUCED
    far = judge(claim, made_up.records(claim, [69.9, 70.0, 70.1]))
    assert far.verdict is Verdict.NOT_REPRODUCED
    assert far.difference.interval.low > 6
    # 63.0 of one network, ours 66.0 with a deviation of 1: t₂ √(1/3 + 1) is 4.97
    near = judge(claim, made_up.records(claim, [65.0, 66.0, 67.0]))
    assert near.verdict is Verdict.INCONCLUSIVE
    assert near.reason == (
        "no clear difference, but known to ±4.97 only, which does not show it within ±2"
    )


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_of_ours_never_judge_a_number_of_one_network(count):
    claim = alone()
    found = judge(claim, made_up.records(claim, [63.0] * count))
    assert found.verdict is Verdict.UNDERPOWERED
    assert found.reason == f"{count} of 3 networks"


@pytest.mark.parametrize(
    "score, reason",
    [
        (0.9935, "mean 0.9935, lower end 0.9935"),
        (0.99329, "mean 0.9932, lower end 0.9932 is below the goal 0.9933"),
    ],
)
def test_a_goal_is_told_to_its_own_digits(score, reason):
    claim = made_up.unpublished()
    own = dataclasses.replace(claim.published, unit="fraction", decimals=(4, 4), goal=0.9933)
    claim = dataclasses.replace(claim, published=own)
    scores = made_up.spread_out(100 * score + 0.0005, 1e-4)
    found = judge(claim, made_up.records(claim, scores)).reason.partition(";")[0]
    assert found == reason


def test_no_record_is_not_run():
    assert judge(CELL, []).verdict is Verdict.NOT_RUN
    assert judge(CELL, [], data_missing=True).verdict is Verdict.NOT_RUN


def test_a_claim_whose_data_is_absent_says_so():
    cell = made_up.claim(data="MNIST")
    assert judge(cell, [], data_missing=True).verdict is Verdict.NEEDS_DATA
    assert judge(cell, [], data_missing=True).reason == "needs MNIST"
    assert judge(cell, []).verdict is Verdict.NOT_RUN
    trained = made_up.records(cell, made_up.spread_out(90.0, 0.5))
    assert judge(cell, trained, data_missing=True).verdict is Verdict.REPRODUCED


def test_cells_without_spread():
    cell = made_up.claim(100.0, 0.0)
    assert verdict([100.0] * 10, cell) is Verdict.REPRODUCED
    assert verdict([99.96] * 10, cell) is Verdict.REPRODUCED
    assert verdict([97.0] * 10, cell) is Verdict.NOT_REPRODUCED
    assert verdict([100.0] * 9 + [60.0], cell) is Verdict.INCONCLUSIVE


def test_wild_scatter_does_not_pass_for_a_quiet_cell():
    cell = made_up.claim(90.0, 0.2)
    noisy = made_up.spread_out(90.0, 10.0)
    assert judge(cell, made_up.records(cell, noisy)).difference.interval.contains(0.0)
    assert verdict(noisy, cell) is Verdict.INCONCLUSIVE
    loud = made_up.claim(90.0, 3.0)
    assert verdict(made_up.spread_out(90.0, 3.0), loud) is Verdict.REPRODUCED


def test_our_noise_does_not_hide_a_difference():
    judgement = judge(CELL, made_up.records(CELL, made_up.spread_out(93.0, 1.5)))
    assert judgement.difference.interval.contains(0.0)
    assert judgement.difference.interval.half_width < 4.0
    assert judgement.verdict is Verdict.INCONCLUSIVE
    far = judge(CELL, made_up.records(CELL, made_up.spread_out(94.0, 1.5)))
    assert far.verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    "error, word",
    [(3.2, Verdict.REPRODUCED), (3.4, Verdict.COMPATIBLE), (12.0, Verdict.COMPATIBLE)],
)
def test_an_interval_wider_than_ten_points_says_too_little(error, word):
    """Half widths are 9.5, 10.1 and 35.7 points."""
    cell = made_up.claim(50.0, error)
    judgement = judge(cell, made_up.records(cell, made_up.spread_out(50.0, error)))
    assert judgement.verdict is word
    if error == 12.0:
        assert judgement.reason == "no clear difference, but known to ±35.7 only, not to ±10"


def of_unknown_kind(mean: float, spread: float, runs: int = 10):
    own = dataclasses.replace(made_up.published(mean, spread, runs), spread_kind="not said")
    return dataclasses.replace(made_up.claim(), published=own)


def test_a_spread_of_unknown_kind_is_judged_as_both():
    """±3 is a standard error of 3, or of 0.95: 5 points are within three of the first alone."""
    cell = of_unknown_kind(70.0, 3.0)
    near, apart = made_up.spread_out(70.5, 1.0), made_up.spread_out(75.0, 1.0)
    agreed = judge(cell, made_up.records(cell, near))
    assert agreed.verdict is Verdict.REPRODUCED
    assert agreed.reason.endswith(
        "; the same whether ± is a standard error or a standard deviation"
    )
    torn = judge(cell, made_up.records(cell, apart))
    assert torn.verdict is Verdict.INCONCLUSIVE
    assert torn.reason == (
        "the paper does not say the kind of ±: reproduced if it is a standard error, not "
        "reproduced if a standard deviation"
    )
    wide, narrow = torn.difference.interval, torn.as_deviation.interval
    assert wide.half_width > 2 * narrow.half_width


def test_networks_of_two_kinds_are_compared_by_the_share_that_solves_the_task():
    """Nine of ten solve it in print, as its mean and spread allow nothing else; three of ours do.

    Fisher's exact test of 3 and 9 of 10 has 0.0198; of 4 and 9 of 10 it has 0.0573.
    """
    cell = made_up.claim(85.5, 2.4)
    low, high = [55.0, 56.0, 57.0, 54.0, 56.0, 55.0], [92.0, 93.0, 94.0]
    judged = judge(cell, made_up.records(cell, [*low, 58.0, *high]))
    assert (judged.kinds.solve, judged.kinds.between, judged.kinds.stay) == (3, 0, 7)
    assert (judged.kinds.published, judged.kinds.runs) == ((9,), 10)
    assert judged.kinds.p == pytest.approx(0.019766611)
    assert judged.verdict is Verdict.NOT_REPRODUCED
    one_more = judge(cell, made_up.records(cell, [*low, *high, 95.0]))
    assert one_more.difference.clear
    assert one_more.verdict is Verdict.INCONCLUSIVE
    assert one_more.reason == (
        "the means differ, the shares not: 4 of 10 networks solve it, by their numbers 9 of 10 "
        "published (Fisher's exact test, p = 0.057)"
    )


def test_where_print_leaves_the_share_open_means_are_compared():
    cell = made_up.claim(72.3, 5.2)
    judged = judge(cell, made_up.records(cell, [100.0] * 9 + [62.0]))
    assert judged.kinds.published == (3, 4, 5, 6)
    assert judged.kinds.p is None
    assert judged.verdict is Verdict.NOT_REPRODUCED
    assert str(judged.kinds) == "9 of 10 networks solve it, by their numbers 3–6 of 10 published"


@pytest.mark.parametrize(
    "percents, two",
    [
        ([100.0, 100.0, 100.0, 50.0], False),  # too few networks
        ([100.0, 100.0, 100.0, 100.0, 50.0], True),
        ([84.0, 84.0, 84.0, 84.0, 66.0], True),
        ([83.0, 83.0, 83.0, 83.0, 50.0], False),  # none in the last third
        ([100.0, 100.0, 100.0, 100.0, 67.0], False),  # none in the first
        ([100.0, 100.0, 75.0, 50.0, 45.0], True),
        ([100.0, 75.0, 75.0, 50.0, 45.0], False),  # two of five in between
    ],
)
def test_networks_are_of_two_kinds_by_a_rule(percents, two):
    cell = made_up.unpublished()
    judged = judge(cell, made_up.records(cell, percents))
    assert (judged.kinds is not None) is two


def test_no_difference_is_larger_than_the_range_of_scores():
    judged = judge(CELL, made_up.records(CELL, [90.0]))
    assert (judged.difference.interval.low, judged.difference.interval.high) == (-100.0, 100.0)


def test_what_differs_is_not_compatible_however_wide():
    cell = made_up.claim(20.0, 8.0)
    assert verdict(made_up.spread_out(80.0, 8.0), cell) is Verdict.NOT_REPRODUCED


def test_a_rule_accepts_no_more_than_a_tenth_of_the_range():
    own = dataclasses.replace(CELL.published, mean=0.9, spread=0.1, unit="fraction")
    with pytest.raises(ValueError, match=r"must be at most 0\.1, a tenth of the range, got 10"):
        dataclasses.replace(CELL, published=own)
    rule = VerdictRule(margin=0.02, widest=0.1)
    assert dataclasses.replace(CELL, published=own, rule=rule).rule is rule


GOAL = made_up.unpublished(goal=99.5)
NEITHER = "10 of the 20 networks of a star, no row by hand has run, no confirmation is named"
BY_HAND = dataclasses.replace(
    made_up.unpublished(),
    row="By hand",
    experiment=dataclasses.replace(GOAL.experiment, model=ByHand(), recipe=Recipe(steps=1)),
)


def by_hand(*percents: float):
    """The row by hand beside a goal, with its records."""
    return BY_HAND, made_up.records(BY_HAND, percents, steps=1)


FAILING = by_hand(99.4, 99.5)


@pytest.mark.parametrize(
    "percents, word, reason",
    [
        (
            made_up.spread_out(99.7, 0.05),
            Verdict.UNCONFIRMED,
            f"mean 99.70, lower end 99.58; not confirmed: {NEITHER}",
        ),
        (
            [100.0] * 10,
            Verdict.UNCONFIRMED,
            f"mean 100.00, 10 of 10 networks pass: at least 74 % do; not confirmed: {NEITHER}",
        ),
        (
            made_up.spread_out(99.7, 0.1),
            Verdict.MISSED,
            "mean 99.70, lower end 99.47 is below the goal 99.5",
        ),
        (
            [99.498] * 10,
            Verdict.MISSED,
            "mean 99.49, lower end 99.49 is below the goal 99.5",
        ),
        ([100.0] * 9, Verdict.UNDERPOWERED, "9 of 10 networks"),
    ],
)
def test_a_goal_is_reached_by_the_whole_interval(percents, word, reason):
    judgement = judge(GOAL, made_up.records(GOAL, percents))
    assert (judgement.verdict, judgement.reason) == (word, reason)
    assert judgement.difference is None


def test_a_goal_is_not_reached_at_the_floor():
    low = made_up.unpublished(goal=45.0)
    found = judge(low, made_up.records(low, made_up.spread_out(52.0, 1.5)))
    assert found.verdict is Verdict.MISSED
    assert found.reason == "mean 52.00, lower end 48.60 is not past the floor 50.00"
    assert verdict(made_up.spread_out(54.0, 1.5), low) is Verdict.UNCONFIRMED


@pytest.mark.parametrize(
    "errors, word, reason",
    [
        (
            [0.5, 0.6, 0.7],
            Verdict.UNCONFIRMED,
            f"mean 0.0060, upper end 0.0085; not confirmed: {NEITHER.replace('10', '3')}",
        ),
        (
            [0.5, 0.6, 1.0],
            Verdict.MISSED,
            "mean 0.0070, upper end 0.0136 is above the goal 0.01",
        ),
        ([2.0, 2.0, 2.0], Verdict.MISSED, "mean 0.0200, upper end 0.0200 is above the goal 0.01"),
    ],
)
def test_a_goal_for_an_error_is_a_largest_error(errors, word, reason):
    claim = objects(goal=0.01)
    judgement = judge(claim, made_up.records(claim, errors))
    assert (judgement.verdict, judgement.reason) == (word, reason)


def objects(goal: float):
    """A cell about the error of predicted frames."""
    own = Unpublished(
        runs=3, selection="last step", split="test", decimals=(4, 4), unit="fraction", goal=goal
    )
    task = DynamicObjects(num_frames=3)
    experiment = Experiment(
        task=task, model=PredictionNetwork(), recipe=Recipe(steps=made_up.STEPS)
    )
    return dataclasses.replace(
        CELL, published=own, experiment=experiment, metric="mse", regime="width-13-31", free=()
    )


def test_a_goal_for_an_error_is_better_than_the_floor():
    claim = objects(goal=0.5)
    floor = claim.floor
    assert verdict([90 * floor, 91 * floor, 92 * floor], claim) is Verdict.UNCONFIRMED
    assert verdict([101 * floor, 102 * floor, 103 * floor], claim) is Verdict.MISSED


def test_a_goal_of_all_is_a_rate_with_its_bound():
    claim = made_up.unpublished(goal=100.0)
    found = judge(claim, of_problems(made_up.records(claim, [100.0] * 10), 40))
    assert found.reason.startswith(
        "mean 100.00, 10 of 10 networks pass: at least 74 % do; "
        "400 problems without a miss allow misses in 0.75 %; not confirmed"
    )


def of_problems(records, count):
    """The records with scores over so many problems."""
    return [
        msgspec.structs.replace(
            record,
            scores=tuple(msgspec.structs.replace(score, count=count) for score in record.scores),
        )
        for record in records
    ]


def with_confirmation(by: str | int):
    """A goal, confirmed by a cell on five withheld images fewer, or by seeds."""
    frozen = Confirmation(by=by, recipe=GOAL.recipe_digest)
    return dataclasses.replace(
        GOAL, published=dataclasses.replace(GOAL.published, confirmation=frozen)
    )


OTHER = dataclasses.replace(
    made_up.claim(row="Ours", withheld=95), published=made_up.unpublished(goal=99.5).published
)


@pytest.mark.parametrize(
    "first, second, lack",
    [
        ([99.9] * 20, [99.8] * 20, ""),
        ([99.9] * 10, [99.8] * 20, "10 of the 20 networks of a star"),
        ([99.9] * 20, [99.8] * 19, "ours/withheld-95: 19 of the 20 networks of a star"),
        ([99.9] * 20, [], "ours/withheld-95 not run"),
        (
            [99.9] * 20,
            [99.4] * 20,
            "ours/withheld-95: mean 99.40, lower end 99.40 is below the goal 99.5",
        ),
    ],
)
def test_a_star_takes_a_cell_that_confirms_it(first, second, lack):
    claim = with_confirmation("ours/withheld-95")
    table = Table(key="webb2021/table-9", title="", claims=(claim, OTHER, BY_HAND))
    runs = [
        (claim, made_up.records(claim, first)),
        (OTHER, made_up.records(OTHER, second)),
        FAILING,
    ]
    judgement = judge(claim, runs[0][1], runs)
    assert judgement.verdict is (Verdict.UNCONFIRMED if lack else Verdict.REACHED)
    assert judgement.reason.partition("; ")[2] == (
        f"not confirmed: {lack}" if lack else "confirmed"
    )
    assert judge(OTHER, runs[1][1], runs).verdict is not Verdict.REACHED
    found = {one.name: records for one, records in runs}
    report = tabulate(table, lambda one: found[one.name])
    assert report.rows[0].judgement == judgement


def test_a_confirmation_that_diverged_or_was_cut_short_is_none():
    claim = with_confirmation("ours/withheld-95")
    own = made_up.records(claim, [99.9] * 20)
    broken = made_up.diverged(made_up.records(OTHER, [99.9] * 20), seed=3, step=20)
    found = judge(claim, own, [(OTHER, broken), FAILING])
    assert found.reason.endswith("not confirmed: ours/withheld-95: seed 3 at step 20")
    short = made_up.records(OTHER, [99.9] * 20, steps=made_up.STEPS // 2)
    found = judge(claim, own, [(OTHER, short), FAILING])
    assert found.reason.endswith("not confirmed: ours/withheld-95: 50 of 100 steps")


@pytest.mark.parametrize(
    "percents, lack",
    [
        ([99.9] * 30, ""),
        ([99.9] * 29, "seeds from 10: 19 of the 20 networks of a star"),
        ([99.9] * 10, "10 of the 20 networks of a star, seeds from 10 not run"),
        (
            [100.0] * 20 + [99.2] * 10,
            "seeds from 10: mean 99.60, lower end 99.40 is below the goal 99.5",
        ),
    ],
)
def test_a_star_takes_new_seeds_that_confirm_it(percents, lack):
    claim = with_confirmation(10)
    judgement = judge(claim, made_up.records(claim, percents), [FAILING])
    assert judgement.verdict is (Verdict.UNCONFIRMED if lack else Verdict.REACHED)
    assert judgement.reason.partition("; ")[2] == (
        f"not confirmed: {lack}" if lack else "confirmed"
    )


@pytest.mark.parametrize("seconds, word", [(601, Verdict.REACHED), (600, Verdict.UNCONFIRMED)])
def test_ten_networks_make_a_star_where_one_takes_over_ten_minutes(seconds, word):
    claim = with_confirmation(10)
    records = [
        msgspec.structs.replace(record, seconds=float(seconds))
        for record in made_up.records(claim, [99.9] * 20)
    ]
    assert judge(claim, records, [FAILING]).verdict is word


def test_a_goal_that_is_reached_by_hand_gets_no_star():
    claim = with_confirmation(10)
    judgement = judge(claim, made_up.records(claim, [99.9] * 30), [by_hand(100.0, 99.0)])
    assert judgement.verdict is Verdict.BY_HAND
    assert judgement.reason.endswith("30 of 30 networks pass: at least 90 % do; by hand 99.50")


def test_the_best_of_several_rows_by_hand_counts():
    search = dataclasses.replace(
        BY_HAND,
        row="By hand, search",
        experiment=dataclasses.replace(BY_HAND.experiment, model=ByHand(rule="by_search")),
    )
    claim = with_confirmation(10)
    records = made_up.records(claim, [99.9] * 30)
    beside = [FAILING, (search, made_up.records(search, [99.8, 99.8], steps=1))]
    for order in (beside, beside[::-1]):
        judgement = judge(claim, records, order)
        assert judgement.verdict is Verdict.BY_HAND
        assert judgement.reason.endswith("by hand 99.80")


def test_a_goal_for_an_error_is_reached_by_hand_below_it():
    claim, rule = (
        dataclasses.replace(
            objects(goal=0.01),
            experiment=dataclasses.replace(GOAL.experiment, task=Adding(), model=model),
            row=row,
            regime="terms-4",
        )
        for row, model in (("Ours", GOAL.experiment.model), ("By hand", ByHand()))
    )
    for error, word in ((0.9, Verdict.BY_HAND), (1.1, Verdict.UNCONFIRMED)):
        beside = [(rule, made_up.records(rule, [error] * 2))]
        assert verdict([0.5, 0.6, 0.7], claim, beside) is word


def learning(claim, training: float):
    """The judgement on ten networks with that accuracy in training."""
    records = [
        msgspec.structs.replace(
            record,
            scores=[
                msgspec.structs.replace(score, value=training)
                if (score.regime, score.metric) == ("training", "accuracy")
                else score
                for score in record.scores
            ],
        )
        for record in made_up.records(claim, [99.9] * 10)
    ]
    return judge(claim, records)


@pytest.mark.parametrize("training, share", [(0.5, 0.0), (0.74, 0.48), (0.75, 0.5)])
@pytest.mark.parametrize("metric", ["accuracy", "accuracy/relational"])
def test_networks_that_learned_less_than_half_are_not_trained(training, share, metric):
    judgement = learning(dataclasses.replace(GOAL, metric=metric), training)
    assert judgement.learned == pytest.approx(share)
    assert judgement.untrained == (share < 0.5)


def test_nothing_is_said_on_training_by_hand_or_beside_print_or_in_another_metric():
    assert judge(BY_HAND, by_hand(99.9, 99.9)[1]).learned is None
    assert learning(CELL, 0.5).learned is None
    assert learning(dataclasses.replace(GOAL, metric="loss"), 0.5).learned is None


def test_a_confirmation_is_of_a_frozen_recipe():
    claim = with_confirmation("ours/withheld-95")
    changed = dataclasses.replace(claim.experiment, recipe=Recipe(steps=made_up.STEPS + 1))
    with pytest.raises(ValueError, match=r"must be of its model and recipe, which are .* now, got"):
        dataclasses.replace(claim, experiment=changed)
    other = dataclasses.replace(OTHER, experiment=made_up.claim(hidden_size=7).experiment)
    easier = dataclasses.replace(OTHER, published=dataclasses.replace(OTHER.published, goal=99.0))
    printed = made_up.claim(row="Ours", withheld=95)
    itself = with_confirmation("ours/withheld-98")
    for cells in ([claim], [claim, other], [claim, easier], [claim, printed], [itself]):
        with pytest.raises(ValueError, match="must be a cell of its table with the same goal"):
            Table(key="webb2021/table-9", title="", claims=tuple(cells))
    with pytest.raises(ValueError, match="goal must be a number beside a confirmation"):
        dataclasses.replace(claim.published, goal=None)
    with pytest.raises(ValueError, match="confirmation must be by seeds from 10 on, got 9"):
        with_confirmation(9)


def test_other_images_leave_what_confirms_as_it_is():
    claim = with_confirmation("ours/withheld-95")
    fixed = dataclasses.replace(OTHER, free=())
    table = Table(key="webb2021/table-9", title="", claims=(claim, fixed))
    shown = table.with_task(shapes=GlyphSet.letters())
    assert shown.claims[0].experiment.task.shapes == GlyphSet.letters()
    assert shown.claims[1] is fixed


@pytest.mark.parametrize("goal", [-1.0, 101.0])
def test_a_goal_is_a_possible_score(goal):
    with pytest.raises(ValueError, match=r"goal of .* must lie in 0…100 \(percent\)"):
        made_up.unpublished(goal=goal)


@pytest.mark.parametrize("claim", [CELL, GOAL, made_up.unpublished()])
def test_a_network_that_diverged_is_named_and_left_out_of_the_mean(claim):
    records = made_up.diverged(
        made_up.records(claim, [90.0] * 3 + [0.0] + [90.0] * 6), seed=3, step=20
    )
    judgement = judge(claim, records)
    assert judgement.verdict is Verdict.DIVERGED
    assert judgement.reason == "seed 3 at step 20"
    assert judgement.diverged == ((3, 20),)
    assert (judgement.seeds, judgement.ours.count) == (10, 9)
    assert judgement.ours.mean == pytest.approx(90.0)


def test_where_all_networks_diverged_there_is_no_mean():
    records = made_up.diverged(made_up.records(CELL, [0.0]), seed=0, step=1)
    judgement = judge(CELL, records)
    assert judgement.verdict is Verdict.DIVERGED
    assert (judgement.ours, judgement.difference, judgement.seeds) == (None, None, 1)
    with pytest.raises(ValueError, match="values must be one number per network"):
        summarize(CELL, records)


def test_an_order_against_a_row_that_diverged_does_not_hold():
    cells, runs = column((90.0, 0.5), (50.0, 0.5), (50.0, 0.5))
    broken = (cells[1], made_up.diverged(runs[1][1], seed=9, step=7))
    judgement = judge(*runs[0], [runs[0], broken, runs[2]])
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    assert judgement.reason == "differs; LSTM diverged"


def test_a_number_without_print_or_goal_is_measured():
    bare = made_up.unpublished()
    judgement = judge(bare, made_up.records(bare, made_up.spread_out(71.0, 0.5)))
    assert judgement.verdict is Verdict.MEASURED
    assert judgement.ours.mean == pytest.approx(71.0)
    short = made_up.records(bare, [71.0] * 10, steps=made_up.STEPS // 2)
    assert judge(bare, short).verdict is Verdict.UNDERPOWERED


def test_the_published_order_is_not_asked_of_a_row_without_print():
    far = made_up.claim(60.0, 0.5, row="RN + TCN", hidden_size=3)
    bare = made_up.unpublished(row="CoRelNet + TCN", hidden_size=4)
    others = [
        (far, made_up.records(far, made_up.spread_out(60.0, 0.5))),
        (bare, []),
    ]
    judgement = judge(CELL, made_up.records(CELL, made_up.spread_out(80.0, 0.5)), others)
    assert judgement.verdict is Verdict.DIRECTION_ONLY


def test_a_score_that_is_no_number_is_that_of_a_network_that_diverged():
    judgement = judge(CELL, made_up.records(CELL, [90.0] * 9 + [math.nan]))
    assert judgement.verdict is Verdict.DIVERGED
    assert judgement.reason == "seed 9 at step 100"


def column(*means_and_errors):
    """A made-up column of 100, 60 and 60.5 percent, with records of the given means."""
    cells = [
        made_up.claim(100.0, 0.0, row="ESBN", hidden_size=1),
        made_up.claim(60.0, 1.0, row="LSTM", hidden_size=2),
        made_up.claim(60.5, 1.0, row="NTM", hidden_size=3),
    ]
    return cells, [
        (cell, made_up.records(cell, made_up.spread_out(mean, error)))
        for cell, (mean, error) in zip(cells, means_and_errors, strict=True)
    ]


def test_the_order_alone_is_direction_only():
    cells, runs = column((90.0, 0.5), (50.0, 0.5), (50.0, 0.5))
    judgement = judge(*runs[0], runs)
    assert judgement.verdict is Verdict.DIRECTION_ONLY
    assert judgement.reason == "differs, but the order against 2 rows holds"
    # LSTM and NTM are not clearly apart as published, so only ESBN counts for either.
    assert judge(*runs[1], runs).verdict is Verdict.DIRECTION_ONLY


def test_one_row_out_of_order_is_not_reproduced():
    cells, runs = column((90.0, 0.5), (50.0, 0.5), (95.0, 0.5))
    judgement = judge(*runs[0], runs)
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    assert judgement.reason == "differs, and the order against NTM fails"


def test_an_order_that_is_not_clear_does_not_hold():
    cells, runs = column((80.0, 5.0), (78.0, 5.0), (50.0, 5.0))
    assert judge(*runs[0], runs).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("keep, steps", [(0, 100), (3, 100), (10, 50)])
def test_the_order_needs_the_other_rows_in_full(keep, steps):
    cells, runs = column((90.0, 0.5), (50.0, 0.5), (50.0, 0.5))
    short = made_up.records(cells[1], made_up.spread_out(50.0, 0.5), steps=steps)[:keep]
    judgement = judge(*runs[0], [runs[0], (cells[1], short), runs[2]])
    assert judgement.verdict is Verdict.NOT_REPRODUCED
    assert judgement.reason == "differs; LSTM was not run in full"


def test_the_order_is_that_of_one_column():
    cells, runs = column((90.0, 0.5), (50.0, 0.5), (50.0, 0.5))
    elsewhere = made_up.claim(60.0, 1.0, row="LSTM", hidden_size=2, withheld=95)
    wrong_way = made_up.records(elsewhere, made_up.spread_out(99.0, 0.1))
    assert judge(*runs[0], [(elsewhere, wrong_way)]).verdict is Verdict.NOT_REPRODUCED
    assert judge(*runs[0], [*runs, (elsewhere, wrong_way)]).verdict is Verdict.DIRECTION_ONLY


def test_records_that_do_not_belong_are_refused():
    ten = made_up.records(CELL, [90.0] * 10)
    other = made_up.claim(hidden_size=7)
    with pytest.raises(ValueError, match="must be of one experiment"):
        judge(CELL, [*ten, *made_up.records(other, [90.0], first_seed=10)])
    with pytest.raises(ValueError, match="different seeds"):
        judge(CELL, [*ten, ten[0]])
    with pytest.raises(ValueError, match=r"must be of its experiment, got another"):
        judge(CELL, made_up.records(other, [90.0] * 10))
    longer = [msgspec.structs.replace(record, steps=101) for record in ten]
    with pytest.raises(ValueError, match=r"at most 100, got \[101\]"):
        judge(CELL, longer)
    mixed = [*ten[:9], msgspec.structs.replace(ten[9], steps=50)]
    with pytest.raises(ValueError, match=r"got \[50, 100\]"):
        judge(CELL, mixed)


def test_the_score_is_that_of_the_regime_at_the_last_step():
    assert summarize(CELL, made_up.records(CELL, [80.0, 82.0])).mean == pytest.approx(81.0)


@pytest.mark.parametrize("name", ["margin", "noise", "reach", "widest", "confidence"])
@pytest.mark.parametrize("value", [0, math.inf, math.nan, None, "2", True])
def test_rules_refuse_nonsense(unchecked, name, value):
    message = f"{name} must be a finite number above 0( and below 1)?, got {value!r}"
    with pytest.raises(ValueError, match=message):
        VerdictRule(**{name: value})


def test_rules_refuse_certainty():
    with pytest.raises(ValueError, match=r"confidence must be .* below 1, got 1"):
        VerdictRule(confidence=1.0)


# Operating characteristics: ten networks on either side, print rounded to one decimal.


def shares(standard_error: float, difference: float, trials: int) -> dict[str, float]:
    """Shares of made-up reproductions by what is said of them."""
    deviation = standard_error * math.sqrt(10)
    ours = normal(50.0 + difference, deviation)
    return outcomes(Case("made up", normal(50.0, deviation), ours), trials)


@pytest.mark.parametrize(
    "standard_error, most", [(0.1, 0.0), (0.3, 0.02), (0.5, 0.06), (1.0, 0.06), (5.0, 0.06)]
)
def test_noise_is_not_called(standard_error, most):
    assert shares(standard_error, 0.0, trials=2000)["different"] <= most


@pytest.mark.parametrize("standard_error", [0.1, 0.5, 1.0, 5.0])
def test_true_differences_are_called(standard_error):
    found = shares(standard_error, max(3.0, 6 * standard_error), trials=1000)
    assert found["different"] >= 0.95


@pytest.mark.parametrize("standard_error", [0.1, 1.0, 2.0])
def test_where_networks_scatter_little_the_same_is_reproduced(standard_error):
    assert shares(standard_error, 0.0, trials=1000)["reproduced"] >= 0.92


@pytest.mark.parametrize("standard_error, difference", [(5.0, 0.0), (8.0, 0.0), (12.0, 30.0)])
def test_where_networks_scatter_widely_nothing_is_reproduced(standard_error, difference):
    assert shares(standard_error, difference, trials=1000)["reproduced"] <= 0.03


@pytest.mark.parametrize("standard_error", [1.0, 3.0, 4.0, 6.0])
def test_a_true_difference_of_twenty_points_is_hardly_ever_reproduced(standard_error):
    assert shares(standard_error, 20.0, trials=1000)["reproduced"] <= 0.01


def test_networks_of_one_print_are_not_called_different_from_their_own_kind():
    alike = Case("one network", normal(50.0, 1.0), normal(50.0, 1.0), runs=1)
    assert outcomes(alike, 2000)["different"] <= 0.05

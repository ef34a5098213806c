"""Figures of chapters 4, 6 and 8 of lamb2022, and figures without a published counterpart."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._differences import rule_effects
from farfield.reports._exhibits._exhibit import figure
from farfield.reports._exhibits._images import generated_images
from farfield.reports._exhibits._layers import flattening, nearest_neighbors
from farfield.reports._exhibits._mechanisms import activation_over_time, filmstrips
from farfield.reports._exhibits._planes import decision_boundaries, decision_surfaces
from farfield.reports._exhibits._roll_outs import roll_outs
from farfield.reports._exhibits._routing import layer_reads
from farfield.reports._exhibits._scores import skill_by_regime
from farfield.reports._exhibits._sweeps import dormant_phases
from farfield.reports._exhibits._time_courses import time_courses
from farfield.reproductions import TABLES
from farfield.reproductions.lamb2022 import PAPER
from farfield.tasks import TRAINING, VALIDATION, Copying
from farfield.tasks.internal import UNLABELLED

BALLS: Final = TABLES["lamb2022/bouncing-balls"]
COPYING: Final = TABLES["lamb2022/copying"]
FLATTENING: Final = TABLES["lamb2022/flattening"]
MECHANISMS_AND_RULES: Final = TABLES["lamb2022/mechanisms-and-rules"]
MIXUP_NARROW: Final = TABLES["lamb2022/mixup-narrow"]
MIXUP_TABLE_1A: Final = TABLES["lamb2022/mixup-table-1a"]
NFM_GAN_NARROW: Final = TABLES["lamb2022/nfm-gan-narrow"]
NFM_GAN_OVER_TRAINING: Final = TABLES["lamb2022/nfm-gan-over-training"]
NFM_IMAGES_NARROW: Final = TABLES["lamb2022/nfm-images-narrow"]
PICKING_NARROW: Final = TABLES["lamb2022/object-picking-narrow"]
SPIRALS: Final = TABLES["lamb2022/spirals"]
TWO_MOONS: Final = TABLES["lamb2022/two-moons"]
SINGULAR, SINGULAR_VALUES = PAPER.numbers("singular-values.tsv")
_, NEIGHBORS = PAPER.numbers("neighbors.tsv")
SHOWINGS: Final = "showings-"
"""Prefix of groups whose tests vary the showings."""
TASK: Final = COPYING.claims[0].experiment.task
assert isinstance(TASK, Copying)  # noqa: S101 — for the type checker
RECALLED: Final = (TASK.length - TASK.dormant) // 2
"""Symbols read before the dormant phase, and recalled after it."""

FIGURE_2: Final = figure(
    "lamb2022/figure-2",
    "Which mechanisms are active in the copying task",
    COPYING.select("rims-*/dormant-200").claims,
    activation_over_time(
        regime=VALIDATION,
        reading=(0, RECALLED),
        dormant=(RECALLED, RECALLED + TASK.dormant - 1),
    ),
    says={"differing": "“distinct during the dormant part of the sequence” (Figure 2)"},
    quick_networks=2,
)
"""Figure on sequences of the length of training, as in the paper."""

FIGURE_3: Final = figure(
    "lamb2022/figure-3",
    "Bouncing balls rolled out from 15 frames",
    BALLS.claims,
    roll_outs(shown=(15, 16, 18, 21, 27, 36, 51)),
    says={
        "4-balls/balls-4/cross-entropy": "“RIMs perform better than the LSTMs” (Figure 3)",
        "*/cross-entropy": "“substantially better out-of-distribution generalization of RIMs” "
        "(Figure 3)",
    },
    quick_networks=1,
)
"""Four plots of bouncing balls, with both LSTMs of the text; the fifth plot shows another task."""

DORMANT_PHASES: Final = figure(
    "lamb2022/dormant-phases",
    "Recall in the copying task after every length of the dormant phase",
    (
        claim
        for row in ("ntm", "rims-5-2-500", "gru-600", "holding-rnn")
        for claim in COPYING.select(f"{row}/dormant-200").claims
    ),
    dormant_phases(lengths=tuple(range(20, 181)), trained=TASK.dormant),
    quick_networks=1,
)
"""Figure without a published counterpart: lost recall may return after longer phases."""

SPIRAL: Final = figure(
    "lamb2022/mixup-figures-1-2",
    "A spiral through a bottleneck of two units",
    SPIRALS.claims,
    decision_surfaces(layer="core.layers.2"),
    says={
        "manifold-mixup/hidden": "“broader regions of low-confidence predictions” (Figure 1)",
        "input-mixup/hidden": "“does produce regions of low confidence” (Figure 2)",
        "no-mixup/hidden": "“assigned a prediction with very high confidence” (section 4.1)",
    },
    quick_networks=1,
)

BOUNDARIES: Final = figure(
    "lamb2022/ict-figure-1",
    "Boundaries between two moons with three labels a class",
    TWO_MOONS.select("*/supervised/*", "*/ict/*").claims,
    decision_boundaries(unlabelled=UNLABELLED),
    quick_networks=1,
)

FLAT: Final = figure(
    "lamb2022/singular-values",
    "Singular values of the classes of MNIST at the first hidden layer",
    FLATTENING.claims,
    flattening(layers=(("core.layers.0", "first hidden layer"),), regime="test"),
    says={
        f"{row.lower().replace(' ', '-')}/core.layers.0/{quantity}": f"{value} (section 4.3.2)"
        for row, values in SINGULAR_VALUES.items()
        for quantity, value in zip(SINGULAR, values, strict=True)
    },
    quick_networks=5,
)
"""Singular values grow with the root of the number of images, which the text does not say."""

NEIGHBORS_OF: Final = figure(
    "lamb2022/nearest-neighbors",
    "Nearest neighbors on features of CIFAR-10",
    MIXUP_TABLE_1A.select(
        *(f"error/preactresnet18-{row}/*" for row in ("no-mixup", "input-mixup", "manifold-mixup"))
    ).claims,
    nearest_neighbors(layer="core.pool", regime="test", k=5),
    says={
        f"PreActResNet18, {row}": f"{error} (section 4.5.1)" for row, (error,) in NEIGHBORS.items()
    },
    quick_networks=1,
)
"""Number of neighbors (k = 5): chosen by Farfield, as the text names none."""

NEIGHBORS_NARROW: Final = figure(
    "lamb2022/nearest-neighbors-narrow",
    "Nearest neighbors on features of narrow networks, JPEG copies of CIFAR-10",
    MIXUP_NARROW.select("no-mixup/test", "input-mixup-*/test", "manifold-mixup-α-=-2/test").claims,
    nearest_neighbors(layer="core.pool", regime="test", k=5),
    quick_networks=3,
)

SAMPLES: Final = figure(
    "lamb2022/nfm-gan-samples",
    "Digits that narrow GANs make over training",
    (*NFM_GAN_OVER_TRAINING.claims, *NFM_GAN_NARROW.select("fid/*").claims),
    generated_images(),
    quick_networks=1,
)
"""Figure without a published counterpart: images, to check the scores of a judge by eye."""


READS: Final = figure(
    "lamb2022/nfm-reads",
    "Which layers neural function modules read, narrow networks, JPEG copies of CIFAR-10",
    NFM_IMAGES_NARROW.select("nfm-*/test").claims,
    layer_reads(regime="test"),
    quick_networks=3,
)
"""Figure without a published counterpart: the paper does not name the layers that are read."""

AGENTS: Final = figure(
    "lamb2022/agents-narrow",
    "Agents in small rooms: learning, and the mechanisms that are active",
    PICKING_NARROW.select("*/training").claims,
    time_courses(level=0.9, metric="success"),
    filmstrips(regime=TRAINING),
    quick_networks=3,
)
"""Learning curves as in Figure 4, and an episode."""

EFFECTS: Final = figure(
    "lamb2022/rules-by-mechanism",
    "Changes by learning rules in six mechanisms on six small tasks",
    [claim for claim in MECHANISMS_AND_RULES.claims if not claim.group.startswith(SHOWINGS)],
    rule_effects(baseline="plain"),
    quick_networks=5,
)
"""Figure without a published counterpart: tasks where a rule generalizes further, or harms."""

EFFECTS_ON_SHOWINGS: Final = figure(
    "lamb2022/rules-by-showing",
    "Mechanisms under learning rules where no image is shown twice",
    MECHANISMS_AND_RULES.select(f"{SHOWINGS}*/noise-16-shift-2-size-15-turn-15").claims,
    skill_by_regime(panels={"": "trained on identical showings"}),
    quick_networks=1,
)
"""Figure without a published counterpart: the rules in all variations of showings."""

FIGURES: Final = (
    FIGURE_2,
    FIGURE_3,
    DORMANT_PHASES,
    SPIRAL,
    BOUNDARIES,
    FLAT,
    NEIGHBORS_OF,
    NEIGHBORS_NARROW,
    SAMPLES,
    READS,
    AGENTS,
    EFFECTS,
    EFFECTS_ON_SHOWINGS,
)
"""Figures of the paper and further figures, in order."""

"""Suites of tasks that a module of one's own is trained on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, final

from farfield.experiments import Experiment, ScoringNetwork, Spec
from farfield.objectives import EarlyStopping, Objective, Supervised
from farfield.reproductions import TABLES, Budget, Claim
from farfield.tasks.internal import domains_of

_TABLE_9, _BEYOND, _VARIANTS = "webb2021/table-9", "webb2021/beyond", "webb2021/variants"
_HANDS = "webb2021/handwriting"
_VARIATIONS, _COMBINED = "webb2021/variations", "noise-16-shift-2-size-15-turn-15"
_MATRICES, _KMNIST = "gondal2021/table-2-generated", "lamb2022/mixup-narrow-kmnist"
_RMTS, _DISTRIBUTION = "relational-match-to-sample", "distribution-of-three"
_ADDING, _LONGER, _MORE = (
    "lstm-600/validation", ("length-200", "length-1000"), ("terms-3", "terms-4")
)  # fmt: skip
_NARROW, _REGIONS = "lamb2022/domains-narrow", "lamb2022/domains-vaec"
_STATE, _SERIES, _SETS = "lamb2022/state", "lamb2022/series", "lamb2022/algorithms"
_OBJECTS = "webb2021/objects"
_RECURRENT = (
    "as torch.nn.LSTM with batch_first: forward(x) gives (outputs, state) for "
    "x (batch, time, input_size), and it has hidden_size"
)
_SET = (
    "; or keeps the shape of a set (batch, element, num_features), read at once, and has "
    "num_features"
)


@final
@dataclass(frozen=True)
class Item:
    """One task of a suite, with the recipe that a recorded mechanism was trained by.

    Args:
        subject: The task, for headings; items with the same subject are points of one profile.
        table: Key of the table in which mechanisms were trained on it.
        cell: Name of the cell whose task, recipe, encoder and context the user's module gets.
        regimes: Names of the regimes to show; all if there are none.
        budget: Share of the table's steps.
        of: Prefix of the names of recorded mechanisms.
    """

    subject: str
    table: str
    cell: str
    regimes: tuple[str, ...] = ()
    budget: Budget = Budget.PAPER
    of: str = ""

    @property
    def name(self) -> str:
        """Unique name, e.g. `webb2021/table-9/esbn+tcn/withheld-85`."""
        return f"{self.table}/{self.cell}"

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Cells of its table."""
        return TABLES[self.table].claims

    @cached_property
    def experiment(self) -> Experiment:
        """Experiment of its cell."""
        return TABLES[self.table].cells[self.cell].at(self.budget)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the regimes to show."""
        return self.regimes or tuple(regime.name for regime in self.experiment.regimes)

    def field_of(self, part: str) -> str:
        """Return the field of its network for a part: a network of candidates has a scorer.

        Args:
            part: Which part of the network a module is, e.g. `"reasoner"`.
        """
        scores = part == "reasoner" and isinstance(self.experiment.model, ScoringNetwork)
        return "scorer" if scores else part

    def experiment_with(self, part: str, own: Spec | Objective) -> Experiment:
        """Build the experiment of its cell with another module or another learning rule.

        A module is trained by the task's loss. A choice over steps stays. A step has as many
        problems as in the cell.

        Args:
            part: Which part of the network a module is, e.g. `"reasoner"`.
            own: Spec of the module, or the learning rule.
        """
        cell, model, recipe = self.experiment, self.experiment.model, self.experiment.recipe
        rule = Supervised() if isinstance(own, Spec) else own
        if isinstance(own, Spec):
            model = dataclasses.replace(model, **{self.field_of(part): own})  # type: ignore[type-var]
        if getattr(rule, "by_domain", False):
            domains = len(domains_of(cell.task))
            recipe = dataclasses.replace(recipe, batch_size=max(1, recipe.batch_size // domains))
        if isinstance(cell.objective, EarlyStopping):
            rule = dataclasses.replace(cell.objective, objective=rule)
        return dataclasses.replace(cell, model=model, objective=rule, recipe=recipe)


@final
@dataclass(frozen=True, kw_only=True)
class Suite:
    """Tasks that one kind of module can learn.

    Args:
        about: The question, in a line.
        part: Part of the network that the user's module is.
        reads: How it is called, in a line.
        seeds: Networks to train on each task, where no number is asked for.
        items: The tasks.
        compares_rules: Whether the recorded mechanisms are learning rules, so that a rule of the
            user's can be one.
    """

    about: str
    part: Literal["reasoner", "core"]
    reads: str
    seeds: int
    items: tuple[Item, ...]
    compares_rules: bool = False


def _by_group(table: str, cell: str) -> tuple[Item, ...]:
    """List an item for each group of a table, with the cell of that name."""
    groups = dict.fromkeys(claim.group for claim in TABLES[table].claims)
    return tuple(Item(group, table, f"{group}/{cell}") for group in groups)


SUITES: Final[dict[str, Suite]] = {
    "relational": Suite(
        about="Same or different, and by which rule, with images withheld from training",
        part="reasoner",
        reads="forward(z) gives (batch, num_outputs) for z (batch, time, in_features)",
        seeds=5,
        items=(
            Item("same-different", _TABLE_9, "esbn+tcn/withheld-85", ("withheld-85",)),
            Item("same-different", _TABLE_9, "esbn+tcn/withheld-95", ("withheld-95",)),
            Item("same-different", _TABLE_9, "esbn+tcn/withheld-98", ("withheld-98",)),
            Item(_RMTS, _BEYOND, f"{_RMTS}/esbn-conv+tcn/withheld-95"),
            Item("distribution-of-three", _BEYOND, f"{_DISTRIBUTION}/esbn-conv+tcn/withheld-95"),
            Item("identity-rules", _BEYOND, "identity-rules/esbn-conv+tcn/withheld-95"),
            Item("all-same, 6 images", _VARIANTS, "all-same-6/esbn+tcn/withheld-90"),
            Item("triple-match-to-sample", _VARIANTS, "triples/esbn+tcn/withheld-90"),
            Item(
                "distribution-of-n, n = 8", _VARIANTS, "distribution-of-8/corelnet+tcn/withheld-90"
            ),
            Item("identity-rules-middle", _VARIANTS, "middle/esbn+tcn/withheld-95"),
            Item("tinted-same-different", _VARIANTS, "tinted/esbn+tcn/tint-kept"),
        ),
    ),
    "grids": Suite(
        about="Do two pairs of colored grids follow one rule, with other tasks, colors and sizes",
        part="reasoner",
        reads="forward(z) gives (batch, num_outputs) for z (batch, time, in_features)",
        seeds=2,
        items=(Item("same rule", "webb2021/grids", "corelnet/new-tasks"),),
    ),
    "objects": Suite(
        about="Relations of several objects in one picture, in other sizes, shapes and numbers",
        part="reasoner",
        reads=(
            "forward(z) gives (batch, num_outputs) for slots z (batch, time, in_features): "
            "content, then position"
        ),
        seeds=1,
        items=tuple(
            Item(group, _OBJECTS, f"{group}/corelnet+tcn/{test}")
            for group, test in {
                "same-different": "withheld-50",
                "match-to-sample": "withheld-50",
                "svrt-1": "test",
                "svrt-4": "test",
                "svrt-22": "test",
            }.items()
        ),
    ),
    "varied": Suite(
        about="Rules over images, where noise, shift, size, turn, light, font and hand vary",
        part="reasoner",
        reads="forward(z) gives (batch, num_outputs) for z (batch, time, in_features)",
        seeds=2,
        items=(
            *(
                Item(rule, _VARIATIONS, f"varied-{rule}/corelnet+tcn/{_COMBINED}")
                for rule in ("same-different", _RMTS)
            ),
            *(
                Item(f"{rule}, handwriting", _HANDS, f"{rule}/corelnet+tcn/noise-16-shift-2-font")
                for rule in ("same-different", _RMTS)
            ),
        ),
    ),
    "sequence": Suite(
        about="Long sequences: hold inputs, and add them up",
        part="core",
        reads=_RECURRENT,
        seeds=3,
        items=(
            Item("adding, longer", "lamb2022/adding", _ADDING, ("validation", *_LONGER)),
            Item("adding, more terms", "lamb2022/adding", _ADDING, ("validation", *_MORE)),
            Item("copying", "lamb2022/copying", "lstm-600/dormant-200", budget=Budget.QUICK),
        ),
    ),
    "state": Suite(
        about="The 15 tasks of the Chomsky hierarchy: strings to 40, asked at 41 to 500 and 10,000",
        part="core",
        reads=_RECURRENT,
        seeds=1,
        items=_by_group(_STATE, "lstm/length-41-500"),
    ),
    "algorithms": Suite(
        about="Five algorithms over sets of 1 to 16 elements, asked of 17 to 32 and of 100",
        part="core",
        reads=_RECURRENT + _SET,
        seeds=1,
        items=_by_group(_SETS, "lstm/length-17-32"),
    ),
    "series": Suite(
        about="Nine real sets of series, shifted in the tests: amplitude, offset, speed, lateness",
        part="core",
        reads=_RECURRENT,
        seeds=3,
        items=_by_group(_SERIES, "lstm/unchanged"),
    ),
    "domains": Suite(
        about="Several training domains, one withheld: colored and rotated digits, regions of VAEC",
        part="core",
        reads="forward(x) gives (batch, num_outputs) for x (batch, channel, height, width)",
        seeds=2,
        items=(
            *(
                Item(f"{kind} digits", _NARROW, f"{kind}/erm/{test}", (test,))
                for kind, tests in {
                    "colored": ("plus-90", "plus-80", "minus-90"),
                    "rotated": ("rotation-0", "rotation-75"),
                }.items()
                for test in tests
            ),
            Item("VAEC, two regions", _REGIONS, "erm/region-3"),
        ),
        compares_rules=True,
    ),
    "set": Suite(
        about="Progressive matrices: which panel completes one, with values withheld in training",
        part="core",
        reads="forward(z) keeps the shape (batch, element, num_features); has num_features",
        seeds=2,
        items=tuple(
            Item(f"matrices, {name}", _MATRICES, f"{name}/vit+tcn/validation", budget=Budget.QUICK)
            for name in ("neutral", "interpolation", "extrapolation", "triples")
        ),
    ),
    "image": Suite(
        about="Images of characters, deformed and attacked as never in training",
        part="core",
        reads="forward(x) gives (batch, num_outputs) for x (batch, channel, height, width)",
        seeds=3,
        items=tuple(
            Item(
                f"K-MNIST, {how}", _KMNIST, "no-mixup/test", ("test", *regimes), of="PreActResNet, "
            )
            for how, regimes in {
                "rotated": ("rotation-20-test", "rotation-40-test"),
                "sheared": ("shear-28.6-test", "shear-57.3-test"),
                "shrunk": ("zoom-0.8-test", "zoom-0.6-test"),
                "enlarged": ("zoom-1.2-test", "zoom-1.4-test"),
                "attacked": ("fgsm-0.0313725-test", "pgd-7-0.0313725-test"),
            }.items()
        ),
    ),
}
"""Suites by their names on the command line."""

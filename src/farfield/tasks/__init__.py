"""The problems: graded benchmarks that know of no model."""

from farfield.tasks._distribution_of_three import DistributionOfThree as DistributionOfThree
from farfield.tasks._identity_rules import IdentityRules as IdentityRules
from farfield.tasks._relational_match_to_sample import (
    RelationalMatchToSample as RelationalMatchToSample,
)
from farfield.tasks._same_different import SameDifferent as SameDifferent
from farfield.tasks._shapes import Shapes as Shapes
from farfield.tasks._task import TRAINING as TRAINING
from farfield.tasks._task import Regime as Regime
from farfield.tasks._task import Task as Task

TASKS: dict[str, type] = {
    "same-different": SameDifferent,
    "relational-match-to-sample": RelationalMatchToSample,
    "distribution-of-three": DistributionOfThree,
    "identity-rules": IdentityRules,
}
"""Every task, by its name on the command line."""

__all__ = [
    "TASKS",
    "TRAINING",
    "DistributionOfThree",
    "IdentityRules",
    "Regime",
    "RelationalMatchToSample",
    "SameDifferent",
    "Shapes",
    "Task",
]

"""Former names of exhibits, which were classes; they go in the next release."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Final

FORMER: Final = {
    "ActivationCurves": "_layers.activation_curves",
    "ActivationOverTime": "_mechanisms.activation_over_time",
    "AgainstColumns": "_scores.against_columns",
    "ConstantsByLayer": "_layers.constants_by_layer",
    "DecisionBoundaries": "_planes.decision_boundaries",
    "DecisionSurfaces": "_planes.decision_surfaces",
    "DormantPhases": "_sweeps.dormant_phases",
    "EmbeddingsByDimension": "_representations.embeddings_by_dimension",
    "Filmstrips": "_mechanisms.filmstrips",
    "Flattening": "_layers.flattening",
    "FunctionsRemoved": "_sweeps.functions_removed",
    "Generalization": "_scores.generalization",
    "GeneratedImages": "_images.generated_images",
    "IterationsAtTest": "_sweeps.iterations_at_test",
    "KeysByPlace": "_representations.keys_by_position",
    "LayerReads": "_routing.layer_reads",
    "NearestNeighbors": "_layers.nearest_neighbors",
    "PairedTests": "_differences.paired_tests",
    "ResponsePairs": "_layers.response_pairs",
    "Restorations": "_images.restorations",
    "RollOuts": "_roll_outs.roll_outs",
    "RoutingPaths": "_routing.routing_paths",
    "RuleEffects": "_differences.rule_effects",
    "ScoredMatrix": "_images.scored_matrix",
    "ScoresBySetting": "_scores.scores_by_setting",
    "TimeCourses": "_time_courses.time_courses",
    "TypesByIteration": "_routing.types_by_iteration",
}
"""File and function of each former class of `farfield.reports`."""


def former(find: Callable[[str], object]) -> Callable[[str], object]:
    """Make the `__getattr__` of `farfield.reports`: a former class is a function, with a warning.

    Args:
        find: Finds all other former names.
    """

    def found(name: str) -> object:
        if name not in FORMER:
            return find(name)
        file, _, function = FORMER[name].partition(".")
        warnings.warn(
            f"farfield.reports.{name} is no class any more; the next release drops the name: "
            "write an exhibit with a method `plate`, or take a figure's from FIGURES",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(f"farfield.reports._exhibits.{file}"), function)

    return found

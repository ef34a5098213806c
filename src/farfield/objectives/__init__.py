"""Learning rules as pure losses."""

from farfield.objectives._activation_l1 import ActivationL1 as ActivationL1
from farfield.objectives._augmented import Augmented as Augmented
from farfield.objectives._centred_l1 import CentredL1 as CentredL1
from farfield.objectives._objective import Objective as Objective
from farfield.objectives._predicting_embeddings import (
    PredictingEmbeddings as PredictingEmbeddings,
)
from farfield.objectives._reconstructing import Reconstructing as Reconstructing
from farfield.objectives._supervised import Supervised as Supervised

OBJECTIVES: dict[str, type] = {
    "activation-l1": ActivationL1,
    "augmented": Augmented,
    "centred-l1": CentredL1,
    "predicting-embeddings": PredictingEmbeddings,
    "reconstructing": Reconstructing,
    "supervised": Supervised,
}
"""Every objective, by its name on the command line."""

__all__ = [
    "OBJECTIVES",
    "ActivationL1",
    "Augmented",
    "CentredL1",
    "Objective",
    "PredictingEmbeddings",
    "Reconstructing",
    "Supervised",
]

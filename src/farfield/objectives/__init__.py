"""Learning rules as pure losses."""

from farfield._exports import face
from farfield.objectives._adversarial_dropout import VAdD as VAdD
from farfield.objectives._adversarial_training import AdversarialTraining as AdversarialTraining
from farfield.objectives._augmentation import Augmented as Augmented
from farfield.objectives._augmentation import CropAndFlip as CropAndFlip
from farfield.objectives._augmentation import Cutout as Cutout
from farfield.objectives._consistency import PiModel as PiModel
from farfield.objectives._consistency import TemporalEnsembling as TemporalEnsembling
from farfield.objectives._domains import CORAL as CORAL
from farfield.objectives._domains import IRM as IRM
from farfield.objectives._domains import GroupDRO as GroupDRO
from farfield.objectives._domains import VREx as VREx
from farfield.objectives._hinge import HingeDiscriminator as HingeDiscriminator
from farfield.objectives._hinge import HingeGenerator as HingeGenerator
from farfield.objectives._mixup import ManifoldMixup as ManifoldMixup
from farfield.objectives._mixup import Mixup as Mixup
from farfield.objectives._neighbors import SNTG as SNTG
from farfield.objectives._objective import Bound as Bound
from farfield.objectives._objective import Objective as Objective
from farfield.objectives._objective import Update as Update
from farfield.objectives._penalties import ActivationL1 as ActivationL1
from farfield.objectives._penalties import CenteredL1 as CenteredL1
from farfield.objectives._ppo import PPO as PPO
from farfield.objectives._pseudo_labels import FixMatch as FixMatch
from farfield.objectives._pseudo_labels import FreeMatch as FreeMatch
from farfield.objectives._rainbow_iqn import RainbowIQN as RainbowIQN
from farfield.objectives._sequences import CarriedState as CarriedState
from farfield.objectives._sequences import PredictingEmbeddings as PredictingEmbeddings
from farfield.objectives._sequences import Reconstructing as Reconstructing
from farfield.objectives._supervised import LabelSmoothing as LabelSmoothing
from farfield.objectives._supervised import Supervised as Supervised
from farfield.objectives._teachers import ICT as ICT
from farfield.objectives._teachers import MeanTeacher as MeanTeacher
from farfield.objectives._vat import VAT as VAT
from farfield.objectives._weight_averages import SWA as SWA
from farfield.objectives._weight_averages import SWAD as SWAD
from farfield.objectives._weight_averages import EarlyStopping as EarlyStopping

OBJECTIVES: dict[str, type] = {
    "activation-l1": ActivationL1,
    "adversarial-training": AdversarialTraining,
    "augmented": Augmented,
    "carried-state": CarriedState,
    "centered-l1": CenteredL1,
    "coral": CORAL,
    "crop-and-flip": CropAndFlip,
    "cutout": Cutout,
    "early-stopping": EarlyStopping,
    "fixmatch": FixMatch,
    "freematch": FreeMatch,
    "group-dro": GroupDRO,
    "hinge-discriminator": HingeDiscriminator,
    "hinge-generator": HingeGenerator,
    "ict": ICT,
    "irm": IRM,
    "label-smoothing": LabelSmoothing,
    "manifold-mixup": ManifoldMixup,
    "mean-teacher": MeanTeacher,
    "mixup": Mixup,
    "pi-model": PiModel,
    "predicting-embeddings": PredictingEmbeddings,
    "reconstructing": Reconstructing,
    "sntg": SNTG,
    "supervised": Supervised,
    "swa": SWA,
    "swad": SWAD,
    "temporal-ensembling": TemporalEnsembling,
    "vadd": VAdD,
    "vat": VAT,
    "vrex": VREx,
}
"""Objectives of tasks with problems, by name on the command line."""

__all__ = face(vars())

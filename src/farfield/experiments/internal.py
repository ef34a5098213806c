"""Names of `farfield.experiments` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.experiments._describe import arrays_of as arrays_of
from farfield.experiments._describe import describe as describe
from farfield.experiments._describe import names_of_others as names_of_others
from farfield.experiments._describe import public_path as public_path
from farfield.experiments._describe import restore as restore
from farfield.experiments._experiment import ChangesNetwork as ChangesNetwork
from farfield.experiments._experiment import source_of_value as source_of_value
from farfield.experiments._image_networks import Judge as Judge
from farfield.experiments._image_networks import LoadedNetwork as LoadedNetwork
from farfield.experiments._image_networks import MapNetwork as MapNetwork
from farfield.experiments._networks import Architecture as Architecture
from farfield.experiments._networks import AutoencoderNetwork as AutoencoderNetwork
from farfield.experiments._networks import ForSomeTasks as ForSomeTasks
from farfield.experiments._networks import PredictionNetwork as PredictionNetwork
from farfield.experiments._networks import RollOutNetwork as RollOutNetwork
from farfield.experiments._objects import array_digest as array_digest
from farfield.experiments._optimizers import check_parts as check_parts
from farfield.experiments._owners import is_of_the_user as is_of_the_user
from farfield.experiments._owners import is_ours as is_ours
from farfield.experiments._search import ScoredTrial as ScoredTrial
from farfield.experiments._search import Trial as Trial
from farfield.experiments._spec import TASK_ARGUMENTS as TASK_ARGUMENTS
from farfield.experiments._spec import field_of as field_of
from farfield.experiments._spec import with_field as with_field

__all__ = exported(vars())

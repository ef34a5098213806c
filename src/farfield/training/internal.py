"""Names of `farfield.training` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.training._agent import OneAgent as OneAgent
from farfield.training._batches import Batches as Batches
from farfield.training._evaluate import encode_all as encode_all
from farfield.training._evaluate import problems_of_run as problems_of_run
from farfield.training._evaluate import score_problems as score_problems
from farfield.training._learner import Learner as Learner
from farfield.training._networks import complete_runs as complete_runs
from farfield.training._networks import trained_weights as trained_weights
from farfield.training._one_network import OneNetwork as OneNetwork
from farfield.training._progress import Clock as Clock
from farfield.training._progress import Progress as Progress
from farfield.training._progress import curve_steps as curve_steps
from farfield.training._repeatable import Inputs as Inputs
from farfield.training._repeatable import changed_inputs as changed_inputs
from farfield.training._repeatable import words_of as words_of
from farfield.training._settings import Matmul as Matmul
from farfield.training._stack import Stack as Stack
from farfield.training._stack import vmap_error as vmap_error

__all__ = exported(vars())

"""Execution of experiments: in processes, as one program on a GPU, on a cluster, or here."""

from farfield._exports import face
from farfield.execution._clusters import Ray as Ray
from farfield.execution._clusters import Slurm as Slurm
from farfield.execution._executors import Here as Here
from farfield.execution._executors import Stacked as Stacked
from farfield.execution._job import ExecutionError as ExecutionError
from farfield.execution._order import Executor as Executor
from farfield.execution._order import Finished as Finished
from farfield.execution._processes import Processes as Processes
from farfield.execution._progress import Display as Display
from farfield.execution._run import jobs_of as jobs_of
from farfield.execution._run import results as results
from farfield.execution._run import run as run
from farfield.execution._verify import verify as verify
from farfield.training.internal import vmap_error as vmap_error

__all__ = face(vars())

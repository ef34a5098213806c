"""Where experiments run: here, or in one process per core."""

from farfield.execution._allocator import keep_freed_memory as keep_freed_memory
from farfield.execution._here import run_one as run_one
from farfield.execution._here import run_stack as run_stack
from farfield.execution._job import ExecutionError as ExecutionError
from farfield.execution._job import Job as Job
from farfield.execution._job import News as News
from farfield.execution._job import WorkerError as WorkerError
from farfield.execution._run import check_machine as check_machine
from farfield.execution._run import jobs_of as jobs_of
from farfield.execution._run import results as results
from farfield.execution._run import run as run
from farfield.training import why_not_stacked as why_not_stacked

__all__ = [
    "ExecutionError",
    "Job",
    "News",
    "WorkerError",
    "check_machine",
    "jobs_of",
    "keep_freed_memory",
    "results",
    "run",
    "run_one",
    "run_stack",
    "why_not_stacked",
]

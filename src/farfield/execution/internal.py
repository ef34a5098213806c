"""Names of `farfield.execution` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.execution._executors import keep_freed_memory as keep_freed_memory
from farfield.execution._job import Job as Job
from farfield.execution._job import News as News
from farfield.execution._job import WorkerError as WorkerError
from farfield.execution._job import check_machine as check_machine
from farfield.execution._order import Failed as Failed
from farfield.execution._order import Order as Order
from farfield.execution._order import train_order as train_order
from farfield.execution._pace import Trial as Trial
from farfield.execution._pace import cost_kind as cost_kind
from farfield.execution._pace import trial as trial
from farfield.execution._progress import UnderWay as UnderWay
from farfield.execution._progress import runs_under_way as runs_under_way
from farfield.execution._progress import unreadable_progress as unreadable_progress
from farfield.execution._verify import Verification as Verification
from farfield.execution._verify import draw_share as draw_share

__all__ = exported(vars())

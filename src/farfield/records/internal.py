"""Names of `farfield.records` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.records._environment import missing_commits as missing_commits
from farfield.records._files import JSON as JSON
from farfield.records._files import BusyError as BusyError
from farfield.records._files import DamageWarning as DamageWarning
from farfield.records._files import from_tensors as from_tensors
from farfield.records._files import pack_tensors as pack_tensors
from farfield.records._files import read_tensors as read_tensors
from farfield.records._files import set_aside as set_aside
from farfield.records._files import to_tensors as to_tensors
from farfield.records._files import unpack_tensors as unpack_tensors
from farfield.records._files import write_tensors as write_tensors
from farfield.records._files import write_whole as write_whole
from farfield.records._record import DIVERGED as DIVERGED
from farfield.records._record import in_words as in_words
from farfield.records._record import score_rows as score_rows
from farfield.records._record import scores_frame as scores_frame

__all__ = exported(vars())

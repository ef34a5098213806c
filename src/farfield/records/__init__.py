"""Records of finished runs, and the folder that stores them."""

from farfield._exports import exported
from farfield.records._environment import environment as environment
from farfield.records._environment import missing_commits as missing_commits
from farfield.records._files import JSON as JSON
from farfield.records._files import BusyError as BusyError
from farfield.records._files import DamageWarning as DamageWarning
from farfield.records._files import StoreError as StoreError
from farfield.records._files import from_tensors as from_tensors
from farfield.records._files import pack_tensors as pack_tensors
from farfield.records._files import read_tensors as read_tensors
from farfield.records._files import set_aside as set_aside
from farfield.records._files import to_tensors as to_tensors
from farfield.records._files import unpack_tensors as unpack_tensors
from farfield.records._files import write_tensors as write_tensors
from farfield.records._files import write_whole as write_whole
from farfield.records._record import DIVERGED as DIVERGED
from farfield.records._record import Record as Record
from farfield.records._record import Score as Score
from farfield.records._record import frame as frame
from farfield.records._record import in_words as in_words
from farfield.records._record import score_rows as score_rows
from farfield.records._record import scores_frame as scores_frame
from farfield.records._store import Store as Store
from farfield.records._store import selection_of as selection_of
from farfield.records._store import trials_frame as trials_frame

__all__ = exported(vars())

"""Records of finished runs, and the folder that stores them."""

from farfield._exports import face
from farfield.records._environment import environment as environment
from farfield.records._files import StoreError as StoreError
from farfield.records._record import Record as Record
from farfield.records._record import Score as Score
from farfield.records._record import frame as frame
from farfield.records._store import Store as Store
from farfield.records._store import selection_of as selection_of
from farfield.records._store import trials_frame as trials_frame

__all__ = face(vars())

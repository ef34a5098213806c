"""Shared foundations: random streams, problems, errors, citations."""

import gc

import torch  # noqa: F401 — before what is below

from farfield._exports import face

if not gc.get_freeze_count():
    # Puts off the full collection that is due after torch, and takes as long as all imports here.
    gc.freeze()
    gc.unfreeze()

from farfield._citations import Reference as Reference
from farfield._errors import FarfieldError as FarfieldError
from farfield.core._argument_texts import ARGUMENTS as ARGUMENTS
from farfield.core._arguments import ArgumentError as ArgumentError
from farfield.core._networks import tap_layers as tap_layers
from farfield.core._problems import Problems as Problems
from farfield.core._streams import Stream as Stream
from farfield.core._streams import stream as stream

__all__ = face(vars())

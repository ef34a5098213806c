"""Names of `farfield.nn` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.nn._encoders._planes import Placement as Placement
from farfield.nn._nfm._multi_pass import LayerRead as LayerRead

__all__ = exported(vars())

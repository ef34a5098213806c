"""Names of `farfield.core` for Farfield itself; they may change in any release."""

from farfield._citations import REFERENCES as REFERENCES
from farfield._errors import UnknownNameError as UnknownNameError
from farfield._errors import lacks_memory as lacks_memory
from farfield._exports import exported
from farfield._files import expand_home as expand_home
from farfield._files import file_digest as file_digest
from farfield._files import file_stamp as file_stamp
from farfield._files import is_settled as is_settled
from farfield._files import open_regular as open_regular
from farfield._files import read_regular as read_regular
from farfield._files import writable_place as writable_place
from farfield._machine import num_cores as num_cores
from farfield._text import excerpt as excerpt
from farfield._text import printable as printable
from farfield.core._arguments import Depth as Depth
from farfield.core._arguments import Dropout as Dropout
from farfield.core._arguments import Fraction as Fraction
from farfield.core._arguments import FractionBelowOne as FractionBelowOne
from farfield.core._arguments import Kind as Kind
from farfield.core._arguments import Limits as Limits
from farfield.core._arguments import NonNegativeFloat as NonNegativeFloat
from farfield.core._arguments import NonNegativeInt as NonNegativeInt
from farfield.core._arguments import PositiveFloat as PositiveFloat
from farfield.core._arguments import PositiveInt as PositiveInt
from farfield.core._arguments import Size as Size
from farfield.core._arguments import check_arguments as check_arguments
from farfield.core._arguments import check_fields as check_fields
from farfield.core._arguments import extend_arguments as extend_arguments
from farfield.core._arguments import hints_of as hints_of
from farfield.core._arguments import is_instance as is_instance
from farfield.core._arguments import kind_of as kind_of
from farfield.core._json import from_line as from_line
from farfield.core._json import to_line as to_line
from farfield.core._networks import EncodesItems as EncodesItems
from farfield.core._networks import EncodesWithPart as EncodesWithPart
from farfield.core._networks import HasMixingLayers as HasMixingLayers
from farfield.core._networks import call_with as call_with
from farfield.core._networks import first_names as first_names
from farfield.core._networks import floating_dtype as floating_dtype
from farfield.core._networks import keeps_numbers as keeps_numbers
from farfield.core._networks import layer_by_name as layer_by_name
from farfield.core._pictures import PICTURES as PICTURES
from farfield.core._pictures import read_picture as read_picture
from farfield.core._pictures import strict_pictures as strict_pictures
from farfield.core._pictures import upright as upright
from farfield.core._pictures import upright_size as upright_size
from farfield.core._problems import UNASKED as UNASKED
from farfield.core._problems import LazyItems as LazyItems
from farfield.core._problems import RaggedItems as RaggedItems
from farfield.core._problems import joined as joined
from farfield.core._streams import Generator as Generator
from farfield.core._streams import forked_generators as forked_generators
from farfield.core._streams import reseed as reseed
from farfield.core._streams import seed_generators as seed_generators

__all__ = exported(vars())

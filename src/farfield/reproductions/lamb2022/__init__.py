"""Claims of lamb2022: mixup, interpolation consistency, recurrent mechanisms, NFM."""

from farfield.reproductions.lamb2022._ablations import ABLATIONS as ABLATIONS
from farfield.reproductions.lamb2022._ablations import ABLATIONS_DIGITS as ABLATIONS_DIGITS
from farfield.reproductions.lamb2022._adding import ADDING as ADDING
from farfield.reproductions.lamb2022._balls import BALLS as BALLS
from farfield.reproductions.lamb2022._beyond import BEYOND as BEYOND
from farfield.reproductions.lamb2022._control import FIGURE_4 as FIGURE_4
from farfield.reproductions.lamb2022._control import FIGURE_5 as FIGURE_5
from farfield.reproductions.lamb2022._control import PICKING as PICKING
from farfield.reproductions.lamb2022._control import PICKING_VALUES as PICKING_VALUES
from farfield.reproductions.lamb2022._control import TABLE_3 as TABLE_3
from farfield.reproductions.lamb2022._control_narrow import PICKING_BEYOND as PICKING_BEYOND
from farfield.reproductions.lamb2022._control_narrow import PICKING_NARROW as PICKING_NARROW
from farfield.reproductions.lamb2022._copying import COPYING as COPYING
from farfield.reproductions.lamb2022._copying import TABLE_1_COPYING as TABLE_1_COPYING
from farfield.reproductions.lamb2022._digits import TABLE_1_DIGITS as TABLE_1_DIGITS
from farfield.reproductions.lamb2022._dispute import DISPUTE as DISPUTE
from farfield.reproductions.lamb2022._elsewhere import MIXUP_ELSEWHERE as MIXUP_ELSEWHERE
from farfield.reproductions.lamb2022._ict import ICT_ABLATIONS as ICT_ABLATIONS
from farfield.reproductions.lamb2022._ict import ICT_TABLE_1 as ICT_TABLE_1
from farfield.reproductions.lamb2022._ict import ICT_TABLE_2 as ICT_TABLE_2
from farfield.reproductions.lamb2022._ict import ICT_TABLE_3 as ICT_TABLE_3
from farfield.reproductions.lamb2022._mechanisms import (
    MECHANISMS_AND_RULES as MECHANISMS_AND_RULES,
)
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_1A as MIXUP_TABLE_1A
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_1B as MIXUP_TABLE_1B
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_2 as MIXUP_TABLE_2
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_3 as MIXUP_TABLE_3
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_4 as MIXUP_TABLE_4
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_5 as MIXUP_TABLE_5
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_6 as MIXUP_TABLE_6
from farfield.reproductions.lamb2022._mixup import MIXUP_TABLE_7 as MIXUP_TABLE_7
from farfield.reproductions.lamb2022._mixup import MIXUP_TEXT as MIXUP_TEXT
from farfield.reproductions.lamb2022._narrow import FLATTENING as FLATTENING
from farfield.reproductions.lamb2022._narrow import ICT_NARROW as ICT_NARROW
from farfield.reproductions.lamb2022._narrow import MIXUP_NARROW as MIXUP_NARROW
from farfield.reproductions.lamb2022._narrow import MIXUP_NARROW_KMNIST as MIXUP_NARROW_KMNIST
from farfield.reproductions.lamb2022._nfm_beyond import NFM_BEYOND as NFM_BEYOND
from farfield.reproductions.lamb2022._nfm_gan import NFM_GAN_NARROW as NFM_GAN_NARROW
from farfield.reproductions.lamb2022._nfm_gan import (
    NFM_GAN_OVER_TRAINING as NFM_GAN_OVER_TRAINING,
)
from farfield.reproductions.lamb2022._nfm_gan import NFM_GAN_TEXT as NFM_GAN_TEXT
from farfield.reproductions.lamb2022._nfm_gan import NFM_TABLE_4 as NFM_TABLE_4
from farfield.reproductions.lamb2022._nfm_images import NFM_TABLE_2 as NFM_TABLE_2
from farfield.reproductions.lamb2022._nfm_images import NFM_TABLE_9 as NFM_TABLE_9
from farfield.reproductions.lamb2022._nfm_images import NFM_TEXT_IMAGES as NFM_TEXT_IMAGES
from farfield.reproductions.lamb2022._nfm_images_narrow import (
    NFM_IMAGES_NARROW as NFM_IMAGES_NARROW,
)
from farfield.reproductions.lamb2022._nfm_objects import NFM_TABLE_5 as NFM_TABLE_5
from farfield.reproductions.lamb2022._nfm_objects import NFM_TABLE_6 as NFM_TABLE_6
from farfield.reproductions.lamb2022._nfm_objects import NFM_TABLE_7 as NFM_TABLE_7
from farfield.reproductions.lamb2022._nfm_objects import NFM_TEXT as NFM_TEXT
from farfield.reproductions.lamb2022._nfm_objects_narrow import (
    NFM_CLEVR_NARROW as NFM_CLEVR_NARROW,
)
from farfield.reproductions.lamb2022._nfm_objects_narrow import (
    NFM_DIGITS_NARROW as NFM_DIGITS_NARROW,
)
from farfield.reproductions.lamb2022._nfm_text import NFM_TABLE_8 as NFM_TABLE_8
from farfield.reproductions.lamb2022._one_layer import ONE_LAYER as ONE_LAYER
from farfield.reproductions.lamb2022._plane import SPIRALS as SPIRALS
from farfield.reproductions.lamb2022._plane import TWO_MOONS as TWO_MOONS
from farfield.reproductions.lamb2022._print_mixup import NEIGHBORS as NEIGHBORS
from farfield.reproductions.lamb2022._print_mixup import SINGULAR_VALUES as SINGULAR_VALUES
from farfield.reproductions.lamb2022._statements import STATEMENTS as STATEMENTS

TABLES = (
    MIXUP_TABLE_1A,
    MIXUP_TABLE_1B,
    MIXUP_TABLE_2,
    MIXUP_TABLE_3,
    MIXUP_TABLE_4,
    MIXUP_TABLE_5,
    MIXUP_TABLE_6,
    MIXUP_TABLE_7,
    MIXUP_TEXT,
    SPIRALS,
    FLATTENING,
    MIXUP_NARROW,
    MIXUP_NARROW_KMNIST,
    MIXUP_ELSEWHERE,
    MECHANISMS_AND_RULES,
    ICT_TABLE_1,
    ICT_TABLE_2,
    ICT_TABLE_3,
    ICT_ABLATIONS,
    TWO_MOONS,
    ICT_NARROW,
    NFM_TABLE_4,
    NFM_GAN_TEXT,
    NFM_GAN_NARROW,
    NFM_GAN_OVER_TRAINING,
    TABLE_1_COPYING,
    TABLE_1_DIGITS,
    COPYING,
    DISPUTE,
    ABLATIONS,
    ABLATIONS_DIGITS,
    ADDING,
    BALLS,
    FIGURE_4,
    PICKING,
    PICKING_NARROW,
    PICKING_VALUES,
    PICKING_BEYOND,
    FIGURE_5,
    TABLE_3,
    BEYOND,
    ONE_LAYER,
    NFM_TABLE_5,
    NFM_TABLE_6,
    NFM_TABLE_7,
    NFM_TEXT,
    NFM_TABLE_8,
    NFM_DIGITS_NARROW,
    NFM_CLEVR_NARROW,
    NFM_BEYOND,
    NFM_TABLE_2,
    NFM_TABLE_9,
    NFM_TEXT_IMAGES,
    NFM_IMAGES_NARROW,
)
"""Every table of claims, and selections from them."""

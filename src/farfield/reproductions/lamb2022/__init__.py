"""Claims of chapter 8 of lamb2022, Recurrent Independent Mechanisms."""

from farfield.reproductions.lamb2022._ablations import ABLATIONS as ABLATIONS
from farfield.reproductions.lamb2022._ablations import ABLATIONS_DIGITS as ABLATIONS_DIGITS
from farfield.reproductions.lamb2022._adding import ADDING as ADDING
from farfield.reproductions.lamb2022._balls import BALLS as BALLS
from farfield.reproductions.lamb2022._beyond import BEYOND as BEYOND
from farfield.reproductions.lamb2022._copying import COPYING as COPYING
from farfield.reproductions.lamb2022._copying import TABLE_1_COPYING as TABLE_1_COPYING
from farfield.reproductions.lamb2022._digits import TABLE_1_DIGITS as TABLE_1_DIGITS
from farfield.reproductions.lamb2022._dispute import DISPUTE as DISPUTE
from farfield.reproductions.lamb2022._statements import STATEMENTS as STATEMENTS

"""Claims of webb2020, Learning Representations that Support Extrapolation."""

from farfield.reproductions.webb2020._beyond import BEYOND as BEYOND
from farfield.reproductions.webb2020._figures import FIGURE_S1 as FIGURE_S1
from farfield.reproductions.webb2020._figures import FIGURE_S2 as FIGURE_S2
from farfield.reproductions.webb2020._figures import FIGURE_S3 as FIGURE_S3
from farfield.reproductions.webb2020._figures import FIGURE_S4 as FIGURE_S4
from farfield.reproductions.webb2020._figures import FIGURE_S5 as FIGURE_S5
from farfield.reproductions.webb2020._figures import FIGURE_S6 as FIGURE_S6
from farfield.reproductions.webb2020._figures import FIGURE_S7 as FIGURE_S7
from farfield.reproductions.webb2020._figures import FIGURE_S8 as FIGURE_S8
from farfield.reproductions.webb2020._objects import TABLE_4 as TABLE_4
from farfield.reproductions.webb2020._statements import STATEMENTS as STATEMENTS
from farfield.reproductions.webb2020._tables import TABLE_1 as TABLE_1
from farfield.reproductions.webb2020._tables import TABLE_1_POOLED as TABLE_1_POOLED
from farfield.reproductions.webb2020._tables import TABLE_1_RELEASED as TABLE_1_RELEASED
from farfield.reproductions.webb2020._tables import TABLE_2 as TABLE_2
from farfield.reproductions.webb2020._tables import TABLE_2_MULTIPLIED as TABLE_2_MULTIPLIED
from farfield.reproductions.webb2020._tables import TABLE_2_POOLED as TABLE_2_POOLED
from farfield.reproductions.webb2020._tables import TABLE_2_RELEASED as TABLE_2_RELEASED
from farfield.reproductions.webb2020._tables import TABLE_S1 as TABLE_S1
from farfield.reproductions.webb2020._visual_analogies import TABLE_3 as TABLE_3
from farfield.reproductions.webb2020._visual_analogies import TABLE_3_GENERATED as TABLE_3_GENERATED

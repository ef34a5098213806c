"""Claims of gondal2021, Neural Interpreters."""

from farfield.reproductions.gondal2021._beyond import BEYOND as BEYOND
from farfield.reproductions.gondal2021._digits import DIGITS as DIGITS
from farfield.reproductions.gondal2021._digits import FIGURE_3 as FIGURE_3
from farfield.reproductions.gondal2021._digits import FIGURE_4 as FIGURE_4
from farfield.reproductions.gondal2021._digits import FIGURE_5A as FIGURE_5A
from farfield.reproductions.gondal2021._digits import FIGURE_5B as FIGURE_5B
from farfield.reproductions.gondal2021._digits import FIGURE_5C as FIGURE_5C
from farfield.reproductions.gondal2021._digits import FIGURE_6 as FIGURE_6
from farfield.reproductions.gondal2021._digits import K_MNIST as K_MNIST
from farfield.reproductions.gondal2021._fuzzy import TABLE_1 as TABLE_1
from farfield.reproductions.gondal2021._matrices import FIGURE_7 as FIGURE_7
from farfield.reproductions.gondal2021._matrices import FIGURE_8 as FIGURE_8
from farfield.reproductions.gondal2021._matrices import TABLE_2 as TABLE_2
from farfield.reproductions.gondal2021._matrices import TABLE_2_GENERATED as TABLE_2_GENERATED
from farfield.reproductions.gondal2021._statements import STATEMENTS as STATEMENTS

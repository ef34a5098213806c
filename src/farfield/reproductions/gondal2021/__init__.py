"""Claims of gondal2021, Neural Interpreters."""

from farfield.reproductions.gondal2021._beyond import BEYOND as BEYOND
from farfield.reproductions.gondal2021._by_rule import BY_RULE as BY_RULE
from farfield.reproductions.gondal2021._cores import FUNCTIONS as FUNCTIONS
from farfield.reproductions.gondal2021._cores import SMALL_ITERATIONS as SMALL_ITERATIONS
from farfield.reproductions.gondal2021._digits import ALONE as ALONE
from farfield.reproductions.gondal2021._digits import DATA_SETS as DATA_SETS
from farfield.reproductions.gondal2021._digits import DIGITS as DIGITS
from farfield.reproductions.gondal2021._digits import INTERPRETERS as INTERPRETERS
from farfield.reproductions.gondal2021._digits import K_MNIST as K_MNIST
from farfield.reproductions.gondal2021._digits import SMALL as SMALL
from farfield.reproductions.gondal2021._fuzzy import TABLE_1 as TABLE_1
from farfield.reproductions.gondal2021._matrices import OWN_HOLDOUTS as OWN_HOLDOUTS
from farfield.reproductions.gondal2021._matrices import TABLE_2 as TABLE_2
from farfield.reproductions.gondal2021._matrices import TABLE_2_GENERATED as TABLE_2_GENERATED
from farfield.reproductions.gondal2021._statements import STATEMENTS as STATEMENTS

TABLES = (
    TABLE_1,
    TABLE_2,
    TABLE_2_GENERATED,
    DIGITS,
    K_MNIST,
    BEYOND,
    BY_RULE,
)
"""Every table of claims, and selections from them."""

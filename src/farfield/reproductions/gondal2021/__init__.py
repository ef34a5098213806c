"""Claims of gondal2021, Neural Interpreters."""

from farfield.reproductions.gondal2021._beyond import BEYOND as BEYOND
from farfield.reproductions.gondal2021._fuzzy import TABLE_1 as TABLE_1

"""Claims of ren2017: normalizers in super-resolution."""

from farfield.reproductions.ren2017._print_super_resolution import FIGURE_4 as FIGURE_4
from farfield.reproductions.ren2017._print_super_resolution import FIGURE_7 as FIGURE_7
from farfield.reproductions.ren2017._print_super_resolution import METHODS as METHODS
from farfield.reproductions.ren2017._super_resolution import CAPTIONS as CAPTIONS
from farfield.reproductions.ren2017._super_resolution import STATEMENTS as STATEMENTS
from farfield.reproductions.ren2017._super_resolution import T91 as T91
from farfield.reproductions.ren2017._super_resolution import TABLE_5 as TABLE_5
from farfield.reproductions.ren2017._super_resolution import TABLE_6 as TABLE_6
from farfield.reproductions.ren2017._super_resolution import TABLE_8 as TABLE_8

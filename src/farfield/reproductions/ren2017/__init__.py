"""Claims of ren2017: normalizers in recurrent language models."""

from farfield.reproductions.ren2017._text import PTB_TABLE_4 as PTB_TABLE_4
from farfield.reproductions.ren2017._text import PTB_TABLE_7 as PTB_TABLE_7
from farfield.reproductions.ren2017._text import PTB_TABLE_7_RELEASED as PTB_TABLE_7_RELEASED

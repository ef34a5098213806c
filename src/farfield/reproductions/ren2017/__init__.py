"""Claims of ren2017: normalizers in image classification, super-resolution and language models."""

from farfield.reproductions._grid import Paper
from farfield.reproductions.ren2017 import _images, _text

PAPER = Paper("ren2017", _images, _text)
TABLES = tuple(PAPER.tables.values())
STATEMENTS = PAPER.statements

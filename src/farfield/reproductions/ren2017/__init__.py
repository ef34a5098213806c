"""Claims of ren2017: normalizers in image classification, super-resolution and language models."""

from farfield.reproductions.ren2017._cifar import RESNET as RESNET
from farfield.reproductions.ren2017._cifar import SETTINGS as SETTINGS
from farfield.reproductions.ren2017._cifar import TABLE_3 as TABLE_3
from farfield.reproductions.ren2017._cifar import TABLE_7_CIFAR as TABLE_7_CIFAR
from farfield.reproductions.ren2017._cifar_statements import CIFAR_STATEMENTS as CIFAR_STATEMENTS
from farfield.reproductions.ren2017._narrow import CIFAR_NARROW as CIFAR_NARROW
from farfield.reproductions.ren2017._narrow import RESNET_NARROW as RESNET_NARROW
from farfield.reproductions.ren2017._narrow import SETTINGS_NARROW as SETTINGS_NARROW
from farfield.reproductions.ren2017._print_cifar import DEPENDENCE as DEPENDENCE
from farfield.reproductions.ren2017._print_super_resolution import FIGURE_4 as FIGURE_4
from farfield.reproductions.ren2017._print_super_resolution import FIGURE_7 as FIGURE_7
from farfield.reproductions.ren2017._print_super_resolution import METHODS as METHODS
from farfield.reproductions.ren2017._super_resolution import CAPTIONS as CAPTIONS
from farfield.reproductions.ren2017._super_resolution import (
    STATEMENTS as SUPER_RESOLUTION_STATEMENTS,
)
from farfield.reproductions.ren2017._super_resolution import T91 as T91
from farfield.reproductions.ren2017._super_resolution import TABLE_5 as TABLE_5
from farfield.reproductions.ren2017._super_resolution import TABLE_6 as TABLE_6
from farfield.reproductions.ren2017._super_resolution import TABLE_8 as TABLE_8
from farfield.reproductions.ren2017._text import PTB_TABLE_4 as PTB_TABLE_4
from farfield.reproductions.ren2017._text import PTB_TABLE_7 as PTB_TABLE_7
from farfield.reproductions.ren2017._text import PTB_TABLE_7_RELEASED as PTB_TABLE_7_RELEASED
from farfield.reproductions.ren2017._text_beyond import PTB_BEYOND as PTB_BEYOND
from farfield.reproductions.ren2017._text_statements import TEXT_STATEMENTS as TEXT_STATEMENTS

STATEMENTS = (*CIFAR_STATEMENTS, *SUPER_RESOLUTION_STATEMENTS, *TEXT_STATEMENTS)
"""Statements of the paper on several cells."""

TABLES = (
    TABLE_3,
    TABLE_7_CIFAR,
    SETTINGS,
    RESNET,
    CIFAR_NARROW,
    SETTINGS_NARROW,
    RESNET_NARROW,
    TABLE_5,
    TABLE_6,
    TABLE_8,
    CAPTIONS,
    T91,
    PTB_TABLE_4,
    PTB_TABLE_7,
    PTB_TABLE_7_RELEASED,
    PTB_BEYOND,
)
"""Every table of claims, and selections from them."""

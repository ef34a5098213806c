"""Looking into trained networks: the keys they write and recall, and how fast they learnt."""

from farfield.analysis._key_overlap import KeyOverlap as KeyOverlap
from farfield.analysis._key_overlap import key_overlap as key_overlap
from farfield.analysis._key_overlap import told_apart as told_apart
from farfield.analysis._keys import Keys as Keys
from farfield.analysis._keys import keys_of as keys_of
from farfield.analysis._keys import second_appearance as second_appearance
from farfield.analysis._principal_components import PrincipalComponents as PrincipalComponents
from farfield.analysis._principal_components import principal_components as principal_components
from farfield.analysis._time_courses import TimeCourse as TimeCourse
from farfield.analysis._time_courses import time_course as time_course

__all__ = [
    "KeyOverlap",
    "Keys",
    "PrincipalComponents",
    "TimeCourse",
    "key_overlap",
    "keys_of",
    "principal_components",
    "second_appearance",
    "time_course",
    "told_apart",
]

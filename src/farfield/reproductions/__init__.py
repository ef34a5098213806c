"""Published numbers as claims: each with its experiment, verdict rule and verdict."""

from farfield._exports import face
from farfield.reproductions._claims import Budget as Budget
from farfield.reproductions._claims import Claim as Claim
from farfield.reproductions._claims import Table as Table
from farfield.reproductions._published import Published as Published
from farfield.reproductions._published import Unpublished as Unpublished
from farfield.reproductions._registry import TABLES as TABLES
from farfield.reproductions._rule import VerdictRule as VerdictRule
from farfield.reproductions._statements import Statement as Statement
from farfield.reproductions._verdicts import Verdict as Verdict
from farfield.reproductions._verdicts import judge as judge

__all__ = face(vars())

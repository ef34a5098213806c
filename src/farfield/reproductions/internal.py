"""Names of `farfield.reproductions` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.reproductions._by_paper import ByPaper as ByPaper
from farfield.reproductions._printed import PRINTED as PRINTED
from farfield.reproductions._printed import Printed as Printed
from farfield.reproductions._published import Confirmation as Confirmation
from farfield.reproductions._registry import STATEMENTS as STATEMENTS
from farfield.reproductions._settings import Setting as Setting
from farfield.reproductions._settings import SheetLine as SheetLine
from farfield.reproductions._settings import Source as Source
from farfield.reproductions._settings import settings_of as settings_of
from farfield.reproductions._settings import sheet as sheet
from farfield.reproductions._statements import StatementJudgement as StatementJudgement
from farfield.reproductions._statements import judge_statement as judge_statement
from farfield.reproductions._two_kinds import TwoKinds as TwoKinds
from farfield.reproductions._verdicts import Judgement as Judgement
from farfield.reproductions._verdicts import summarize as summarize

__all__ = exported(vars())

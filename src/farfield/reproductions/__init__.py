"""Published numbers as claims: what a paper prints, what tests it, and what became of it."""

from farfield.reproductions._claims import Budget as Budget
from farfield.reproductions._claims import Claim as Claim
from farfield.reproductions._claims import Table as Table
from farfield.reproductions._figures import ActivationOverTime as ActivationOverTime
from farfield.reproductions._figures import AgainstColumns as AgainstColumns
from farfield.reproductions._figures import Analysis as Analysis
from farfield.reproductions._figures import DormantPhases as DormantPhases
from farfield.reproductions._figures import EmbeddingsByDimension as EmbeddingsByDimension
from farfield.reproductions._figures import Figure as Figure
from farfield.reproductions._figures import FunctionsRemoved as FunctionsRemoved
from farfield.reproductions._figures import Generalization as Generalization
from farfield.reproductions._figures import IterationsAtTest as IterationsAtTest
from farfield.reproductions._figures import KeysByPlace as KeysByPlace
from farfield.reproductions._figures import OfInterpreters as OfInterpreters
from farfield.reproductions._figures import PairedTests as PairedTests
from farfield.reproductions._figures import PublishedTest as PublishedTest
from farfield.reproductions._figures import RollOuts as RollOuts
from farfield.reproductions._figures import RoutingPaths as RoutingPaths
from farfield.reproductions._figures import Saying as Saying
from farfield.reproductions._figures import ScoredMatrix as ScoredMatrix
from farfield.reproductions._figures import TimeCourses as TimeCourses
from farfield.reproductions._figures import TypesByIteration as TypesByIteration
from farfield.reproductions._published import Published as Published
from farfield.reproductions._published import Unpublished as Unpublished
from farfield.reproductions._registry import FIGURES as FIGURES
from farfield.reproductions._registry import STATEMENTS as STATEMENTS
from farfield.reproductions._registry import TABLES as TABLES
from farfield.reproductions._rule import VerdictRule as VerdictRule
from farfield.reproductions._statements import Statement as Statement
from farfield.reproductions._statements import StatementJudgement as StatementJudgement
from farfield.reproductions._statements import judge_statement as judge_statement
from farfield.reproductions._verdicts import Judgement as Judgement
from farfield.reproductions._verdicts import Verdict as Verdict
from farfield.reproductions._verdicts import judge as judge
from farfield.reproductions._verdicts import summarize as summarize

__all__ = [
    "FIGURES",
    "STATEMENTS",
    "TABLES",
    "ActivationOverTime",
    "AgainstColumns",
    "Analysis",
    "Budget",
    "Claim",
    "DormantPhases",
    "EmbeddingsByDimension",
    "Figure",
    "FunctionsRemoved",
    "Generalization",
    "IterationsAtTest",
    "Judgement",
    "KeysByPlace",
    "OfInterpreters",
    "PairedTests",
    "Published",
    "PublishedTest",
    "RollOuts",
    "RoutingPaths",
    "Saying",
    "ScoredMatrix",
    "Statement",
    "StatementJudgement",
    "Table",
    "TimeCourses",
    "TypesByIteration",
    "Unpublished",
    "Verdict",
    "VerdictRule",
    "judge",
    "judge_statement",
    "summarize",
]

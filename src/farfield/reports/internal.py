"""Names of `farfield.reports` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.reports._exhibits._differences import PairedTests as PairedTests
from farfield.reports._exhibits._differences import PublishedTest as PublishedTest
from farfield.reports._exhibits._differences import RuleEffects as RuleEffects
from farfield.reports._exhibits._exhibit import Exhibit as Exhibit
from farfield.reports._exhibits._images import GeneratedImages as GeneratedImages
from farfield.reports._exhibits._images import Restorations as Restorations
from farfield.reports._exhibits._images import ScoredMatrix as ScoredMatrix
from farfield.reports._exhibits._layers import Flattening as Flattening
from farfield.reports._exhibits._layers import NearestNeighbors as NearestNeighbors
from farfield.reports._exhibits._layers import ResponsePairs as ResponsePairs
from farfield.reports._exhibits._mechanisms import ActivationOverTime as ActivationOverTime
from farfield.reports._exhibits._mechanisms import Filmstrips as Filmstrips
from farfield.reports._exhibits._normalizers import ActivationCurves as ActivationCurves
from farfield.reports._exhibits._normalizers import ConstantsByLayer as ConstantsByLayer
from farfield.reports._exhibits._planes import DecisionBoundaries as DecisionBoundaries
from farfield.reports._exhibits._planes import DecisionSurfaces as DecisionSurfaces
from farfield.reports._exhibits._representations import (
    EmbeddingsByDimension as EmbeddingsByDimension,
)
from farfield.reports._exhibits._representations import KeysByPlace as KeysByPlace
from farfield.reports._exhibits._roll_outs import RollOuts as RollOuts
from farfield.reports._exhibits._routing import LayerReads as LayerReads
from farfield.reports._exhibits._routing import RoutingPaths as RoutingPaths
from farfield.reports._exhibits._routing import TypesByIteration as TypesByIteration
from farfield.reports._exhibits._scores import AgainstColumns as AgainstColumns
from farfield.reports._exhibits._scores import Generalization as Generalization
from farfield.reports._exhibits._scores import ScoresBySetting as ScoresBySetting
from farfield.reports._exhibits._sweeps import DormantPhases as DormantPhases
from farfield.reports._exhibits._sweeps import FunctionsRemoved as FunctionsRemoved
from farfield.reports._exhibits._sweeps import IterationsAtTest as IterationsAtTest
from farfield.reports._exhibits._time_courses import TimeCourses as TimeCourses
from farfield.reports._export._coverage import Coverage as Coverage
from farfield.reports._export._coverage import coverage as coverage
from farfield.reports._export._export import Line as Line
from farfield.reports._export._export import check_commits as check_commits
from farfield.reports._export._export import exported_at as exported_at
from farfield.reports._export._export import load_export as load_export
from farfield.reports._export._export import load_missing as load_missing
from farfield.reports._export._figure_export import ExhibitExport as ExhibitExport
from farfield.reports._export._figure_export import FigureExport as FigureExport
from farfield.reports._export._figure_export import TrainedNetwork as TrainedNetwork
from farfield.reports._export._figure_export import load_figure as load_figure
from farfield.reports._export._pages import results_pages as results_pages
from farfield.reports._export._pages import settings_pages as settings_pages
from farfield.reports._export._recorded import recorded_reports as recorded_reports
from farfield.reports._problems._problem_sheet import one_problem as one_problem
from farfield.reports._problems._problem_sheet import problem_picture as problem_picture
from farfield.reports._profile._comparison import Pair as Pair
from farfield.reports._profile._extrapolation import Point as Point
from farfield.reports._profile._extrapolation import recorded_profile as recorded_profile
from farfield.reports._profile._profiles import profiles as profiles
from farfield.reports._profile._theme import DARK as DARK
from farfield.reports._profile._theme import LIGHT as LIGHT
from farfield.reports._profile._theme import Theme as Theme
from farfield.reports._report._levels import Levels as Levels
from farfield.reports._report._report import Finder as Finder
from farfield.reports._report._report import records_at as records_at
from farfield.reports._tables._terminal import terminal as terminal

__all__ = exported(vars())

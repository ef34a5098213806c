"""Names of `farfield.reports` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.reports._exhibits._differences import PublishedTest as PublishedTest
from farfield.reports._exhibits._exhibit import Exhibit as Exhibit
from farfield.reports._exhibits._films import strip as strip
from farfield.reports._exhibits._images import generated_sheet as generated_sheet
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
from farfield.reports._problems._pictures import one_problem as one_problem
from farfield.reports._problems._pictures import problem_picture as problem_picture
from farfield.reports._profile._comparison import Pair as Pair
from farfield.reports._profile._extrapolation import Point as Point
from farfield.reports._profile._extrapolation import recorded_profile as recorded_profile
from farfield.reports._profile._pictures import profiles as profiles
from farfield.reports._profile._style import in_style as in_style
from farfield.reports._profile._theme import DARK as DARK
from farfield.reports._profile._theme import LIGHT as LIGHT
from farfield.reports._profile._theme import Theme as Theme
from farfield.reports._report._levels import Levels as Levels
from farfield.reports._report._report import Finder as Finder
from farfield.reports._report._report import records_at as records_at
from farfield.reports._tables._html import write_report as write_report
from farfield.reports._tables._terminal import terminal as terminal

__all__ = exported(vars())

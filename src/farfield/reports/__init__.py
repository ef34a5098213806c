"""Tables, curves and pictures of problems, for people; from records alone."""

from farfield.reports._exhibits._illustrate import illustrate as illustrate
from farfield.reports._exhibits._plates import Finding as Finding
from farfield.reports._exhibits._plates import Plate as Plate
from farfield.reports._export._export import Line as Line
from farfield.reports._export._export import export as export
from farfield.reports._export._export import exported_at as exported_at
from farfield.reports._export._export import load_export as load_export
from farfield.reports._export._figure_export import Exhibit as Exhibit
from farfield.reports._export._figure_export import FigureExport as FigureExport
from farfield.reports._export._figure_export import TrainedNetwork as TrainedNetwork
from farfield.reports._export._figure_export import export_figure as export_figure
from farfield.reports._export._figure_export import load_figure as load_figure
from farfield.reports._export._results import results_page as results_page
from farfield.reports._problems._problem_sheet import problem_sheet as problem_sheet
from farfield.reports._profile._extrapolation import ExtrapolationProfile as ExtrapolationProfile
from farfield.reports._profile._extrapolation import Point as Point
from farfield.reports._profile._extrapolation import extrapolation_profile as extrapolation_profile
from farfield.reports._profile._profiles import png as png
from farfield.reports._profile._profiles import profiles as profiles
from farfield.reports._profile._profiles import svg as svg
from farfield.reports._profile._theme import DARK as DARK
from farfield.reports._profile._theme import LIGHT as LIGHT
from farfield.reports._profile._theme import Theme as Theme
from farfield.reports._tables._html import html as html
from farfield.reports._tables._levels import Levels as Levels
from farfield.reports._tables._markdown import markdown as markdown
from farfield.reports._tables._report import Finder as Finder
from farfield.reports._tables._report import Report as Report
from farfield.reports._tables._report import Row as Row
from farfield.reports._tables._report import records_at as records_at
from farfield.reports._tables._report import tabulate as tabulate
from farfield.reports._tables._terminal import terminal as terminal
from farfield.reports._tables._write import write_report as write_report

__all__ = [
    "DARK",
    "LIGHT",
    "Exhibit",
    "ExtrapolationProfile",
    "FigureExport",
    "Finder",
    "Finding",
    "Levels",
    "Line",
    "Plate",
    "Point",
    "Report",
    "Row",
    "Theme",
    "TrainedNetwork",
    "export",
    "export_figure",
    "exported_at",
    "extrapolation_profile",
    "html",
    "illustrate",
    "load_export",
    "load_figure",
    "markdown",
    "png",
    "problem_sheet",
    "profiles",
    "records_at",
    "results_page",
    "svg",
    "tabulate",
    "terminal",
    "write_report",
]

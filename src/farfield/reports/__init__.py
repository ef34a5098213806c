"""Tables, curves and pictures of problems, for people; from records alone."""

from typing import TYPE_CHECKING

from farfield._exports import exported, moved
from farfield.reports._exhibits._exhibit import Figure as Figure
from farfield.reports._exhibits._exhibit import Finding as Finding
from farfield.reports._exhibits._exhibit import Plate as Plate
from farfield.reports._exhibits._exhibit import Quote as Quote
from farfield.reports._exhibits._exhibit import illustrate as illustrate
from farfield.reports._exhibits._films import film as film
from farfield.reports._export._export import export as export
from farfield.reports._export._figure_export import export_figure as export_figure
from farfield.reports._export._recorded import recorded_results as recorded_results
from farfield.reports._figures._registry import FIGURES as FIGURES
from farfield.reports._problems._pictures import problem_sheet as problem_sheet
from farfield.reports._profile._comparison import Comparison as Comparison
from farfield.reports._profile._comparison import compare as compare
from farfield.reports._profile._extrapolation import ExtrapolationProfile as ExtrapolationProfile
from farfield.reports._profile._extrapolation import extrapolation_profile as extrapolation_profile
from farfield.reports._profile._pictures import pdf as pdf
from farfield.reports._profile._pictures import png as png
from farfield.reports._profile._pictures import svg as svg
from farfield.reports._report._report import Report as Report
from farfield.reports._report._report import Row as Row
from farfield.reports._report._report import tabulate as tabulate
from farfield.reports._report._tabular import Tabular as Tabular
from farfield.reports._report._tabular import tabular_of as tabular_of
from farfield.reports._tables._html import html as html
from farfield.reports._tables._markdown import markdown as markdown

__all__ = exported(vars())

if not TYPE_CHECKING:
    from farfield.reports._exhibits._former import former as _former

    __getattr__ = _former(moved(__name__))

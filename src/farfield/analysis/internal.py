"""Names of `farfield.analysis` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.analysis._embeddings import ComponentFit as ComponentFit
from farfield.analysis._embeddings import Embeddings as Embeddings
from farfield.analysis._embeddings import FirstComponent as FirstComponent
from farfield.analysis._embeddings import first_component as first_component
from farfield.analysis._forecast import Forecast as Forecast
from farfield.analysis._learning import LinearFit as LinearFit
from farfield.analysis._learning import TimeCourse as TimeCourse
from farfield.analysis._learning import linear_fit as linear_fit
from farfield.analysis._learning import mean_line as mean_line
from farfield.analysis._memory import KeyOverlap as KeyOverlap
from farfield.analysis._memory import Keys as Keys
from farfield.analysis._memory import key_overlap as key_overlap
from farfield.analysis._memory import keys_of as keys_of
from farfield.analysis._memory import nearest_centroid_accuracy as nearest_centroid_accuracy
from farfield.analysis._memory import second_appearance as second_appearance
from farfield.analysis._nearest_neighbors import nearest_neighbor_error as nearest_neighbor_error
from farfield.analysis._projections import PrincipalComponents as PrincipalComponents
from farfield.analysis._representations import probabilities_of as probabilities_of
from farfield.analysis._routing import Routing as Routing
from farfield.analysis._routing import interpreter_of as interpreter_of
from farfield.analysis._routing import layer_reads_of as layer_reads_of
from farfield.analysis._routing import multi_pass_of as multi_pass_of
from farfield.analysis._routing import path_similarity as path_similarity
from farfield.analysis._routing import scores_by_iterations as scores_by_iterations
from farfield.analysis._routing import scores_without_functions as scores_without_functions
from farfield.analysis._sequences import copy_last_frame as copy_last_frame
from farfield.analysis._sequences import recall_by_length as recall_by_length
from farfield.analysis._sequences import rolled_out as rolled_out
from farfield.analysis._shifts._families import shifts_of as shifts_of
from farfield.analysis._shifts._items import Items as Items
from farfield.analysis._shifts._items import describe_items as describe_items
from farfield.analysis._shifts._items import is_frame as is_frame
from farfield.analysis._shifts._shift import GROUPS as GROUPS
from farfield.analysis._statistics import ClassSpectra as ClassSpectra
from farfield.analysis._statistics import Dependence as Dependence
from farfield.analysis._statistics import NormalizerScale as NormalizerScale
from farfield.analysis._statistics import PhaseDifference as PhaseDifference
from farfield.analysis._statistics import active_of as active_of
from farfield.analysis._statistics import class_spectra as class_spectra
from farfield.analysis._statistics import dependence as dependence
from farfield.analysis._statistics import divisive_activation as divisive_activation
from farfield.analysis._statistics import map_responses as map_responses
from farfield.analysis._statistics import mutual_information as mutual_information
from farfield.analysis._statistics import normalizer_scales as normalizer_scales
from farfield.analysis._statistics import phase_difference as phase_difference
from farfield.analysis._surfaces import Surface as Surface
from farfield.analysis._surfaces import confidence_between as confidence_between
from farfield.analysis._surfaces import plane_axes as plane_axes
from farfield.analysis._surfaces import plane_points as plane_points
from farfield.analysis._surfaces import plane_problems as plane_problems
from farfield.analysis._surfaces import surface_of as surface_of
from farfield.analysis._watched_episode import WatchedEpisode as WatchedEpisode

__all__ = exported(vars())

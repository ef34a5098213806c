"""Analysis of trained networks: representations, memory, routing, attacks, speed of learning."""

from farfield.analysis._activation import PhaseDifference as PhaseDifference
from farfield.analysis._activation import active_of as active_of
from farfield.analysis._activation import phase_difference as phase_difference
from farfield.analysis._attacks import FGSM as FGSM
from farfield.analysis._attacks import PGD as PGD
from farfield.analysis._attention import attention_of as attention_of
from farfield.analysis._class_spectra import ClassSpectra as ClassSpectra
from farfield.analysis._class_spectra import class_spectra as class_spectra
from farfield.analysis._deformations import Rotation as Rotation
from farfield.analysis._deformations import Shear as Shear
from farfield.analysis._deformations import Zoom as Zoom
from farfield.analysis._dependence import Dependence as Dependence
from farfield.analysis._dependence import dependence as dependence
from farfield.analysis._dependence import map_responses as map_responses
from farfield.analysis._dependence import mutual_information as mutual_information
from farfield.analysis._divisive_activation import divisive_activation as divisive_activation
from farfield.analysis._dormant_phases import recall_by_length as recall_by_length
from farfield.analysis._embeddings import ComponentFit as ComponentFit
from farfield.analysis._embeddings import Embeddings as Embeddings
from farfield.analysis._embeddings import FirstComponent as FirstComponent
from farfield.analysis._embeddings import embeddings_of as embeddings_of
from farfield.analysis._embeddings import first_component as first_component
from farfield.analysis._key_overlap import KeyOverlap as KeyOverlap
from farfield.analysis._key_overlap import key_overlap as key_overlap
from farfield.analysis._key_overlap import nearest_centroid_accuracy as nearest_centroid_accuracy
from farfield.analysis._keys import Keys as Keys
from farfield.analysis._keys import keys_of as keys_of
from farfield.analysis._keys import second_appearance as second_appearance
from farfield.analysis._layer_reads import layer_reads_of as layer_reads_of
from farfield.analysis._layer_reads import multi_pass_of as multi_pass_of
from farfield.analysis._light import Brightness as Brightness
from farfield.analysis._light import Contrast as Contrast
from farfield.analysis._linear_fit import LinearFit as LinearFit
from farfield.analysis._linear_fit import linear_fit as linear_fit
from farfield.analysis._linear_fit import mean_line as mean_line
from farfield.analysis._nearest_neighbors import nearest_neighbor_error as nearest_neighbor_error
from farfield.analysis._neural_cache import NeuralCache as NeuralCache
from farfield.analysis._normalizer_scales import NormalizerScale as NormalizerScale
from farfield.analysis._normalizer_scales import normalizer_scales as normalizer_scales
from farfield.analysis._occlusion import Occlusion as Occlusion
from farfield.analysis._principal_components import PrincipalComponents as PrincipalComponents
from farfield.analysis._principal_components import principal_components as principal_components
from farfield.analysis._random_attention import RandomAttention as RandomAttention
from farfield.analysis._representations import probabilities_of as probabilities_of
from farfield.analysis._representations import representations_of as representations_of
from farfield.analysis._roll_outs import copy_last_frame as copy_last_frame
from farfield.analysis._roll_outs import rolled_out as rolled_out
from farfield.analysis._routing import Routing as Routing
from farfield.analysis._routing import clustering as clustering
from farfield.analysis._routing import interpreter_of as interpreter_of
from farfield.analysis._routing import path_similarity as path_similarity
from farfield.analysis._routing import routing_of as routing_of
from farfield.analysis._routing import scores_by_iterations as scores_by_iterations
from farfield.analysis._routing import scores_without_functions as scores_without_functions
from farfield.analysis._surfaces import Surface as Surface
from farfield.analysis._surfaces import confidence_between as confidence_between
from farfield.analysis._surfaces import plane_axes as plane_axes
from farfield.analysis._surfaces import plane_points as plane_points
from farfield.analysis._surfaces import plane_problems as plane_problems
from farfield.analysis._surfaces import surface_of as surface_of
from farfield.analysis._time_courses import TimeCourse as TimeCourse
from farfield.analysis._time_courses import time_course as time_course
from farfield.analysis._tsne import tsne as tsne
from farfield.analysis._watched_episode import WatchedEpisode as WatchedEpisode
from farfield.analysis._watched_episode import watch_episode as watch_episode

__all__ = [
    "FGSM",
    "PGD",
    "Brightness",
    "ClassSpectra",
    "ComponentFit",
    "Contrast",
    "Dependence",
    "Embeddings",
    "FirstComponent",
    "KeyOverlap",
    "Keys",
    "LinearFit",
    "NeuralCache",
    "NormalizerScale",
    "Occlusion",
    "PhaseDifference",
    "PrincipalComponents",
    "RandomAttention",
    "Rotation",
    "Routing",
    "Shear",
    "Surface",
    "TimeCourse",
    "WatchedEpisode",
    "Zoom",
    "active_of",
    "attention_of",
    "class_spectra",
    "clustering",
    "confidence_between",
    "copy_last_frame",
    "dependence",
    "divisive_activation",
    "embeddings_of",
    "first_component",
    "interpreter_of",
    "key_overlap",
    "keys_of",
    "layer_reads_of",
    "linear_fit",
    "map_responses",
    "mean_line",
    "multi_pass_of",
    "mutual_information",
    "nearest_centroid_accuracy",
    "nearest_neighbor_error",
    "normalizer_scales",
    "path_similarity",
    "phase_difference",
    "plane_axes",
    "plane_points",
    "plane_problems",
    "principal_components",
    "probabilities_of",
    "recall_by_length",
    "representations_of",
    "rolled_out",
    "routing_of",
    "scores_by_iterations",
    "scores_without_functions",
    "second_appearance",
    "surface_of",
    "time_course",
    "tsne",
    "watch_episode",
]

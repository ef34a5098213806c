"""Analysis of trained networks: representations, memory, routing, attacks, speed of learning."""

from farfield._exports import face
from farfield.analysis._embeddings import embeddings_of as embeddings_of
from farfield.analysis._forecast import forecast as forecast
from farfield.analysis._learning import time_course as time_course
from farfield.analysis._perturbations import FGSM as FGSM
from farfield.analysis._perturbations import PGD as PGD
from farfield.analysis._perturbations import Brightness as Brightness
from farfield.analysis._perturbations import Contrast as Contrast
from farfield.analysis._perturbations import Occlusion as Occlusion
from farfield.analysis._perturbations import Rotation as Rotation
from farfield.analysis._perturbations import Shear as Shear
from farfield.analysis._perturbations import Zoom as Zoom
from farfield.analysis._projections import principal_components as principal_components
from farfield.analysis._projections import tsne as tsne
from farfield.analysis._representations import representations_of as representations_of
from farfield.analysis._routing import RandomAttention as RandomAttention
from farfield.analysis._routing import attention_of as attention_of
from farfield.analysis._routing import clustering as clustering
from farfield.analysis._routing import routing_of as routing_of
from farfield.analysis._sequences import NeuralCache as NeuralCache
from farfield.analysis._shifts._shift import Shift as Shift
from farfield.analysis._test_time import Tent as Tent
from farfield.analysis._watched_episode import watch_episode as watch_episode

__all__ = face(vars())

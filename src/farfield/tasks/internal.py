"""Names of `farfield.tasks` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.tasks._analogies._published_analogies import (
    read_visual_analogies as read_visual_analogies,
)
from farfield.tasks._arrays._read_arrays import read_arrays as read_arrays
from farfield.tasks._files._data_sets import DataFile as DataFile
from farfield.tasks._files._data_sets import DataSet as DataSet
from farfield.tasks._files._fetch import changed_files as changed_files
from farfield.tasks._files._fetch import file_digests as file_digests
from farfield.tasks._matrices._published_matrices import read_matrices as read_matrices
from farfield.tasks._protocol._abilities import AddsValidation as AddsValidation
from farfield.tasks._protocol._abilities import AnswersByHand as AnswersByHand
from farfield.tasks._protocol._abilities import AsksQuestions as AsksQuestions
from farfield.tasks._protocol._abilities import Candidates as Candidates
from farfield.tasks._protocol._abilities import ChannelStatistics as ChannelStatistics
from farfield.tasks._protocol._abilities import Consecutive as Consecutive
from farfield.tasks._protocol._abilities import DrawsFirst as DrawsFirst
from farfield.tasks._protocol._abilities import FurtherScores as FurtherScores
from farfield.tasks._protocol._abilities import HasDomains as HasDomains
from farfield.tasks._protocol._abilities import HasForm as HasForm
from farfield.tasks._protocol._abilities import HasPixelStatistics as HasPixelStatistics
from farfield.tasks._protocol._abilities import HasSubsets as HasSubsets
from farfield.tasks._protocol._abilities import MultiOutput as MultiOutput
from farfield.tasks._protocol._abilities import NamesMetric as NamesMetric
from farfield.tasks._protocol._abilities import NeedsFiles as NeedsFiles
from farfield.tasks._protocol._abilities import NoMemoryLoss as NoMemoryLoss
from farfield.tasks._protocol._abilities import PooledScores as PooledScores
from farfield.tasks._protocol._abilities import ReadsFiles as ReadsFiles
from farfield.tasks._protocol._abilities import RolledOut as RolledOut
from farfield.tasks._protocol._abilities import ScoresSomeTraining as ScoresSomeTraining
from farfield.tasks._protocol._abilities import SetScores as SetScores
from farfield.tasks._protocol._abilities import domains_of as domains_of
from farfield.tasks._protocol._abilities import form_of as form_of
from farfield.tasks._protocol._abilities import metric_of as metric_of
from farfield.tasks._protocol._abilities import no_memory_loss as no_memory_loss
from farfield.tasks._protocol._abilities import scored_of as scored_of
from farfield.tasks._protocol._abilities import scored_sets as scored_sets
from farfield.tasks._protocol._abilities import with_validation as with_validation
from farfield.tasks._protocol._draws import UNLABELLED as UNLABELLED
from farfield.tasks._protocol._environment import HasExpert as HasExpert
from farfield.tasks._protocol._environment import HasPictures as HasPictures
from farfield.tasks._protocol._task import ORACLE as ORACLE
from farfield.tasks._protocol._task import Form as Form
from farfield.tasks._protocol._task import Reading as Reading
from farfield.tasks._protocol._task import axes_of as axes_of
from farfield.tasks._sequences._series_files import SERIES as SERIES
from farfield.tasks._worlds._checked_worlds import CheckedWorlds as CheckedWorlds
from farfield.tasks._worlds._episodes import Episodes as Episodes
from farfield.tasks._worlds._episodes import expert_score as expert_score
from farfield.tasks._worlds._episodes import play as play

__all__ = exported(vars())

"""Tasks: graded benchmarks, independent of models."""

from farfield._exports import face
from farfield.tasks._analogies._published_analogies import (
    PublishedVisualAnalogies as PublishedVisualAnalogies,
)
from farfield.tasks._analogies._visual_analogies import VisualAnalogies as VisualAnalogies
from farfield.tasks._arrays._array_task import ArrayTask as ArrayTask
from farfield.tasks._balls._bouncing_balls import BouncingBalls as BouncingBalls
from farfield.tasks._boolean._fuzzy_boolean import FuzzyBoolean as FuzzyBoolean
from farfield.tasks._clevr._sort_of_clevr import SortOfCLEVR as SortOfCLEVR
from farfield.tasks._contours._visual_reasoning import (
    SyntheticVisualReasoning as SyntheticVisualReasoning,
)
from farfield.tasks._digits._digit_domains import DigitDomains as DigitDomains
from farfield.tasks._digits._digits import Digits as Digits
from farfield.tasks._digits._kmnist_adaptation import KMNISTAdaptation as KMNISTAdaptation
from farfield.tasks._digits._stacked_mnist import StackedMNIST as StackedMNIST
from farfield.tasks._files._fetch import fetch as fetch
from farfield.tasks._files._known_data_sets import DATA_SETS as DATA_SETS
from farfield.tasks._grids._grid_rules import GridRules as GridRules
from farfield.tasks._images._image_classes import FewLabels as FewLabels
from farfield.tasks._images._image_classes import ImageClasses as ImageClasses
from farfield.tasks._images._image_generation import ImageGeneration as ImageGeneration
from farfield.tasks._matrices._progressive_matrices import (
    ProgressiveMatrices as ProgressiveMatrices,
)
from farfield.tasks._matrices._published_matrices import PublishedMatrices as PublishedMatrices
from farfield.tasks._matrices._raven import RAVEN as RAVEN
from farfield.tasks._points._points import Spirals as Spirals
from farfield.tasks._points._points import TwoMoons as TwoMoons
from farfield.tasks._protocol._abilities import is_at_hand as is_at_hand
from farfield.tasks._protocol._environment import Environment as Environment
from farfield.tasks._protocol._environment import VectorEnv as VectorEnv
from farfield.tasks._protocol._task import TRAINING as TRAINING
from farfield.tasks._protocol._task import VALIDATION as VALIDATION
from farfield.tasks._protocol._task import ProblemTask as ProblemTask
from farfield.tasks._protocol._task import Regime as Regime
from farfield.tasks._protocol._task import Task as Task
from farfield.tasks._restoration._super_resolution import SuperResolution as SuperResolution
from farfield.tasks._rules._canvas_rules import CanvasRules as CanvasRules
from farfield.tasks._rules._distributions import DistributionOfN as DistributionOfN
from farfield.tasks._rules._distributions import DistributionOfThree as DistributionOfThree
from farfield.tasks._rules._glyph_set import GlyphSet as GlyphSet
from farfield.tasks._rules._glyph_set import Handwriting as Handwriting
from farfield.tasks._rules._identity_rules import IdentityRules as IdentityRules
from farfield.tasks._rules._identity_rules import IdentityRulesMiddle as IdentityRulesMiddle
from farfield.tasks._rules._match_to_sample import (
    RelationalMatchToSample as RelationalMatchToSample,
)
from farfield.tasks._rules._match_to_sample import TripleMatchToSample as TripleMatchToSample
from farfield.tasks._rules._same_different import AllSame as AllSame
from farfield.tasks._rules._same_different import SameDifferent as SameDifferent
from farfield.tasks._rules._same_different import TintedSameDifferent as TintedSameDifferent
from farfield.tasks._rules._variation import VARIATIONS as VARIATIONS
from farfield.tasks._rules._variation import Variation as Variation
from farfield.tasks._sequences._chomsky_hierarchy import ChomskyHierarchy as ChomskyHierarchy
from farfield.tasks._sequences._memory import Adding as Adding
from farfield.tasks._sequences._memory import Copying as Copying
from farfield.tasks._sequences._sequential_mnist import SequentialMNIST as SequentialMNIST
from farfield.tasks._sequences._set_algorithms import SetAlgorithms as SetAlgorithms
from farfield.tasks._sequences._shifted_series import ShiftedSeries as ShiftedSeries
from farfield.tasks._sequences._symbol_sequences import SymbolSequences as SymbolSequences
from farfield.tasks._squares._object_frames import DynamicObjects as DynamicObjects
from farfield.tasks._squares._object_frames import ObjectFrames as ObjectFrames
from farfield.tasks._text._word_text import WordText as WordText
from farfield.tasks._vaec._direction_analogies import DirectionAnalogies as DirectionAnalogies
from farfield.tasks._vaec._vaec import VAECScale as VAECScale
from farfield.tasks._vaec._vaec import VAECTranslation as VAECTranslation
from farfield.tasks._vaec._vaec_files import read_vaec as read_vaec
from farfield.tasks._vaec._vaec_files import write_vaec as write_vaec
from farfield.tasks._worlds._atari import Atari as Atari
from farfield.tasks._worlds._babyai_picking import BabyAIPicking as BabyAIPicking
from farfield.tasks._worlds._check_environment import check_environment as check_environment
from farfield.tasks._worlds._checked_worlds import GymnasiumWorlds as GymnasiumWorlds
from farfield.tasks._worlds._episodes import random_score as random_score
from farfield.tasks._worlds._object_picking import ObjectPicking as ObjectPicking

TASKS: dict[str, type] = {
    "same-different": SameDifferent,
    "relational-match-to-sample": RelationalMatchToSample,
    "distribution-of-three": DistributionOfThree,
    "identity-rules": IdentityRules,
    "all-same": AllSame,
    "triple-match-to-sample": TripleMatchToSample,
    "distribution-of-n": DistributionOfN,
    "identity-rules-middle": IdentityRulesMiddle,
    "canvas-rules": CanvasRules,
    "synthetic-visual-reasoning": SyntheticVisualReasoning,
    "tinted-same-different": TintedSameDifferent,
    "grid-rules": GridRules,
    "vaec-translation": VAECTranslation,
    "vaec-scale": VAECScale,
    "direction-analogies": DirectionAnalogies,
    "visual-analogies": VisualAnalogies,
    "progressive-matrices": ProgressiveMatrices,
    "dynamic-objects": DynamicObjects,
    "object-frames": ObjectFrames,
    "copying": Copying,
    "adding": Adding,
    "sequential-mnist": SequentialMNIST,
    "symbol-sequences": SymbolSequences,
    "chomsky-hierarchy": ChomskyHierarchy,
    "set-algorithms": SetAlgorithms,
    "shifted-series": ShiftedSeries,
    "bouncing-balls": BouncingBalls,
    "fuzzy-boolean": FuzzyBoolean,
    "digits": Digits,
    "digit-domains": DigitDomains,
    "kmnist-adaptation": KMNISTAdaptation,
    "image-classes": ImageClasses,
    "image-generation": ImageGeneration,
    "few-labels": FewLabels,
    "two-moons": TwoMoons,
    "spirals": Spirals,
    "stacked-mnist": StackedMNIST,
    "sort-of-clevr": SortOfCLEVR,
    "super-resolution": SuperResolution,
    "word-text": WordText,
}
"""Tasks with problems, by their names on the command line."""

ENVIRONMENTS: dict[str, type] = {
    "object-picking": ObjectPicking,
    "babyai-picking": BabyAIPicking,
    "atari": Atari,
}
"""Environments, by their names on the command line."""

__all__ = face(vars())

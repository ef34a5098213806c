"""Names of `farfield.functional` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.functional._attention._relations import pair_attention as pair_attention
from farfield.functional._attention._relations import relation_matrix as relation_matrix
from farfield.functional._attention._relations import relation_sum as relation_sum
from farfield.functional._attention._relations import tag_positions as tag_positions
from farfield.functional._attention._self_attention import alibi_slopes as alibi_slopes
from farfield.functional._attention._self_attention import causal_attention as causal_attention
from farfield.functional._attention._self_attention import self_attention as self_attention
from farfield.functional._attention._self_attention import (
    sinusoidal_position as sinusoidal_position,
)
from farfield.functional._autograd._products import is_autocast as is_autocast
from farfield.functional._autograd._products import is_recorded as is_recorded
from farfield.functional._autograd._products import is_transformed as is_transformed
from farfield.functional._autograd._products import linear as linear
from farfield.functional._autograd._segments import check_segments as check_segments
from farfield.functional._control._policy_gradients import (
    clipped_policy_loss as clipped_policy_loss,
)
from farfield.functional._control._policy_gradients import clipped_value_loss as clipped_value_loss
from farfield.functional._control._policy_gradients import (
    generalized_advantages as generalized_advantages,
)
from farfield.functional._control._value_learning import NStepReturns as NStepReturns
from farfield.functional._control._value_learning import double_estimate as double_estimate
from farfield.functional._control._value_learning import importance_weights as importance_weights
from farfield.functional._control._value_learning import n_step_returns as n_step_returns
from farfield.functional._control._value_learning import noisy_linear as noisy_linear
from farfield.functional._control._value_learning import prioritized_rows as prioritized_rows
from farfield.functional._control._value_learning import (
    quantile_huber_loss as quantile_huber_loss,
)
from farfield.functional._esbn._esbn import ESBNKeys as ESBNKeys
from farfield.functional._esbn._esbn import ESBNParameters as ESBNParameters
from farfield.functional._esbn._esbn import content_scores as content_scores
from farfield.functional._esbn._esbn import content_weights as content_weights
from farfield.functional._esbn._esbn import esbn as esbn
from farfield.functional._esbn._esbn import esbn_keys as esbn_keys
from farfield.functional._esbn._esbn import read_confidence as read_confidence
from farfield.functional._images._bicubic import bicubic_resize as bicubic_resize
from farfield.functional._images._overlay import Overlay as Overlay
from farfield.functional._images._overlay import differing as differing
from farfield.functional._images._overlay import overlay_convolution as overlay_convolution
from farfield.functional._images._overlay import square_mask as square_mask
from farfield.functional._images._pixels import MeanImages as MeanImages
from farfield.functional._images._pixels import PixelSpectrum as PixelSpectrum
from farfield.functional._images._pixels import as_fractions as as_fractions
from farfield.functional._images._pixels import box_around as box_around
from farfield.functional._images._pixels import check_bounds as check_bounds
from farfield.functional._images._pixels import rgb_to_ycbcr as rgb_to_ycbcr
from farfield.functional._images._pixels import ycbcr_to_rgb as ycbcr_to_rgb
from farfield.functional._images._pixels import zca_matrix as zca_matrix
from farfield.functional._images._spatial_moments import silhouette_moments as silhouette_moments
from farfield.functional._images._spatial_moments import spatial_moments as spatial_moments
from farfield.functional._init._initialization import default_layer as default_layer
from farfield.functional._init._initialization import fan_in_uniform_ as fan_in_uniform_
from farfield.functional._init._initialization import inverse_softplus_ as inverse_softplus_
from farfield.functional._init._initialization import kaiming_normal_ as kaiming_normal_
from farfield.functional._init._initialization import linear_layer as linear_layer
from farfield.functional._init._initialization import lstm_controller as lstm_controller
from farfield.functional._init._initialization import lstm_uniform_ as lstm_uniform_
from farfield.functional._init._initialization import normal_ as normal_
from farfield.functional._init._initialization import relu_layer as relu_layer
from farfield.functional._init._initialization import (
    uniform_weights_ as uniform_weights_,
)
from farfield.functional._init._initialization import uninitialized as uninitialized
from farfield.functional._init._initialization import xavier_layer as xavier_layer
from farfield.functional._init._initialization import xavier_uniform_ as xavier_uniform_
from farfield.functional._interpreter._line_of_code import LineParameters as LineParameters
from farfield.functional._interpreter._line_of_code import LineRules as LineRules
from farfield.functional._interpreter._line_of_code import folded_query as folded_query
from farfield.functional._interpreter._line_of_code import line_of_code as line_of_code
from farfield.functional._interpreter._modulated_attention import ModulatedLayer as ModulatedLayer
from farfield.functional._interpreter._modulated_attention import (
    RelativePositionParameters as RelativePositionParameters,
)
from farfield.functional._interpreter._modulated_attention import (
    modulated_attention as modulated_attention,
)
from farfield.functional._interpreter._modulated_attention import (
    modulated_linear as modulated_linear,
)
from farfield.functional._interpreter._modulated_attention import modulated_mlp as modulated_mlp
from farfield.functional._interpreter._modulated_attention import (
    modulated_weight as modulated_weight,
)
from farfield.functional._interpreter._modulated_attention import (
    relative_position_scores as relative_position_scores,
)
from farfield.functional._interpreter._script import ScriptParameters as ScriptParameters
from farfield.functional._interpreter._script import ScriptRules as ScriptRules
from farfield.functional._interpreter._script import ScriptTrace as ScriptTrace
from farfield.functional._interpreter._script import TypingParameters as TypingParameters
from farfield.functional._interpreter._script import check_truncation as check_truncation
from farfield.functional._interpreter._script import compatibilities as compatibilities
from farfield.functional._interpreter._script import interpreter as interpreter
from farfield.functional._interpreter._script import script as script
from farfield.functional._interpreter._script import script_trace as script_trace
from farfield.functional._interpreter._script import truncated_kernel as truncated_kernel
from farfield.functional._interpreter._script import type_distance as type_distance
from farfield.functional._interpreter._script import type_inference as type_inference
from farfield.functional._interpreter._script import type_matching as type_matching
from farfield.functional._learning._adversarial import (
    adversarial_direction as adversarial_direction,
)
from farfield.functional._learning._consistency import kl_divergence as kl_divergence
from farfield.functional._learning._consistency import log_probabilities as log_probabilities
from farfield.functional._learning._consistency import probabilities as probabilities
from farfield.functional._learning._consistency import squared_distance as squared_distance
from farfield.functional._learning._domains import covariance_distance as covariance_distance
from farfield.functional._learning._domains import group_weights as group_weights
from farfield.functional._learning._domains import invariance_penalty as invariance_penalty
from farfield.functional._learning._domains import risk_variance as risk_variance
from farfield.functional._learning._domains import scale_slopes as scale_slopes
from farfield.functional._learning._loss_valley import loss_valley as loss_valley
from farfield.functional._learning._mixtures import mix as mix
from farfield.functional._learning._mixtures import mix_pairs as mix_pairs
from farfield.functional._learning._pseudo_labels import ClassStatistics as ClassStatistics
from farfield.functional._learning._pseudo_labels import are_accepted as are_accepted
from farfield.functional._learning._pseudo_labels import fairness as fairness
from farfield.functional._learning._pseudo_labels import pseudo_label_loss as pseudo_label_loss
from farfield.functional._learning._teachers import running_mean as running_mean
from farfield.functional._linear_attention._gated_delta_rule import (
    gated_delta_rule as gated_delta_rule,
)
from farfield.functional._linear_attention._gated_linear_attention import (
    gated_linear_attention as gated_linear_attention,
)
from farfield.functional._linear_attention._mlstm import MLSTMState as MLSTMState
from farfield.functional._linear_attention._mlstm import mlstm as mlstm
from farfield.functional._memory._dnc import DNCParameters as DNCParameters
from farfield.functional._memory._dnc import DNCState as DNCState
from farfield.functional._memory._dnc import dnc as dnc
from farfield.functional._memory._dnc import dnc_interface_sizes as dnc_interface_sizes
from farfield.functional._memory._dnc_memory import slot_allocation as slot_allocation
from farfield.functional._memory._dnc_memory import slot_links as slot_links
from farfield.functional._memory._dnc_memory import slot_usage as slot_usage
from farfield.functional._memory._entity_network import (
    EntityNetworkParameters as EntityNetworkParameters,
)
from farfield.functional._memory._entity_network import entity_network as entity_network
from farfield.functional._memory._function_memory import MemoryLayer as MemoryLayer
from farfield.functional._memory._function_memory import memory_read as memory_read
from farfield.functional._memory._function_memory import memory_write as memory_write
from farfield.functional._memory._mnm import MNMOutputs as MNMOutputs
from farfield.functional._memory._mnm import MNMParameters as MNMParameters
from farfield.functional._memory._mnm import mnm as mnm
from farfield.functional._memory._ntm import NTMParameters as NTMParameters
from farfield.functional._memory._ntm import NTMState as NTMState
from farfield.functional._memory._ntm import ntm as ntm
from farfield.functional._memory._ntm import ntm_head_sizes as ntm_head_sizes
from farfield.functional._memory._ntm import ntm_heads as ntm_heads
from farfield.functional._memory._ntm import ntm_states as ntm_states
from farfield.functional._memory._relational_memory import (
    RelationalMemoryParameters as RelationalMemoryParameters,
)
from farfield.functional._memory._relational_memory import relational_memory as relational_memory
from farfield.functional._memory._slot_address import cosine_similarity as cosine_similarity
from farfield.functional._memory._slot_address import slot_address as slot_address
from farfield.functional._memory._word_cache import cached_log_probs as cached_log_probs
from farfield.functional._nfm._nfm_change import NFMWeights as NFMWeights
from farfield.functional._nfm._nfm_change import nfm_change as nfm_change
from farfield.functional._nfm._nfm_change import nfm_trace as nfm_trace
from farfield.functional._nfm._nfm_read import NFMRead as NFMRead
from farfield.functional._nfm._nfm_read import WrittenState as WrittenState
from farfield.functional._nfm._nfm_read import nfm_read as nfm_read
from farfield.functional._nfm._nfm_read import rescale_state as rescale_state
from farfield.functional._nfm._nfm_rules import NFMRules as NFMRules
from farfield.functional._norm._context_norm import ContextStatistics as ContextStatistics
from farfield.functional._norm._context_norm import context_statistics as context_statistics
from farfield.functional._norm._context_norm import (
    running_context_statistics as running_context_statistics,
)
from farfield.functional._norm._divisive_norm import divisive_center_1d as divisive_center_1d
from farfield.functional._norm._divisive_norm import divisive_center_2d as divisive_center_2d
from farfield.functional._norm._field_norm import Field as Field
from farfield.functional._norm._field_norm import Fold as Fold
from farfield.functional._norm._field_norm import field_center as field_center
from farfield.functional._norm._field_norm import field_moments as field_moments
from farfield.functional._norm._field_norm import norm_by_statistics as norm_by_statistics
from farfield.functional._norm._field_norm import over_time as over_time
from farfield.functional._norm._sliding_context_norm import (
    sliding_context_center as sliding_context_center,
)
from farfield.functional._recurrent._block_linear import block_linear as block_linear
from farfield.functional._recurrent._causal_convolution import (
    causal_convolution as causal_convolution,
)
from farfield.functional._recurrent._divisive_lstm import divisive_lstm as divisive_lstm
from farfield.functional._recurrent._gated_recurrence import GatedParameters as GatedParameters
from farfield.functional._recurrent._gated_recurrence import gated_recurrence as gated_recurrence
from farfield.functional._recurrent._gated_recurrence import gru_dynamics as gru_dynamics
from farfield.functional._recurrent._gated_recurrence import lstm_dynamics as lstm_dynamics
from farfield.functional._recurrent._holding_recurrence import (
    holding_recurrence as holding_recurrence,
)
from farfield.functional._recurrent._linear_recurrence import linear_recurrence as linear_recurrence
from farfield.functional._recurrent._linear_recurrence import ring_spectrum as ring_spectrum
from farfield.functional._recurrent._lstm import lstm as lstm
from farfield.functional._recurrent._lstm import lstm_weights as lstm_weights
from farfield.functional._recurrent._periods import FEWEST as FEWEST
from farfield.functional._recurrent._periods import periods as periods
from farfield.functional._recurrent._relu import relu as relu
from farfield.functional._recurrent._rows import Rows as Rows
from farfield.functional._recurrent._rows import find_rows as find_rows
from farfield.functional._recurrent._rows import row_points as row_points
from farfield.functional._recurrent._rows import row_positions as row_positions
from farfield.functional._recurrent._selective_scan import selective_scan as selective_scan
from farfield.functional._recurrent._slstm import SLSTMState as SLSTMState
from farfield.functional._recurrent._slstm import slstm as slstm
from farfield.functional._rims._rims import (
    CommunicationParameters as CommunicationParameters,
)
from farfield.functional._rims._rims import RIMsOutputs as RIMsOutputs
from farfield.functional._rims._rims import RIMsParameters as RIMsParameters
from farfield.functional._rims._rims import RIMsRules as RIMsRules
from farfield.functional._rims._rims import RIMsTrace as RIMsTrace
from farfield.functional._rims._rims import rims as rims
from farfield.functional._rims._rims import rims_trace as rims_trace
from farfield.functional._rims._rims_reading import (
    InputAttentionParameters as InputAttentionParameters,
)
from farfield.functional._rims._rims_reading import top_k_mask as top_k_mask

__all__ = exported(vars())

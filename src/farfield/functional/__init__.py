"""Pure tensor functions, one idea a file; everything in `farfield.nn` and above is made of them."""

from farfield.functional._content_weights import content_scores as content_scores
from farfield.functional._content_weights import content_weights as content_weights
from farfield.functional._content_weights import read_confidence as read_confidence
from farfield.functional._context_norm import check_segments as check_segments
from farfield.functional._context_norm import context_norm as context_norm
from farfield.functional._context_statistics import ContextStatistics as ContextStatistics
from farfield.functional._context_statistics import context_statistics as context_statistics
from farfield.functional._context_statistics import denormalize as denormalize
from farfield.functional._context_statistics import (
    running_context_statistics as running_context_statistics,
)
from farfield.functional._context_whitening import context_whiten as context_whiten
from farfield.functional._esbn import esbn as esbn
from farfield.functional._esbn import esbn_keys as esbn_keys
from farfield.functional._esbn_plain import ESBNKeys as ESBNKeys
from farfield.functional._esbn_plain import ESBNParameters as ESBNParameters
from farfield.functional._function_memory import MemoryLayer as MemoryLayer
from farfield.functional._function_memory import memory_read as memory_read
from farfield.functional._function_memory import memory_write as memory_write
from farfield.functional._initialization import kaiming_normal_ as kaiming_normal_
from farfield.functional._initialization import lstm_init_ as lstm_init_
from farfield.functional._initialization import uninitialized as uninitialized
from farfield.functional._initialization import xavier_normal_ as xavier_normal_
from farfield.functional._initialization import xavier_uniform_ as xavier_uniform_
from farfield.functional._lstm import lstm as lstm
from farfield.functional._mnm import MNMOutputs as MNMOutputs
from farfield.functional._mnm import MNMParameters as MNMParameters
from farfield.functional._mnm import mnm as mnm
from farfield.functional._ntm import NTMParameters as NTMParameters
from farfield.functional._ntm import ntm as ntm
from farfield.functional._ntm import ntm_head_sizes as ntm_head_sizes
from farfield.functional._pair_attention import pair_attention as pair_attention
from farfield.functional._products import linear as linear
from farfield.functional._relation_matrix import relation_matrix as relation_matrix
from farfield.functional._relation_sum import relation_sum as relation_sum
from farfield.functional._relation_sum import tag_positions as tag_positions
from farfield.functional._self_attention import self_attention as self_attention
from farfield.functional._sinusoidal_position import sinusoidal_position as sinusoidal_position
from farfield.functional._slot_address import cosine_similarity as cosine_similarity
from farfield.functional._slot_address import slot_address as slot_address

__all__ = [
    "ContextStatistics",
    "ESBNKeys",
    "ESBNParameters",
    "MNMOutputs",
    "MNMParameters",
    "MemoryLayer",
    "NTMParameters",
    "check_segments",
    "content_scores",
    "content_weights",
    "context_norm",
    "context_statistics",
    "context_whiten",
    "cosine_similarity",
    "denormalize",
    "esbn",
    "esbn_keys",
    "kaiming_normal_",
    "linear",
    "lstm",
    "lstm_init_",
    "memory_read",
    "memory_write",
    "mnm",
    "ntm",
    "ntm_head_sizes",
    "pair_attention",
    "read_confidence",
    "relation_matrix",
    "relation_sum",
    "running_context_statistics",
    "self_attention",
    "sinusoidal_position",
    "slot_address",
    "tag_positions",
    "uninitialized",
    "xavier_normal_",
    "xavier_uniform_",
]

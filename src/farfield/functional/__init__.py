"""Pure tensor functions, one idea a file; everything in `farfield.nn` and above is made of them."""

from farfield._exports import face
from farfield.functional._learning._adversarial import vat_loss as vat_loss
from farfield.functional._learning._consistency import consistency as consistency
from farfield.functional._learning._losses import label_smoothing as label_smoothing
from farfield.functional._learning._mixtures import ict_loss as ict_loss
from farfield.functional._learning._mixtures import mixup as mixup
from farfield.functional._learning._teachers import mean_teacher as mean_teacher
from farfield.functional._norm._context_norm import context_norm as context_norm
from farfield.functional._norm._context_norm import denormalize as denormalize
from farfield.functional._norm._context_whitening import context_whiten as context_whiten
from farfield.functional._norm._divisive_norm import divisive_norm_1d as divisive_norm_1d
from farfield.functional._norm._divisive_norm import divisive_norm_2d as divisive_norm_2d
from farfield.functional._norm._field_norm import field_norm as field_norm
from farfield.functional._norm._field_norm import field_statistics as field_statistics
from farfield.functional._norm._field_norm import over_batch as over_batch
from farfield.functional._norm._field_norm import over_batch_and_places as over_batch_and_places
from farfield.functional._norm._field_norm import over_batch_and_time as over_batch_and_time
from farfield.functional._norm._field_norm import over_channel_groups as over_channel_groups
from farfield.functional._norm._field_norm import over_features as over_features
from farfield.functional._norm._field_norm import over_images as over_images
from farfield.functional._norm._field_norm import over_pieces as over_pieces
from farfield.functional._norm._field_norm import over_sub_batches as over_sub_batches
from farfield.functional._norm._sliding_context_norm import (
    sliding_context_norm as sliding_context_norm,
)
from farfield.functional._recurrent._gated_recurrence import Indexed as Indexed

__all__ = face(vars())

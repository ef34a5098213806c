"""Names of `farfield.metrics` for Farfield itself; they may change in any release."""

from farfield._exports import exported
from farfield.metrics._classification import negative_log_likelihood as negative_log_likelihood
from farfield.metrics._classification import top_k_accuracy as top_k_accuracy
from farfield.metrics._images import blob_distance as blob_distance
from farfield.metrics._intervals import PairedTest as PairedTest
from farfield.metrics._intervals import SeededDifference as SeededDifference
from farfield.metrics._intervals import Summary as Summary
from farfield.metrics._intervals import least_share as least_share
from farfield.metrics._intervals import seeded_difference as seeded_difference
from farfield.metrics._intervals import shared_spread_interval as shared_spread_interval
from farfield.metrics._intervals import welch_interval as welch_interval
from farfield.metrics._measures import MEASURES as MEASURES
from farfield.metrics._measures import Measure as Measure
from farfield.metrics._measures import measure_of as measure_of
from farfield.metrics._threshold import Resampling as Resampling
from farfield.metrics._threshold import Threshold as Threshold
from farfield.metrics._threshold import first_crossings as first_crossings
from farfield.metrics._threshold import threshold as threshold

__all__ = exported(vars())

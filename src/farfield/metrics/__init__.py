"""Scores with a leading seed axis, and statistics over seeds: means and intervals."""

from farfield._exports import exported
from farfield.metrics._classification import accuracy as accuracy
from farfield.metrics._classification import correct as correct
from farfield.metrics._classification import (
    expected_calibration_error as expected_calibration_error,
)
from farfield.metrics._classification import negative_log_likelihood as negative_log_likelihood
from farfield.metrics._classification import top_k_accuracy as top_k_accuracy
from farfield.metrics._images import blob_distance as blob_distance
from farfield.metrics._images import frechet_distance as frechet_distance
from farfield.metrics._images import inception_score as inception_score
from farfield.metrics._images import psnr as psnr
from farfield.metrics._images import ssim as ssim
from farfield.metrics._intervals import Difference as Difference
from farfield.metrics._intervals import Interval as Interval
from farfield.metrics._intervals import PairedTest as PairedTest
from farfield.metrics._intervals import Summary as Summary
from farfield.metrics._intervals import least_share as least_share
from farfield.metrics._intervals import mean_and_standard_error as mean_and_standard_error
from farfield.metrics._intervals import paired_interval as paired_interval
from farfield.metrics._intervals import paired_t_test as paired_t_test
from farfield.metrics._intervals import shared_spread_interval as shared_spread_interval
from farfield.metrics._intervals import t_interval as t_interval
from farfield.metrics._intervals import welch_interval as welch_interval
from farfield.metrics._measures import MEASURES as MEASURES
from farfield.metrics._measures import Measure as Measure
from farfield.metrics._measures import measure_of as measure_of

__all__ = exported(vars())

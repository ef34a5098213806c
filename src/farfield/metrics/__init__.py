"""Scores with a leading seed axis, and statistics over seeds: means and intervals."""

from farfield._exports import face
from farfield.metrics._aggregates import interquartile_mean as interquartile_mean
from farfield.metrics._aggregates import performance_profile as performance_profile
from farfield.metrics._aggregates import probability_of_improvement as probability_of_improvement
from farfield.metrics._aggregates import stratified_bootstrap as stratified_bootstrap
from farfield.metrics._classification import accuracy as accuracy
from farfield.metrics._classification import correct as correct
from farfield.metrics._classification import (
    expected_calibration_error as expected_calibration_error,
)
from farfield.metrics._images import frechet_distance as frechet_distance
from farfield.metrics._images import inception_score as inception_score
from farfield.metrics._images import psnr as psnr
from farfield.metrics._images import ssim as ssim
from farfield.metrics._intervals import Difference as Difference
from farfield.metrics._intervals import Interval as Interval
from farfield.metrics._intervals import mean_and_standard_error as mean_and_standard_error
from farfield.metrics._intervals import paired_interval as paired_interval
from farfield.metrics._intervals import paired_t_test as paired_t_test
from farfield.metrics._intervals import t_interval as t_interval

__all__ = face(vars())

"""Published numbers of the CIFAR experiments of ren2017, as data."""

from __future__ import annotations

from typing import Final

BASELINE: Final = "Baseline"
REGULARIZED: Final = "Baseline + WD + Dropout"

TABLE_3: Final[dict[str, tuple[str, str]]] = {
    BASELINE: ("0.7565", "0.4409"),
    REGULARIZED: ("0.7795", "0.4179"),
    "BN": ("0.7807", "0.4814"),
    "LN": ("0.7211", "0.4249"),
    "BN*": ("0.8179", "0.5156"),
    "LN*": ("0.8091", "0.4957"),
    "DN*": ("0.8122", "0.5066"),
}
"""Table 3: accuracy on CIFAR-10 and CIFAR-100."""

TABLE_7: Final[dict[str, tuple[str, str]]] = {
    BASELINE: ("0.7565", "0.4409"),
    "Baseline + L1": ("0.7839", "0.4517"),
    "BN": ("0.7807", "0.4814"),
    "BN + L1": ("0.8067", "0.5100"),
    "BN-s": ("0.8017", "0.5005"),
    "BN*": ("0.8179", "0.5156"),
    "LN": ("0.7211", "0.4249"),
    "LN + L1": ("0.7994", "0.4990"),
    "LN-s": ("0.8083", "0.4863"),
    "LN*": ("0.8091", "0.4957"),
    "DN": ("0.8058", "0.4892"),
    "DN*": ("0.8122", "0.5066"),
}
"""Table 7, its columns of CIFAR-10 and CIFAR-100: accuracy."""

RESNET: Final[dict[str, tuple[str, str]]] = {"BN": ("92.6", "69.8"), "DN*": ("91.3", "66.6")}
"""Section 4.1: accuracy in percent of ResNet-32 on CIFAR-10 and CIFAR-100."""

SIGMA_GAIN: Final = "2.5"
"""Section 4.1: what the smoothing constant gains in ResNet-32, points on CIFAR-100."""
L1_GAIN: Final = "0.5"
"""Section 4.1: what the L1 penalty gains."""
LEARNED_GAIN: Final = "1.3"
"""Section 4.1: what learning the constant of each layer gains."""

DEPENDENCE: Final[dict[str, tuple[str, str]]] = {
    BASELINE: ("0.19", "0.37"),
    "BN": ("0.43", "1.20"),
    "BN + L1": ("0.17", "0.66"),
    "BN-s": ("0.23", "0.80"),
    "BN*": ("0.17", "0.66"),
    "LN": ("0.55", "1.41"),
    "LN + L1": ("0.17", "0.67"),
    "LN-s": ("0.20", "0.74"),
    "LN*": ("0.16", "0.64"),
    "DN": ("0.21", "0.81"),
    "DN*": ("0.20", "0.73"),
}
"""Figure 5: mean correlation coefficient and mutual information of pairs of filters."""

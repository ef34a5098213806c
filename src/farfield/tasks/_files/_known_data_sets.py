"""Data sets known to the byte: images, house numbers, texts, and excerpts of them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

import msgspec

from farfield.tasks._files._data_sets import DataSet

_KNOWN: Final = msgspec.toml.decode(
    files(__package__).joinpath("known_data_sets.toml").read_bytes(), type=dict[str, DataSet]
)

MNIST: Final = _KNOWN["mnist"]
MNIST_TEST: Final = tuple(file.name for file in MNIST.files if file.name.startswith("t10k"))
KMNIST: Final = _KNOWN["kmnist"]
KMNIST_TEST: Final = tuple(file.name for file in KMNIST.files if file.name.startswith("t10k"))
KMNIST_EXCERPT: Final = _KNOWN["kmnist-excerpt"]
"""First 7,011 training images of K-MNIST."""
FASHION_MNIST: Final = _KNOWN["fashion-mnist"]
FASHION_MNIST_EXCERPT: Final = _KNOWN["fashion-mnist-excerpt"]
"""First 8,226 training and 6,978 test images of Fashion-MNIST."""
SVHN: Final = _KNOWN["svhn"]
SVHN_EXCERPT: Final = _KNOWN["svhn-excerpt"]
"""First 1,083 training images of SVHN."""
CIFAR10: Final = _KNOWN["cifar10"]
CIFAR10_EXCERPT: Final = _KNOWN["cifar10-excerpt"]
"""First images of each training batch of CIFAR-10, 8,068 in all, and the test batch."""
CIFAR10_JPEG: Final = _KNOWN["cifar10-jpeg"]
"""Copy of CIFAR-10 as JPEG files, whose pixels differ by 30 dB from the published pixels."""
CIFAR100: Final = _KNOWN["cifar100"]
CIFAR100_EXCERPT: Final = _KNOWN["cifar100-excerpt"]
"""First 1,117 training and 916 test images of CIFAR-100."""
TINY_IMAGENET: Final = _KNOWN["tiny-imagenet"]
PTB: Final = _KNOWN["ptb"]
"""Penn Treebank as words, with a vocabulary of 10,000."""
WIKITEXT2: Final = _KNOWN["wikitext2"]
"""WikiText-2 as words; its training articles are in another order than published."""

DATA_SETS: Final[dict[str, DataSet]] = {
    data_set.name: data_set
    for data_set in (MNIST, KMNIST, SVHN, FASHION_MNIST, CIFAR10, CIFAR100, TINY_IMAGENET, PTB)
}
"""Data sets that can be fetched, by their names on the command line."""

"""The data sets that are known to the byte: published ones, and excerpts of them."""

from __future__ import annotations

from typing import Final

from farfield.tasks._files._cifar import CIFAR10, CIFAR100
from farfield.tasks._files._data_sets import DataFile, DataSet
from farfield.tasks._files._texts import PTB

MNIST: Final = DataSet(
    name="mnist",
    files=(
        DataFile(
            name="train-images-idx3-ubyte.gz",
            sha256="440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            size=9_912_422,
            shape=(60_000, 28, 28),
        ),
        DataFile(
            name="train-labels-idx1-ubyte.gz",
            sha256="3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            size=28_881,
            shape=(60_000,),
        ),
        DataFile(
            name="t10k-images-idx3-ubyte.gz",
            sha256="8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            size=1_648_877,
            shape=(10_000, 28, 28),
        ),
        DataFile(
            name="t10k-labels-idx1-ubyte.gz",
            sha256="f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            size=4_542,
            shape=(10_000,),
        ),
    ),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ),
    licence="CC BY-SA 3.0 (LeCun, Cortes, Burges)",
)

KMNIST: Final = DataSet(
    name="kmnist",
    files=(
        DataFile(
            name="train-images-idx3-ubyte.gz",
            sha256="51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
            size=18_165_135,
            shape=(60_000, 28, 28),
        ),
        DataFile(
            name="train-labels-idx1-ubyte.gz",
            sha256="e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
            size=29_497,
            shape=(60_000,),
        ),
        DataFile(
            name="t10k-images-idx3-ubyte.gz",
            sha256="edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
            size=3_041_136,
            shape=(10_000, 28, 28),
        ),
        DataFile(
            name="t10k-labels-idx1-ubyte.gz",
            sha256="20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
            size=5_120,
            shape=(10_000,),
        ),
    ),
    mirrors=("https://codh.rois.ac.jp/kmnist/dataset/kmnist/",),
    licence="CC BY-SA 4.0 (KMNIST Dataset, created by CODH, adapted from Kuzushiji Dataset)",
)

KMNIST_TEST: Final = tuple(file.name for file in KMNIST.files if file.name.startswith("t10k"))

KMNIST_EXCERPT: Final = DataSet(
    name="kmnist",
    files=(
        DataFile(
            name="train-first7011-images-idx3-ubyte.gz",
            sha256="3216fbd1e198409cd6bf706d4adbe7657f27032729a84c8481ad9fd31d79a2ef",
            size=2_119_565,
            shape=(7_011, 28, 28),
        ),
        DataFile(
            name="train-first7011-labels-idx1-ubyte.gz",
            sha256="65bae066f28b6e829427db755e4b6774a4319ec2eba189fd0b4929c2a656ab2a",
            size=3_598,
            shape=(7_011,),
        ),
    ),
    mirrors=(),
    licence=KMNIST.licence,
    is_excerpt=True,
)
"""The first 7,011 training images of K-MNIST."""

SVHN: Final = DataSet(
    name="svhn",
    files=(
        DataFile(
            name="train_32x32.mat",
            sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
            size=182_040_794,
            shape=(32, 32, 3, 73_257),
        ),
        DataFile(
            name="test_32x32.mat",
            sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
            size=64_275_384,
            shape=(32, 32, 3, 26_032),
        ),
    ),
    mirrors=("http://ufldl.stanford.edu/housenumbers/",),
    licence="non-commercial use only (Netzer et al., 2011)",
)

SVHN_EXCERPT: Final = DataSet(
    name="svhn",
    files=(
        DataFile(
            name="train_first1083_32x32.mat",
            sha256="2455c025522c79053e939b19f9b405aefc21069bec0821816938c37cacb2074a",
            size=2_656_352,
            shape=(32, 32, 3, 1_083),
        ),
    ),
    mirrors=(),
    licence=SVHN.licence,
    is_excerpt=True,
)
"""The first 1,083 training images of SVHN."""

FASHION_MNIST: Final = DataSet(
    name="fashion_mnist",
    files=(
        DataFile(
            name="train-images-idx3-ubyte.gz",
            sha256="3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            size=26_421_880,
            shape=(60_000, 28, 28),
        ),
        DataFile(
            name="train-labels-idx1-ubyte.gz",
            sha256="a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            size=29_515,
            shape=(60_000,),
        ),
        DataFile(
            name="t10k-images-idx3-ubyte.gz",
            sha256="346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            size=4_422_102,
            shape=(10_000, 28, 28),
        ),
        DataFile(
            name="t10k-labels-idx1-ubyte.gz",
            sha256="67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            size=5_148,
            shape=(10_000,),
        ),
    ),
    mirrors=("https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",),
    licence="MIT (Zalando SE)",
)

FASHION_MNIST_EXCERPT: Final = DataSet(
    name="fashion_mnist",
    files=(
        DataFile(
            name="train-first8226-images-idx3-ubyte.gz",
            sha256="b2c7fd9de648463fb588c2de4aef852b7783fc0c96a9979eaf74f1fba6482d83",
            size=3_572_616,
            shape=(8_226, 28, 28),
        ),
        DataFile(
            name="train-first8226-labels-idx1-ubyte.gz",
            sha256="65cd223c9685c4f0468087ef6de77e72a85c972f3012e1c36c214862f90acf1f",
            size=4_212,
            shape=(8_226,),
        ),
        DataFile(
            name="t10k-first6978-images-idx3-ubyte.gz",
            sha256="6f0af9322f565f0b3ccaa8cbca15200d7e9d078216017cf068e27766c7bda8d0",
            size=3_053_155,
            shape=(6_978, 28, 28),
        ),
        DataFile(
            name="t10k-first6978-labels-idx1-ubyte.gz",
            sha256="97323e0baf7b0394850ac8806fe476bcca4383e47c0336c19f0898391d2a23f2",
            size=3_584,
            shape=(6_978,),
        ),
    ),
    mirrors=(),
    licence=FASHION_MNIST.licence,
    is_excerpt=True,
)
"""The first 8,226 training and 6,978 test images of Fashion-MNIST."""


TINY_IMAGENET: Final = DataSet(
    name="tiny-imagenet",
    files=(
        DataFile(
            name="tiny-imagenet-200.zip",
            sha256="6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821",
            size=248_100_043,
            shape=(110_000, 1 + 3 * 64 * 64),
        ),
    ),
    mirrors=("https://cs231n.stanford.edu/",),
    licence="non-commercial research and education (ImageNet; CS231n, Stanford)",
)

DATA_SETS: Final[dict[str, DataSet]] = {
    data_set.name: data_set
    for data_set in (MNIST, KMNIST, SVHN, FASHION_MNIST, CIFAR10, CIFAR100, TINY_IMAGENET, PTB)
}
"""Every data set that can be fetched, by its name on the command line."""

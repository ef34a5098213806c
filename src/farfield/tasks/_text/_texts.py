"""Texts as numbers of words: the vocabulary of a training file, and three texts in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, final

import numpy as np
from jaxtyping import Int64

from farfield.core import UNASKED, expand_home, file_stamp, printable, read_regular
from farfield.tasks._files._data_sets import DataSet
from farfield.tasks._files._known_data_sets import PTB, WIKITEXT2

END: Final = "<eos>"
"""Token at the end of every line."""
UNKNOWN: Final = "<unk>"
"""Word that stands for words outside of the vocabulary."""
NO_WORD: Final = UNASKED
"""Number of a word outside of the vocabulary, and target behind the end of a text."""
NAMES: Final = ("train.txt", "valid.txt", "test.txt")
"""Files of a folder of one's own."""
_LARGEST: Final = 2**30


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """A training, a validation and a test text as numbers of words.

    Args:
        words: The vocabulary: number by number, the most frequent word of the training text first.
        numbers: The three texts.
    """

    words: tuple[str, ...]
    numbers: tuple[Int64[np.ndarray, " _"], ...]


@final
@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """A known set of three texts.

    Args:
        data_set: Its files: for training, validation and tests.
        num_words: Number of words of its vocabulary.
    """

    data_set: DataSet
    num_words: int

    def contents(self) -> tuple[tuple[str, bytes], ...]:
        """Names and bytes of the three files.

        Raises:
            ValueError: If one is missing, or differs from the one that is known.
        """
        names = [file.name for file in self.data_set.files]
        return tuple(zip(names, self.data_set.contents(*names), strict=True))


TEXT_FILES: Final[dict[str, TextFiles]] = {
    "ptb": TextFiles(data_set=PTB, num_words=10_000),
    "wikitext2": TextFiles(data_set=WIKITEXT2, num_words=33_278),
}
"""Every known set of texts, by its name."""


@lru_cache(maxsize=2)
def known_texts(name: str) -> Texts:
    """The texts of a known set.

    Args:
        name: Its name.
    """
    return _numbered(TEXT_FILES[name].contents())


def texts_in(folder: str) -> Texts:
    """The texts of a folder of one's own: `train.txt`, `valid.txt` and `test.txt`.

    Args:
        folder: Its path.

    Raises:
        ValueError: If a file cannot be read, or is no text.
    """
    paths = tuple(text_paths(folder).values())
    return _texts_at(paths, tuple(map(_stamp, paths)))


def are_in(folder: str) -> bool:
    """True if a folder has the three files.

    Args:
        folder: Its path.
    """
    return all(path.is_file() for path in text_paths(folder).values())


def text_paths(folder: str) -> dict[str, Path]:
    """Paths of the three files of a folder, by their names.

    Args:
        folder: Its path.
    """
    return {name: expand_home(folder) / name for name in NAMES}


@lru_cache(maxsize=2)
def _texts_at(paths: tuple[Path, ...], stamps: tuple[tuple[int, ...], ...]) -> Texts:
    """Texts of files, read again when they have changed."""
    del stamps
    return _numbered([(printable(path), _content(path)) for path in paths])


def _content(path: Path) -> bytes:
    """The bytes of a text."""
    try:
        return read_regular(path, _LARGEST)
    except OSError as error:
        raise ValueError(f"{printable(path)} must be a text: {error.strerror}") from error


def _stamp(path: Path) -> tuple[int, ...]:
    """Stamp of a file of a user's folder."""
    try:
        return file_stamp(path)
    except OSError as error:
        raise ValueError(
            f"folder must have the files {', '.join(NAMES)}, got none at {printable(path)}"
        ) from error


def _numbered(files: Sequence[tuple[str, bytes]]) -> Texts:
    training, *others = ((name, tokens_of(content, name)) for name, content in files)
    words = vocabulary(training[1])
    known = {word: number for number, word in enumerate(words)}
    return Texts(
        words=words,
        numbers=tuple(numbers_of(tokens, known, name) for name, tokens in (training, *others)),
    )


def other_text(name: str, words: Sequence[str]) -> tuple[Int64[np.ndarray, " time"], int]:
    """The test text of a known set in the vocabulary of another text.

    Args:
        name: Name of the set.
        words: The vocabulary.

    Returns:
        Number of each word or, of one that is not in it, in small letters either, `NO_WORD`; and
        the number of `<unk>`.

    Raises:
        ValueError: If a file differs from the known one, or the vocabulary has no `<unk>`.
    """
    known = {word: number for number, word in enumerate(words)}
    if UNKNOWN not in known:
        raise ValueError(f"other must be None where the training text has no {UNKNOWN}")
    data_set = TEXT_FILES[name].data_set
    file = data_set.files[-1].name
    (content,) = data_set.contents(file)
    numbers = [
        known.get(token, known.get(token.lower(), NO_WORD)) for token in tokens_of(content, file)
    ]
    unknown = known[UNKNOWN]
    found = np.array(numbers, np.int64)
    return np.where(found == unknown, NO_WORD, found), unknown


def tokens_of(content: bytes, name: str) -> list[str]:
    """Words of a text, with a token at the end of every line.

    Args:
        content: The text, in UTF-8, with lines that end as any system has it.
        name: Its name, for errors.

    Raises:
        ValueError: If it is empty, or is no text.
    """
    try:
        text = content.decode("utf-8-sig")  # without the mark that some editors put first
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be a text in UTF-8, got other bytes: {error}") from error
    if not text:
        raise ValueError(f"{name} must have at least one line, got an empty file")
    if "\0" in text:
        raise ValueError(f"{name} must be a text in UTF-8, got zero bytes, as UTF-16 has them")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    return [word for line in lines for word in (*line.split(), END)]


def vocabulary(tokens: Sequence[str]) -> tuple[str, ...]:
    """Different words, from the most frequent to the least, in their own order where they tie.

    Args:
        tokens: Words of a text.
    """
    counts = Counter(tokens)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))


def numbers_of(
    tokens: Sequence[str], known: dict[str, int], name: str
) -> Int64[np.ndarray, " time"]:
    """Number of each word, that of `<unk>` for one outside of the vocabulary.

    Args:
        tokens: Words of a text.
        known: Numbers of the words of the vocabulary.
        name: Name of the text, for errors.

    Raises:
        ValueError: If a word is unknown, and `<unk>` is too.
    """
    unknown = known.get(UNKNOWN, -1)
    numbers = np.array([known.get(token, unknown) for token in tokens], np.int64)
    if numbers.min() < 0:
        word = tokens[int(numbers.argmin())]
        raise ValueError(
            f"{name} must have words of the training text alone where that has no {UNKNOWN}, "
            f"got {printable(word)}"
        )
    return numbers

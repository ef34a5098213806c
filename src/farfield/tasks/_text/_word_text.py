"""Prediction of the next word of a text (ren2017, lamb2022)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import Problems, Stream
from farfield.core.internal import (
    UNASKED,
    UnknownNameError,
    check_fields,
    expand_home,
    file_stamp,
    printable,
    read_regular,
)
from farfield.metrics import correct
from farfield.tasks._files._data_sets import DataSet
from farfield.tasks._files._known_data_sets import PTB, WIKITEXT2
from farfield.tasks._protocol._answers import check_sequence_outputs
from farfield.tasks._protocol._draws import DrawnSets
from farfield.tasks._protocol._task import (
    TRAINING,
    VALIDATION,
    WORD,
    Count,
    Form,
    OneContext,
    Regime,
    check_regime,
    regimes_at,
)

END: Final = "<eos>"
"""Token at the end of every line."""
UNKNOWN: Final = "<unk>"
"""Word in place of words outside of the vocabulary."""
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
        data_set: Files for training, validation and tests.
        num_words: Number of words of its vocabulary.
    """

    data_set: DataSet
    num_words: int

    def contents(self) -> tuple[tuple[str, bytes], ...]:
        """Read names and bytes of the three files.

        Raises:
            ValueError: If one is missing, or differs from the one that is known.
        """
        names = [file.name for file in self.data_set.files]
        return tuple(zip(names, self.data_set.contents(*names), strict=True))


TEXT_FILES: Final[dict[str, TextFiles]] = {
    "ptb": TextFiles(data_set=PTB, num_words=10_000),
    "wikitext2": TextFiles(data_set=WIKITEXT2, num_words=33_278),
}
"""Known sets of texts, by their names."""


@lru_cache(maxsize=2)
def known_texts(name: str) -> Texts:
    """Read the texts of a known set.

    Args:
        name: Name of the set.
    """
    return _numbered(TEXT_FILES[name].contents())


def texts_in(folder: str) -> Texts:
    """Read the texts of a user's folder: `train.txt`, `valid.txt` and `test.txt`.

    Args:
        folder: Path of the folder.

    Raises:
        ValueError: If a file cannot be read, or is no text.
    """
    paths = tuple(text_paths(folder).values())
    return _texts_at(paths, tuple(map(_stamp, paths)))


def are_in(folder: str) -> bool:
    """Check whether a folder has the three files.

    Args:
        folder: Path of the folder.
    """
    return all(path.is_file() for path in text_paths(folder).values())


def text_paths(folder: str) -> dict[str, Path]:
    """List the paths of the three files of a folder, by their names.

    Args:
        folder: Path of the folder.
    """
    return {name: expand_home(folder) / name for name in NAMES}


@lru_cache(maxsize=2)
def _texts_at(paths: tuple[Path, ...], stamps: tuple[tuple[int, ...], ...]) -> Texts:
    """Read texts of files, again when they have changed."""
    del stamps
    return _numbered([(printable(path), _content(path)) for path in paths])


def _content(path: Path) -> bytes:
    """Read the bytes of a text."""
    try:
        return read_regular(path, _LARGEST)
    except OSError as error:
        raise ValueError(f"{printable(path)} must be a text: {error.strerror}") from error


def _stamp(path: Path) -> tuple[int, ...]:
    """Stamp a file of a user's folder."""
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
    """Read the test text of a known set in the vocabulary of another text.

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
    """Split a text into words, with a token at the end of every line.

    Args:
        content: The text, in UTF-8, with lines that end as any system has it.
        name: Name of the text, for errors.

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
    """List different words by falling frequency, ties in alphabetical order.

    Args:
        tokens: Words of a text.
    """
    counts = Counter(tokens)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word)))


def numbers_of(
    tokens: Sequence[str], known: dict[str, int], name: str
) -> Int64[np.ndarray, " time"]:
    """Number the words; a word outside of the vocabulary has the number of `<unk>`.

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


TEST: Final = "test"


@final
@dataclass(frozen=True, kw_only=True)
class WordText(DrawnSets, OneContext):
    r"""Which word comes next in a text?

    **Task.** A problem is a window of `steps` words of a text, as their numbers in a vocabulary;
    the answer at each of them is a logit for every word that may come next. Windows follow each
    other without a gap, in the order of the text, so that a model may go on from the state that it
    had after the window before.

    **Worked example** (four steps; ⏎ is the end of a line, `<eos>`).

    ```text
      text      the cat sat ⏎ the dog ran ⏎ …
      problem   the cat sat ⏎     next   cat sat ⏎ the
      problem   the dog ran ⏎     next   dog ran ⏎ …
    ```

    **Regimes.** `training`, `validation` and `test` are three texts, the same for every run. The
    vocabulary is that of the training text, with one token for the end of each line; a word that
    is not in it is `<unk>`, and an error where the training text has none. With `other` there is
    one more, the test text of another data set. A word that the vocabulary lacks is looked for in
    small letters; where it lacks that too, the word is read as `<unk>` and not asked for.

    **Score, floor and ceiling.** Share of right next words; of a set the `perplexity`
    $\exp\left(-\frac{1}{n} \sum_i \log p(w_i)\right)$ over all $n$ words but the first, the end of
    a line counting as one. A model that can carry its state reads a set from the beginning to the
    end; any other begins each window anew. The floor is 1 over the number of words, by guessing.
    A uniform guess has a perplexity as large as the vocabulary. The ceiling is the text.

    **Known shortcuts.** In Penn Treebank every second word is one of the forty most frequent.

    **Source and deviations.** Ren et al. 2017, section 4.2, and Lamb 2022, section 10.4.6. The
    released code of the former cuts the training text into as many lanes as a batch has rows, and
    so does `farfield.objectives.CarriedState`; here a lane begins with a window. Its loss is the
    sum over the steps of a window, not their mean (`sum_over_steps`), which multiplies the learning
    rate. `wikitext2` has the published training articles in another order.

    Args:
        data_set: Name of the texts: `ptb` (Penn Treebank) or `wikitext2`.
        folder: A folder of one's own with `train.txt`, `valid.txt` and `test.txt`, in place of a
            data set; None for none.
        other: Name of another data set, whose test text is a regime of that name; None for none.
        steps: Number of words of a window.
        sum_over_steps: Whether the loss of a window is the sum over its words, as in the released
            code, or the mean.

    Raises:
        UnknownNameError: If there is no such data set.
        ValueError: If a number is out of range.

    Reference:
        ren2017, section 4.2; lamb2022, section 10.4.6.
    """

    name: ClassVar[str] = "word-text"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=WORD, arrangement="sequence", answer="everywhere")
    training_scored: ClassVar[int] = 256
    consecutive: ClassVar[bool] = True

    data_set: str = "ptb"
    folder: str | None = None
    other: str | None = None
    steps: Count = 20
    sum_over_steps: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        for name in (self.data_set, self.other):
            if name is not None and name not in TEXT_FILES:
                raise UnknownNameError("data set", name, TEXT_FILES)
        if self.other == self.data_set and self.folder is None:
            raise ValueError(f"other must be another data set than {self.data_set}, got the same")

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Shape of an item: the number of a word."""
        return (1,)

    @property
    def length(self) -> int:
        """Number of words of a window."""
        return self.steps

    @property
    def num_outputs(self) -> int:
        """Number of words of the vocabulary, each with a logit."""
        known = self.folder is None
        return TEXT_FILES[self.data_set].num_words if known else len(self._texts().words)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation and test, texts of the same kind; and the other text."""
        distances = {TRAINING: 0.0, VALIDATION: 0.0, TEST: 0.0}
        if self.other is not None:
            distances[self.other] = 1.0
        return regimes_at("kinds of text that training lacks", distances)

    def is_at_hand(self) -> bool:
        """Check whether the files of the texts are on this machine."""
        if self.other is not None and not TEXT_FILES[self.other].data_set.is_at_hand():
            return False
        if self.folder is not None:
            return are_in(self.folder)
        return TEXT_FILES[self.data_set].data_set.is_at_hand()

    def input_files(self) -> dict[str, Path]:
        """List the paths of the texts of a folder; empty for a data set, whose files are known."""
        return {} if self.folder is None else text_paths(self.folder)

    def words(self) -> tuple[str, ...]:
        """List the vocabulary, by falling frequency in the training text."""
        return self._texts().words

    def _texts(self) -> Texts:
        return known_texts(self.data_set) if self.folder is None else texts_in(self.folder)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Cut all texts into windows, whatever the run.

        Args:
            stream: Stream of the run, which decides nothing.

        Raises:
            ValueError: If a file is missing, differs from the known one, or is no text.
        """
        del stream
        texts = self._texts()
        items = torch.arange(len(texts.words)).unsqueeze(1)
        names = (TRAINING, VALIDATION, TEST)
        sets = {
            name: self._windows(items, numbers)
            for name, numbers in zip(names, texts.numbers, strict=True)
        }
        if self.other is not None:
            numbers, unknown = other_text(self.other, texts.words)
            sets[self.other] = self._windows(items, numbers, unknown)
        return sets

    def _windows(
        self, items: Tensor, numbers: Int64[np.ndarray, " time"], unknown: int = 0
    ) -> Problems:
        """Cut a text into windows, the last one filled up; `NO_WORD` is read as `unknown`."""
        if len(numbers) < 2:
            raise ValueError(f"folder must have texts of two words or more, got {len(numbers)}")
        length = math.ceil((len(numbers) - 1) / self.steps) * self.steps
        filled = np.full(length + 1, NO_WORD, np.int64)
        filled[: len(numbers)] = numbers
        index, target = (
            torch.from_numpy(part).reshape(-1, self.steps) for part in (filled[:-1], filled[1:])
        )
        index = torch.where(index == NO_WORD, unknown, index)
        return Problems(items=items, index=index, target=target.contiguous())

    def loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the cross-entropy of the next words of each window: their mean, or their sum.

        Args:
            outputs: Logits at every word.
            problems: The windows.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, num_outputs)`.
        """
        check_sequence_outputs(outputs, problems, self.num_outputs)
        wanted = problems.target.flatten()
        losses = F.cross_entropy(
            outputs.flatten(0, 1), wanted, ignore_index=UNASKED, reduction="none"
        )
        total = losses.reshape(problems.target.shape).sum(1)
        return total if self.sum_over_steps else total / _words(problems).clamp(min=1)

    def score(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Compute the share of right next words of each window; a tie, or not a number, is wrong.

        Raises:
            ValueError: As `loss`.
        """
        check_sequence_outputs(outputs, problems, self.num_outputs)
        right = correct(outputs, problems.target)
        return right.to(torch.float32).sum(1) / _words(problems).clamp(min=1)

    def pooled_scores(
        self, losses: Float[Tensor, " batch"], problems: Problems
    ) -> dict[str, float]:
        """Compute the perplexity of a set: every word counts the same.

        Args:
            losses: Loss of each window.
            problems: The windows.
        """
        words = _words(problems).double()
        total = losses.double() if self.sum_over_steps else losses.double() * words
        return {"perplexity": float((total.sum() / words.sum()).exp())}

    def chance(self, regime: str) -> float:
        """Return the share of right words by guessing, all equally likely."""
        check_regime(regime, self.regimes)
        return 1 / self.num_outputs

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time value"]:
        """Return the next words as outputs.

        Args:
            problems: Windows of any regime.
        """
        wanted = problems.target.clamp(min=0)
        return F.one_hot(wanted, self.num_outputs).to(torch.float32) * 2 - 1


def _words(problems: Problems) -> Tensor:
    """Count the words that are asked for in each window."""
    return problems.asked.sum(1)

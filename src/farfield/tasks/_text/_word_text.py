"""Prediction of the next word of a text (ren2017, lamb2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from farfield.core import UNASKED, Problems, Stream, UnknownNameError, check_fields
from farfield.metrics import correct
from farfield.tasks._protocol._checks import Count, check_regime
from farfield.tasks._protocol._form import WORD, Form
from farfield.tasks._protocol._samples import resample
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Regime
from farfield.tasks._text._texts import (
    NO_WORD,
    TEXT_FILES,
    Texts,
    are_in,
    known_texts,
    other_text,
    text_paths,
    texts_in,
)

TEST: Final = "test"


@final
@dataclass(frozen=True, kw_only=True)
class WordText:
    r"""Which word comes next in a text?

    **What is asked.** A problem is a window of `steps` words of a text, as their numbers in a
    vocabulary; the answer at each of them is a logit for every word that may come next. Windows
    follow each other without a gap, in the order of the text, so that a model may go on from the
    state that it had after the window before.

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
        """The number of a word."""
        return (1,)

    @property
    def length(self) -> int:
        """Number of words of a window."""
        return self.steps

    @property
    def num_outputs(self) -> int:
        """A logit for each word of the vocabulary."""
        known = self.folder is None
        return TEXT_FILES[self.data_set].num_words if known else len(self._texts().words)

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: the window."""
        return (tuple(range(self.steps)),)

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation and test, texts of the same kind; and the other text."""
        unit = "kinds of text that training lacks"
        distances = {TRAINING: 0.0, VALIDATION: 0.0, TEST: 0.0}
        if self.other is not None:
            distances[self.other] = 1.0
        return tuple(Regime(name=n, distance=d, unit=unit) for n, d in distances.items())

    def is_at_hand(self) -> bool:
        """True if the files of the texts are on this machine."""
        if self.other is not None and not TEXT_FILES[self.other].data_set.is_at_hand():
            return False
        if self.folder is not None:
            return are_in(self.folder)
        return TEXT_FILES[self.data_set].data_set.is_at_hand()

    def input_files(self) -> dict[str, Path]:
        """Paths of the texts of a folder; none of a data set, whose files are known."""
        return {} if self.folder is None else text_paths(self.folder)

    def words(self) -> tuple[str, ...]:
        """The vocabulary, from the most frequent word of the training text to the least."""
        return self._texts().words

    def _texts(self) -> Texts:
        return known_texts(self.data_set) if self.folder is None else texts_in(self.folder)

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The windows of all texts, whatever the run.

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
        """Windows of a text, the last one filled up; `NO_WORD` is read as `unknown`."""
        if len(numbers) < 2:
            raise ValueError(f"folder must have texts of two words or more, got {len(numbers)}")
        places = math.ceil((len(numbers) - 1) / self.steps) * self.steps
        filled = np.full(places + 1, NO_WORD, np.int64)
        filled[: len(numbers)] = numbers
        index, target = (
            torch.from_numpy(part).reshape(-1, self.steps) for part in (filled[:-1], filled[1:])
        )
        index = torch.where(index == NO_WORD, unknown, index)
        return Problems(items=items, index=index, target=target.contiguous())

    def sample(self, regime: str, n: int, generator: np.random.Generator) -> Problems:
        """`n` windows of one regime, with replacement.

        Args:
            regime: Name of the regime.
            n: Number of windows, at least 1.
            generator: Draws them.
        """
        return resample(self.draw, regime, n, generator)

    def loss(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Cross-entropy of the next words of each window: their mean, or their sum.

        Args:
            outputs: Logits at every word.
            problems: The windows.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, num_outputs)`.
        """
        self._check_outputs(outputs, problems)
        wanted = problems.target.flatten()
        losses = F.cross_entropy(
            outputs.flatten(0, 1), wanted, ignore_index=UNASKED, reduction="none"
        )
        total = losses.reshape(problems.target.shape).sum(1)
        return total if self.sum_over_steps else total / _words(problems).clamp(min=1)

    def score(
        self, outputs: Float[Tensor, "batch time value"], problems: Problems
    ) -> Float[Tensor, " batch"]:
        """Share of right next words of each window; a tie, or what is not a number, is wrong.

        Args:
            outputs: Logits at every word.
            problems: The windows.

        Raises:
            ValueError: If `outputs` is not of `(batch, time, num_outputs)`.
        """
        self._check_outputs(outputs, problems)
        right = correct(outputs, problems.target)
        return right.to(torch.float32).sum(1) / _words(problems).clamp(min=1)

    def pooled_scores(
        self, losses: Float[Tensor, " batch"], problems: Problems
    ) -> dict[str, float]:
        """Perplexity of a set: every word counts the same.

        Args:
            losses: Loss of each window.
            problems: The windows.
        """
        words = _words(problems).double()
        total = losses.double() if self.sum_over_steps else losses.double() * words
        return {"perplexity": float((total.sum() / words.sum()).exp())}

    def chance(self, regime: str) -> float:
        """Share of right words by guessing, each as likely as any other.

        Args:
            regime: Name of the regime.
        """
        check_regime(regime, self.regimes)
        return 1 / self.num_outputs

    def oracle(self, problems: Problems) -> Float[Tensor, "batch time value"]:
        """The words that come next, as outputs.

        Args:
            problems: Windows of any regime.
        """
        wanted = problems.target.clamp(min=0)
        return F.one_hot(wanted, self.num_outputs).to(torch.float32) * 2 - 1

    def _check_outputs(self, outputs: Tensor, problems: Problems) -> None:
        wanted = (*problems.index.shape, self.num_outputs)
        if tuple(outputs.shape) != wanted:
            raise ValueError(
                f"outputs must be of (batch, time, outputs) = {wanted}, got {tuple(outputs.shape)}"
            )


def _words(problems: Problems) -> Tensor:
    """Number of words that are asked for in each window."""
    return problems.asked.sum(1)

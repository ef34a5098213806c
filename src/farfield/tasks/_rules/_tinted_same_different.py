"""Same/different (webb2021) with a tint that gives away the answer in training, not at test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from farfield.core import Problems, Stream, check_fields
from farfield.tasks._protocol._answers import binary_outputs
from farfield.tasks._protocol._task import TRAINING, Regime
from farfield.tasks._rules import _abstract_rules as rules
from farfield.tasks._rules._glyph_set import GlyphSet
from farfield.tasks._rules._rule_task import YesNoTask
from farfield.tasks._rules._same_different import SameDifferent

_UNIT = "% misled"


@final
@dataclass(frozen=True, kw_only=True)
class TintedSameDifferent(YesNoTask):
    """Are the two images the same, whatever their tint?

    **What is asked.** Two images of one tint, light or dark; the answer is 0 if they are the same
    and 1 if they differ. In training every "same" pair is light and every "different" pair dark:
    the tint of a single image gives away the answer. At test it does not.

    **Worked example.** Light images stand in plain boxes, dark ones in boxes with double lines.

    ```text
      training                            tint-reversed
      ┌───┐┌───┐       ╔═══╗╔═══╗         ╔═══╗╔═══╗       ┌───┐┌───┐
      │ ♞ ││ ♞ │ → 0   ║ ♞ ║║ Ω ║ → 1     ║ ☺ ║║ ☺ ║ → 0   │ ☺ ││ & │ → 1
      └───┘└───┘       ╚═══╝╚═══╝         ╚═══╝╚═══╝       └───┘└───┘
    ```

    **Regimes.** The pairs are those of same/different under the same seed: `training` shows N − m
    of the N images, the tests only the m others, or with m = 0 other pairs. The three tests have
    the same pairs in other tints; their distance is the share of them whose tint stands for the
    wrong answer.

    | regime | tint | share misled |
    |---|---|---|
    | `training` | the answer's | 0 % |
    | `tint-kept` | the answer's | 0 % |
    | `tint-random` | independent of the answer | 50 % |
    | `tint-reversed` | the other answer's | 100 % |

    A dark image has half the grey levels of the original, a light one half of them and a half more.

    | | m = 0 | 50 | 85 | 95 | 98 |
    |---|---|---|---|---|---|
    | training | 18,810 | 4,900 | 420 | 40 | 4 |
    | each test | 990 | 4,900 | 10,000 | 10,000 | 10,000 |

    **Score, floor and ceiling.** Share of right answers; 0.5 by guessing; 1 by comparing pixels.

    **Known shortcuts.** The tint, on purpose: going by it alone is always right in training and in
    `tint-kept`, right half the time in `tint-random` and never in `tint-reversed`. Training itself
    cannot tell it from the rule; what a model learns shows which of the two it is inclined to.
    Two images of a pair always share their tint, so that what compares them does not see it.

    **Source and deviations.** After same/different (Webb, Sinha, Cohen 2021, section 2 and A.2.1).
    It is the smallest of the tasks and has two answers, so that two tints suffice, and a single
    image that gives away the answer is the plainest shortcut there is. Tints are grey levels: items
    stay images of height and width, and every encoder reads them.

    Args:
        withheld: Number of images that training never shows, m.
        max_problems: Largest number of problems of a set.
        shapes: The images; `None` for the built-in 100 glyphs.
        softmax: Whether the answer is two logits rather than one (positive: different).

    Raises:
        ValueError: If fewer than two images stay on either side.

    Reference:
        webb2021, section 2 and A.2.1.
    """

    name: ClassVar[str] = "tinted-same-different"
    version: ClassVar[int] = 1

    withheld: int = 0
    max_problems: rules.SetSize = 10_000
    shapes: GlyphSet | None = None
    softmax: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        rules.check_shapes(self.withheld, self.shapes, 2)

    @property
    def length(self) -> int:
        """Number of images of a problem: two."""
        return 2

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, then the tests by the share of pairs whose tint misleads."""
        return (
            Regime(name=TRAINING, distance=0.0, unit=_UNIT),
            Regime(name="tint-kept", distance=0.0, unit=_UNIT),
            Regime(name="tint-random", distance=50.0, unit=_UNIT),
            Regime(name="tint-reversed", distance=100.0, unit=_UNIT),
        )

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """The sets of one run, by regime name.

        Args:
            stream: Stream of the run.
        """
        pairs = SameDifferent(
            withheld=self.withheld, max_problems=self.max_problems, shapes=self.shapes
        )
        training, test = pairs.draw(stream).values()
        items = _tints(training.table())
        answer = test.target
        tints = (answer, answer ^ _every_other(answer), 1 - answer)
        sets = [_tinted(training, items, training.target)]
        sets += [_tinted(test, items, tint) for tint in tints]
        return {regime.name: tinted for regime, tinted in zip(self.regimes, sets, strict=True)}

    def oracle(self, problems: Problems) -> Float[Tensor, "batch candidate"]:
        """The outputs of the rule: compare the two images.

        Args:
            problems: Problems of any regime.
        """
        first, second = rules.seen(problems).unbind(dim=1)
        return binary_outputs(first != second, self.num_outputs)


def _tints(
    images: Float[Tensor, "item height width"],
) -> Float[Tensor, "tinted height width"]:
    """All images light, then all of them dark."""
    return torch.cat([images / 2 + 0.5, images / 2])


def _every_other(answer: Int64[Tensor, " batch"]) -> Int64[Tensor, " batch"]:
    """1 at every second problem of either answer, 0 at the others."""
    ordinal = torch.where(answer == 1, answer.cumsum(0), (1 - answer).cumsum(0))
    return (ordinal + answer) % 2


def _tinted(
    pairs: Problems, items: Float[Tensor, "tinted height width"], tint: Int64[Tensor, " batch"]
) -> Problems:
    """The pairs, each in one tint (0: light, 1: dark)."""
    return Problems(
        items=items,
        index=pairs.index + len(items) // 2 * tint[:, None],
        target=pairs.target,
        latent={**pairs.latent, "tint": tint},
    )

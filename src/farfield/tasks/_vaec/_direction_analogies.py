"""Visual analogies between squares that only the direction of their texture shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int64, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import LazyItems, check_fields
from farfield.tasks._protocol._answers import DescribedChoice
from farfield.tasks._protocol._draws import integers
from farfield.tasks._protocol._task import GRAY, TRAINING, CountOrNone, Form, check_number
from farfield.tasks._vaec._direction_pictures import SIDE, draw_directions, measured_by_hand
from farfield.tasks._vaec._direction_search import square_by_search
from farfield.tasks._vaec._region_analogies import RegionAnalogies

_REGIONS = 6
_LEVELS = 7
_DRAWS = 2
"""Number of pictures of every square."""
_NUMBERS = 2**62
"""Number of different pictures of one square."""


@final
@dataclass(frozen=True, kw_only=True)
class DirectionAnalogies(DescribedChoice, RegionAnalogies):
    r"""Which square completes the analogy, where only the direction of texture shows squares?

    **Task.** Four-term analogies A : B :: C : D between gray pictures of 96×96 pixels. Each shows a
    square, a disk and a triangle. In a problem the squares of all pictures differ along X, Y or
    size, and D is as far from C, in the same direction, as B from A. The candidates are D and the
    six other levels of that dimension within the region. Brightness, the fourth dimension of
    `VAECTranslation`, has no meaning here.

    **Worked example.** The stripes of a square, a touching disk and the ground; A, B and C are
    pictures like it, D and its foils as well.

    ```text
      / / / / / / / / /
      / / \ \ \ / / / /
      / / \ \ \ \ \ / /
      / / \ \ \ \ \ \ /
      / / / / / \ \ / /
    ```

    **Pictures.** Objects and ground have the same texture, turned by 90 degrees: noise of bytes,
    filtered by stripes that are 3⅓ pixels apart, fade by a Gaussian of 1.2 pixels across and of 7
    along, and have a direction that is drawn anew for each picture, of 128. Mean, spread and
    spectrum are the same, so that single pixels and frequencies tell nothing. All shapes are turned
    at random. Disk and triangle have an area 0.49…1 times that of the square. Each touches, four
    times in five, a shape placed before it; else it is 2…12 pixels off. There are two pictures of
    every square; the picture at a position is drawn for the position.

    **Regimes.** In `training`, centers are 25, 27½ … 40 pixels from the left and from the top, and
    widths are 20, 22½ … 35 pixels. With each of five further regions, centers are 6 pixels further
    on and widths 0.4 less: `region-6` has centers at 55 … 70 and widths of 18 … 33. With `scaled`
    the first center and the largest width stay, and the steps grow by 1 pixel (centers) and by 0.1
    (widths) a scale: in `scale-6` centers are 25, 32½ … 70 and widths 17, 20 … 35. Squares become
    smaller, so that the furthest regime is not easier to see than training. With each of the 140
    analogies along each dimension come 4 of the 49 combinations of other levels: 1,680 problems.

    **Score, floor and ceiling.** Share of problems in which D scores higher than every foil; 1/7 by
    guessing; 1 from the description of the pictures. `parts` gives the problems by dimension.

    **Known shortcuts.** As in `VAECTranslation`. The rule `by_hand` finds the direction of each
    pixel by its gradient, relative to that of the picture, smooths, takes parts that are connected
    after an opening, and measures the part that a square of its area fits best; smoothing,
    threshold and opening were chosen on training pictures. It fails where objects touch. The rule
    `by_search` correlates the same map with squares, disks and triangles of all sizes and turns,
    takes the three that cover objects best and no pixel twice, and fits them; it answers most
    problems of training, whose pictures its constants were chosen on. So the task needs no
    learning.

    **Source and deviations.** Made for the analogies of webb2020; see **Regimes** for the levels,
    which are further apart and fewer than published, as 96 pixels hold no 42 that texture shows.

    Args:
        scaled: Whether the steps between levels grow rather than the levels move on.
        train_on: Number of the region or scale that training shows, 1…6.
        problems_per_regime: Problems of a set; `None` for a tenth of all: 1,680.
        shuffled: Whether the candidates are in random order rather than D first.
        validation_problems: Number of validation problems of the training kind, with combinations
            of the irrelevant levels that training lacks; 0 for no such regime.

    Raises:
        ValueError: If a number is out of its range.

    Reference:
        webb2020, section 2.1.
    """

    name: ClassVar[str] = "direction-analogies"
    version: ClassVar[int] = 1
    dimensions: ClassVar[tuple[str, ...]] = ("location-x", "location-y", "size")
    form: ClassVar[Form] = Form(axes=GRAY, arrangement="group", answer="candidates")
    item_shape: ClassVar[tuple[int, ...]] = (SIDE, SIDE)
    levels_per_region: ClassVar[int] = _LEVELS
    _count: ClassVar[int] = _REGIONS

    scaled: bool = False
    train_on: int = 1
    problems_per_regime: int | None = None
    shuffled: bool = False
    validation_problems: CountOrNone = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("train_on", self.train_on, 1, _REGIONS)
        self._check_counts()

    @property
    def _word(self) -> str:
        return "scale" if self.scaled else "region"

    def _name_of(self, number: int) -> str:
        return TRAINING if number == self.train_on else f"{self._word}-{number}"

    def _test_set(self, branch: Stream, number: int) -> Problems:
        return self._set(branch, number)

    def values_of(self, number: int) -> Int64[np.ndarray, "feature value"]:
        """Return the levels of X, Y and width of a region or scale, in tenths of a pixel.

        Args:
            number: Number of the region or scale, from 1.
        """
        check_number("number", number, 1, _REGIONS)
        level, further = np.arange(_LEVELS), number - 1
        if self.scaled:
            center = 250 + (25 + 10 * further) * level
            width = 350 - (25 + further) * level[::-1]
        else:
            center = 250 + 60 * further + 25 * level
            width = 350 - 4 * further - 25 * level[::-1]
        return np.stack([center, center, width])

    def _pictures(self, number: int, branch: Stream) -> LazyItems:
        squares = torch.cartesian_prod(*torch.from_numpy(self.values_of(number)))
        squares = squares.repeat_interleave(_DRAWS, dim=0)
        numbers = integers(branch.child("clutter").numpy(), _NUMBERS, len(squares))
        latent = torch.cat([squares, torch.from_numpy(numbers)[:, None]], dim=1)
        return LazyItems(latent=latent, draw=draw_directions)

    @staticmethod
    def _fitting(latent: Int64[np.ndarray, "batch time feature"]) -> Bool[np.ndarray, "batch _"]:
        """Tell which candidates are C + B − A, from the descriptions of pictures."""
        squares = latent[..., :3]
        wanted = squares[:, 2] + squares[:, 1] - squares[:, 0]
        return (squares[:, 3:] == wanted[:, None]).all(-1)

    def by_hand(self, problems: Problems, training: Problems) -> Float[Tensor, "batch candidate"]:  # noqa: ARG002
        """Return the outputs of a rule on local direction: nearness of candidates to C + B − A.

        Args:
            problems: Pictures and their index; without targets.
            training: Not used.
        """
        return _nearness(problems, measured_by_hand)

    def by_search(self, problems: Problems, training: Problems) -> Float[Tensor, "batch candidate"]:  # noqa: ARG002
        """Return the outputs of a rule that searches by templates: nearness to C + B − A.

        Args:
            problems: Pictures and their index; without targets.
            training: Not used.
        """
        return _nearness(problems, square_by_search)


def _nearness(
    problems: Problems,
    measure: Callable[[UInt8[np.ndarray, "height width"]], Float[np.ndarray, " feature"]],
) -> Float[Tensor, "batch candidate"]:
    """Return the nearness of candidates to C + B − A, from a measure of the square of a picture."""
    rows, positions = torch.unique(problems.index, return_inverse=True)
    pictures = problems.items.index_select(0, rows)
    squares = np.stack([measure(one) for one in pictures.cpu().numpy()])
    a, b, c, *candidates = torch.from_numpy(squares).to(positions.device)[positions].unbind(1)
    return -(torch.stack(candidates, dim=1) - (c + b - a)[:, None]).norm(dim=2)

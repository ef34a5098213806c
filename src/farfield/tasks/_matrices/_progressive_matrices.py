"""Progressive matrices, generated (barrett2018)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, final

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import UnknownNameError, check_fields
from farfield.tasks._analogies._panel_tasks import PanelTask, occurring, panel_problems
from farfield.tasks._files._panel_files import COLUMNS, check_image_size
from farfield.tasks._matrices._matrix_drawers import DRAWINGS, draw_otherwise, figure_poses
from farfield.tasks._matrices._matrix_holdouts import (
    HOLDOUTS,
    MOST_TRIPLES,
    NO_TRIPLE,
    RELATIONAL,
    Holdout,
)
from farfield.tasks._matrices._matrix_panels import (
    PANEL_FIELDS,
    RELATIONS,
    TRIPLE_NAMES,
    TRIPLES,
    described,
    draw_matrix_panels,
    ended,
    laws,
    shown,
)
from farfield.tasks._matrices._matrix_problems import (
    CONTEXT,
    NUM_CANDIDATES,
    NUM_PANELS,
    PART,
    Matrices,
)
from farfield.tasks._protocol._answers import DescribedChoice
from farfield.tasks._protocol._task import TRAINING, VALIDATION, Regime, check_number, regimes_at


class MatrixTask(PanelTask):
    """Base of the matrices of 3×3 panels whose last panel is missing."""

    _panels: ClassVar[int] = NUM_PANELS
    _candidates: ClassVar[int] = NUM_CANDIDATES

    @property
    def segments(self) -> tuple[tuple[int, ...], ...]:
        """One context: the matrix with one candidate."""
        return (tuple(range(CONTEXT + 1)),)


_MOST: Final = 10_000_000
_BALANCED_TRIPLES: Final = 3
"""Triples of a problem with balanced candidates, at least."""
_DESCRIBED: Final = torch.tensor(
    [
        *([int(name in described(triple)) for name in COLUMNS] for triple in range(len(TRIPLES))),
        [0] * len(COLUMNS),
    ]
)
"""Published columns of each triple; 0 in the last row, for `NO_TRIPLE`."""


@final
@dataclass(frozen=True, kw_only=True)
class ProgressiveMatrices(DescribedChoice, MatrixTask):
    """Which panel completes a matrix of 3×3, given what holds along its rows or its columns?

    **Task.** Eight panels of a matrix in reading order, the ninth lacking, and eight candidates for
    it. One to four *triples* of a relation, an object and an attribute hold along all rows, or all
    columns; the answer is the one candidate with which all of them hold.

    Panels show shapes on a 3×3 grid and lines. Of shapes the number, type, size, color and
    position can matter, of lines the type and color. A panel shows a *set* of levels of each
    attribute, and a single number. From the first two panels of a line a relation makes the third:
    *progression* moves all levels on by the step from the first to the second; *XOR*, *OR* and
    *AND* take the levels of exactly one, of either, of both; a *consistent union* is the same three
    sets in every line, in any order. There are 29 triples: positions and types of lines take no
    progression, numbers only that and unions, positions no union.

    **Worked example.** Along the rows: progression of the number of shapes, AND of the type of
    lines.

    ```text
      ┌─────┐┌─────┐┌─────┐       1       2       3       4
      │  •  ││ • • ││• • •│    ┌─────┐ ┌─────┐ ┌─────┐ ┌─────┐
      │ ─ │ ││ │ ╱ ││  │  │    │ ••• │ │• • •│ │• • •│ │ ••• │
      └─────┘└─────┘└─────┘    │•• ╱ │ │• ╲  │ │• │  │ │•• ╲ │
      ┌─────┐┌─────┐┌─────┐    └─────┘ └─────┘ └─────┘ └─────┘
      │ • • ││• • •││• • •│       5       6       7       8        → 4
      │ ╱ ─ ││ ─ ╲ ││• ─  │    ┌─────┐ ┌─────┐ ┌─────┐ ┌─────┐
      └─────┘└─────┘└─────┘    │• • •│ │ ••• │ │ ••• │ │• • •│
      ┌─────┐┌─────┐┌─────┐    │• ╱  │ │•• │ │ │•• ─ │ │• ─  │
      │• • •││• • •││  ?  │    └─────┘ └─────┘ └─────┘ └─────┘
      │ ╲ │ ││•╱ ╲ ││     │
      └─────┘└─────┘└─────┘
    ```

    **Regimes.** Training, new problems of its kind, and one test, by `holdout`:

    | holdout | training | test |
    |---|---|---|
    | `neutral` | anything | `neutral`: anything |
    | `interpolation` | every second level of sizes and colors | `between`: the others |
    | `extrapolation` | the lower five levels of these | `upper-half`: the upper five |
    | `attribute-pairs` | 16 pairs of attributes | `withheld-attribute-pairs`: the other 4 |
    | `triple-pairs` | 315 pairs of triples | `withheld-triple-pairs`: the other 35 |
    | `triples` | 22 triples | `withheld-triples`: the other 7, one of each attribute |
    | `shape-colour` | nothing about colors of shapes | `withheld-shape-colour`: always that |
    | `line-type` | nothing about types of lines | `withheld-line-type`: always that |

    Every problem of a test shows withheld triples or levels, beside others. Where levels are
    withheld every problem, in training too, has a triple about a size or a color; irrelevant
    attributes keep to familiar levels. Where pairs are, there are at least two triples.

    **Score, floor and ceiling.** Share of right answers, a tie counting as wrong; 0.125 by
    guessing; 1 by reading the panels.

    **Known shortcuts.** None in the candidates alone. For one triple they show eight sets, each as
    likely to be right; for more they combine options of each triple (2 × 4, 2 × 2 × 2, or half of
    2 × 2 × 2 × 2), each option as often as any other, as in the attribute-bisection tree of hu2021.
    The matrix is drawn after the candidates, so that one of them fits. Whoever sees only some of
    the triples is right more often than by guessing: one of three halves the choice. Whoever looks
    at the last row and column alone, and not at the rules of the whole lines, is too. With one
    triple (two where pairs are withheld) and without distraction, to choose the candidate that in
    most attributes and lines shows no level but those of the two panels before it gets a quarter to
    two fifths right; to choose the one with which most attributes of the last row or column obey
    any relation other than a consistent union, three to four fifths. Only a score above that says
    that a rule was found.

    `balanced` mends that. Then there are three triples or four, and the eight candidates are a tree
    of bisections: of each attribute that matters they show two sets, each in half of them, by which
    *two* relations end the last line. Drawn are, of each attribute, first two relations, then the
    last panels of the other lines and the first two of the last one, such that either relation can
    hold with them and no other; then which of the two does, and last the four panels that are left.
    So the last row, the last column and the candidates together leave all eight as likely: of two
    relations a union has an end that no other panel of these shows. The levels of shortcuts are

    | panels read | free | balanced |
    |---|---|---|
    | the candidates alone (a network trained on them) | 12.5 % | 12.5 % |
    | the last row and column: adds no level | 24 to 41 % | 12.5 % |
    | the last row and column: any relation but a union ends it | 60 to 82 % | 12.5 % |
    | the last row and column (a network trained on them and the candidates) | | 12.5 % |
    | the other four panels: most of their levels, whatever holds | | 14 to 20 % |

    and a test measures each. Relations are not equally frequent: of five levels of sizes and colors
    XOR is most (4 of 14), OR least (1 of 14), as few others can end its lines. Where relations are
    withheld candidates cannot be balanced, and `triples` and `triple-pairs` are refused.

    **Other drawings.** With `redrawn` further tests show problems of the training kind, drawn
    otherwise: `wide-lines` has lines of five pixels of 160 in place of three, `shifted-figures`
    moves each figure within its cell to one of nine positions, as far as there is room, and
    `turned-figures` turns each figure by no, one, two or three quarters. `another-drawer` does all
    of it. Levels, relations and candidates are those of the training drawing. The distance is
    counted in changes of the drawing.

    **Source and deviations.** Barrett et al. 2018, whose set PGM is used by gondal2021, section
    4.3; made anew from the published description. Numbers on this task are not numbers on theirs
    (`PublishedMatrices` reads theirs). As there: objects, attributes, relations, the 29 triples,
    numbers of levels, the eight regimes and how much they withhold, distraction. Ours: all
    relations but those of numbers are between sets, progressions too, without which five levels
    could not make eight candidates; a panel shows at most three sizes, colors or types of shapes;
    all triples hold in one direction, no other triple holds in either; types of shapes, in their
    order, are triangle, diamond, square, circle, ring, crescent and corner; a set of triples has
    one for each attribute, of which there are 350 pairs, not 400; each number of triples is equally
    likely, and then each set.

    Args:
        training_problems: Number of problems of the training set.
        test_problems: Number of problems of the validation set and of the test.
        image_size: Width and height of a panel: 40, 80 or 160 pixels. 80 keeps every second pixel
            of 160 in each direction, 40 has the mean of each four of these.
        holdout: Name of a holdout of the table above.
        most_triples: Triples of a problem, at most: 1 to 4.
        distractors: Whether irrelevant attributes vary, within a panel too; otherwise they are the
            same in all panels, and there are only shapes or lines where only these are relevant.
        balanced: Whether the last row, the last column and the candidates tell nothing, as said
            above. Then `most_triples` is 3 or 4, and the fewest are 3.
        redrawn: Whether further tests show problems of the training kind, drawn otherwise.

    Attributes:
        triples: Names of the triples, by their number in the latent description.
        directions: Names of the directions, by their number there.

    Raises:
        ValueError: If a number is out of range, or leaves no problem to a set, or balanced
            candidates are asked for where a relation is withheld or with fewer than 3 triples.
        UnknownNameError: If the holdout is unknown.

    Reference:
        barrett2018; gondal2021, section 4.3; hu2021.
    """

    name: ClassVar[str] = "progressive-matrices"
    version: ClassVar[int] = 2
    training_scored: ClassVar[int] = 2_000
    triples: ClassVar[tuple[str, ...]] = TRIPLE_NAMES
    directions: ClassVar[tuple[str, ...]] = ("rows", "columns")

    training_problems: int = 10_000
    test_problems: int = 2_000
    image_size: int = 80
    holdout: str = "neutral"
    most_triples: int = MOST_TRIPLES
    distractors: bool = True
    balanced: bool = False
    redrawn: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        check_number("training_problems", self.training_problems, 1, _MOST)
        check_number("test_problems", self.test_problems, 1, _MOST)
        check_number("most_triples", self.most_triples, 1, MOST_TRIPLES)
        check_image_size(self.image_size)
        if self.holdout not in HOLDOUTS:
            raise UnknownNameError("holdout", self.holdout, tuple(HOLDOUTS))
        if self.balanced and self.holdout in RELATIONAL:
            raise ValueError(
                f"holdout must not withhold relations with balanced candidates, which are between "
                f"two of them, got {self.holdout!r}"
            )
        if self.balanced and self.most_triples < _BALANCED_TRIPLES:
            raise ValueError(
                f"most_triples must be at least {_BALANCED_TRIPLES} with balanced candidates, "
                f"2 ends of each make the eight, got {self.most_triples}"
            )
        if self.most_triples < self._holdout.fewest:
            raise ValueError(
                f"most_triples must be at least {self._holdout.fewest} for the holdout "
                f"{self.holdout!r}, which is about pairs, got {self.most_triples}"
            )

    @property
    def _holdout(self) -> Holdout:
        held = HOLDOUTS[self.holdout]()
        return replace(held, fewest=_BALANCED_TRIPLES) if self.balanced else held

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Regimes: training, validation, the test of the holdout, then other drawings."""
        test = self._holdout
        held = regimes_at(test.unit, {TRAINING: 0, VALIDATION: 0, test.test: test.distance})
        drawings = DRAWINGS.items() if self.redrawn else ()
        distances = {name: drawing.distance for name, drawing in drawings}
        return (*held, *regimes_at("changes of the drawing", distances))

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name; panels are drawn when they are read."""
        return self._draw(stream, _MOST)

    def draw_first(self, stream: Stream) -> dict[str, Problems]:
        """Draw the first problems of these sets, at most as many as are drawn at once."""
        return self._draw(stream, PART)

    def num_problems(self, regime: str) -> int:
        """Return the number of problems of a set."""
        return self.training_problems if regime == TRAINING else self.test_problems

    def _draw(self, stream: Stream, most: int) -> dict[str, Problems]:
        """Draw the sets of a run, cut after `most` problems."""
        branch = stream.child(self.name, f"v{self.version}", self.holdout)
        return {regime.name: self._set(branch.child(regime.name), most) for regime in self.regimes}

    def _set(self, branch: Stream, most: int) -> Problems:
        held = self._holdout
        test = branch.path[-1] == held.test
        matrices = Matrices(
            structures=held.structures(self.most_triples, test=test),
            familiar=held.familiar,
            levels=held.novel if test else held.familiar,
            distractors=self.distractors,
            balanced=self.balanced,
        )
        name = str(branch.path[-1])
        count = min(most, self.num_problems(name))
        columns = matrices.drawn(branch, count)
        draw = partial(draw_matrix_panels, image_size=self.image_size)
        if (drawing := DRAWINGS.get(name)) is not None:
            poses = figure_poses(branch.child("drawing"), columns["panels"].shape[:2], drawing)
            columns["panels"] = np.concatenate([columns["panels"], poses], axis=2)
            draw = partial(
                draw_otherwise, image_size=self.image_size, half_width=drawing.half_width
            )
        problems = panel_problems(columns, draw)
        triples = problems.latent["triples"]
        further = {
            "num_triples": (triples != NO_TRIPLE).sum(dim=1),
            "meta_target": _DESCRIBED[triples].amax(dim=1),
        }
        return replace(problems, latent={**problems.latent, **further})

    @staticmethod
    def _fitting(panels: np.ndarray) -> np.ndarray:
        """Check whether the last lines obey all rules of the complete lines with each candidate."""
        flat = shown(panels[:, :, :PANEL_FIELDS].reshape(-1, PANEL_FIELDS))
        sets = flat.reshape(*panels.shape[:2], flat.shape[1])
        context, candidates = sets[:, :CONTEXT], sets[:, CONTEXT:]
        fitting: np.ndarray = np.all(
            ~laws(context)[:, None] | ended(context, candidates), axis=(2, 3, 4)
        )
        return fitting

    def by_hand(
        self,
        problems: Problems,
        training: Problems,  # noqa: ARG002
    ) -> Float[Tensor, "batch candidate"]:
        """Score candidates by the foreground of whole panels: how well they continue the row.

        The third panel of a row is expected to have as much more foreground than the second as in
        the two rows above, on average.

        Args:
            problems: Items and their index; without targets.
            training: Not used.
        """
        foreground = -problems.table().float().flatten(1).mean(1)[problems.index]
        rows = foreground[:, :CONTEXT]
        more = (rows[:, 2] - rows[:, 1] + rows[:, 5] - rows[:, 4]) / 2
        return -(foreground[:, CONTEXT:] - (rows[:, 7] + more)[:, None]).abs()

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the masks of the problems by number of triples and by relation, if they occur."""
        number, said = problems.latent["num_triples"], problems.latent["meta_target"]
        chosen = {
            **{f"triples-{count}": number == count for count in range(1, MOST_TRIPLES + 1)},
            **{name: said[:, COLUMNS.index(name)] == 1 for name in RELATIONS},
        }
        return occurring(chosen)

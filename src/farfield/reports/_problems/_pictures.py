"""Pictures of problems; matplotlib is loaded at the first picture."""

from __future__ import annotations

from pathlib import Path

from farfield.core import Problems
from farfield.core.internal import expand_home
from farfield.records.internal import write_whole
from farfield.tasks import Environment, ProblemTask


def problem_sheet(
    task: ProblemTask | Environment, path: str | Path, seed: int = 0, problems_per_regime: int = 4
) -> Path:
    """Draw problems of every regime with the right answer marked, as a PNG file.

    It shows the drawing of `problem_picture`. The file is whole or absent.

    Args:
        task: As of `problem_picture`.
        path: Where the picture goes, a name that ends in `.png`.
        seed: The run whose sets are shown.
        problems_per_regime: Number of problems of each regime, at least 1; wide ones take several
            rows.

    Returns:
        The path of the picture.

    Raises:
        ValueError: If the items are no images, fewer than one problem is asked for, or the name is
            that of another kind of file.
    """
    path = expand_home(path)
    if path.suffix.lower() != ".png":
        raise ValueError(f"path must end in .png, got {str(path)!r}")
    write_whole(path, problem_picture(task, seed, problems_per_regime))
    return path


def problem_picture(
    task: ProblemTask | Environment,
    seed: int = 0,
    problems_per_regime: int = 4,
    regime: str | None = None,
) -> bytes:
    """Draw problems of a task with the right answer marked, as a PNG.

    The kinds of problem (same and different, ABA and ABB, …) take turns as far as there are
    problems of each. Of an environment the beginnings of episodes are drawn.

    Args:
        task: A task whose items are images: gray images, `(height, width)`, in 0 (black) to 1
            (white) or in uint8, or colored ones, `(height, width, 3)`, in uint8; or an environment
            with pictures.
        seed: The run whose sets are shown.
        problems_per_regime: Number of problems of each regime, at least 1.
        regime: Name of the regime to show; all if `None`.

    Raises:
        UnknownNameError: If there is no such regime.
        ValueError: If the items are no images, or fewer than one problem is asked for.
    """
    from farfield.reports._problems._problem_sheet import draw_problems  # noqa: PLC0415

    return draw_problems(task, seed, problems_per_regime, regime)


def one_problem(task: ProblemTask, problem: Problems, regime: str, caption: str) -> bytes:
    """Draw a single problem with the right answer marked, as a PNG.

    Args:
        task: As of `problem_picture`.
        problem: A set of one problem.
        regime: The heading over it.
        caption: Text at the other end of the heading.

    Raises:
        ValueError: If the items are no images.
    """
    from farfield.reports._problems._problem_sheet import draw_problem  # noqa: PLC0415

    return draw_problem(task, problem, regime, caption)

"""Players: objectives with the parts of a network that each of them trains."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import final

from farfield.core import PositiveFloat, Size, check_fields
from farfield.experiments._optimizers import Optimizer
from farfield.objectives import Objective, Supervised


@final
@dataclass(frozen=True, kw_only=True)
class Player:
    """An objective with the parts of the network that it trains and an optimizer of its own.

    Players take turns at every step. Those that follow one another with the same objective and
    repeats move at once, from one gradient; what two of them name belongs to the last. What no
    player names stays as it starts.

    Args:
        objective: What the player minimizes.
        parts: Names of the parts that it trains, e.g. `("critic",)`; none named is the whole
            network.
        optimizer: Optimizer; `None` for that of the recipe.
        learning_rate: Largest learning rate; `None` for that of the recipe. It follows the
            schedule of the recipe.
        repeats: Number of updates at each step.

    Raises:
        ValueError: If a field is of another type, a number below its least one, or a part no name.
    """

    objective: Objective = Supervised()
    parts: tuple[str, ...] = ()
    optimizer: Optimizer | None = None
    learning_rate: PositiveFloat | None = None
    repeats: Size = 1

    def __post_init__(self) -> None:
        check_fields(self)
        check_names("parts", self.parts)

    def trains(self, name: str) -> bool:
        """True if a parameter is in the parts of the player.

        Args:
            name: Its name in the network, e.g. `"encoder.output.weight"`.
        """
        return not self.parts or any(is_within(name, part) for part in self.parts)


def is_within(name: str, part: str) -> bool:
    """True if a parameter or buffer is that part of a network, or in it.

    Args:
        name: Its name in the network, e.g. `"encoder.output.weight"`.
        part: Name of the part, e.g. `"encoder"`.
    """
    return f"{name}.".startswith(f"{part}.")


def check_names(field: str, parts: Iterable[str]) -> None:
    """Raise `ValueError` unless every name of a part is a name with more than dots.

    Args:
        field: What names the parts.
        parts: Names of parts.
    """
    for part in parts:
        if not part.strip("."):
            raise ValueError(
                f'{field} must be names of parts of a network, such as "encoder", got {part!r}'
            )


def check_parts(field: str, parts: Iterable[str], names: Collection[str]) -> None:
    """Raise `ValueError` if a network has no parameter in a part.

    Args:
        field: What names the parts.
        parts: Names of parts, e.g. `("encoder",)`.
        names: Of all that the network has, e.g. of its parameters.
    """
    for part in parts:
        if not any(is_within(name, part) for name in names):
            raise ValueError(
                f"{field} must name parts of the network, got {part!r}; it has {', '.join(names)}"
            )

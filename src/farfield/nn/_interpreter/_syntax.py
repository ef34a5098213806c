"""Options of the parts of a Neural Interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from farfield.core.internal import Checked, Dropout, Limits, Size, check_fields

PositiveInFloat32 = Annotated[float, Limits(at_least=1.2e-38)]
"""Number above 0 in float32 too; less is 0 on some processors."""

RELEASED_TRUNCATION = 1.4202567871309753
"""Truncation of the released code, which cuts pairs more than 114.85° apart."""


@final
@dataclass(frozen=True, kw_only=True)
class Functions(Checked):
    """Options of a function of a `NeuralInterpreter`.

    Args:
        code_size: Numbers in a code; None is as many as an element has features.
        learned_signatures: Whether signatures are learned, or stay as they were drawn, which keeps
            them from collapsing into one.
        learned_codes: Whether codes are learned.
        dropout: Probability that a function is not there for a set in training: one draw for each
            set and function, which holds for all iterations of a script, from torch's global
            generator. The others share its elements, unlike in the released code, which leaves
            them as they were and has an option to scale the added term in evaluation mode.

    Raises:
        ValueError: If `code_size` is below 1 or `dropout` no probability.

    Reference:
        gondal2021, section 2; dropout after the released code.
    """

    code_size: Size | None = None
    learned_signatures: bool = False
    learned_codes: bool = True
    dropout: Dropout = 0.0


@final
@dataclass(frozen=True, kw_only=True)
class TypeMatching(Checked):
    r"""Options of the type matching of a `NeuralInterpreter`: access of functions to elements.

    Args:
        type_size: Numbers in a type and in a signature.
        hidden_size: Hidden units of the type inference; None is as many as an element has features.
        truncation: $\tau$, the distance 1 − cosine from which on a function has no access; above 0,
            and 2 cuts nothing.
        bandwidth: First value of the kernel's $\sigma$.
        learned_bandwidth: Whether $\sigma$ is learned.
        straight_through: Whether gradients reach also pairs that the kernel cuts:
            "masked" in the released code, whose default is "direct", as here.
        eps: $\epsilon$ of the compatibilities.

    Raises:
        ValueError: If a size is below 1, `truncation` not in (0, 2], or `bandwidth` or `eps` not
            positive.

    Reference:
        gondal2021, section 2, equations 2 and 3.
    """

    type_size: Size = 24
    hidden_size: Size | None = None
    truncation: Annotated[float, Limits(above=0, at_most=2)] = RELEASED_TRUNCATION
    bandwidth: PositiveInFloat32 = 1.0
    learned_bandwidth: bool = True
    straight_through: bool = False
    eps: PositiveInFloat32 = 1e-6


@final
@dataclass(frozen=True, kw_only=True)
class Instructions:
    r"""Options of a line of code of a `NeuralInterpreter`.

    Args:
        num_heads: Heads of its attention; must divide the features of an element.
        key_size: Numbers in a query or key of one head; None shares the features of an element
            among the heads.
        hidden_size: Hidden units of the network for each element; None is as many as an element has
            features.
        residual: Whether attention and network are added to their input, or replace it.
        eps: $\epsilon$ of the attention.

    Raises:
        ValueError: If a size is below 1 or `hidden_size` below 2, or `eps` not positive in float32.

    Reference:
        gondal2021, section 2, equations 6 to 10.
    """

    num_heads: Size = 4
    key_size: Size | None = None
    hidden_size: Size | None = None
    residual: bool = True
    eps: PositiveInFloat32 = 1e-6

    def __post_init__(self) -> None:
        """Check every part."""
        check_fields(self)
        if self.hidden_size == 1:
            raise ValueError(
                "hidden_size must be at least 2, got 1: layer normalization makes a single one 0"
            )


@final
@dataclass(frozen=True, kw_only=True)
class Syntax(Checked):
    """Options of a `NeuralInterpreter`; the paper's text by default, where that can be trained.

    In the text's own form, `Syntax.printed()`, an element about doubles in every iteration: after
    the eight of a bare `NeuralInterpreter` it is some 250 times as large as it was.

    Args:
        functions: Parts of a function.
        matching: How elements find their functions.
        instructions: Parts of a line of code.
        outer_residual: Whether an element is added to the outputs of its functions, as in equation
            11, or replaced by them. They contain it too, by the residuals inside of the
            lines of code.
        sums_changes: Whether the functions' changes of an element are summed up, or their outputs,
            in which it is itself contained. None is the changes with `outer_residual`, so that an
            element is there once, and is unchanged without function. Neither text nor released
            code have it.

    Raises:
        ValueError: If a part is something else.

    Reference:
        gondal2021, section 2.
    """

    functions: Functions = Functions()
    matching: TypeMatching = TypeMatching()
    instructions: Instructions = Instructions()
    outer_residual: bool = True
    sums_changes: bool | None = None

    @property
    def changes_are_summed(self) -> bool:
        """True if the functions' changes are summed: `sums_changes`, or its default if None."""
        return self.outer_residual if self.sums_changes is None else self.sums_changes

    @classmethod
    def printed(cls) -> Syntax:
        """Return the syntax of equation 11, where an element about doubles in every iteration."""
        return cls(sums_changes=False)

    @classmethod
    def released(cls, *, num_heads: int = 4, features_per_head: int = 32) -> Syntax:
        """Return the syntax of the authors' released code, where it differs from the text.

        No residual around the functions, and keys `num_heads` times as wide as named, since its
        constructor multiplies by the number of heads twice.

        Args:
            num_heads: Heads of the attention.
            features_per_head: Field of this name in the released settings.
        """
        keys = num_heads * features_per_head
        return cls(
            instructions=Instructions(num_heads=num_heads, key_size=keys), outer_residual=False
        )

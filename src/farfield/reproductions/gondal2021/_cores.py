"""The Neural Interpreters and Transformers that the claims of gondal2021 train.

For digits the sizes are those of the released settings. For fuzzy Boolean functions neither text
nor released code gives any, for matrices the eight iterations alone: all others are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, final

from farfield.experiments import SetNetwork, Spec
from farfield.nn import (
    ComponentEncoder,
    Functions,
    Instructions,
    NeuralInterpreter,
    PanelEncoder,
    PatchEncoder,
    PreNormTransformer,
    Syntax,
    TypeMatching,
)

GRID: Final = (8, 8)
"""Rows and columns of the patches of an image."""
FUNCTIONS: Final = 5
ITERATIONS: Final = 8
CORE: Final = "reader.core.scripts.0"
TOKENS: Final = ("reader.tokens",)
HEADS: Final = ("reader.heads",)
VECTORS: Final = (f"{CORE}.signatures", f"{CORE}.codes")
"""Parameters of a function: all that is its own."""


@final
@dataclass(frozen=True, kw_only=True)
class DigitReader:
    """A model that reads digits.

    Args:
        width: Features of an element.
        depth: Function iterations, or blocks of a Transformer.
        interprets: Whether it is a Neural Interpreter, else a Transformer, whose patches carry a
            learned vector of their place.
        places: Whether the patches of a Neural Interpreter do too. It knows how far they are from
            each other without, but its CLS tokens do not know where they are.
        functions: Number of functions.
        scripts: Number of scripts.
        learned_signatures: Whether signatures are learned.
    """

    width: int = 192
    depth: int = 8
    interprets: bool = True
    places: bool = False
    functions: int = FUNCTIONS
    scripts: int = 1
    learned_signatures: bool = False

    def network(self) -> SetNetwork:
        """A network that reads an image through a token for each data set."""
        return SetNetwork(
            core=self._interpreter() if self.interprets else self._transformer(),
            encoder=Spec(
                PatchEncoder, out_features=self.width, positions=self.places or not self.interprets
            ),
            outputs_per_token=10,
        )

    def _interpreter(self) -> Spec:
        released = Syntax.released()
        functions = replace(released.functions, learned_signatures=self.learned_signatures)
        return Spec(
            NeuralInterpreter,
            num_functions=self.functions,
            num_iterations=self.depth,
            num_scripts=self.scripts,
            syntax=replace(released, functions=functions),
            grid=GRID,
        )

    def _transformer(self) -> Spec:
        return Spec(PreNormTransformer, num_layers=self.depth)


def fuzzy_network(*, learned_signatures: bool = False) -> SetNetwork:
    """A network that reads a point through a token for each function, all with one head.

    Args:
        learned_signatures: Whether the signatures are learned, or stay as they were drawn.
    """
    syntax = Syntax(
        functions=Functions(learned_signatures=learned_signatures),
        matching=TypeMatching(type_size=16, bandwidth=0.3),
        instructions=Instructions(num_heads=2, hidden_size=128),
        outer_residual=False,
    )
    return SetNetwork(
        core=Spec(NeuralInterpreter, num_functions=2, num_iterations=4, syntax=syntax),
        encoder=Spec(ComponentEncoder, out_features=64),
        outputs_per_token=1,
        shared_head=True,
    )


MATRICES: Final = 64
"""Features of a panel."""
INTERPRETER_OF_MATRICES: Final = Spec(
    NeuralInterpreter,
    num_features=MATRICES,
    num_functions=FUNCTIONS,
    num_iterations=ITERATIONS,
    syntax=Syntax(outer_residual=False),
)
VIT_OF_MATRICES: Final = Spec(PreNormTransformer, num_features=MATRICES, num_layers=8)

PLACES_STD: Final = 0.35
"""Of the first vectors of places, for the small networks: about that of what they are added to, the
normalized panels as the first linear layer gives them."""
SMALL_ITERATIONS: Final = 4
SMALL_INTERPRETER: Final = Spec(
    NeuralInterpreter,
    num_features=MATRICES,
    num_functions=2,
    num_iterations=SMALL_ITERATIONS,
    syntax=Syntax(
        matching=TypeMatching(bandwidth=0.3, truncation=2.0),
        instructions=Instructions(hidden_size=128),
        outer_residual=False,
    ),
)
"""With a kernel that separates two functions from the start: at 1 both get half of everything."""
SMALL_VIT: Final = Spec(PreNormTransformer, num_features=MATRICES, num_layers=4)
"""As deep as the small interpreter."""


def matrices_network(
    core: Spec, context: Spec | None = None, *, places_std: float = 1.0
) -> SetNetwork:
    """A network that scores a candidate from the set of the eight panels given and it.

    Args:
        core: What reads the panels.
        context: What normalizes them together; `None` for nothing.
        places_std: Standard deviation of the first vectors of their places.
    """
    encoder = Spec(PanelEncoder)
    return SetNetwork(core=core, encoder=encoder, context=context, places_std=places_std)

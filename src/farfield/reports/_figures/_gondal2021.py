"""Figures 3 to 8 of gondal2021: claims, exhibits and quotes from the text."""

from __future__ import annotations

from typing import Final

from farfield.reports._exhibits._exhibit import figure
from farfield.reports._exhibits._images import scored_matrix
from farfield.reports._exhibits._routing import routing_paths, types_by_iteration
from farfield.reports._exhibits._scores import against_columns
from farfield.reports._exhibits._sweeps import functions_removed, iterations_at_test
from farfield.reproductions import TABLES
from farfield.reproductions.gondal2021 import DATA_SETS, FUNCTIONS, SMALL_ITERATIONS
from farfield.tasks import VALIDATION

DIGITS: Final = TABLES["gondal2021/digits"]
K_MNIST: Final = TABLES["gondal2021/k-mnist"]
TABLE_2_GENERATED: Final = TABLES["gondal2021/table-2-generated"]
ALONE: Final = ("ni", "ni-places", "ni-small", "ni-places-small")
"""Interpreters of one script, as cells name their rows."""
INTERPRETERS: Final = ("NI", "NI, places")
SIZES: Final = ("", ", small")


FIGURE_3: Final = figure(
    "gondal2021/figure-3",
    "Paths of elements through the functions",
    DIGITS.select(*(f"{slug}/validation" for slug in ALONE)).claims,
    routing_paths(regime=VALIDATION),
    says={"similarity": "“variations (but also similarities)” (Figure 3)"},
    quick_networks=1,
)
FIGURE_4: Final = figure(
    "gondal2021/figure-4",
    "Types of elements, iteration by iteration",
    DIGITS.select("ni-two-scripts*/validation").claims,
    types_by_iteration(regime=VALIDATION),
    says={"rise": "“more clustered in the later function iterations” (Figure 4)"},
    quick_networks=1,
)
FIGURE_5A: Final = figure(
    "gondal2021/figure-5a",
    "Adaptation to K-MNIST after few examples",
    K_MNIST.select(*(f"samples-*/{slug}/*" for slug in (*ALONE, "vit", "vit-small"))).claims,
    against_columns(
        label="training samples",
        pairs=tuple((f"{row}{size}", f"ViT{size}") for size in SIZES for row in INTERPRETERS),
        apart_to=250,
    ),
    says={"difference": "NI “significantly outperform” ViT “in the low-data regime” (section 4.2)"},
    quick_networks=1,
)
FIGURE_5B: Final = figure(
    "gondal2021/figure-5b",
    "Functions added after training",
    K_MNIST.select("functions-*").claims,
    against_columns(label="functions"),
    quick_networks=1,
)
FIGURE_5C: Final = figure(
    "gondal2021/figure-5c",
    "Functions removed after training",
    DIGITS.select(*(f"{slug}/{name}" for slug in ALONE for name in DATA_SETS)).claims,
    functions_removed(numbers=tuple(range(FUNCTIONS))),
    says={"step": "“performance degrades gracefully” (Figure 5c)"},
    quick_networks=1,
)
FIGURE_6: Final = figure(
    "gondal2021/figure-6",
    "Adaptation with the functions of training, and with new ones",
    K_MNIST.select(
        *(f"samples-*/{row}/*" for row in ("ni", "ni-small", "ni-functions-destroyed*"))
    ).claims,
    against_columns(
        label="training samples",
        pairs=tuple((f"NI{size}", f"NI, functions destroyed{size}") for size in SIZES),
    ),
    says={"difference": "intact functions do better (Figure 6)"},
    quick_networks=1,
)


FIGURE_7: Final = figure(
    "gondal2021/figure-7",
    "A generated matrix, and the probabilities that each model gives its candidates",
    TABLE_2_GENERATED.select(f"neutral/*+tcn/{VALIDATION}").claims,
    scored_matrix(regime=VALIDATION),
    says={"shown": "one problem that NI gets right, and ViT and WReN do not"},
    quick_networks=1,
)
"""First validation problem that is generated; the paper shows one of the published problems."""

FIGURE_8: Final = figure(
    "gondal2021/figure-8",
    "Fewer function iterations at test, progressive matrices of our own",
    TABLE_2_GENERATED.select("*/ni+tcn/[!v]*").claims,
    iterations_at_test(numbers=tuple(range(1, SMALL_ITERATIONS + 1))),
    says={
        "half": (
            "“at least 70% of its original performance” with half of the compute (section 4.3)"
        )
    },
    quick_networks=1,
)
"""Generated problems, half of the iterations is two; in the paper: published problems, four."""

FIGURES: Final = (FIGURE_3, FIGURE_4, FIGURE_5A, FIGURE_5B, FIGURE_5C, FIGURE_6, FIGURE_7, FIGURE_8)
"""Figures of the paper, in order."""

"""Layouts of the images of each task's problems; tasks know nothing of this."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from farfield.core import Problems
from farfield.reports._problems._data_drawings import grid_rules, set_algorithms, shifted_series
from farfield.reports._problems._drawings import (
    adding,
    bouncing_balls,
    chomsky_hierarchy,
    copying,
    digit_domains,
    digits,
    fuzzy_boolean,
    image_classes,
    image_generation,
    kmnist_adaptation,
    points,
    sequential_mnist,
    sort_of_clevr,
    stacked_mnist,
    super_resolution,
    symbol_sequences,
)
from farfield.reports._problems._layout import GAP, STEP, Layout, row_of
from farfield.tasks import (
    Adding,
    AllSame,
    BouncingBalls,
    CanvasRules,
    ChomskyHierarchy,
    Copying,
    DigitDomains,
    Digits,
    DirectionAnalogies,
    DistributionOfN,
    DistributionOfThree,
    DynamicObjects,
    FewLabels,
    FuzzyBoolean,
    GridRules,
    IdentityRules,
    IdentityRulesMiddle,
    ImageClasses,
    ImageGeneration,
    KMNISTAdaptation,
    ObjectFrames,
    ProblemTask,
    ProgressiveMatrices,
    RelationalMatchToSample,
    SameDifferent,
    SequentialMNIST,
    SetAlgorithms,
    ShiftedSeries,
    SortOfCLEVR,
    Spirals,
    StackedMNIST,
    SuperResolution,
    SymbolSequences,
    SyntheticVisualReasoning,
    TintedSameDifferent,
    TripleMatchToSample,
    TwoMoons,
    VAECScale,
    VAECTranslation,
    VisualAnalogies,
)


def _in_one_row(title: str, count: int, words: tuple[str, ...], kind: str) -> Layout:
    return Layout(title=title, places=row_of(0.0, 0.0, count), words=words, kind=kind)


def _same_different(_: SameDifferent) -> Layout:
    return _in_one_row("Same/different", 2, ("same", "different"), "relation")


def _tinted_same_different(_: TintedSameDifferent) -> Layout:
    return _in_one_row("Same/different, tinted", 2, ("same", "different"), "relation")


def _all_same(task: AllSame) -> Layout:
    return _in_one_row("All the same?", task.num_images, ("all the same", "not all"), "odd")


def _groups(title: str, size: int) -> Layout:
    """Return a source over two targets, groups of images of one size each."""
    across, between = 1 + (size - 1) * STEP, 0.625
    left, right = 0.0, across + between
    return Layout(
        title=title,
        places=(
            *row_of((right - left) / 2, 1.6875, size),
            *row_of(left, 0.0, size),
            *row_of(right, 0.0, size),
        ),
        framed=(tuple(range(size, 2 * size)), tuple(range(2 * size, 3 * size))),
        labels=((left + across / 2, 0.0), (right + across / 2, 0.0)),
        kind="relation",
    )


def _match_to_sample(_: RelationalMatchToSample) -> Layout:
    return _groups("Relational match-to-sample", 2)


def _triple_match_to_sample(_: TripleMatchToSample) -> Layout:
    return _groups("Relational match-to-sample with triples", 3)


def _array(
    title: str, *, row_length: int = 3, blank: int | None = None, kinds: tuple[str, ...] = ()
) -> Layout:
    """Return two rows, of which the second lacks an image (the last), over four choices."""
    choices = row_of(max(0.0, (row_length - 4) / 2 * STEP), 0.0, 4)
    indent = max(0.0, (4 - row_length) / 2 * STEP)
    first, second = (row_of(indent, up, row_length) for up in (1.8125 + STEP, 1.8125))
    lacking = row_length - 1 if blank is None else blank
    array = 2 * row_length - 1
    return Layout(
        title=title,
        places=(*first, *second[:lacking], *second[lacking + 1 :], *choices),
        framed=tuple((array + choice,) for choice in range(4)),
        labels=tuple((right + 0.5, up) for right, up in choices),
        blank=second[lacking],
        kind="rule" if kinds else None,
        kinds=kinds,
        name_of_kind=(indent + row_length * STEP, 1.8125 + STEP + 0.5),
    )


def _distribution_of_three(_: DistributionOfThree) -> Layout:
    return _array("Distribution of three")


def _distribution_of_n(task: DistributionOfN) -> Layout:
    return _array(f"Distribution of {task.row_length}", row_length=task.row_length)


def _identity_rules(_: IdentityRules) -> Layout:
    return _array("Identity rules", kinds=("ABA", "ABB", "AAA"))


def _identity_rules_middle(_: IdentityRulesMiddle) -> Layout:
    return _array("Identity rules, missing middle", blank=1, kinds=("ABA", "AAA", "ABB", "AAB"))


def _analogy(title: str, candidates: int) -> Layout:
    """Return a : B :: C : ? over the candidates."""
    step = 1.375
    indent = max(0.0, ((candidates - 1) * STEP - 3 * step) / 2)
    up = 1.5
    terms = tuple((indent + step * place, up) for place in range(4))
    choices = row_of(max(0.0, (3 * step - (candidates - 1) * STEP) / 2), 0.0, candidates)
    between = (1 + step) / 2
    return Layout(
        title=title,
        places=(*terms[:3], *choices),
        framed=tuple((3 + choice,) for choice in range(candidates)),
        labels=tuple((right + 0.5, low) for right, low in choices),
        blank=terms[3],
        signs=tuple(
            (sign, (right + between, up + 0.5))
            for sign, (right, up) in zip((":", "::", ":"), terms, strict=False)
        ),
        kind="dimension",
        kinds=("location, X", "location, Y", "size", "brightness"),
        name_of_kind=(terms[3][0] + 1 + GAP, up + 0.5),
    )


def _vaec_translation(task: VAECTranslation) -> Layout:
    return _analogy("Visual analogies, translated", task.num_candidates)


def _vaec_scale(task: VAECScale) -> Layout:
    return _analogy("Visual analogies, scaled", task.num_candidates)


def _direction_analogies(task: DirectionAnalogies) -> Layout:
    return _analogy("Visual analogies, shown by direction", task.num_candidates)


def _visual_analogies(_: VisualAnalogies) -> Layout:
    domains = VisualAnalogies.domains
    return replace(
        _array("Visual analogies between rows"),
        kind="relation",
        kinds=tuple(f"{relation}:" for relation in VisualAnalogies.relations),
        name_of_kind=(0.0, 1.4),
        notes=(
            ("source_domain", domains),
            ("target_domain", tuple(f"→ {domain}" for domain in domains)),
        ),
    )


def _progressive_matrices(task: ProgressiveMatrices) -> Layout:
    """Return the matrix beside two rows of candidates, and the relations below these."""
    matrix = [corner for row in (2, 1, 0) for corner in row_of(0.0, row * STEP, 3)]
    beside, between = 3 * STEP + 0.625, 1.75
    choices = [corner for row in (0, 1) for corner in row_of(beside, 2 * STEP - row * between, 4)]
    return Layout(
        title=f"Progressive matrices ({task.holdout})",
        places=(*matrix[:8], *choices),
        framed=tuple((8 + choice,) for choice in range(8)),
        labels=tuple((right + 0.5, up) for right, up in choices),
        blank=matrix[8],
        kind="num_triples",
        name_of_kind=(beside, -0.375),
        caption=_triples,
    )


def _triples(problem: Problems) -> str:
    """Format relations of a matrix, one triple a line, padded to a fixed number of lines."""
    latent = problem.latent
    names = ProgressiveMatrices.triples
    direction = ProgressiveMatrices.directions[int(latent["direction"][0])]
    held = [names[number] if number >= 0 else "" for number in latent["triples"][0].tolist()]
    return f"{direction}: " + "\n".join(held)


def _dynamic_objects(task: DynamicObjects) -> Layout:
    """Return a film strip, in rows of ten; every frame but the first is to be predicted."""
    across = min(10, task.num_frames)
    down = math.ceil(task.num_frames / across)
    rows = [row_of(0.0, (down - 1 - row) * STEP, across) for row in range(down)]
    places = tuple(place for row in rows for place in row)[: task.num_frames]
    return Layout(
        title="Dynamic object prediction", places=places, words=("each frame from those before it",)
    )


def _object_frames(_: ObjectFrames) -> Layout:
    return Layout(title="Frames of dynamic objects", places=row_of(0.0, 0.0, 1), words=("itself",))


def _canvas_rules(task: CanvasRules) -> Layout:
    """Return a picture and its answer, or a picture for each candidate."""
    title, count = f"Canvas: {task.rule}", task.num_candidates
    if count == 1:
        return Layout(title=title, places=row_of(0.0, 0.0, 1), words=("same", "different"))
    places = row_of(0.0, 0.0, count)
    return Layout(
        title=title,
        places=places,
        framed=tuple((choice,) for choice in range(count)),
        labels=tuple((right + 0.5, up) for right, up in places),
    )


def _visual_reasoning(task: SyntheticVisualReasoning) -> Layout:
    return Layout(
        title=f"SVRT, problem {task.problem}",
        places=row_of(0.0, 0.0, 1),
        words=("category 0", "category 1"),
    )


_LAYOUTS: Final[dict[type, Callable[[Any], Layout]]] = {
    SameDifferent: _same_different,
    RelationalMatchToSample: _match_to_sample,
    DistributionOfThree: _distribution_of_three,
    IdentityRules: _identity_rules,
    AllSame: _all_same,
    TripleMatchToSample: _triple_match_to_sample,
    DistributionOfN: _distribution_of_n,
    IdentityRulesMiddle: _identity_rules_middle,
    TintedSameDifferent: _tinted_same_different,
    VAECTranslation: _vaec_translation,
    VAECScale: _vaec_scale,
    DirectionAnalogies: _direction_analogies,
    VisualAnalogies: _visual_analogies,
    ProgressiveMatrices: _progressive_matrices,
    DynamicObjects: _dynamic_objects,
    ObjectFrames: _object_frames,
    CanvasRules: _canvas_rules,
    SyntheticVisualReasoning: _visual_reasoning,
    Copying: copying,
    Adding: adding,
    SymbolSequences: symbol_sequences,
    ChomskyHierarchy: chomsky_hierarchy,
    SetAlgorithms: set_algorithms,
    ShiftedSeries: shifted_series,
    GridRules: grid_rules,
    SequentialMNIST: sequential_mnist,
    BouncingBalls: bouncing_balls,
    FuzzyBoolean: fuzzy_boolean,
    Digits: digits,
    KMNISTAdaptation: kmnist_adaptation,
    ImageClasses: image_classes,
    FewLabels: image_classes,
    ImageGeneration: image_generation,
    TwoMoons: points,
    Spirals: points,
    DigitDomains: digit_domains,
    StackedMNIST: stacked_mnist,
    SortOfCLEVR: sort_of_clevr,
    SuperResolution: super_resolution,
}


def layout_of(task: ProblemTask) -> Layout:
    """Return the layout of a task's problems; of a task of one's own, all images in one row.

    Args:
        task: Any task whose items are images.
    """
    if type(task) in _LAYOUTS:
        return _LAYOUTS[type(task)](task)
    return Layout(title=task.name, places=row_of(0.0, 0.0, task.length))

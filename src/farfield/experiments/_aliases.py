"""Aliases of renamed classes and fields in descriptions of experiments, so that keys stay.

The key of an experiment is made from its description. A class or field that gets another name keeps
its older one there, so that no record is lost. Every rename has its entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Json = Any

CLASSES: Final[Mapping[str, str]] = {
    "farfield.objectives.CenteredL1": "farfield.objectives.CentredL1",
    "farfield.tasks.GlyphSet": "farfield.tasks.Shapes",
}
"""Path in descriptions of every class that has been renamed."""

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "farfield.experiments.Pretrained": {
        "include": "parts",
        "exclude": "without",
        "resize": "grown",
    },
    "farfield.nn.HoldingRNN": {"min_update": "least_move"},
}
"""Names in descriptions of renamed fields and options, by the current path of their class."""

DEFAULTS: Final[Mapping[str, Mapping[str, tuple[Json, Json]]]] = {
    "farfield.nn.ContextWhitening": {"eps": (1e-6, 1e-2)},
}
"""First and current default of options whose default has changed, by the path of their class.

A description without such an option means its first default.
"""

_AUGMENTED: Final = "farfield.objectives.Augmented"
_EXPERIMENT: Final = "farfield.experiments.Experiment"
_PPO: Final = "farfield.objectives.PPO"
_PREDICTION_NETWORK: Final = "farfield.experiments.PredictionNetwork"
_PLAYER: Final = "farfield.experiments.Player"
_RECIPE: Final = "farfield.experiments.Recipe"
_SEQUENCE_NETWORK: Final = "farfield.experiments.SequenceNetwork"
_SPEC: Final = "farfield.experiments.Spec"
_WARMUP: Final = "farfield.experiments.Warmup"
_COSINE: Final[dict[str, Json]] = {"class": "farfield.experiments.Cosine"}
_FIRST_CLIP: Final = 0.1
"""Default of `PPO.clip` when it clipped values too."""


def as_written(described: dict[str, Json]) -> dict[str, Json]:
    """Translate a description of a dataclass, class or function to the names kept in descriptions.

    Args:
        described: Its class and fields, or its name, by current names.
    """
    if "name" in described:
        return described | {"name": CLASSES.get(described["name"], described["name"])}
    cls = described["class"]
    older = FIELDS.get(cls, {})
    written: dict[str, Json] = {}
    for name, content in described.items():
        written[older.get(name, name)] = content
    written["class"] = CLASSES.get(cls, cls)
    return _WRITTEN.get(cls, dict)(written)


def as_named(written: dict[str, Json]) -> dict[str, Json]:
    """Translate a description of a dataclass, class or function to the current names.

    Args:
        written: Result of `as_written`.
    """
    now: dict[str, str] = {older: newer for newer, older in CLASSES.items()}
    if "name" in written:
        return written | {"name": now.get(written["name"], written["name"])}
    path: Any = written["class"]  # anything, in a file from elsewhere
    cls = now.get(path, path)
    newer = {old: new for new, old in FIELDS.get(cls, {}).items()}
    described: dict[str, Json] = {}
    for name, content in written.items():
        described[newer.get(name, name)] = content
    described["class"] = cls
    return _NAMED.get(cls, dict)(described)


def _schedule_as_flags(recipe: dict[str, Json]) -> dict[str, Json]:
    """Write the schedule of a recipe as `warmup` and `cosine_decay` where possible."""
    schedule = recipe.get("schedule")
    if not isinstance(schedule, dict):
        return recipe
    rest = dict(schedule) if schedule["class"] == _WARMUP else {"then": schedule}
    flags = {"warmup": rest["fraction"]} if "fraction" in rest else {}
    match rest.get("then"):
        case None:
            pass
        case falling if falling == _COSINE:
            flags["cosine_decay"] = True
        case _:
            return recipe
    return {name: content for name, content in recipe.items() if name != "schedule"} | flags


def _schedule_from_flags(recipe: dict[str, Json]) -> dict[str, Json]:
    """Restore the recipe that `_schedule_as_flags` wrote."""
    described = dict(recipe)
    falls, fraction = described.pop("cosine_decay", False), described.pop("warmup", None)
    schedule = _COSINE if falls else {}
    if fraction is not None:
        schedule = {"class": _WARMUP, "fraction": fraction} | ({"then": _COSINE} if falls else {})
    return described | {"schedule": schedule} if schedule else described


def _players_as_parts(experiment: dict[str, Json]) -> dict[str, Json]:
    """Build an experiment whose players, where they can be, are fields of its model and recipe.

    One objective for parts of a `SetNetwork` is written as its `trained`; for all of a
    `PredictionNetwork` as its `trains_autoencoder`, and for all but encoder and decoder as nothing.
    Learning rates of single parts are the `part_rates` of the recipe.
    """
    model, players = experiment["model"], experiment.get("players", [])
    kind = model.get("class") if isinstance(model, dict) else None
    if not players:
        tuned = {"model": model | {"trains_autoencoder": True}}
        return experiment | (tuned if kind == _PREDICTION_NETWORK else {})
    (first, *others), objective = players, players[0].get("objective")
    parts = first.get("parts", [])
    rates = [[*other.get("parts", []), other.get("learning_rate")] for other in others]
    alike = all(
        other.keys() == first.keys() - {"parts"} | {"parts", "learning_rate"}
        and other.get("objective") == objective
        and len(other["parts"]) == 1
        for other in others
    )
    if not (alike and first.keys() <= {"class", "objective", "parts"}):
        return experiment
    match kind:
        case "farfield.experiments.SetNetwork":
            model = model | ({"trained": parts} if parts else {})
        case "farfield.experiments.PredictionNetwork" if parts == _all_but_autoencoder(model):
            pass
        case _ if parts or kind == _PREDICTION_NETWORK:
            return experiment
    kept = {name: content for name, content in experiment.items() if name != "players"}
    recipe = experiment["recipe"] | ({"part_rates": rates} if rates else {})
    learned = {} if objective is None else {"objective": objective}
    return kept | {"model": model, "recipe": recipe} | learned


def _parts_as_players(written: dict[str, Json]) -> dict[str, Json]:
    """Build the experiment that `_players_as_parts` wrote."""
    described, parts = dict(written), []
    model, recipe = written.get("model"), written.get("recipe")
    if "players" in written or not (isinstance(model, dict) and isinstance(recipe, dict)):
        return described
    model, recipe = dict(model), dict(recipe)
    rates = recipe.pop("part_rates", [])
    match model.get("class"):
        case "farfield.experiments.SetNetwork":
            parts = model.pop("trained", [])
        case "farfield.experiments.PredictionNetwork":
            tunes = model.pop("trains_autoencoder", False)
            parts = [] if tunes else _all_but_autoencoder(model)
    described |= {"model": model, "recipe": recipe}
    if not (parts or rates):
        return described
    objective: dict[str, Json] = {"class": _PLAYER}
    if "objective" in described:
        objective["objective"] = described.pop("objective")
    players = [objective | ({"parts": parts} if parts else {})]
    players += [objective | {"parts": [part], "learning_rate": rate} for part, rate in rates]
    return described | {"players": players}


def _all_but_autoencoder(model: dict[str, Json]) -> list[Json]:
    """List the parts of a `PredictionNetwork` outside its autoencoder."""
    return ["predictor"] if model.get("context", model) is None else ["context", "predictor"]


def _options_as_written(spec: dict[str, Json]) -> dict[str, Json]:
    """Write a `Spec` with the names of options in descriptions, sorted by these names."""
    path = _class_of(spec) or ""
    changed = {name: (now, first) for name, (first, now) in DEFAULTS.get(path, {}).items()}
    return _with_options(_with_defaults(spec, changed), FIELDS.get(path, {}))


def _options_as_named(written: dict[str, Json]) -> dict[str, Json]:
    """Restore the `Spec` that `_options_as_written` wrote."""
    path = _class_of(written) or ""
    newer = {old: new for new, old in FIELDS.get(path, {}).items()}
    return _with_defaults(_with_options(written, newer), DEFAULTS.get(path, {}))


def _class_of(spec: dict[str, Json]) -> str | None:
    """Find the current path of the class of a `Spec`, if it is described by name."""
    cls = spec.get("cls")
    return as_named(cls)["name"] if isinstance(cls, dict) and "name" in cls else None


def _with_options(spec: dict[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    if not names or "options" not in spec:
        return spec
    renamed = [[names.get(name, name), content] for name, content in spec["options"]]
    return spec | {"options": sorted(renamed, key=lambda option: option[0])}


def _with_defaults(
    spec: dict[str, Json], defaults: Mapping[str, tuple[Json, Json]]
) -> dict[str, Json]:
    """Write out options left at the first of two defaults; leave out options at the second."""
    if not defaults:
        return spec
    given = dict(spec.get("options", ()))
    both = {name: first for name, (first, _) in defaults.items()} | given
    kept = {
        name: content
        for name, content in both.items()
        if name not in defaults or content != defaults[name][1]
    }
    return spec | {"options": [[name, kept[name]] for name in sorted(kept)]}


def _without_kornia(augmented: dict[str, Json]) -> dict[str, Json]:
    """Leave out kornia's operations, once the only operations; write Pillow's."""
    written = dict(augmented)
    if written.pop("kornia_operations", False) is True:
        return written
    return written | {"kornia_operations": False}


def _with_kornia(written: dict[str, Json]) -> dict[str, Json]:
    """Restore the objective that `_without_kornia` wrote."""
    return {"kornia_operations": True} | written


def _value_clip_as_written(rule: dict[str, Json]) -> dict[str, Json]:
    """Write the clip of values if it differs from the clip of probabilities, its earlier value."""
    rest = {name: content for name, content in rule.items() if name != "value_clip"}
    value_clip = rule.get("value_clip")
    return (
        rest if value_clip == rule.get("clip", _FIRST_CLIP) else rest | {"value_clip": value_clip}
    )


def _value_clip_as_named(written: dict[str, Json]) -> dict[str, Json]:
    """Restore the rule that `_value_clip_as_written` wrote."""
    rest = {name: content for name, content in written.items() if name != "value_clip"}
    value_clip = written.get("value_clip", written.get("clip", _FIRST_CLIP))
    return rest if value_clip is None else rest | {"value_clip": value_clip}


def _without_whole_periods(network: dict[str, Json]) -> dict[str, Json]:
    """Leave out whole periods, once the only periods; write others where there is a pace."""
    written = dict(network)
    if written.pop("whole_periods", False) is True or written.get("pace") is None:
        return written
    return written | {"whole_periods": False}


def _with_whole_periods(written: dict[str, Json]) -> dict[str, Json]:
    """Restore the network that `_without_whole_periods` wrote."""
    known = {} if written.get("pace") is None else {"whole_periods": True}
    return known | written


_WRITTEN: Final[Mapping[str, Callable[[dict[str, Json]], dict[str, Json]]]] = {
    _AUGMENTED: _without_kornia,
    _EXPERIMENT: _players_as_parts,
    _PPO: _value_clip_as_written,
    _RECIPE: _schedule_as_flags,
    _SEQUENCE_NETWORK: _without_whole_periods,
    _SPEC: _options_as_written,
}
"""Functions from current fields to described fields, by class, where aliases do not suffice."""

_NAMED: Final[Mapping[str, Callable[[dict[str, Json]], dict[str, Json]]]] = {
    _AUGMENTED: _with_kornia,
    _EXPERIMENT: _parts_as_players,
    _PPO: _value_clip_as_named,
    _RECIPE: _schedule_from_flags,
    _SEQUENCE_NETWORK: _with_whole_periods,
    _SPEC: _options_as_named,
}
"""Inverse of `_WRITTEN`."""

"""Experiments: names that stay, JSON and Python in and out, options checked at once."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from farfield.core import stream
from farfield.experiments import (
    SGD,
    Constant,
    Cosine,
    Experiment,
    ItemNetwork,
    Network,
    Pretrained,
    Recipe,
    Schedule,
    ScoringNetwork,
    SequenceNetwork,
    SetNetwork,
    Spec,
    Steps,
    Warmup,
)
from farfield.experiments._experiment import _split
from farfield.experiments.internal import (
    TASK_ARGUMENTS,
    AutoencoderNetwork,
    RollOutNetwork,
    array_digest,
    arrays_of,
)
from farfield.models import ESBN, LSTM, BottleneckMLP
from farfield.nn import CONTEXTS, ConvEncoder, MLPEncoder
from farfield.objectives import Objective, Supervised, Update
from farfield.tasks import DistributionOfThree, GlyphSet, SameDifferent
from small import prediction_experiment, small_experiment, tiny_experiment


class Mean(nn.Module):
    """A reasoner of somebody's own, drawn from torch's global generator."""

    def __init__(self, in_features: int, num_outputs: int, *, width: int = 3) -> None:
        super().__init__()
        self.hidden = nn.Linear(in_features, width)
        self.output = nn.Linear(width, num_outputs)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.output(self.hidden(z.mean(1)))


def test_the_key_of_an_experiment_stays() -> None:
    # Changing these strands every record: raise a version instead, and say so under Numbers.
    encoder = Spec(MLPEncoder, out_features=10)
    experiment = Experiment(
        task=DistributionOfThree(withheld=95, max_problems=80),
        model=Network(reasoner=Spec(ESBN, hidden_size=12, key_size=6), encoder=encoder),
        recipe=Recipe(steps=12, evaluations=3, batch_size=16),
    )
    assert experiment.key == "95163359965bbbf63510"
    experiment = Experiment(
        task=SameDifferent(withheld=98, max_problems=40),
        model=Network(reasoner=Spec(LSTM, hidden_size=12), encoder=encoder, context=None),
        recipe=Recipe(steps=4),
    )
    assert experiment.key == "0fe8e2dca7df91b454d4"


@pytest.mark.parametrize(
    "other",
    [
        small_experiment(steps=13),
        small_experiment(withheld=85),
        small_experiment(evaluations=2),
        small_experiment(reasoner=Spec(ESBN, hidden_size=12, key_size=7)),
        small_experiment(encoder=Spec(ConvEncoder)),
    ],
    ids=["steps", "task", "evaluations", "model", "encoder"],
)
def test_every_part_changes_the_key(other: Experiment) -> None:
    assert other.key != small_experiment().key


def test_a_default_written_out_changes_nothing() -> None:
    assert (
        Experiment(
            task=SameDifferent(withheld=98),
            model=Network(reasoner=Spec(ESBN)),
            recipe=Recipe(steps=5),
        ).key
        == Experiment(
            task=SameDifferent(withheld=98, softmax=False),
            model=Network(reasoner=Spec(ESBN, hidden_size=512), encoder=Spec(ConvEncoder)),
            recipe=Recipe(steps=5, learning_rate=5e-4),
        ).key
    )


def test_json_reads_back_as_the_same_experiment() -> None:
    experiment = small_experiment()
    text = json.dumps(experiment.to_json())
    assert Experiment.from_json(json.loads(text)) == experiment


def test_python_imports_a_name_from_the_face_that_offers_it() -> None:
    paths = {"farfield.models.ESBN", "farfield.models.TokenReader", "mine.Net"}
    assert sorted(_split(paths)) == [
        ("farfield.models", "ESBN"),
        ("farfield.models.internal", "TokenReader"),
        ("mine", "Net"),
    ]


@pytest.mark.parametrize("experiment", [small_experiment(), prediction_experiment()])
def test_python_makes_the_same_experiment(experiment: Experiment) -> None:
    scope: dict[str, object] = {}
    exec(experiment.to_python(), scope)
    imports = [line for line in experiment.to_python().splitlines() if line.startswith("from ")]
    assert len(imports) == len({line.split()[1] for line in imports})  # one line a module
    assert scope["experiment"] == experiment


def test_what_an_experiment_starts_from_is_part_of_it() -> None:
    experiment = prediction_experiment()
    again = Experiment.from_json(json.loads(json.dumps(experiment.to_json())))
    assert again == experiment
    assert again.key == experiment.key
    assert [stage.recipe.steps for stage in experiment.stages] == [3, 6]
    assert small_experiment().stages == (small_experiment(),)


def test_a_fraction_is_of_every_stage_unless_said_otherwise() -> None:
    def steps(experiment: Experiment) -> list[int]:
        return [stage.recipe.steps for stage in experiment.stages]

    experiment = prediction_experiment(steps=60)
    assert steps(experiment.at_fraction(1 / 3)) == [1, 20]
    assert steps(experiment.at_fraction(1 / 3, before=1)) == [3, 20]
    assert steps(experiment.at_fraction(1, before=2 / 3)) == [2, 60]
    assert experiment.at_fraction(1) == experiment
    with pytest.raises(ValueError, match="before must be a finite number above 0"):
        experiment.at_fraction(1, before=0)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("",), r"include must be names of parts of a network, such as \"encoder\", got ''"),
        ((".",), r"include must be names of parts of a network, such as \"encoder\", got '\.'"),
        (("encoder", 3), r"include\[1\] must be text, got 3"),
        ("encoder", "include must be a tuple of parts, each text, got 'encoder'"),
    ],
)
def test_parts_must_be_names(unchecked, parts: tuple[str, ...] | str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pretrained(experiment=small_experiment(), include=parts)


def test_a_part_is_a_whole_name() -> None:
    pretrained = Pretrained(experiment=small_experiment(), include=("encoder", "reasoner.output"))
    assert pretrained.covers("encoder.fc1.weight")
    assert pretrained.covers("reasoner.output.bias")
    assert not pretrained.covers("encoders.fc1.weight")
    assert not pretrained.covers("reasoner.controller.bias_ih")
    assert Pretrained(experiment=small_experiment()).covers("anything")


def test_images_of_ones_own_are_named_by_their_bytes() -> None:
    images = np.random.default_rng(0).integers(0, 255, (6, 8, 8), dtype=np.uint8)
    task = SameDifferent(withheld=3, shapes=GlyphSet(images))
    experiment = Experiment(task=task, model=Network(reasoner=Spec(ESBN)), recipe=Recipe(steps=1))
    assert list(arrays_of(experiment)) == [array_digest(images)]
    again = Experiment.from_json(experiment.to_json(), arrays=arrays_of(experiment))
    assert again == experiment
    with pytest.raises(ValueError, match="array"):
        Experiment.from_json(experiment.to_json())


def test_a_class_of_ones_own_is_known_only_where_it_is_given() -> None:
    experiment = small_experiment(reasoner=Spec(Mean, width=4))
    described = experiment.to_json()
    name = described["model"]["reasoner"]["cls"]["name"]
    assert Experiment.from_json(described, classes={name: Mean}) == experiment
    with pytest.raises(ValueError, match="not part of Farfield"):
        Experiment.from_json(described)


@pytest.mark.parametrize(
    "path", ["os.system", "farfield.records.subprocess", "farfield.cli.main", "farfield._x.y"]
)
def test_a_description_cannot_call_what_is_not_public(path: str) -> None:
    with pytest.raises(ValueError, match=r"not part of|not a public name|not a dataclass"):
        Experiment.from_json({"class": path})


@pytest.mark.parametrize(
    "path", ["farfield.records._files.write_whole", "farfield.cli.annotations"]
)
def test_what_is_private_is_refused_by_name(path: str) -> None:
    with pytest.raises(ValueError, match="is not a public name of Farfield"):
        Experiment.from_json({"class": path})


def test_each_part_of_a_network_draws_from_the_stream_of_its_name() -> None:
    network, task = small_experiment().model, small_experiment().task
    weights = stream(3, "weights")
    alone = network.encoder.build({"item_shape": task.item_shape}, weights.child("encoder"))
    built = network.build(task, weights).encoder
    assert built.state_dict().keys() == alone.state_dict().keys()
    for name, content in alone.state_dict().items():
        assert torch.equal(built.state_dict()[name], content), name


@pytest.mark.parametrize("hostile", [{}, {"class": 3}, {"class": "farfield.experiments.Recipe"}])
def test_garbage_is_not_an_experiment(hostile: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not an experiment"):
        Experiment.from_json(hostile)


def test_a_wrong_option_fails_at_once_and_says_which_exist() -> None:
    with pytest.raises(TypeError, match=r"no option 'hidden'; it has .*hidden_size"):
        Spec(ESBN, hidden=3)


def test_a_class_that_needs_more_than_the_task_tells_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a value for 'out_features'"):
        Spec(nn.Linear)


@pytest.mark.parametrize("name", ["steps", "learning_rate", "batch_size", "evaluations"])
def test_a_recipe_refuses_what_is_not_positive(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be .* (int 1…\d+|above 0), got 0"):
        Recipe(**{"steps": 3, name: 0})


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_recipe_refuses_what_is_not_finite(value: float) -> None:
    message = f"learning_rate must be a finite number above 0, got {value}"
    with pytest.raises(ValueError, match=message):
        Recipe(steps=3, learning_rate=value)


@pytest.mark.parametrize("name", ["steps", "learning_rate", "clip_norm"])
def test_a_recipe_refuses_what_is_no_number(name: str, unchecked) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be .*, got '3'"):
        Recipe(**{"steps": 3, name: "3"})


@pytest.mark.parametrize("name", ["steps", "batch_size", "evaluations"])
@pytest.mark.parametrize("value", [2.5, 2.0, True, "2", None])
def test_a_recipe_refuses_what_is_no_int(name: str, value: float, unchecked) -> None:
    message = rf"{name} must be an int 1…\d+, got {re.escape(repr(value))}"
    with pytest.raises(ValueError, match=message):
        Recipe(**{"steps": 3, name: value})


@pytest.mark.parametrize("name", ["steps", "batch_size", "evaluations"])
def test_a_recipe_refuses_what_never_ends(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be an int 1…\d+, got 1000000000000"):
        Recipe(**{"steps": 10**9, name: 10**12})


def test_a_changed_class_is_another_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = small_experiment(reasoner=Spec(Mean))
    key, described = before.key, before.to_json()
    name = described["model"]["reasoner"]["cls"]["name"]
    monkeypatch.setattr(Mean, "forward", lambda self, z: self.output(self.hidden(z.sum(1))))
    assert small_experiment(reasoner=Spec(Mean)).key != key
    with pytest.raises(ValueError, match=r"Mean has changed since the description was made"):
        Experiment.from_json(described, classes={name: Mean})


@dataclass(frozen=True, kw_only=True)
class Made:
    """A task of somebody's own."""

    name: ClassVar[str] = "made"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (2,), 2, 1, ((0, 1),)
    regimes = ()

    level: float = 0.5
    options: tuple[object, ...] = ()

    def draw(self, stream): ...
    def sample(self, regime, n, generator): ...
    def loss(self, outputs, problems): ...
    def score(self, outputs, problems): ...
    def chance(self, regime): ...
    def oracle(self, problems): ...


@dataclass(frozen=True)
class Unfinished:
    """A task that cannot be drawn from."""

    name: ClassVar[str] = "unfinished"
    version: ClassVar[int] = 1
    item_shape, length, num_outputs, segments = (2,), 2, 1, ((0, 1),)
    regimes = ()

    def loss(self, outputs, problems): ...
    def score(self, outputs, problems): ...
    def chance(self, regime): ...
    def oracle(self, problems): ...


def test_a_replaced_method_of_the_library_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ESBN, "forward", lambda self, z: z)
    with pytest.raises(
        ValueError, match=r"ESBN\.forward was replaced by code of .*; write a class"
    ):
        _ = small_experiment().key


def test_a_key_that_is_no_longer_the_experiments_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment = small_experiment(reasoner=Spec(Mean))
    experiment.check_unchanged()
    monkeypatch.setattr(Mean, "width", 3, raising=False)
    with pytest.raises(ValueError, match=r"must be made again: .* since the key .* was taken"):
        experiment.check_unchanged()
    small_experiment(reasoner=Spec(Mean)).check_unchanged()


EQUAL = [
    ({"clip_norm": 1}, {"clip_norm": 1.0}),
    ({"clip_norm": 1}, {"clip_norm": np.float32(1)}),
    ({"learning_rate": 0.5}, {"learning_rate": np.float64(0.5)}),
    ({"batch_size": 8}, {"batch_size": np.int64(8)}),
    ({"batch_size": 8}, {"batch_size": torch.tensor(8)}),
    ({"optimizer": SGD(momentum=0.0)}, {"optimizer": SGD(momentum=-0.0)}),
    ({"optimizer": SGD(momentum=1)}, {"optimizer": SGD(momentum=1.0)}),
    (
        {"schedule": Steps(factors=((0.5, 1),))},
        {"schedule": Steps(factors=((0.5, 1.0),))},
    ),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal_recipes_have_one_key(
    first: dict[str, object], second: dict[str, object], unchecked
) -> None:
    experiments = [
        dataclasses.replace(tiny_experiment(), recipe=Recipe(steps=9, evaluations=1, **options))
        for options in (first, second)
    ]
    assert experiments[0] == experiments[1]
    assert experiments[0].key == experiments[1].key
    assert experiments[0].to_python() == experiments[1].to_python()
    assert Experiment.from_json(json.loads(json.dumps(experiments[1].to_json()))) == experiments[0]


class Loose(nn.Module):
    """A module whose options have no annotations."""

    def __init__(self, in_features, num_outputs, scale=2, sizes=(1,)) -> None:
        super().__init__()
        self.scale = scale


class Tight(Loose):
    """The same with annotations."""

    def __init__(
        self, in_features: int, num_outputs: int, scale: float = 2, sizes: tuple[int, ...] = (1,)
    ) -> None:
        super().__init__(in_features, num_outputs, scale, sizes)


def key_of(spec: Spec) -> str:
    return small_experiment(reasoner=spec).key


def test_options_are_numbers_of_the_annotated_type() -> None:
    assert Spec(Tight, scale=1) == Spec(Tight, scale=1.0) == Spec(Tight, scale=np.int64(1))
    assert key_of(Spec(Tight, scale=1)) == key_of(Spec(Tight, scale=np.float32(1)))
    assert Spec(Tight, scale=2.0) == Spec(Tight)
    assert Spec(Tight, sizes=[np.int64(3)]).options == (("sizes", (3,)),)
    assert Spec(ESBN, hidden_size=np.int64(3)) == Spec(ESBN, hidden_size=3)
    assert hash(Spec(ESBN, hidden_size=np.int64(3))) == hash(Spec(ESBN, hidden_size=3))
    assert (
        "hidden_size=3)"
        in small_experiment(reasoner=Spec(ESBN, hidden_size=np.int64(3))).to_python()
    )


def test_options_without_annotations_are_told_apart_by_their_types() -> None:
    specs = [Spec(Loose, scale=scale) for scale in (1, 1.0, True)]
    assert len({key_of(spec) for spec in specs}) == 3
    assert len(set(specs)) == 3
    assert Spec(Loose, scale=2) == Spec(Loose) != Spec(Loose, scale=2.0)
    assert Spec(Loose, scale=np.int64(1)) == Spec(Loose, scale=1)
    assert Spec(Loose, scale=-0.0) == Spec(Loose, scale=0.0)
    assert key_of(Spec(Loose, scale=-0.0)) == key_of(Spec(Loose, scale=0.0))


@pytest.mark.parametrize(
    "value", [math.nan, {"a": 1}, {1}, np.zeros(2), torch.zeros(2), object(), (1, [math.nan])]
)
def test_options_that_cannot_be_described_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"scale(\[1\]\[0\])? must be a (plain value, |number)"):
        Spec(Loose, scale=value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"hidden_size": "x"}, r"hidden_size must be an int 1…\d+, got 'x'"),
        ({"hidden_size": 2.5}, r"hidden_size must be an int 1…\d+, got 2.5"),
        ({"hidden_size": True}, r"hidden_size must be an int 1…\d+, got True"),
        ({"hidden_size": None}, r"hidden_size must be an int 1…\d+, got None"),
    ],
)
def test_options_of_the_library_are_of_their_types(option: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Spec(ESBN, **option)


def parts(**changed: object) -> dict[str, Any]:
    return {
        "task": SameDifferent(withheld=98),
        "model": Network(reasoner=Spec(ESBN)),
        "recipe": Recipe(steps=1),
    } | changed


@dataclass(frozen=True)
class Own(Objective):
    def loss(self, update: Update) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        return update.task_loss(update.outputs(), update.problems).mean(), {}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"task": None}, "task must be a ProblemTask or an Environment, got None"),
        ({"task": 3}, "task must be a ProblemTask or an Environment, got 3"),
        (
            {"task": "same-different"},
            r"a ProblemTask, got 'same-different'; write SameDifferent\(…\), from farfield",
        ),
        ({"task": "else"}, "task must be a ProblemTask or an Environment, got 'else'$"),
        ({"task": SameDifferent}, r"got the class SameDifferent; write SameDifferent\(…\)"),
        ({"model": None}, "model must be an Architecture, got None"),
        ({"model": "esbn"}, "model must be an Architecture, got 'esbn'"),
        ({"model": ESBN}, r"got the class ESBN; write Network\(reasoner=Spec\(ESBN\)\)"),
        ({"model": Spec(ESBN)}, r"model must be .*; write Network\(reasoner=Spec\(ESBN\)\)"),
        ({"model": Network}, r"got the class Network; write Network\(…\)"),
        ({"model": nn.Linear(1, 1)}, "model must be an Architecture, got Linear"),
        ({"recipe": None}, "recipe must be a Recipe, got None"),
        ({"recipe": 100}, r"recipe must be a Recipe, got 100; write Recipe\(steps=100\)"),
        ({"recipe": Recipe}, r"got the class Recipe; write Recipe\(…\)"),
        ({"recipe": {"steps": 3}}, "recipe must be a Recipe, got {'steps': 3}"),
        ({"objective": None}, "objective must be an Objective, got None"),
        ({"objective": Supervised}, r"got the class Supervised; write Supervised\(…\)"),
        ({"objective": "supervised"}, r"write Supervised\(…\), from farfield.objectives import"),
        ({"objective": nn.MSELoss()}, r"objective must be an Objective, got MSELoss\(\)"),
        ({"objective": len}, "objective must be an Objective, got <built-in function len>"),
        (
            {"model": ScoringNetwork(scorer=Spec(ESBN))},
            "task must be one for a ScoringNetwork, a Candidates, got an object of SameDifferent",
        ),
        (
            {"model": RollOutNetwork(core=Spec(ESBN))},
            "task must be one for a RollOutNetwork, a RolledOut, got an object of SameDifferent",
        ),
        ({"starts_from": 3}, "starts_from must be a Pretrained or None, got 3"),
        (
            {"starts_from": tiny_experiment()},
            r"starts_from must be a Pretrained.*; write Pretrained\(experiment=…\)",
        ),
        (
            {"task": Unfinished()},
            r"a ProblemTask, got Unfinished\(\); it has no draw, sample$",
        ),
        ({"task": Made(options=([1],))}, "task must be a frozen dataclass of plain values"),
        ({"task": Made(options=({},))}, "task must be a frozen dataclass of plain values"),
        ({"task": Made(level=math.nan)}, "task must be a frozen dataclass .*: nan is not equal"),
    ],
)
def test_wrong_parts_are_refused_when_the_experiment_is_made(
    changed: dict[str, Any], message: str, unchecked
) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment(**parts(**changed))


def test_parts_of_ones_own_are_taken() -> None:
    assert Experiment(**parts(objective=Own())).key != Experiment(**parts()).key
    keys = {Experiment(**parts(task=Made(level=level))).key for level in (1, 1.0, np.float32(1))}
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("architecture", "changed", "message"),
    [
        (Network, {"reasoner": ESBN}, r"reasoner must be a Spec.* ESBN; write Spec\(ESBN\)"),
        (Network, {"reasoner": "esbn"}, "reasoner must be a Spec, got 'esbn'"),
        (Network, {"reasoner": None}, "reasoner must be a Spec, got None"),
        (Network, {"reasoner": Spec(ESBN), "encoder": None}, "encoder must be a Spec, got None"),
        (
            Network,
            {"reasoner": Spec(ESBN), "context": nn.Flatten},
            r"context must be a Spec, got the class Flatten; write Spec\(Flatten\)",
        ),
        (ScoringNetwork, {"scorer": 3}, "scorer must be a Spec, got 3"),
        (AutoencoderNetwork, {"decoder": 3}, "decoder must be a Spec, got 3"),
        (SequenceNetwork, {"core": Spec(ESBN), "side": 0}, "side must be an int of at least 1"),
        (SequenceNetwork, {"core": Spec(ESBN), "dropout": 1}, "dropout must be .* below 1, got 1"),
        (
            RollOutNetwork,
            {"core": Spec(ESBN), "rounded": 1},
            "rounded must be True or False, got 1",
        ),
        (ItemNetwork, {"core": BottleneckMLP}, r"core must be a Spec.* write Spec"),
        (ItemNetwork, {"core": Spec(BottleneckMLP), "front": 1}, "front must be a Spec or None"),
        (SetNetwork, {"core": Spec(ESBN), "shared": "no"}, "shared must be True or False"),
        (SetNetwork, {"core": Spec(ESBN), "outputs_per_token": 0}, "outputs_per_token must be"),
        (SetNetwork, {"core": Spec(ESBN), "places_std": -1}, "places_std must be .* at least 0"),
    ],
)
def test_wrong_parts_of_a_network_are_refused(
    architecture: type, changed: dict[str, Any], message: str, unchecked
) -> None:
    with pytest.raises(ValueError, match=message):
        architecture(**changed)


@pytest.mark.parametrize("cls", [3, "ESBN", None, ESBN(4, 2), int, Recipe(steps=1)])
def test_a_spec_is_of_a_class_of_modules(cls: object, unchecked) -> None:
    with pytest.raises(TypeError, match="cls must be a class of modules, as ESBN or"):
        Spec(cls)


def test_flags_of_a_recipe_are_flags(unchecked) -> None:
    with pytest.raises(ValueError, match="nesterov must be True or False, got 'no'"):
        Recipe(steps=3, optimizer=SGD(momentum=0.9, nesterov="no"))


def test_evaluation_steps_are_even_and_end_at_the_last() -> None:
    assert Recipe(steps=10, evaluations=4).evaluation_steps == (2, 5, 7, 10)
    with pytest.raises(ValueError, match=r"at most steps \(3\), got 4"):
        Recipe(steps=3, evaluations=4)


def test_a_fraction_of_the_steps() -> None:
    assert small_experiment(steps=12).at_fraction(1 / 3).recipe.steps == 4
    assert small_experiment(steps=12).at_fraction(0.29).recipe.steps == 3  # 3.48
    assert small_experiment(steps=12).at_fraction(0.31).recipe.steps == 4  # 3.72
    assert small_experiment(steps=12).at_fraction(0.001).recipe.steps == 1
    with pytest.raises(ValueError, match=r"above 0 and of at most 1, got 1\.5"):
        small_experiment().at_fraction(1.5)


def test_building_leaves_the_global_generator_alone_and_repeats() -> None:
    experiment = small_experiment(reasoner=Spec(Mean))
    before = torch.random.get_rng_state()
    first = experiment.model.build(experiment.task, stream(3, "weights"))
    again = experiment.model.build(experiment.task, stream(3, "weights"))
    other = experiment.model.build(experiment.task, stream(4, "weights"))
    assert torch.equal(before, torch.random.get_rng_state())
    for name, content in first.state_dict().items():
        assert torch.equal(content, again.state_dict()[name]), name
    weight = "reasoner.hidden.weight"
    assert not torch.equal(first.state_dict()[weight], other.state_dict()[weight])


def test_an_encoder_must_say_how_wide_its_embeddings_are() -> None:
    experiment = small_experiment(encoder=Spec(nn.Flatten))
    with pytest.raises(TypeError, match=r"encoder must have .* out_features.*Flatten"):
        experiment.model.build(experiment.task, stream(0))


def test_no_option_of_a_context_bears_a_name_that_the_task_fills_in() -> None:
    """An option at its default is left out of a spec, and would be overwritten by the task's."""
    for cls in CONTEXTS.values():
        parameters = inspect.signature(cls).parameters
        filled = {"num_features", "segments", "num_candidates"}
        assert parameters.keys() & set(TASK_ARGUMENTS) <= filled, cls.__name__


def test_the_step_size_grows_and_falls() -> None:
    recipe = Recipe(steps=8, learning_rate=0.4, schedule=Warmup(fraction=0.25, then=Cosine()))
    expected = [0.2, 0.4, *(0.2 * (1 + math.cos(math.pi * done / 6)) for done in range(6))]
    assert [recipe.rate(step) for step in range(8)] == pytest.approx(expected, rel=1e-12)
    assert [Recipe(steps=3, learning_rate=0.4).rate(step) for step in range(3)] == [0.4] * 3
    growing = Warmup(fraction=1.0, then=Cosine())
    assert Recipe(steps=1, learning_rate=0.4, schedule=growing).rate(0) == 0.4


SCHEDULES = [
    (Constant(), set()),
    (Cosine(), {"cosine_decay"}),
    (Warmup(fraction=0.25), {"warmup"}),
    (Warmup(fraction=0.25, then=Cosine()), {"warmup", "cosine_decay"}),
    (Cosine(span=0.5), {"schedule"}),
    (Cosine(first=0.5, again=0.1), {"schedule"}),
    (Warmup(fraction=0.25, then=Cosine(span=0.5)), {"schedule"}),
    (Steps(factors=((0.5, 0.1),)), {"schedule"}),
]


@pytest.mark.parametrize(("schedule", "fields"), SCHEDULES)
def test_a_schedule_is_written_in_the_fields_it_always_had_and_read_back(
    schedule: Schedule, fields: set[str]
) -> None:
    experiment = dataclasses.replace(tiny_experiment(), recipe=Recipe(steps=9, schedule=schedule))
    written = experiment.to_json()
    assert written["recipe"].keys() - {"class", "steps"} == fields
    assert Experiment.from_json(written) == experiment

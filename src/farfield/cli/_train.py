"""Commands that train: one model on one task, a search, a module beside recorded mechanisms."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args, get_type_hints

import tyro
from rich.console import Console
from rich.table import Table as Grid
from torch import nn

from farfield.cli._arguments import REPORTS, Bench, Reproduce, Train, Training
from farfield.cli._arguments import Search as Command
from farfield.cli._console import make_console, say
from farfield.cli._names import (
    PLAIN,
    fields_of_task,
    find,
    find_reader,
    find_task_or_environment,
    options_of_task,
    plain_dataclass,
)
from farfield.core import stream
from farfield.core.internal import UnknownNameError, printable
from farfield.execution import Display, Executor, Ray, Slurm, jobs_of, results, run
from farfield.execution.internal import Job
from farfield.experiments import (
    SGD,
    Adam,
    AgentNetwork,
    Choice,
    Cosine,
    Experiment,
    GANNetwork,
    ItemNetwork,
    Linear,
    Network,
    Player,
    Pretrained,
    QuantileNetwork,
    Recipe,
    ScoringNetwork,
    Search,
    Selection,
    SequenceNetwork,
    SetNetwork,
    Spec,
    Uniform,
)
from farfield.experiments.internal import (
    TASK_ARGUMENTS,
    Architecture,
    Judge,
    MapNetwork,
    RollOutNetwork,
    ScoredTrial,
)
from farfield.metrics import mean_and_standard_error
from farfield.metrics.internal import measure_of
from farfield.models import REASONERS, PreActResNet, ResNetDiscriminator, ResNetGenerator
from farfield.models.internal import ReadsMemberships
from farfield.nn import (
    CONTEXTS,
    ENCODERS,
    SEQUENCE_LAYERS,
    MapNormalizer,
    PatchEncoder,
    SlotEncoder,
    Standardize,
)
from farfield.nn.internal import SET_LAYERS
from farfield.objectives import (
    PPO,
    HingeDiscriminator,
    HingeGenerator,
    RainbowIQN,
    Supervised,
)
from farfield.records import Record, Store, selection_of
from farfield.records.internal import DIVERGED, write_whole
from farfield.reports import extrapolation_profile
from farfield.suites import SUITES, bench
from farfield.suites.internal import fitted, load_module, planned_jobs
from farfield.tasks import (
    Environment,
    ImageClasses,
    ImageGeneration,
    ProblemTask,
    is_at_hand,
)
from farfield.tasks.internal import Reading, RolledOut, form_of

STEPS = 1000
"""Updates, where `--recipe.steps` is not given."""

WITHHELD = 90
"""Images that training never shows, where `--task.withheld` is not given and nothing else is far
from training: as many of the hundred as every rule task admits."""

HIDDEN = 96
"""Units of a sequence layer, where `--model.hidden-size` is not given."""

NORMALIZER = "normalizer"
"""Option of a network of images that is a `MapNormalizer`, whose fields follow its name."""

GAN_WIDTH = 16
"""Channels of generator and discriminator, where `--model.width` is not given: the papers' widths
take days on a processor."""

GAN_RECIPE = Recipe(
    steps=STEPS, learning_rate=1e-3, optimizer=Adam(betas=(0.0, 0.9)), schedule=Linear()
)
"""Recipe of a GAN, as far as `--recipe` does not change it: the narrow GANs' of lamb2022."""

PLAYERS = (
    Player(objective=HingeDiscriminator(), parts=("discriminator",), repeats=2),
    Player(objective=HingeGenerator(), parts=("generator",)),
)
"""Players of a GAN, as in the narrow GANs of lamb2022."""

JUDGE_RECIPE = Recipe(
    steps=600,
    learning_rate=0.1,
    batch_size=100,
    optimizer=SGD(momentum=0.9, nesterov=True, weight_decay=1e-4),
    schedule=Cosine(),
)
"""Recipe of the classifier that judges generated images, as in the narrow GANs of lamb2022."""

SLOTS = Spec(SlotEncoder, num_halvings=4, num_features=32, split=True, white_ground=True)
"""Slot encoder of webb2021/objects; a step of the published sizes takes seconds."""

WIDTH = "num_features"
"""Option of a layer from set to set; by default, the option of the embeddings."""


def train(command: Train, rest: Sequence[str]) -> None:
    """Train, then print the score in every regime.

    Args:
        command: The arguments.
        rest: Words with the fields of task, model and recipe.
    """
    experiment = experiment_of(command, rest)
    check_trainable(experiment)
    jobs = jobs_of([experiment], range(command.seeds))
    store, console = Store(command.records), make_console()
    labels = {experiment.key: f"{command.model} on {command.task}"}
    if experiment.starts_from:
        labels[experiment.starts_from.experiment.key] = f"judge of {command.model}"
    train_missing(command, jobs, labels, store, console)
    records = results(jobs, store)
    profile = extrapolation_profile(experiment.task, records)
    console.print(f"\n[bold]{command.model}[/] on [bold]{command.task}[/]\n")
    console.print(str(profile), highlight=False, soft_wrap=True)
    for line in _set_scores(records) if isinstance(experiment.model, GANNetwork) else ():
        console.print(line, highlight=False, soft_wrap=True, markup=False)
    place = f"\nexperiment {experiment.key} in {printable(command.records)}"
    console.print(place, soft_wrap=True, markup=False, emoji=False)


def _set_scores(records: Sequence[Record]) -> list[str]:
    """List the scores of whole sets, such as `fid/JUDGE`, each as the mean over networks."""
    names = {(one.metric, one.regime) for record in records for one in record.scores}
    found = []
    for metric, regime in sorted(name for name in names if "/" in name[0]):
        values = [record.final(regime, metric) for record in records]
        error = mean_and_standard_error(values).standard_error if len(values) > 1 else None
        spread = "" if error is None else f" ± {error:.2f}"
        found.append(f"{metric} in {regime}: {sum(values) / len(values):.2f}{spread}")
    return found


def train_missing(
    command: Training | Reproduce,
    jobs: Sequence[Job],
    labels: Mapping[str, str],
    store: Store,
    console: Console,
) -> None:
    """Train the experiments that have no record, and show the progress.

    Args:
        command: Where and how many networks train at once.
        jobs: Everything that is asked for.
        labels: Name of each experiment, by its key.
        console: Where to show it.
    """
    if command.executor is None:
        at_once = command.workers or (None if command.device == "cpu" else 1)
        start = partial(run, device=command.device, workers=command.workers)
    else:
        at_once = 1  # or as many as report
        start = partial(run, executor=cluster_of(command))
    with Display(jobs, labels, console, at_once) as display:
        start(jobs, store, matmul=command.matmul, report=display.take)


def cluster_of(command: Training | Reproduce) -> Executor:
    """Describe the cluster that a command names, without connecting to it.

    Args:
        command: One with an executor.

    Raises:
        ValueError: If there is no such executor, or workers do not go with it.
    """
    name, _, address = str(command.executor).partition("://")
    on_gpu = command.device == "cuda"
    if command.workers is not None and not (on_gpu and name == "ray"):
        raise ValueError(
            "workers must be left out with this executor, but where tasks of Ray share a GPU, "
            f"got {command.workers}"
        )
    if name == "ray":
        gpus = 1 / (command.workers or 1) if on_gpu else 0
        return Ray(address=address or None, gpus=gpus, shared=command.shared)
    if command.executor == "slurm":
        if command.shared:
            raise ValueError(
                "shared must be left out with slurm, where every machine sees the folder"
            )
        return Slurm(folder=command.records / "slurm", gpus=int(on_gpu))
    raise UnknownNameError("executor", str(command.executor), ("ray", "ray://HOST:PORT", "slurm"))


def check_trainable(experiment: Experiment) -> None:
    """Raise the error of a network that cannot be made, or of files that are missing.

    Args:
        experiment: The experiment to train.
    """
    experiment.model.build(experiment.task, stream(0, "trial"))
    if not is_at_hand(experiment.task):
        experiment.problem_task.draw(stream(0))


def experiment_of(command: Training, rest: Sequence[str]) -> Experiment:
    """Build the experiment that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of task, model and recipe; of an environment, of the objective as well.
    """
    task = find_task_or_environment(command.task)
    reading, part = find_reader(task(), command.model)
    options_of_model = _options_of_module(part)
    is_gan = reading == "generation"
    fields: list[Any] = [
        ("task", type(first := _first_options(task)), dataclasses.field(default=first)),
        ("model", options_of_model, dataclasses.field(default=options_of_model())),
    ]
    recipe = GAN_RECIPE if is_gan else Recipe(steps=STEPS)
    fields.append(("recipe", Recipe, dataclasses.field(default=recipe)))
    name = type(command).__name__.lower()
    if is_acted_in := isinstance(task(), Environment):
        rule = RainbowIQN if reading == "observation" else PPO
        fields.append(("objective", rule, dataclasses.field(default=rule())))
    options: Any = tyro.cli(
        dataclasses.make_dataclass("Options", fields, frozen=True),
        prog=f"farfield {name} --task {command.task} --model {command.model}",
        args=list(rest),
    )
    made = task(
        **fields_of_task(
            task, options.task, command.images, command.variations, command.training_variation
        )
    )
    chosen = dataclasses.asdict(options.model)
    if chosen.get(WIDTH) is None:
        chosen.pop(WIDTH, None)
    if NORMALIZER in chosen:
        chosen[NORMALIZER] = _normalizer(**chosen[NORMALIZER])
    spec = Spec(part, **chosen)
    if is_gan:
        return _gan(made, spec, options.recipe, command)
    return Experiment(
        task=made,
        model=_network(made, reading, spec, command),
        recipe=options.recipe,
        objective=options.objective if is_acted_in else Supervised(),
    )


def _gan(task: ImageGeneration, generator: Spec, recipe: Recipe, command: Training) -> Experiment:
    """Build the experiment of a GAN, judged by a narrow classifier of the same images.

    Raises:
        ValueError: If an encoder or a context is given.
    """
    for name, given in (("encoder", command.encoder), ("context", command.context)):
        if given not in (None, "none"):
            raise ValueError(
                f"{name} must be left out for gan, which makes images of noise, got {given!r}"
            )
    judge = Experiment(
        task=ImageClasses(data_set=task.data_set, test_images=2_000),
        model=ItemNetwork(core=Spec(PreActResNet, width=8), front=Spec(Standardize)),
        recipe=JUDGE_RECIPE,
    )
    discriminator = Spec(ResNetDiscriminator, width=dict(generator.options)["width"])
    return Experiment(
        task=task,
        model=GANNetwork(
            generator=generator,
            discriminator=discriminator,
            judge=Judge(
                label=f"{task.data_set}-preact-resnet", model=judge.model, layer="core.pool"
            ),
        ),
        recipe=recipe,
        players=PLAYERS,
        starts_from=Pretrained(experiment=judge, into="judge.network"),
    )


def _first_options(task: Any) -> Any:
    """Make the options of a task with their defaults, which leave a regime beyond training."""
    options = options_of_task(task)
    is_all_near = all(regime.distance == 0 for regime in task().regimes)
    names = {field.name for field in dataclasses.fields(options)}
    return options(withheld=WITHHELD) if is_all_near and "withheld" in names else options()


def _usual_encoder(task: ProblemTask, reading: Reading, is_reasoner: bool) -> str:
    """Choose the encoder that the papers use for the items and the reading of a task."""
    form = form_of(task)
    if reading == "elements":
        parts = "slot" if is_reasoner else "patch"
        return parts if "height" in form.axes else "component"
    if form.axes == ("word",):
        return "word"
    if form.arrangement == "sequence":
        return "linear"
    match form.axes:
        case ("height", "width"):
            return "panel" if reading == "candidates" else "conv"
        case ("height", "width", "channel"):
            return "analogy"
        case _:
            return "linear"


def _network(
    task: ProblemTask | Environment, reading: Reading, part: Spec, command: Training
) -> Architecture:
    """Build a network with a model that reads a task in one way.

    Where a task gives more than the first item, a network in order goes on from its own answers.
    """
    is_reasoner = part.cls in REASONERS.values()
    if isinstance(part.cls, ReadsMemberships):
        usual = "figure"
    elif isinstance(task, Environment):
        usual = "planes"
    else:
        usual = _usual_encoder(task, reading, is_reasoner)
    encoder = Spec(find("encoder", command.encoder or usual, ENCODERS))
    encoder = SLOTS if encoder.cls is SlotEncoder else encoder
    if reading in ("group", "candidates") or is_reasoner:
        return _network_in_context(reading, part, encoder, command)
    if command.context not in (None, "none"):
        raise ValueError(
            f"context must be none for {task.name}, whose items {command.model} reads one by one, "
            f"got {command.context!r}"
        )
    if reading in ("item", "maps", "restoration"):
        if command.encoder is not None:
            raise ValueError(
                f"encoder must be left out for {command.model}, which reads items without one, "
                f"got {command.encoder!r}"
            )
        return MapNetwork(reader=part) if reading == "maps" else ItemNetwork(core=part)
    if reading == "elements":
        in_places = encoder.cls is PatchEncoder  # or its patches could stand in any order
        return SetNetwork(
            core=part, encoder=Spec(PatchEncoder, positions=True) if in_places else encoder
        )
    if isinstance(task, Environment):
        values = QuantileNetwork(head=part, encoder=encoder)
        return values if reading == "observation" else AgentNetwork(core=part, encoder=encoder)
    if isinstance(task, RolledOut) and task.given > 1:
        return RollOutNetwork(core=part, encoder=encoder)
    return SequenceNetwork(core=part, encoder=encoder)


def _network_in_context(
    reading: Reading, part: Spec, encoder: Spec, command: Training
) -> Architecture:
    """Build a network with a model that reads several items together."""
    context = None
    usual = "none" if isinstance(part.cls, ReadsMemberships) else "norm"
    if (name := command.context or usual) != "none":
        context = Spec(find("context", name, CONTEXTS))
    if part.cls in SET_LAYERS.values():
        return SetNetwork(core=part, encoder=encoder, context=context)
    if reading == "candidates":
        return ScoringNetwork(scorer=part, encoder=encoder, context=context)
    return Network(reasoner=part, encoder=encoder, context=context)


def _options_of_module(cls: type[nn.Module]) -> Any:
    hints, defaults = get_type_hints(cls.__init__), {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if name not in TASK_ARGUMENTS and hints[name] in PLAIN:
            defaults[name] = parameter.default
    if cls in SEQUENCE_LAYERS.values():
        defaults["hidden_size"] = HIDDEN
    if cls is ResNetGenerator:
        defaults["width"] = GAN_WIDTH
    if cls in SET_LAYERS.values():
        defaults[WIDTH] = None
        hints[WIDTH] = int | None
    fields: list[tuple[str, Any, Any]] = [(n, hints[n], d) for n, d in defaults.items()]
    if hints.get(NORMALIZER) == Callable[[int, int], nn.Module] | None:
        given = inspect.signature(cls).parameters[NORMALIZER].default
        group = _options_of_normalizer(given or MapNormalizer(), is_left_out=given is None)
        fields.append((NORMALIZER, group, group()))
    return plain_dataclass("Model", fields, cls)


def _options_of_normalizer(given: MapNormalizer, *, is_left_out: bool) -> Any:
    """Make a dataclass of the fields of a normalizer; `field` none means no normalizer."""
    hints = get_type_hints(MapNormalizer)
    fields = [(f.name, hints[f.name], getattr(given, f.name)) for f in dataclasses.fields(given)]
    (name, kinds, kind), *others = fields
    kinds = Literal[(*get_args(kinds), "none")]
    first = (name, kinds, "none" if is_left_out else kind)
    return plain_dataclass("Normalizer", [first, *others], MapNormalizer)


def _normalizer(**chosen: Any) -> MapNormalizer | None:
    """Build the normalizer of options."""
    return None if chosen["field"] == "none" else MapNormalizer(**chosen)


def search(command: Command, rest: Sequence[str]) -> None:
    """Train every combination that has no record yet, then choose.

    Args:
        command: The arguments.
        rest: Words with the fields of task, model and recipe.
    """
    asked = search_of(command, rest)
    for experiment in asked.experiments:
        check_trainable(experiment)
    jobs = jobs_of(asked.experiments, asked.seeds)
    store, console = Store(command.records), make_console()
    labels = {
        one.key: " ".join(map(str, trial.values))
        for trial in asked.trials
        for one, _ in asked.scored(trial)
    }
    train_missing(command, jobs, labels, store, console)
    found = selection_of(asked, store)
    if command.out is not None:
        write_whole(command.out, json.dumps(found.to_json(), indent=1).encode())
    console.print(_grid(found))
    others = [r.name for r in asked.experiment.regimes if r.name not in ("training", found.regime)]
    lines = (
        f"Chosen: {found}",
        f"No score in {', '.join(others)} was read",
        *(
            f"experiment {one.key} in {command.records}"
            for trial in asked.trials
            if trial.experiment.key == found.best.key
            for one, _ in asked.scored(trial)
        ),
    )
    for line in lines:
        say(console, printable(line))


def search_of(command: Command, rest: Sequence[str]) -> Search:
    """Build the search that the words describe.

    Args:
        command: The words with fixed names.
        rest: The fields of task, model and recipe.
    """
    experiment = experiment_of(command, rest)
    return Search(
        experiment=experiment,
        over=tuple(_field(text, experiment.model) for text in command.over),
        samples=command.samples,
        metric=command.metric,
        regime=command.regime,
        seeds=tuple(range(command.seeds)),
    )


def _field(text: str, network: Architecture) -> Choice | Uniform:
    """Parse a field and its values, e.g. `recipe.learning-rate=0.1,0.01`."""
    name, sign, values = text.partition("=")
    if not (sign and values):
        raise ValueError(
            f"over must be a field and its values, e.g. recipe.learning-rate=0.1,0.01, got {text!r}"
        )
    path = _path(name.replace("-", "_"), network)
    kind, *limits = values.split(":")
    if kind not in ("uniform", "loguniform"):
        return Choice(field=path, values=tuple(map(_value, values.split(","))))
    if len(limits) != 2:
        raise ValueError(f"over must give two limits, e.g. {kind}:0.001:0.1, got {text!r}")
    low, high = map(_value, limits)
    return Uniform(field=path, low=low, high=high, log=kind == "loguniform")


def _path(name: str, network: Architecture) -> str:
    """Expand the path of a field: `model` abbreviates the model in the network."""
    before, _, field = name.partition(".")
    part = next(part for part in ("reasoner", "scorer", "core") if hasattr(network, part))
    first = field.partition(".")[0]
    is_short = before == "model" and not isinstance(getattr(network, first, None), Spec)
    return f"model.{part}.{field}" if is_short else name


def _value(text: str) -> Any:
    """Parse a number, truth value or `None`; return any other text unchanged."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _tuned(text: str, network: Architecture) -> Choice | str:
    """Parse a field to tune, with its values or alone."""
    if "=" not in text:
        return _path(text.replace("-", "_"), network)
    found = _field(text, network)
    if isinstance(found, Uniform):
        raise ValueError(f"tune must list values, e.g. recipe.learning-rate=0.1,0.01, got {text!r}")
    return found


def _grid(selection: Selection) -> Grid:
    """Tabulate the trials with their scores; the chosen trial in bold."""
    measure = measure_of(selection.metric)
    grid = Grid(box=None, padding=(0, 2))
    for heading in (*selection.names, f"{measure.label}, {selection.regime}", "networks"):
        grid.add_column(heading, header_style="dim", justify="right", no_wrap=True)
    for trial in selection.trials:
        style = "bold" if trial is selection.best else None
        grid.add_row(
            *selection.texts(trial), _score(trial, selection.metric), _networks(trial), style=style
        )
    return grid


def _score(trial: ScoredTrial, metric: str) -> str:
    """Format the mean and standard error of the networks of a trial."""
    measure, scores = measure_of(metric), [s for s in trial.scores if s is not None]
    if trial.mean is None:
        return DIVERGED
    spread = ""
    if len(scores) > 1:
        spread = f" ± {measure.written(mean_and_standard_error(scores).standard_error)}"
    return f"{measure.written(trial.mean)}{spread}{measure.unit}"


def _networks(trial: ScoredTrial) -> str:
    """Format the number of networks of a trial, and of diverged networks."""
    gone = trial.scores.count(None)
    count = len(trial.scores)
    return f"{count - gone} of {count}, {gone} diverged" if gone else str(count)


def bench_module(command: Bench) -> None:
    """Train a module where it fits, print its scores and ranks, and write picture and tables.

    Args:
        command: Which module and suite.
    """
    module = load_module(command.module)
    fitting, _ = fitted(module, command.suite)
    suite, console = SUITES[command.suite], make_console()
    seeds = range(command.seeds or suite.seeds)
    tune = tuple(_tuned(text, fitting[0][1].model) for text in command.tune)
    jobs, later, labels = planned_jobs(
        module, command.suite, seeds, tune=tune, rivals=command.rivals
    )
    say(console, f"{command.module} on the suite {command.suite}: {suite.about}.")
    store = Store(command.records)
    at_once = command.workers or (None if command.device == "cpu" else 1)
    with Display(jobs, labels, console, at_once, later) as display:
        found = bench(
            module, command.suite, store=store, seeds=seeds, tune=tune, rivals=command.rivals,
            device=command.device, workers=command.workers, report=display.take,
        )  # fmt: skip
    say(console, f"\n{found}\n")
    name = f"bench-{module.__name__}-{command.suite}-{fitting[0][1].key[:6]}"
    folder = command.out or REPORTS / name
    for path in found.write(folder):
        say(console, f"  {printable(path)}")

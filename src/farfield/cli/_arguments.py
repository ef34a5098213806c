"""Arguments of each command. No module here loads torch, so that `--help` is fast."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, final

import tyro

RECORDS = Path("runs")
"""Folder of records, where none is named."""

RESULTS = Path("results")
"""Default folder of exports; where it is missing, the exports in the package are read."""

REPORTS = Path("reports")
"""Folder of reports, where none is named."""

NETWORKS = 10
"""Networks of each cell, where no number is asked for: as many as the papers have."""

Device = Literal["cpu", "cuda"]
Matmul = Literal["float32", "tf32"]


@final
@dataclass(frozen=True, kw_only=True)
class List:
    """List names: tasks, models, layers, claims, statements, figures and so on."""

    kind: tyro.conf.Positional[str] = "all"
    """tasks, environments, models, layers, encoders, contexts, objectives, papers, claims,
    statements, figures, data-sets or all; or settings, those of a table's claims beside the text
    and the released code."""
    results: Path = RESULTS
    """Folder that `report --export` wrote to, with the runs of the claims. The exports
    of the package if not given and not there."""
    table: str | None = None
    """PAPER/TABLE or PAPER/FIGURE whose settings are listed."""
    cell: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """Cells whose settings are listed, e.g. esbn+tcn/withheld-95; * matches anything; all if not
    given."""


@final
@dataclass(frozen=True, kw_only=True)
class Show:
    """Draw sample problems of every regime of a task, with their answers, to a PNG.

    Of an environment, such as object-picking, beginnings of episodes are drawn.
    Fields of the task follow their names: --task.row-length 20. `farfield list tasks` shows them
    all, --help behind the name of a task shows its own.

    With the key of an experiment, draw the work of its trained network: the film of an agent, the
    images that a GAN makes, or the picture of --enlarge that an SRCNN sharpens.
    """

    task: tyro.conf.Positional[str]
    """Name of the task, e.g. distribution-of-three; or the key of an experiment in the folder of
    records, or at least its first four digits."""
    withheld: int | None = None
    """Shapes withheld from training: short for --task.withheld."""
    images: Literal["glyphs", "letters", "plain-letters", "handwriting", "paper"] = "glyphs"
    """Built-in glyphs, letters (to choose models on), plain letters, which come in ten fonts,
    handwriting of MNIST and K-MNIST, or the paper's own images, both from the folder
    FARFIELD_DATA."""
    variations: Annotated[str, tyro.conf.arg(metavar="NAMES")] = ""
    """Variations of the showings of a relational task, each with a test, e.g. noise-16,shift-2; all
    for every standard variation of the images."""
    training_variation: Annotated[str, tyro.conf.arg(metavar="NAME")] = ""
    """Variation of the showings in training and validation; none if not given."""
    seed: int = 0
    """Number of the run whose problems or network are shown."""
    out: Path | None = None
    """File to write; problems-TASK.png if not given, film-KEY.png, images-KEY.png or
    PICTURE-xN.png of a key. A film that ends with .gif moves."""
    regime: str | None = None
    """Regime of the film of an agent; the one furthest from training if not given."""
    enlarge: Path | None = None
    """Picture (BMP, JPEG or PNG) that an SRCNN enlarges."""
    module: tuple[Path, ...] = ()
    """Files with classes of your own that the experiment names, e.g. my_module.py."""
    records: Path = RECORDS
    """Folder of records with the trained network."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """A model, the task that it is trained on, and the machine."""

    task: str
    """Name of the task, or of the environment."""
    model: str
    """Name of a model or layer that reads problems as the task can be read: `farfield list` says
    how that is."""
    encoder: str | None = None
    """Name of the encoder; if not given, the encoder of the papers for these items: conv for gray
    images, panel for candidates, analogy for color images, linear for vectors and for items that
    are read in order, patch or component for the parts of a single item. A model that reads a
    single item as a whole takes none."""
    context: str | None = None
    """Normalization of the embeddings over the context of each problem, by name, or none; if not
    given, norm where all items of a problem are looked at together, else none."""
    seeds: int = NETWORKS
    """Networks to train, seeds 0 to N-1."""
    images: Literal["glyphs", "letters", "plain-letters", "handwriting", "paper"] = "glyphs"
    """Built-in glyphs, letters (to choose models on), plain letters, which come in ten fonts,
    handwriting of MNIST and K-MNIST, or the paper's own images, both from the folder
    FARFIELD_DATA."""
    variations: Annotated[str, tyro.conf.arg(metavar="NAMES")] = ""
    """Variations of the showings of a relational task, each with a test, e.g. noise-16,shift-2; all
    for every standard variation of the images."""
    training_variation: Annotated[str, tyro.conf.arg(metavar="NAME")] = ""
    """Variation of the showings in training and validation; none if not given."""
    records: Path = RECORDS
    """Folder of records."""
    device: Device = "cpu"
    """Device on which networks train."""
    workers: int | None = None
    """Processes; if not given, as many as there are cores, and none on a GPU."""
    executor: str | None = None
    """ray, ray://HOST:PORT or slurm: a cluster to train on, with a core or, for cuda, a GPU a
    network or population; --workers is then how many share a GPU. This machine if not given."""
    shared: bool = False
    """True if every machine of the Ray cluster sees the folder of records at the same path:
    checkpoints are kept there, and a network of a lost machine resumes from the last of them."""
    matmul: Matmul = "float32"
    """Precision of matrix products on a GPU; tf32 rounds the factors, and is faster."""


@final
@dataclass(frozen=True, kw_only=True)
class Train(Training):
    """Train a model on a task over several seeds and print its extrapolation profile.

    Fields of the task, the model and the recipe follow their names: --task.withheld 95,
    --model.hidden-size 256, --recipe.steps 3000. `farfield list tasks` and `farfield list models`
    show them all, --help behind both names shows their own. In an environment agents with a
    recurrent layer learn with PPO, agents with implicit-quantiles with RainbowIQN, whose
    fields follow: --objective.rollout-length 64.
    """


@final
@dataclass(frozen=True, kw_only=True)
class Search(Training):
    """Train a model with several values of its fields and choose among them by validation.

    Fields of the task, the model and the recipe follow their names, as for `farfield train`. The
    scores of tests are not read.
    """

    over: Annotated[tuple[str, ...], tyro.conf.UseAppendAction]
    """Field and its values, e.g. recipe.learning-rate=0.1,0.01 or model.hidden-size=64,128; several
    of these make a grid. With --samples also an interval: recipe.learning-rate=loguniform:1e-4:1,
    or uniform."""
    samples: int | None = None
    """Combinations to draw at random; all if not given."""
    metric: str | None = None
    """Name of the score to choose by; the metric of the task if not given."""
    regime: str = "validation"
    """Name of the regime to choose on: validation; where a task has several training domains also
    left-out-domain, or oracle, which sees the test domain."""
    seeds: int = 1
    """Networks to train for each combination, seeds 0 to N-1."""
    out: Path | None = None
    """File for the choice and all trials as JSON; none if not given."""


@final
@dataclass(frozen=True, kw_only=True)
class Bench:
    """Train a module of your own on a suite of tasks, beside all recorded mechanisms.

    Every task of the suite that the module fits is learned over several seeds, with the recipe that
    the recorded mechanisms had; those need no training.
    """

    module: tyro.conf.Positional[str]
    """File and class, e.g. my_module.py:MyReasoner, or on the suite domains my_rule.py:MyRule."""
    suite: str = "relational"
    """relational, grids, objects, varied, sequence, state, algorithms, series, domains, set or
    image."""
    seeds: int | None = None
    """Networks to train on each task, seeds 0 to N-1; the number of the suite if not given."""
    tune: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Field to choose on validation for each task, e.g. recipe.learning-rate=1e-4,3e-4,1e-3;
    recipe.learning-rate alone tries once, a fifth and five times the rate of the task's recipe.
    Several of these make a grid. Two networks of other seeds try each value."""
    rivals: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Recorded mechanism to tune with the same values and train here, e.g. "CoRelNet + TCN"; may be
    given several times. Others are not tuned."""
    records: Path = RECORDS
    """Folder of records: recorded networks are not trained again."""
    out: Path | None = None
    """Folder for the picture and the tables; reports/bench-CLASS-SUITE-KEY if not given, with the
    beginning of the key of the first experiment, so that another class or code has another."""
    device: Device = "cpu"
    """Device on which networks train."""
    workers: int | None = None
    """Processes; if not given, as many as there are cores, and none on a GPU."""


@final
@dataclass(frozen=True, kw_only=True)
class Profile:
    """Measure where a trained model stops working, over graded shifts of its items.

    Nothing is trained. Each shift, such as noise, offset or rotation, grows from nothing; the page
    says at which strength half of the skill is gone, with an interval over items, worst first.
    """

    model: tyro.conf.Positional[str]
    """File and name, e.g. my_model.py:load: a function without arguments that returns the model (or
    a list of networks), the model itself, or a function from items to answers. A model is a torch
    module, or has predict_proba, decision_function or predict."""
    data: tyro.conf.Positional[Path]
    """NPZ with x and y, CSV or Parquet with --target, or a folder of pictures in folders of
    classes."""
    target: str | None = None
    """Column of a table with the answers; without one, the model's own answers are right."""
    training: Path | None = None
    """File or folder with the items of training, which give range and spread, and from which
    --train learns; not needed if an NPZ has x_training and y_training, or a folder a folder
    training."""
    kind: Literal["images", "series", "table", "set", "text", "symbols"] | None = None
    """Kind of the items; found from type and shape if not given."""
    axes: str | None = None
    """Names of the axes, e.g. "item time feature" or "item channel height width"; found if only one
    reading is possible."""
    shifts: Annotated[str, tyro.conf.arg(metavar="NAMES")] = ""
    """Shifts or groups, e.g. light,rotation; offset is offset+ and offset-; all that fit if not
    given. Groups: light, detail, where, shape, number, who."""
    without: Annotated[str, tyro.conf.arg(metavar="NAMES")] = ""
    """Shifts or groups to leave out: shifts that change the right answer."""
    columns: Annotated[str, tyro.conf.arg(metavar="NAMES")] = ""
    """Columns of a table that are shifted one by one, e.g. age,income; all if not given."""
    level: float = 0.5
    """Share of the skill that is left at a failure."""
    items: int = 2000
    """Most items, drawn at random."""
    minutes: float = 5.0
    """About how long it may take; a slow model gets fewer items."""
    seed: int = 0
    """Number of the draws."""
    device: Device | None = None
    """Device to which torch modules are moved; where load leaves them if not given."""
    mend: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Measure mends too: without training, items brought to the mean and spread of training; with
    --train, recipes with fronts, mixup, label smoothing and augmentation."""
    train: str | None = None
    """File and function, e.g. my_model.py:train: train(x, y, mend, seed) returns a trained model,
    and calls mend.front, mend.batch and mend.loss, or mend.arrays."""
    seeds: int = 3
    """Networks of each mend."""
    require: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """Shift and strength, e.g. "offset+ 0.5": the status is 1 if the model fails before it."""
    against: Path | None = None
    """File profile.json of an earlier profile of the same items, to compare with."""
    out: Path | None = None
    """Folder for the page, the picture and the tables; reports/profile-MODEL-DATA if not given."""


@final
@dataclass(frozen=True, kw_only=True)
class Reproduce:
    """Run the claims of a published table or figure and compare the results with the paper.

    Fields of the recipe follow their names: --recipe.learning-rate 1e-4 trains the same networks
    with another learning rate. These are experiments of your own, which no claim is judged by.
    """

    table: tyro.conf.Positional[str]
    """PAPER/TABLE or PAPER/FIGURE, e.g. webb2021/table-11; `farfield list` shows all."""
    cell: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """Cells to run, e.g. esbn+tcn/withheld-95; * matches anything; all if not given."""
    seeds: int | None = None
    """Networks to train for each cell, seeds 0 to N-1; 10 if not given, or the number of
    the quick budget of a figure."""
    budget: Literal["quick", "paper"] = "quick"
    """Number of training steps: a stated share of the paper's, or all."""
    python: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Print the Python that makes the experiments, and train nothing."""
    images: Literal["glyphs", "letters", "paper"] = "glyphs"
    """Built-in glyphs, letters (to choose models on), or the paper's own images from the folder
    FARFIELD_DATA."""
    records: Path = RECORDS
    """Folder of records: recorded experiments are not run again."""
    out: Path | None = None
    """Folder for the report; reports/PAPER-TABLE-BUDGET if not given."""
    device: Device = "cpu"
    """Device on which networks train."""
    workers: int | None = None
    """Processes; if not given, as many as there are cores, and none on a GPU."""
    executor: str | None = None
    """ray, ray://HOST:PORT or slurm: a cluster to train on, with a core or, for cuda, a GPU a
    network or population; --workers is then how many share a GPU. This machine if not given."""
    shared: bool = False
    """True if every machine of the Ray cluster sees the folder of records at the same path:
    checkpoints are kept there, and a network of a lost machine resumes from the last of them."""
    matmul: Matmul = "float32"
    """Precision of matrix products on a GPU; tf32 rounds the factors, and is faster."""


@final
@dataclass(frozen=True, kw_only=True)
class Plan:
    """Estimate the cost of a table before anything is run: networks, steps, hours, memory, data.

    Each model is trained for a second on this machine; nothing is kept. Networks with a record are
    not counted.
    """

    table: tyro.conf.Positional[str]
    """PAPER/TABLE or PAPER/FIGURE, e.g. webb2021/table-11; `farfield list` shows all."""
    cell: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """Cells, e.g. esbn+tcn/withheld-95; * matches anything; all if not given."""
    seeds: int | None = None
    """Networks of each cell, as for `farfield reproduce`."""
    budget: Literal["quick", "paper"] = "quick"
    """Number of training steps: a stated share of the paper's, or all."""
    records: Path = RECORDS
    """Folder of records: recorded experiments are not run again."""
    device: Device = "cpu"
    """Device on which networks would train."""
    workers: int | None = None
    """Processes; if not given, as many as there are cores, and none on a GPU."""


@final
@dataclass(frozen=True, kw_only=True)
class Verify:
    """Train a share of the recorded networks anew and compare them with their records.

    On the same kind of machine a network has the same bytes. On another, each score after the last
    step must be within the spread of the seeds. The cost is shown first; nothing that is
    recorded is changed. The status is 1 if a network differs.
    """

    table: tyro.conf.Positional[str | None] = None
    """PAPER/TABLE or PAPER/FIGURE; everything that is recorded if not given."""
    cell: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """Cells to draw from, e.g. esbn+tcn/withheld-95; * matches anything; all if not given."""
    share: float = 0.05
    """Share of the networks, in (0, 1]; their number is rounded up."""
    seed: int = 0
    """Seed of the draw of the networks."""
    budget: Literal["quick", "paper"] = "paper"
    """Budget of the runs of tables."""
    images: Literal["glyphs", "letters", "paper"] = "glyphs"
    """Images that the runs of a table used."""
    records: Path = RECORDS
    """Folder of records, or one that `report --export` wrote, such as results, which comes with
    Farfield."""
    device: Device = "cpu"
    """Device on which networks train."""
    workers: int | None = None
    """Processes; if not given, as many as there are cores, and none on a GPU."""
    matmul: Matmul = "float32"
    """Precision of matrix products on a GPU."""


@final
@dataclass(frozen=True, kw_only=True)
class Report:
    """Make the report of a table or a figure from its records; nothing is run."""

    table: tyro.conf.Positional[str | None] = None
    """PAPER/TABLE or PAPER/FIGURE; every table with records if not given."""
    cell: Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction] = ()
    """Cells to report, e.g. esbn+tcn/withheld-95; * matches anything; all if not given."""
    budget: Literal["quick", "paper"] = "paper"
    """Budget of the runs to report."""
    seeds: int = NETWORKS
    """Seeds 0 to N-1."""
    images: Literal["glyphs", "letters", "paper"] = "glyphs"
    """Images that the runs used."""
    records: Path = RECORDS
    """Folder of records, or one that --export wrote, such as results, which comes with Farfield and
    is read where runs holds no records. It has no trained networks; exhibits that need them are
    left out."""
    out: Path = REPORTS
    """Folder for reports, one folder in it for each table."""
    svg: bool = False
    """Draw the pictures of the page as SVG too, for light and dark screens: some seconds more."""
    export: bool = False
    """Also write the records behind each table as text to results/, the measurements and pictures
    of a named figure, and the pages made from them."""
    any_commit: bool = False
    """Export networks of an uncommitted tree, and of a commit that the repository lacks, too; the
    pages mark them."""
    results: Path = RESULTS
    """Folder that --export writes to."""
    pages: Path = Path("docs/results")
    """Folder for the pages that --export writes."""


@final
@dataclass(frozen=True, kw_only=True)
class Explore:
    """Open a page for the browser: claims, profiles, problems, trained networks, runs under way.

    Only this machine can see it, and nothing is trained or written. Needs the extra `web`.
    """

    records: Path = RECORDS
    """Folder of records, or one that `report --export` wrote."""
    results: Path = RESULTS
    """Folder that `report --export` wrote to. The exports of the package if not given and not
    there."""
    port: int = 8080
    """Port of 127.0.0.1."""
    module: tuple[Path, ...] = ()
    """Files with classes of your own that experiments name, e.g. my_module.py. They are
    imported."""


@final
@dataclass(frozen=True, kw_only=True)
class Cite:
    """Print the BibTeX of the papers behind Farfield, a table or a key."""

    what: tyro.conf.Positional[tuple[str, ...]] = ()
    """Keys of papers, e.g. webb2021, or names of tables; all if not given."""


@final
@dataclass(frozen=True, kw_only=True)
class Fetch:
    """Download a data set into the cache (FARFIELD_CACHE, else the user's cache folder).

    Every file is checked against its published SHA-256. No other command touches the network.
    """

    data_set: tyro.conf.Positional[str]
    """Name of the data set, e.g. mnist."""
    mirror: str | None = None
    """Address of a folder to ask first, e.g. file:///data/mnist/."""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Some of the runs in a folder of records."""

    records: Path = RECORDS
    """Folder of records."""


@final
@dataclass(frozen=True, kw_only=True)
class ListRuns(Runs):
    """List the experiments with finished runs, the latest first."""


@final
@dataclass(frozen=True, kw_only=True)
class ShowRuns(Runs):
    """Print an experiment: the Python that makes it, its profile, and where it was trained."""

    key: tyro.conf.Positional[str]
    """Key of the experiment, or the beginning of one."""


@final
@dataclass(frozen=True, kw_only=True)
class CompareRuns(Runs):
    """Set experiments beside each other: profiles, intervals and paired tests."""

    keys: tyro.conf.Positional[tuple[str, ...]]
    """Keys of experiments, or beginnings; NAME=KEY gives one a name. All others are compared with
    the first."""
    out: Path | None = None
    """Folder for pictures (PNG, PDF, SVG) and tables (CSV, Markdown, LaTeX); none if not given."""


@final
@dataclass(frozen=True, kw_only=True)
class DeleteRuns(Runs):
    """Remove runs of an experiment for good: records, trained networks and checkpoints."""

    key: tyro.conf.Positional[str]
    """Key of the experiment, or the beginning of one."""
    seeds: tuple[int, ...] | None = None
    """Seeds of the runs; all if not given."""
    yes: bool = False
    """Remove them; without it they are named and kept."""


@final
@dataclass(frozen=True, kw_only=True)
class ExportRuns(Runs):
    """Write every score to a file, a row for each: network, step, regime and metric."""

    keys: tyro.conf.Positional[tuple[str, ...]] = ()
    """Keys of experiments, or beginnings; all if not given."""
    out: Path = Path("scores.csv")
    """File that ends with .csv, .md or .tex."""


RunsCommand = (
    Annotated[ListRuns, tyro.conf.subcommand("list")]
    | Annotated[ShowRuns, tyro.conf.subcommand("show")]
    | Annotated[CompareRuns, tyro.conf.subcommand("compare")]
    | Annotated[DeleteRuns, tyro.conf.subcommand("delete")]
    | Annotated[ExportRuns, tyro.conf.subcommand("export")]
)
"""Commands on runs."""


@final
@dataclass(frozen=True, kw_only=True)
class OfRuns:
    """List, show, compare, delete or export the runs in a folder of records."""

    action: tyro.conf.OmitSubcommandPrefixes[RunsCommand]


@final
@dataclass(frozen=True, kw_only=True)
class Completion:
    """Print the script by which the shell completes commands, options and names at a TAB.

    In ~/.bashrc: eval "$(farfield completion)". In ~/.zshrc the same, after: autoload -U compinit
    bashcompinit; compinit; bashcompinit.
    """


Command = (
    Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Show, tyro.conf.subcommand("show")]
    | Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Search, tyro.conf.subcommand("search")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Profile, tyro.conf.subcommand("profile")]
    | Annotated[Reproduce, tyro.conf.subcommand("reproduce")]
    | Annotated[Plan, tyro.conf.subcommand("plan")]
    | Annotated[Verify, tyro.conf.subcommand("verify")]
    | Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[Explore, tyro.conf.subcommand("explore")]
    | Annotated[OfRuns, tyro.conf.subcommand("runs")]
    | Annotated[Fetch, tyro.conf.subcommand("fetch")]
    | Annotated[Cite, tyro.conf.subcommand("cite")]
    | Annotated[Completion, tyro.conf.subcommand("completion")]
)
"""One command and its arguments."""

COMMANDS: Final[dict[str, type]] = {
    "list": List,
    "show": Show,
    "train": Train,
    "search": Search,
    "bench": Bench,
    "profile": Profile,
    "reproduce": Reproduce,
    "plan": Plan,
    "verify": Verify,
    "report": Report,
    "explore": Explore,
    "runs": OfRuns,
    "fetch": Fetch,
    "cite": Cite,
    "completion": Completion,
}
"""Commands by name."""


def is_key(word: str) -> bool:
    """Tell if a word is the key of an experiment, or the first four digits of one or more.

    Args:
        word: A word as typed.
    """
    return 4 <= len(word) <= 20 and not word.strip("0123456789abcdef")


def options_of(command: type) -> tuple[str, ...]:
    """List the options of a command as typed.

    Args:
        command: One of the classes above.
    """
    fields = dataclasses.fields(command)
    typed = [field for field in fields if "Positional" not in str(field.type)]
    return tuple(f"--{field.name.replace('_', '-')}" for field in typed)

"""Wrong words: each ends with status 2 and one clear message, and leaves nothing behind."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from farfield.cli._arguments import COMMANDS

TRAIN = "train --task same-different --model lstm"
SEARCH = "search --task copying --model lstm --over"


def answers_without_torch(*commands: str) -> subprocess.CompletedProcess[str]:
    """What commands print, one after another in a process that must not load what is slow."""
    code = textwrap.dedent(
        """
        import sys
        from farfield.cli import main
        for words in sys.argv[1:]:
            try:
                main(words.split())
            except SystemExit:
                pass
        sys.exit(bool({"torch", "numpy", "scipy", "matplotlib"} & {*sys.modules}))
        """
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *commands], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0
    return ended


def test_names_are_listed_cited_completed_and_refused_without_torch() -> None:
    wrong = ["list x", "show x", f"{TRAIN[:-4]}x", "reproduce x", "fetch x", "cite x", "x"]
    right = ["list", "cite webb2021/table-9", "completion", "completion -- show s", "--version"]
    ended = answers_without_torch(*right, *wrong)
    assert ended.stderr.count("farfield: unknown ") == ended.stderr.count("\n") == len(wrong)
    assert "same-different" in ended.stdout


def test_help_of_every_command_is_printed_without_torch() -> None:
    ended = answers_without_torch("--help", *(f"{name} --help" for name in COMMANDS))
    assert ended.stderr == ""
    assert ended.stdout.count("usage: farfield") == 1 + len(COMMANDS)
    for name in COMMANDS:
        assert f"usage: farfield {name}" in ended.stdout


@pytest.mark.parametrize(
    "words, kind, name, nearest",
    [
        ("tarin", "command", "tarin", "train"),
        ("list task", "kind", "task", "tasks"),
        ("show same-diferent", "task", "same-diferent", "same-different"),
        ("train --task identity-rule --model esbn", "task", "identity-rule", "identity-rules"),
        ("train --task same-different --model ESNB", "model", "ESNB", "esbn"),
        (f"{TRAIN} --encoder convv", "encoder", "convv", "conv"),
        (f"{TRAIN} --sedes 3", "option", "--sedes", "--seeds"),
        (f"{TRAIN} --sedes=3", "option", "--sedes", "--seeds"),
        (f"{SEARCH} recipe.sped=1", "field", "recipe.sped", "recipe.steps"),
        (f"{SEARCH} model.hidden=8", "field", "model.core.hidden", "model.core.hidden_size"),
        (f"{SEARCH} recipe.steps=1 --metric acc", "metric", "acc", "accuracy"),
        (f"{SEARCH} recipe.steps=1 --sample 3", "option", "--sample", "--samples"),
        ("show same-different --with 5", "option", "--with", "--withheld"),
        ("show all-same --tsk.withheld 5", "option", "--tsk.withheld", "--withheld"),
        ("show all-same --recipe.seed 5", "option", "--recipe.seed", "--seed"),
        (
            "reproduce webb2021/tabel-13",
            "table or figure",
            "webb2021/tabel-13",
            "webb2021/table-13",
        ),
        ("reproduce webb2021/demo --bugdet quick", "option", "--bugdet", "--budget"),
        (
            "reproduce webb2021/table-11 --cell esbn+tcn/withheld-99",
            "cell",
            "esbn+tcn/withheld-99",
            "esbn+tcn/withheld-95",
        ),
        ("report webb2021/dmo", "table or figure", "webb2021/dmo", "webb2021/demo"),
        ("fetch mnits", "data set", "mnits", "mnist"),
        ("cite web2021", "paper or table", "web2021", "webb2021"),
    ],
)
def test_a_wrong_name_is_repeated_with_the_nearest_right_one(
    farfield, folder: Path, words: str, kind: str, name: str, nearest: str
) -> None:
    if words.startswith("report"):
        words += " --records ."
        (folder / "records.sqlite").touch()
    before = sorted(folder.iterdir())
    ended = farfield(words)
    assert ended.status == 2
    assert f"unknown {kind} {name!r}; did you mean {nearest!r}" in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "words, message",
    [
        (f"{TRAIN} --seeds 0", "seeds must be at least 1, got 0"),
        (f"{TRAIN} --seeds -3", "seeds must be at least 1, got -3"),
        (f"{TRAIN} --workers 0", "workers must be at least 1, got 0"),
        (f"{TRAIN} --task.withheld 99", "withheld must be 0 or 2…98"),
        (f"{TRAIN} --task.max-problems 0", "max_problems must be"),
        (f"{TRAIN} --images paper", "or set FARFIELD_DATA"),
        ("show same-different --withheld -1", "withheld must be 0 or 2…98"),
        ("show same-different --seed -1", "seed must be"),
        ("show same-different 3", "unrecognized: 3; `farfield show --help`"),
        ("show same-different --task.withheld -1", "withheld must be 0 or 2…98"),
        ("show all-same --task.num-images 21", "num_images must be an int 2…20, got 21"),
        ("show distribution-of-n --task.row-length 20 --withheld 80", "0 or 21…79 for 100"),
        ("show all-same --withheld 2 --task.withheld 2", "withheld is given twice"),
        ("show all-same --withheld 2 --task.withheld=2", "withheld is given twice"),
        (f"{TRAIN} 3", "unrecognized: 3; `farfield train --help`"),
        (f"{SEARCH} recipe.learning-rate", "a field and its values, e.g. recipe.learning-rate=0.1"),
        (f"{SEARCH} recipe.learning-rate=x", "learning_rate must be a finite number above 0"),
        (f"{SEARCH} recipe.learning-rate=uniform:1", "over must give two limits, e.g. uniform:"),
        (f"{SEARCH} recipe.learning-rate=uniform:1:2", "samples must be a number where"),
        (f"{SEARCH} task.dormant=5", "another task draws other problems, got 'task.dormant'"),
        (f"{SEARCH} recipe.steps=1 --regime dormant-200", "'validation', got 'dormant-200'"),
        (f"{SEARCH} recipe.steps=1 --seeds 0", "seeds must be at least 1, got 0"),
        (f"{SEARCH} recipe.steps=1 --samples 0", "samples must be"),
        ("reproduce webb2021/demo --seeds 0", "seeds must be at least 1, got 0"),
        ("reproduce webb2021/demo --workers -1", "workers must be at least 1, got -1"),
        ("reproduce webb2021/demo --executor rya", "unknown executor 'rya'; did you mean 'ray'"),
        (f"{TRAIN} --executor ray --workers 2", "workers must be left out with this executor"),
        ("reproduce webb2021/demo --cell", "cell must name at least one cell, got none"),
        ("reproduce webb2021/demo --cell */lstm+tcn/* --cell", "cell must name at least one"),
        ("reproduce webb2021/demo --cell ''", "unknown cell ''"),
        ("reproduce webb2021/demo --cell '' table-9/*", "unknown cell ''"),
        ("fetch mnist --mirror ./mnist", "mirrors must begin with one of https:, http:, file:"),
        ("show sequential-mnist", "run `farfield fetch mnist`, or set FARFIELD_DATA"),
        ("report --records mine", "records must name a folder of records, got mine"),
        ("report --seeds 0", "seeds must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    monkeypatch.setenv("FARFIELD_CACHE", str(folder / "cache"))
    ended = farfield(words)
    assert ended.status == 2
    assert ended.err.startswith("farfield: ")
    assert ended.err.count("\n") == 1
    assert message in ended.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words, received, offered",
    [
        ("", "subcommand", "reproduce"),
        (f"{TRAIN} --seeds abc", "'abc'", "--seeds"),
        (f"{TRAIN} --device banana", "'banana'", "'cuda'"),
        (f"{TRAIN} --task.withhold 5", "--task.withhold", "--task.withheld"),
        ("show all-same --task.num-image 3", "--task.num-image", "--task.num-images"),
        ("show all-same --task.num-images three", "'three'", "--task.num-images"),
        (f"{TRAIN} --model.hidden 5", "--model.hidden", "--model.hidden-size"),
        (f"{TRAIN} --recipe.steps 0", "got 0", "steps must be an int 1…1000000000"),
        (f"{TRAIN} --recipe.learning-rate inf", "got inf", "learning_rate must be a finite number"),
        (f"{TRAIN} --recipe.learning-rate nan", "got nan", "learning_rate must be a finite number"),
        ("reproduce webb2021/demo --budget papr", "'papr'", "'paper'"),
        ("train --task same-different", "required", "--model"),
        ("reproduce", "required", "TABLE"),
    ],
)
def test_a_wrong_value_is_repeated_with_what_is_offered(
    farfield, folder: Path, words: str, received: str, offered: str
) -> None:
    ended = farfield(words)
    assert ended.status == 2
    assert received in ended.err
    assert offered in ended.err
    assert "Traceback" not in ended.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", [TRAIN, "reproduce webb2021/demo"])
def test_a_gpu_that_is_not_there_is_said(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    ended = farfield(f"{command} --device cuda")
    assert ended.status == 2
    assert "device is 'cuda', but torch finds no such GPU here; use 'cpu'" in ended.err
    assert list(folder.iterdir()) == []


def test_a_tilde_in_an_option_is_the_home_folder(
    farfield, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    ended = farfield("show same-different --out=~/sheet.png")
    assert ended.status == 0
    assert str(folder / "home" / "sheet.png") in ended.out.replace("\n", "")
    assert (folder / "home" / "sheet.png").is_file()
    assert not (folder / "~").exists()
    ended = farfield("show same-different --out=~nobody-here/sheet.png")
    assert ended.status == 2
    assert "a home folder that exists" in ended.err


def test_errors_are_shown_without_control_characters(farfield, folder: Path) -> None:
    ended = farfield("show same-different --out=\x1b[2J\u202e.txt")
    assert ended.status == 2
    assert ended.err.strip().isprintable()
    (folder / "file\x1b[2J").write_bytes(b"")
    ended = farfield("report --records file\x1b[2J")
    assert "\\x1b[2J" in ended.err
    assert ended.err.strip().isprintable()


def test_the_version_is_that_of_the_package(farfield) -> None:
    assert farfield("--version").out == f"farfield {importlib.metadata.version('farfield')}\n"


def test_the_package_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "farfield", "--version"]
    ended = subprocess.run(words, capture_output=True, text=True, check=True)
    assert ended.stdout == f"farfield {importlib.metadata.version('farfield')}\n"


@pytest.mark.parametrize(
    "words, found",
    [
        ("", {"list", "completion", "--help", "--version"}),
        ("sh", {"show"}),
        ("show same-d", {"same-different"}),
        ("train --task", {"--task"}),
        ("train --task same-d", {"same-different"}),
        ("train --model ri", {"rims"}),
        ("train --device ", {"cpu", "cuda"}),
        ("train --task copying --task.dor", {"--task.dormant"}),
        ("train --task=copying --context nor", {"norm"}),
        ("reproduce webb2021/table-2", {"webb2021/table-20"}),
        ("cite webb2020", {"webb2020"}),
        ("nothing ", set()),
    ],
)
def test_a_shell_completes_names_and_options(farfield, words: str, found: set[str]) -> None:
    *before, last = words.split(" ")
    ended = farfield(shlex.join(["completion", "--", *before, last]))
    assert ended.status == 0
    assert found <= {*ended.out.splitlines()}
    assert all(line.startswith(last) for line in ended.out.splitlines())
    assert bool(ended.out) is bool(found)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_asks_for_what_it_completes() -> None:
    script = textwrap.dedent(
        f"""
        farfield() {{ {shlex.quote(sys.executable)} -m farfield "$@"; }}
        eval "$(farfield completion)"
        COMP_WORDS=(farfield show same-d) COMP_CWORD=2
        _farfield
        echo "${{COMPREPLY[@]}}"
        """
    )
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "same-different\n"


@pytest.mark.parametrize("words", ["list --help", "list contexts", "reproduce"])
def test_no_color_means_none_on_a_terminal(
    farfield, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    styled = farfield(words)
    assert "\x1b[" in styled.out + styled.err
    monkeypatch.setenv("NO_COLOR", "1")
    plain = farfield(words)
    assert not re.search(r"\x1b\[(\d;)*[349]\d", plain.out + plain.err)

"""Words of texts: vocabularies, windows, losses, perplexity, and the published files."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import DATA_SETS, TASKS, WordText, is_at_hand
from farfield.tasks._text._word_text import TEXT_FILES, tokens_of
from farfield.tasks.internal import Consecutive, PooledScores
from oracles import texts
from tasks.sets import digest

TRAIN = "the cat sat\nthe dog ran\n\nthe <unk> ran fast\n"
VALID = "the cat flew\n"
TEST = "a dog ran fast\nthe cat sat fast\n"
# The head of SHA-256 over all sets; a change of it raises `version`.
FROZEN = "9e77157dab022a11"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("train", TRAIN), ("valid", VALID), ("test", TEST)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def drawn(folder: Path, **fields: object) -> tuple[WordText, dict[str, Problems]]:
    task = WordText(folder=str(folder), steps=4, **fields)
    return task, task.draw(stream(0))


def test_words_are_numbered_by_how_often_they_occur_in_training(folder: Path) -> None:
    task, _ = drawn(folder)
    numbers = texts.ranks(texts.tokens(TRAIN))
    assert list(task.words()) == sorted(numbers, key=numbers.get)
    assert task.words()[:2] == ("<eos>", "the")
    assert task.num_outputs == len(numbers) == 8


def test_windows_are_the_text_and_targets_the_words_behind(folder: Path) -> None:
    task, sets = drawn(folder)
    numbers = texts.ranks(texts.tokens(TRAIN))
    for regime, text in zip(("training", "validation", "test"), (TRAIN, VALID, TEST), strict=True):
        words = [numbers.get(word, numbers["<unk>"]) for word in texts.tokens(text)]
        problems = sets[regime]
        shown = problems.items[problems.index].flatten().tolist()
        assert shown[: len(words) - 1] == words[:-1]
        asked = problems.target.flatten().tolist()
        assert asked[: len(words) - 1] == words[1:]
        assert set(asked[len(words) - 1 :]) <= {-1}
        assert problems.index.shape == (-(-(len(words) - 1) // 4), 4)


def test_every_run_has_the_same_frozen_windows(folder: Path) -> None:
    task, sets = drawn(folder)
    assert digest(sets) == digest(task.draw(stream(5))) == FROZEN


@pytest.mark.parametrize("sum_over_steps", [False, True])
def test_loss_and_perplexity_are_those_of_an_oracle(folder: Path, sum_over_steps: bool) -> None:
    task, sets = drawn(folder, sum_over_steps=sum_over_steps)
    problems = sets["test"]
    assert (problems.target == -1).any()
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(*problems.index.shape, 8, dtype=torch.float64, generator=source)
    found = task.loss(logits, problems)
    for row in range(len(problems)):
        each = texts.losses(logits[row].numpy(), problems.target[row].numpy())
        expected = sum(each) if sum_over_steps else sum(each) / len(each)
        np.testing.assert_allclose(float(found[row]), expected, rtol=1e-9)
    expected = texts.perplexity(logits.numpy(), problems.target.numpy())
    pooled = task.pooled_scores(found, problems)
    np.testing.assert_allclose(pooled["perplexity"], expected, rtol=1e-9)


def test_the_text_itself_is_right_and_equal_outputs_are_as_many_as_the_words(folder: Path) -> None:
    task, sets = drawn(folder)
    for problems in sets.values():
        assert task.score(task.oracle(problems), problems).eq(1).all()
        even = torch.zeros(*problems.index.shape, 8)
        assert task.score(even, problems).eq(0).all()
        losses = task.loss(even, problems)
        assert task.pooled_scores(losses, problems)["perplexity"] == pytest.approx(8, rel=1e-6)
    assert task.chance("test") == 1 / 8
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, time, outputs\)"):
        task.loss(even[:, :1], problems)


def test_a_changed_file_is_read_again(folder: Path) -> None:
    task, sets = drawn(folder)
    (folder / "test.txt").write_text("the cat\n" * 9, encoding="utf-8")
    assert len(task.draw(stream(0))["test"]) != len(sets["test"])


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfthe cat\n\n<unk> sat\n",
        b"the cat\r\n\r\n<unk> sat\r\n",
        b"the cat\r\r<unk> sat\r",
        b"the cat\n\n<unk> sat",
    ],
)
def test_marks_and_ends_of_lines_of_editors_are_no_words(content: bytes) -> None:
    expected = ["the", "cat", "<eos>", "<eos>", "<unk>", "sat", "<eos>"]
    assert tokens_of(content, "train.txt") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"train.txt must have at least one line, got an empty file"),
        (b"\xff\n", r"train.txt must be a text in UTF-8"),
        ("the cat\n".encode("utf-16-le"), r"train.txt must be a text in UTF-8, got zero bytes"),
        (b"\n", r"texts of two words or more, got 1"),
    ],
)
def test_what_is_no_text_is_refused(folder: Path, content: bytes, message: str) -> None:
    (folder / "train.txt").write_bytes(content)
    (folder / "valid.txt").write_text("\n\n", encoding="utf-8")
    (folder / "test.txt").write_text("\n\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        drawn(folder)


def test_a_pipe_is_refused_by_name(folder: Path) -> None:
    (folder / "valid.txt").unlink()
    os.mkfifo(folder / "valid.txt")
    with pytest.raises(ValueError, match=r"valid\.txt must be a text: it must be a regular file"):
        drawn(folder)


def test_an_unknown_word_without_a_word_for_it_is_refused(folder: Path) -> None:
    (folder / "train.txt").write_text("the cat sat\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"valid.txt must have words of the training .*, got flew"):
        drawn(folder)


def test_a_missing_file_and_an_unknown_set_are_named(folder: Path) -> None:
    (folder / "valid.txt").unlink()
    assert not is_at_hand(WordText(folder=str(folder)))
    with pytest.raises(ValueError, match=r"folder must have the files train.txt, valid.txt"):
        drawn(folder)
    with pytest.raises(UnknownNameError, match=r"data set"):
        WordText(data_set="brown")


class Other:
    """Stands in for the files of a known set."""

    files = (SimpleNamespace(name="test.txt"),)

    def contents(self, *names: str) -> list[bytes]:
        assert names == ("test.txt",)
        return [b"The dog flew <unk>\nfast Fast\nzebras\nzebras zebras zebras zebras\n"]

    def is_at_hand(self) -> bool:
        return True


def test_another_text_is_read_in_the_same_words_and_asked_for_known_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TEXT_FILES, "wikitext2", SimpleNamespace(data_set=Other()))
    task, sets = drawn(folder, other="wikitext2")
    same = drawn(folder)[1]
    assert {name: sets[name].index.tolist() for name in same} == {
        name: problems.index.tolist() for name, problems in same.items()
    }
    words, problems = (*task.words(), "-"), sets["wikitext2"]
    shown = [words[k] for k in problems.index.flatten()]
    assert shown[:8] == ["the", "dog", "<unk>", "<unk>", "<eos>", "fast", "fast", "<eos>"]
    asked = [words[k] for k in problems.target.flatten()]
    right = ["dog", "-", "-", "<eos>", "fast", "fast", "<eos>", "-", "<eos>", *"----", "<eos>"]
    assert asked == [*right, "-", "-"]
    assert {regime.name: regime.distance for regime in task.regimes} == {
        "training": 0, "validation": 0, "test": 0, "wikitext2": 1,
    }  # fmt: skip
    assert task.chance("wikitext2") == 1 / 8
    nothing = problems.index.new_full((1, 4), -1)
    unasked = Problems(items=problems.items, index=problems.index[:1], target=nothing)
    even = torch.zeros(1, 4, 8)
    assert float(task.loss(even, unasked)) == float(task.score(even, unasked)) == 0


def test_another_text_needs_a_word_for_what_is_unknown(folder: Path) -> None:
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text("the cat sat\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"other must be None where .* has no <unk>"):
        drawn(folder, other="wikitext2")
    with pytest.raises(ValueError, match=r"other must be another data set than ptb"):
        WordText(other="ptb")
    with pytest.raises(UnknownNameError, match=r"data set"):
        WordText(other="brown")


def test_it_is_a_task_of_problems_that_follow_each_other() -> None:
    task = WordText()
    assert isinstance(task, Consecutive)
    assert isinstance(task, PooledScores)
    assert TASKS["word-text"] is WordText
    assert "ptb" in DATA_SETS
    assert (task.num_outputs, WordText(data_set="wikitext2").num_outputs) == (10_000, 33_278)


@pytest.mark.skipif(not is_at_hand(WordText()), reason="needs FARFIELD_DATA")
def test_penn_treebank_has_the_published_numbers_of_words() -> None:
    task = WordText()
    sets = task.draw(stream(0))
    counts = [1 + int((sets[name].target >= 0).sum()) for name in sets]
    assert counts == [929_589, 73_760, 82_430]
    assert len(task.words()) == 10_000
    lines = [int((sets[name].target == task.words().index("<eos>")).sum()) for name in sets]
    assert lines == [42_068, 3_370, 3_761]


@pytest.mark.skipif(not is_at_hand(WordText(data_set="wikitext2")), reason="needs FARFIELD_DATA")
def test_wikitext2_has_the_published_numbers_of_words() -> None:
    task = WordText(data_set="wikitext2")
    sets = task.draw(stream(0))
    counts = [1 + int((sets[name].target >= 0).sum()) for name in sets]
    assert counts == [2_088_628, 217_646, 245_569]
    assert len(task.words()) == 33_278

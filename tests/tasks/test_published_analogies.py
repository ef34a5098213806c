"""Published visual analogies: read as they are stored, and what is refused."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.core.internal import UnknownNameError
from farfield.tasks import TRAINING, ProblemTask, PublishedVisualAnalogies, VisualAnalogies
from farfield.tasks.internal import Candidates, read_visual_analogies
from tasks.published import Arrays, changed, damages

COUNT = 7


def arrays_of(problems: Problems, row: int) -> Arrays:
    """A problem as it is published: panels one after another under a shape that hides it."""
    panels = problems.items[problems.index[row]].numpy()
    structure = np.zeros((1, 12), np.int64)
    structure[0, 7 + int(problems.latent["relation"][row])] = 1
    return {
        "image": panels.reshape(160, 160, 9).astype(np.int64),
        "target": np.array(int(problems.target[row])),
        "relation_structure_encoded": structure,
        # The published files hold byte strings that need unpickling here; nobody reads them.
        "relation_structure": np.array([[b"shape", b"size", b"AND"]], dtype=object),
    }


@cache
def problem(seed: int) -> Problems:
    task = VisualAnalogies(image_size=160, training_problems=COUNT, test_problems=COUNT)
    return task.draw(stream(seed))[TRAINING]


def written(folder: Path, split: str, seed: int) -> Problems:
    """Files of a split, numbered so that names sort otherwise than numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    problems = problem(seed)
    for row in range(COUNT):
        path = folder / f"analogy_extrapolation_{split}_lbc_{8 + row}.npz"
        np.savez_compressed(path, **arrays_of(problems, row))
    return problems


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder."""
    for seed, split in enumerate(("train", "test")):
        written(tmp_path / "analogies", split, seed)
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One whole file."""
    path = tmp_path / "analogy_0.npz"
    np.savez(path, **arrays_of(problem(0), 0))
    return path


def read(path: Path) -> torch.Tensor:
    """All panels of the files of a folder."""
    return read_visual_analogies(path.parent, image_size=160).table()


def test_what_is_published_is_read_in_the_order_of_the_numbers(data: Path) -> None:
    for split, seed in (("train", 0), ("test", 1)):
        expected = problem(seed)
        found = read_visual_analogies(
            data / "analogies", pattern=f"*_{split}_*.npz", image_size=160
        )
        assert torch.equal(found.table(), expected.table())
        assert torch.equal(found.target, expected.target)
        assert torch.equal(found.index, expected.index)
        structure = found.latent["relation_structure"]
        assert torch.equal(structure[:, 7:11].argmax(dim=1), expected.latent["relation"])
        smaller = read_visual_analogies(data / "analogies", pattern=f"*_{split}_*.npz", at_most=3)
        assert len(smaller) == 3
        assert torch.equal(smaller.sequences(), expected[:3].sequences()[:, :, ::2, ::2])


def test_panels_are_read_when_they_are_asked_for(data: Path) -> None:
    found = read_visual_analogies(data / "analogies", image_size=40)
    assert found.items.shape == (2 * COUNT * 9, 40, 40)
    assert found.items.dtype == torch.uint8
    for path in (data / "analogies").iterdir():
        if "_8." not in path.name:
            path.unlink()
    assert found.items[found.index[0]].shape == (9, 40, 40)
    with pytest.raises(ValueError, match=r"train_lbc_9\.npz must be a file of a problem: No such"):
        found.items[found.index[3]]


@pytest.mark.parametrize(("mark", "end"), [(b"", "\n"), (b"\xef\xbb\xbf", "\r\n")])
def test_a_list_names_its_files_in_any_order(data: Path, mark: bytes, end: str) -> None:
    names = [f"analogies/analogy_extrapolation_test_lbc_{number}.npz" for number in (11, 8)]
    content = mark + end.join([*names, ""]).encode()
    (data / "extrapolation_test_lbc.txt").write_bytes(content)
    found = read_visual_analogies(data / "extrapolation_test_lbc.txt", image_size=160)
    assert torch.equal(found.sequences(), problem(1)[torch.tensor([3, 0])].sequences())


@pytest.mark.parametrize("kind", ["u1", "<i2", ">i4", "i8", "f4", "f8"])
def test_any_type_of_number_is_read(kind: str, file: Path) -> None:
    arrays = arrays_of(problem(0), 0)
    expected = problem(0)[:1].compact().table()
    for image in (arrays["image"], np.asfortranarray(arrays["image"]), expected.numpy()):
        np.savez(file, **{**arrays, "image": image.astype(kind), "target": np.array([2], np.uint8)})
        assert torch.equal(read(file), expected)
        assert read_visual_analogies(file.parent).target.tolist() == [2]


def test_the_task_takes_the_published_sets(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data))
    task = PublishedVisualAnalogies(training_problems=5)
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    sets = task.draw(stream(3))
    assert {name: len(problems) for name, problems in sets.items()} == {
        TRAINING: 5,
        "extrapolation": COUNT,
    }
    assert [regime.name for regime in task.regimes] == list(sets)
    assert task.item_shape == sets[TRAINING].items.shape[1:] == (80, 80)
    for name, seed in ((TRAINING, 0), ("extrapolation", 1)):
        problems = sets[name]
        expected = problem(seed)[: len(problems)].sequences()[:, :, ::2, ::2]
        assert torch.equal(problems.sequences(), expected)
        assert (task.score(task.oracle(problems), problems) == 1).all()
        parts = task.parts(problems)
        assert set(parts) <= {"progression", "XOR", "OR", "AND"}
        assert sum(rows.int() for rows in parts.values()).tolist() == [1] * len(problems)
    assert task.chance("extrapolation") == 0.25
    assert len(task.sample("extrapolation", 4, np.random.default_rng(0))) == 4


def test_a_folder_of_the_set_is_found_and_none_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "analogies" / "extrapolation", "train", 0)
    written(tmp_path / "analogies" / "extrapolation", "test", 1)
    sets = PublishedVisualAnalogies(folder=str(tmp_path)).draw(stream(0))
    assert len(sets["extrapolation"]) == COUNT
    with pytest.raises(ValueError, match="analogy_extrapolation_train_normal_"):
        PublishedVisualAnalogies(folder=str(tmp_path), contrasting=False).draw(stream(0))
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    with pytest.raises(ValueError, match="folder must name the data folder, got none"):
        PublishedVisualAnalogies().draw(stream(0))


def test_without_the_structure_there_are_no_parts(file: Path) -> None:
    arrays = arrays_of(problem(0), 0)
    del arrays["relation_structure_encoded"]
    np.savez(file, **arrays)
    problems = read_visual_analogies(file.parent)
    assert dict(problems.latent) == {}
    assert PublishedVisualAnalogies().parts(problems) == {}


@pytest.mark.parametrize(
    "change, message",
    [
        *damages(panels=9, answers=4),
        (
            changed(relation_structure_encoded=np.zeros((1, 12), object)),
            "relation_structure_encoded must hold numbers, got pickled",
        ),
        (
            changed(relation_structure_encoded=np.zeros((4, 12), int)),
            r"relation_structure_encoded must be integers of shape \(1, 12\), got int64 of .*\(4,",
        ),
        (
            changed(relation_structure_encoded=np.full((1, 12), 2)),
            "relation_structure_encoded must hold 0 and 1, got",
        ),
    ],
)
def test_what_is_not_as_published_is_refused_by_file_and_field(
    change: Callable[[Arrays], Arrays], message: str, file: Path
) -> None:
    np.savez(file, **change(arrays_of(problem(0), 0)))
    with pytest.raises(ValueError, match=message) as raised:
        read(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_cut_short_is_refused_wherever_it_ends(packed: bool, file: Path) -> None:
    (np.savez_compressed if packed else np.savez)(file, **arrays_of(problem(0), 0))
    whole = file.read_bytes()
    for length in (0, 1, 30, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="must be a whole npz file") as raised:
            read(file)
        assert str(file) in str(raised.value)


def test_damage_anywhere_is_noticed_or_harmless(file: Path) -> None:
    np.savez_compressed(file, **arrays_of(problem(0), 0))
    whole = file.read_bytes()
    expected = read(file)
    generator = np.random.default_rng(0)
    refused = []
    for place in generator.integers(0, len(whole), 60).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            assert torch.equal(read(file), expected)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert all(str(file) in message for message in refused)


def npy(header: str, content: bytes = b"") -> bytes:
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def archive(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)


def test_no_more_is_unpacked_than_a_header_announces(file: Path) -> None:
    """A few kilobytes that unpack to tens of megabytes."""
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (160, 160, 9), }\n"
    bomb = npy(head) + bytes(30_000_000)
    target = io.BytesIO()
    np.save(target, np.array(1))
    archive(file, image=bomb, target=target.getvalue())
    assert file.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="image must be of 230,400 B as its header says, got more"):
        read(file)
    archive(file, image=npy(head, bytes(100)), target=target.getvalue())
    with pytest.raises(ValueError, match=r"image must be of 230,400 B .* got 100 B"):
        read(file)
    archive(file, image=b"no array", target=target.getvalue())
    with pytest.raises(ValueError, match=r"image must be a NumPy array of version 1\.0"):
        read(file)
    archive(file, image=b"\x93NUMPY\x02\x00" + (2**31).to_bytes(4, "little"), target=b"")
    with pytest.raises(ValueError, match=r"version 1\.0, got something else: .* 2\.0"):
        read(file)
    archive(file, **{f"field{number}": b"" for number in range(65)})
    with pytest.raises(ValueError, match="must hold at most 64 fields, got 65"):
        read(file)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as made:
        made.writestr("image.npy", bomb[:1000])
    with pytest.raises(ValueError, match="image must be stored or deflated"):
        read(file)
    with file.open("wb") as large:
        large.truncate(2**24 + 1)
    with pytest.raises(ValueError, match="must be of at most 16,777,216 bytes, got 16,777,217"):
        read(file)


def headed(shape: str, kind: str = "'<i8'") -> bytes:
    return npy(f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n", bytes(8))


def refusal(file: Path, field: str, content: bytes) -> str:
    """What is said of a file whose other fields, as far as they are looked at, are right."""
    fields = {
        "image": headed("(160, 160, 9)"),
        "target": headed("(1,)"),
        "relation_structure_encoded": headed("(1, 12)"),
    }
    archive(file, **{**fields, field: content})
    with pytest.raises(ValueError, match=field) as raised:
        read_visual_analogies(file.parent)
    return str(raised.value)


FIELDS = ("image", "target", "relation_structure_encoded")
NO_HEADERS = {
    "open": headed("(1, "),
    "dedented": npy("  {}\n {}"),
    "text": headed("('1',)"),
    "list for a key": npy("{[]: 1}"),
    "empty type": headed("(1,)", "()"),
    "no type": headed("(1,)", "'zz'"),
    "parentheses": npy("(" * 8_999),
    "signs": npy("-" * 8_999 + "1"),
    "brackets": npy("[" * 150 + "]" * 150),
    "dots": npy("a" + ".a" * 4_000),
    "null": npy("\0"),
    "empty": npy(""),
}


@pytest.mark.parametrize("content", NO_HEADERS.values(), ids=NO_HEADERS)
def test_a_header_that_is_none_is_refused_by_file_and_field(content: bytes, file: Path) -> None:
    for field in FIELDS:
        said = refusal(file, field, content)
        assert said.startswith(f"{file}: {field} must be a NumPy array of version 1.0, got some")


@pytest.mark.parametrize("shape", ["(-1, -1)", "(-1,)", "(True,)", "(True, 12)", f"({'1,' * 33})"])
def test_sides_that_are_no_sizes_are_refused_by_file_and_field(shape: str, file: Path) -> None:
    for field in FIELDS:
        said = refusal(file, field, headed(shape))
        assert said.startswith(f"{file}: {field} must be of at most 32 axes of whole sizes from 0")


def test_nothing_outside_the_folder_is_opened(data: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    outside = data / "analogies" / "analogy_extrapolation_test_lbc_8.npz"
    for line in (f"../analogies/{outside.name}", str(outside)):
        (inner / "list.txt").write_text(line)
        with pytest.raises(ValueError, match=r"test_lbc_8\.npz must lie in .*inner, it leads to"):
            read_visual_analogies(inner / "list.txt")
    (inner / "analogy_1.npz").symlink_to(outside)
    with pytest.raises(ValueError, match=r"analogy_1\.npz must lie in .*inner, it leads to"):
        read_visual_analogies(inner)
    for pattern in ("../*.npz", "*/*.npz"):
        with pytest.raises(ValueError, match="pattern must be of names in the folder"):
            read_visual_analogies(inner, pattern=pattern)


def test_paths_that_lead_nowhere_are_refused_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "analogy_1.npz").symlink_to("analogy_2.npz")
    (tmp_path / "analogy_2.npz").symlink_to("analogy_1.npz")
    with pytest.raises(ValueError, match=r"analogy_1\.npz.? must (lead to|be) a file"):
        read_visual_analogies(tmp_path)
    (tmp_path / "list.txt").write_text("folder/analogy\0.npz")
    with pytest.raises(ValueError, match=r"folder/analogy\\x00\.npz' must lead to a file"):
        read_visual_analogies(tmp_path / "list.txt")
    (tmp_path / "list.txt").write_text("absent" * 100)
    with pytest.raises(ValueError, match=r"absentabsent must be .*: .*File name too long"):
        read_visual_analogies(tmp_path / "list.txt")


def test_wrong_sources_and_arguments_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a folder or a list of files that exists, got"):
        read_visual_analogies(tmp_path / "absent")
    with pytest.raises(ValueError, match=r"must hold files 'analogy_\*.npz', there are none in"):
        read_visual_analogies(data)
    (tmp_path / "list.txt").write_text("\n \n")
    with pytest.raises(ValueError, match="must name files, one a line, got an empty list"):
        read_visual_analogies(tmp_path / "list.txt")
    (tmp_path / "list.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="must be a list of paths in UTF-8"):
        read_visual_analogies(tmp_path / "list.txt")
    (tmp_path / "list.txt").write_text("absent.npz")
    with pytest.raises(ValueError, match=r"absent\.npz must be a file of a problem: No such"):
        read_visual_analogies(tmp_path / "list.txt")
    with pytest.raises(ValueError, match=r"image_size must be one of \(40, 80, 160\), got 81"):
        read_visual_analogies(data / "analogies", image_size=81)
    with pytest.raises(ValueError, match="at_most must be an int 1…10000000, got 0"):
        read_visual_analogies(data / "analogies", at_most=0)
    with pytest.raises(UnknownNameError, match="unknown archive 'extrapolating'"):
        PublishedVisualAnalogies(archive="extrapolating")
    with pytest.raises(ValueError, match=r"test_problems must be an int 1…10000000.*, got 0"):
        PublishedVisualAnalogies(test_problems=0)


def test_the_directory_of_an_archive_is_counted_before_it_is_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand entries that are one, of which the end of the directory tells another number."""
    archive(file, image=b"")
    content = file.read_bytes()
    start, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    directory = content[start:end] * 1_000
    tail = content[end : end + 8] + struct.pack("<HHIIH", 1, 1, len(directory), start, 0)
    file.write_bytes(content[:start] + directory + tail)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("the directory was read"))
    with pytest.raises(ValueError, match=r"analogy_0\.npz must hold at most 64 fields, got 1000"):
        read(file)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e300, -1.0, 0.5])
def test_numbers_that_are_no_grey_levels_are_refused(file: Path, number: float) -> None:
    np.savez(file, image=np.full((160, 160, 9), number), target=0)
    with pytest.raises(ValueError, match="image must hold whole gray levels 0…255, got float64"):
        read(file)


def test_a_list_is_read_as_far_as_it_is_asked_for(data: Path) -> None:
    name = "analogy_extrapolation_test_lbc_8.npz"
    place = next(data.rglob(name)).parent
    (place / "list.txt").write_bytes(name.encode() + b"\n\xff" + b"\nabsent" * 1_000_000)
    assert len(read_visual_analogies(place / "list.txt", at_most=1)) == 1
    with pytest.raises(ValueError, match=r"list\.txt must be a list of paths in UTF-8"):
        read_visual_analogies(place / "list.txt", at_most=2)


@pytest.mark.parametrize(
    "lines, message",
    [
        ("\n" * 2_000_001, "must have at most 2,000,000 lines, got 2,000,001"),
        ("a" * 4_097, "must have lines of at most 4,096 bytes, line 1 is longer"),
        ("{name}\n./{name}\n", r"must name a file once, got .*_8\.npz again"),
        ("\x1b[2J\u202e", r"\\x1b\[2J\\u202e must be a file of a problem: No such"),
    ],
    ids=["lines", "long", "twice", "escape"],
)
def test_lists_that_are_none_are_refused(data: Path, lines: str, message: str) -> None:
    name = "analogy_extrapolation_test_lbc_8.npz"
    place = next(data.rglob(name)).parent
    (place / "list.txt").write_text(lines.replace("{name}", name))
    with pytest.raises(ValueError, match=message) as told:
        read_visual_analogies(place / "list.txt")
    assert str(told.value).isprintable()


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "analogy_1.npz")
    with pytest.raises(ValueError, match=r"analogy_1\.npz must be a file of a problem: it must be"):
        read_visual_analogies(tmp_path)
    with pytest.raises(ValueError, match="source must be a folder or a list of files"):
        read_visual_analogies(tmp_path / "analogy_1.npz")


def test_a_tilde_is_the_home_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(data.parent))
    place = next(data.rglob("analogy_extrapolation_test_lbc_8.npz")).parent.relative_to(data.parent)
    assert len(read_visual_analogies(f"~/{place}", at_most=1)) == 1
    assert PublishedVisualAnalogies(folder=f"~/{data.name}").is_at_hand()

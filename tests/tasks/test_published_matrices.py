"""Published matrices: read as they are stored, and what is refused."""

from __future__ import annotations

import io
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
from farfield.tasks import (
    RAVEN,
    TRAINING,
    VALIDATION,
    ProblemTask,
    ProgressiveMatrices,
    PublishedMatrices,
)
from farfield.tasks.internal import Candidates, NeedsFiles, read_matrices
from tasks.published import Arrays, changed, damages

COUNT = 5
SPLITS = ("train", "val", "test")


@cache
def problem(seed: int) -> Problems:
    task = ProgressiveMatrices(image_size=160, training_problems=COUNT, test_problems=1)
    return task.draw(stream(seed))[TRAINING]


def arrays_of(problems: Problems, row: int) -> Arrays:
    """A problem as it is published: panels one after another under a shape that hides it."""
    columns = ["shape", "line", "colour", "number", "position", "size", "type"]
    columns += ["progression", "XOR", "OR", "AND", "consistent union"]
    structure = np.zeros((4, 12), np.int64)
    named = []
    for place, triple in enumerate(problems.latent["triples"][row].tolist()):
        if triple >= 0:
            relation, _, attribute = ProgressiveMatrices.triples[triple].partition(" of ")
            words = (relation, *attribute.split("-"))
            named.append([word.encode() for word in words])
            structure[place, [columns.index(word) for word in words]] = 1
    return {
        "image": problems.items[problems.index[row]].numpy().reshape(160, 160, 16).astype(float),
        "target": np.array(int(problems.target[row])),
        # The published files hold byte strings that need unpickling here; nobody reads them.
        "relation_structure": np.array(named, dtype=object),
        "relation_structure_encoded": structure,
        "meta_target": structure.max(axis=0),
    }


def means(panels: np.ndarray, step: int) -> np.ndarray:
    """Each square of pixels as its mean, a half rounded up."""
    side = 160 // step
    small = np.empty((len(panels), side, side), np.uint8)
    for number, row, column in np.ndindex(small.shape):
        block = panels[number, step * row : step * (row + 1), step * column : step * (column + 1)]
        small[number, row, column] = int(block.sum() / step**2 + 0.5)
    return small


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder; files are numbered so that names sort otherwise than numbers."""
    folder = tmp_path / "pgm"
    folder.mkdir()
    for seed, split in enumerate(SPLITS):
        for row in range(COUNT):
            path = folder / f"PGM_extrapolation_{split}_{8 + row}.npz"
            np.savez_compressed(path, **arrays_of(problem(seed), row))
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One whole file."""
    path = tmp_path / "PGM_neutral_train_0.npz"
    np.savez(path, **arrays_of(problem(0), 0))
    return path


def read(path: Path) -> torch.Tensor:
    """All panels of the files of a folder."""
    return read_matrices(path.parent, image_size=160).table()


def test_what_is_published_is_read_in_the_order_of_the_numbers(data: Path) -> None:
    for seed, split in enumerate(SPLITS):
        expected = problem(seed)
        found = read_matrices(data / "pgm", pattern=f"*_{split}_*.npz", image_size=160)
        assert torch.equal(found.table(), expected.table())
        assert torch.equal(found.target, expected.target)
        assert torch.equal(found.index, expected.index)
        assert torch.equal(found.latent["meta_target"], expected.latent["meta_target"])
        held = found.latent["relation_structure"].any(dim=2).sum(dim=1)
        assert torch.equal(held, expected.latent["num_triples"])
        assert len(read_matrices(data / "pgm", pattern=f"*_{split}_*.npz", at_most=3)) == 3


@pytest.mark.parametrize("size", [40, 80])
def test_smaller_panels_are_means_of_their_squares(size: int, file: Path) -> None:
    panels = problem(0)[:1].compact().table().numpy()
    small = read_matrices(file.parent, image_size=size).table()
    assert np.array_equal(small.numpy(), means(panels, 160 // size))


@pytest.mark.parametrize("kind", ["u1", ">i4", "i8", "f4"])
def test_any_type_of_number_and_order_of_axes_is_read(kind: str, file: Path) -> None:
    expected = problem(0)[:1].compact().table()
    arrays = arrays_of(problem(0), 0)
    for image in (arrays["image"], expected.numpy(), expected.numpy().ravel()):
        np.savez(file, **{**arrays, "image": image.astype(kind)})
        assert torch.equal(read(file), expected)


def test_the_task_takes_the_published_sets(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARFIELD_DATA", str(data))
    task = PublishedMatrices(archive="extrapolation", training_problems=4)
    assert isinstance(task, ProblemTask)
    assert isinstance(task, Candidates)
    assert isinstance(task, NeedsFiles)
    assert task.is_at_hand()
    assert not PublishedMatrices().is_at_hand()
    sets = task.draw(stream(3))
    assert {name: len(problems) for name, problems in sets.items()} == {
        TRAINING: 4,
        VALIDATION: COUNT,
        "extrapolation": COUNT,
    }
    assert [regime.name for regime in task.regimes] == list(sets)
    assert [regime.distance for regime in task.regimes] == [0, 0, 1]
    assert task.item_shape == sets[TRAINING].items.shape[1:] == (80, 80)
    assert (task.length, task.num_candidates, task.num_outputs) == (16, 8, 8)
    for (name, problems), seed in zip(sets.items(), range(3), strict=True):
        expected = problem(seed)
        assert torch.equal(problems.target, expected.target[: len(problems)])
        assert (task.score(task.oracle(problems), problems) == 1).all()
        parts = task.parts(problems)
        own = ProgressiveMatrices().parts(expected[: len(problems)])
        assert {key: rows.tolist() for key, rows in parts.items()} == {
            key: rows.tolist() for key, rows in own.items()
        }
        assert task.chance(name) == 1 / 8
    assert len(task.sample("extrapolation", 4, np.random.default_rng(0))) == 4


def test_a_folder_of_the_set_is_found_and_none_is_an_error(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = data / "pgm" / "extrapolation"
    inner.mkdir()
    for path in (data / "pgm").glob("*.npz"):
        path.rename(inner / path.name)
    task = PublishedMatrices(archive="extrapolation", folder=str(data))
    assert len(task.draw(stream(0))[VALIDATION]) == COUNT
    with pytest.raises(ValueError, match=r"must hold files 'PGM_attr\.rels_train_\*\.npz'"):
        PublishedMatrices(archive="attr.rels", folder=str(data)).draw(stream(0))
    monkeypatch.delenv("FARFIELD_DATA", raising=False)
    assert not PublishedMatrices().is_at_hand()
    with pytest.raises(ValueError, match="folder must name the data folder, got none"):
        PublishedMatrices().draw(stream(0))
    absent = PublishedMatrices(folder=str(data / "absent"))
    assert not absent.is_at_hand()
    with pytest.raises(ValueError, match="must be a data folder with pgm/neutral, got none at"):
        absent.draw(stream(0))


def test_without_descriptions_there_are_fewer_parts(file: Path) -> None:
    arrays = arrays_of(problem(0), 0)
    whole = PublishedMatrices().parts(read_matrices(file.parent))
    assert sum(name.startswith("triples-") for name in whole) == 1
    encoded = np.zeros((4, 12), np.int64)
    encoded[0, [0, 5, 7]] = encoded[1, [1, 2, 10]] = 1
    kept = {"image": arrays["image"], "target": arrays["target"]}
    np.savez(file, **kept, relation_structure_encoded=encoded)
    parts = PublishedMatrices().parts(read_matrices(file.parent))
    assert list(parts) == ["triples-2", "progression", "AND"]
    np.savez(file, **kept, meta_target=encoded[1])
    assert list(PublishedMatrices().parts(read_matrices(file.parent))) == ["AND"]
    np.savez(file, **kept)
    assert dict(read_matrices(file.parent).latent) == {}
    assert PublishedMatrices().parts(read_matrices(file.parent)) == {}


@pytest.mark.parametrize(
    "change, message",
    [
        *damages(panels=16, answers=8),
        (
            changed(meta_target=np.zeros(12, object)),
            "meta_target must hold numbers, got pickled objects",
        ),
        (
            changed(relation_structure_encoded=np.zeros((1, 12), int)),
            r"relation_structure_encoded must be integers of shape \(4, 12\), got int64 of .*\(1,",
        ),
        (changed(meta_target=np.zeros(9, int)), r"meta_target must be integers of shape \(12,\)"),
        (changed(meta_target=np.full(12, 2)), "meta_target must hold 0 and 1, got"),
    ],
)
def test_what_is_not_as_published_is_refused_by_file_and_field(
    change: Callable[[Arrays], Arrays], message: str, file: Path
) -> None:
    np.savez(file, **change(arrays_of(problem(0), 0)))
    with pytest.raises(ValueError, match=message) as raised:
        read(file)
    assert str(file) in str(raised.value)


def test_a_file_cut_short_is_refused_wherever_it_ends(file: Path) -> None:
    whole = file.read_bytes()
    for length in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="must be a whole npz file") as raised:
            read(file)
        assert str(file) in str(raised.value)


@pytest.mark.parametrize("offset", [2**63, 2**64 - 1])
def test_a_directory_that_is_nowhere_is_refused(offset: int, file: Path) -> None:
    """The end of the archive in its long form, where places have eight bytes."""
    whole = file.read_bytes()
    end = whole.rfind(b"PK\5\6")
    count, size = struct.unpack("<HL", whole[end + 10 : end + 16])
    record = (b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    long = struct.pack("<4sQ2H2L4Q", *record) + struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    short = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    file.write_bytes(whole[:end] + long + short)
    with pytest.raises(ValueError, match=r"must be .*whole.*, got a broken one") as raised:
        read(file)
    assert str(file) in str(raised.value)


def test_no_more_is_unpacked_than_a_header_announces(file: Path) -> None:
    """A few kilobytes that unpack to tens of megabytes, or say that they do."""
    target = io.BytesIO()
    np.save(target, np.array(1))
    for shape, content, message in (
        ("(16, 160, 160)", bytes(30_000_000), "image must be of 409,600 B as its header says"),
        ("(99999999, 160, 160)", b"", r"got uint8 of shape \(99999999, 160, 160\)"),
    ):
        head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(
                "image.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + content
            )
            made.writestr("target.npy", target.getvalue())
        assert file.stat().st_size < 1_000_000
        with pytest.raises(ValueError, match=message):
            read(file)


def test_nothing_outside_the_folder_is_opened(data: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    outside = data / "pgm" / "PGM_extrapolation_test_8.npz"
    (inner / "list.txt").write_text(f"../pgm/{outside.name}")
    with pytest.raises(ValueError, match=r"test_8\.npz must lie in .*inner, it leads to"):
        read_matrices(inner / "list.txt")
    (inner / "PGM_1.npz").symlink_to(outside)
    with pytest.raises(ValueError, match=r"PGM_1\.npz must lie in .*inner, it leads to"):
        read_matrices(inner)
    for pattern in ("../*.npz", "", "."):
        with pytest.raises(ValueError, match="pattern must be of names in the folder"):
            read_matrices(inner, pattern=pattern)


@pytest.mark.usefixtures("unchecked")
def test_wrong_arguments_are_refused(data: Path) -> None:
    with pytest.raises(ValueError, match=r"image_size must be one of \(40, 80, 160\), got 81"):
        read_matrices(data / "pgm", image_size=81)
    with pytest.raises(ValueError, match="at_most must be an int 1…10000000, got 0"):
        read_matrices(data / "pgm", at_most=0)
    with pytest.raises(UnknownNameError, match="unknown archive 'triples'"):
        PublishedMatrices(archive="triples")
    with pytest.raises(UnknownNameError, match="unknown configuration 'centre_single'; did you"):
        RAVEN(configurations=("centre_single",))
    with pytest.raises(ValueError, match="at least one name and each once, got"):
        RAVEN(configurations=())
    for cls in (PublishedMatrices, RAVEN):
        with pytest.raises(ValueError, match=r"test_problems must be an int 1…10000000.*, got 0"):
            cls(test_problems=0)
        with pytest.raises(ValueError, match="image_size must be one of"):
            cls(image_size=100)


def raven(folder: Path, configuration: str, counts: tuple[int, int, int]) -> None:
    """Files of a configuration, numbered from split to split, the answer of each its number."""
    place = folder / "raven" / configuration
    place.mkdir(parents=True)
    number = 0
    for split, count in zip(SPLITS, counts, strict=True):
        for _ in range(count):
            panels = np.full((16, 160, 160), number, np.uint8)
            np.savez(place / f"RAVEN_{number}_{split}.npz", image=panels, target=number % 8)
            number += 1


def test_configurations_are_read_together(tmp_path: Path) -> None:
    raven(tmp_path, "center_single", (12, 1, 2))
    raven(tmp_path, "distribute_four", (3, 1, 1))
    task = RAVEN(configurations=("center_single", "distribute_four"), folder=str(tmp_path))
    assert task.is_at_hand()
    sets = task.draw(stream(0))
    assert [len(problems) for problems in sets.values()] == [15, 2, 3]
    training = sets[TRAINING]
    assert training.target.tolist() == [*range(8), *range(4), 0, 1, 2]
    assert training.sequences()[:, 0, 0, 0].tolist() == [*range(12), 0, 1, 2]
    parts = task.parts(training)
    assert {name: int(rows.sum()) for name, rows in parts.items()} == {
        "center_single": 12,
        "distribute_four": 3,
    }
    few = RAVEN(configurations=("center_single",), folder=str(tmp_path), training_problems=2)
    assert len(few.draw(stream(0))[TRAINING]) == 2
    whole = RAVEN(folder=str(tmp_path))
    assert not whole.is_at_hand()
    with pytest.raises(ValueError, match=r"configurations must be in the data folder, got no"):
        whole.draw(stream(0))


def test_real_problems_of_raven_are_read(data_folder: Path) -> None:
    """58 problems of the publication, the only ones here."""
    task = RAVEN(configurations=("center_single",), folder=str(data_folder), image_size=160)
    assert task.is_at_hand()
    sets = task.draw(stream(0))
    assert [len(problems) for problems in sets.values()] == [32, 8, 8]
    for problems in sets.values():
        assert problems.latent["meta_target"].shape == (len(problems), 9)
        assert problems.latent["meta_matrix"].shape == (len(problems), 8, 9)
        assert torch.equal(
            problems.latent["meta_matrix"].amax(dim=1), problems.latent["meta_target"]
        )
        assert (task.score(task.oracle(problems), problems) == 1).all()
        panels = problems.sequences()
        assert panels.shape[1:] == (16, 160, 160)
        # Whole panels: white in all corners, and none of the candidates twice.
        assert (panels[..., [0, 0, -1, -1], [0, -1, 0, -1]] == 255).all()
        for candidates in panels[:, 8:].flatten(2):
            assert len(candidates.unique(dim=0)) == 8

"""VAEC in the published HDF5 layout: there and back, and what is refused."""

from __future__ import annotations

import dataclasses
import os
import sys
import textwrap
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch

from farfield.core import Problems, stream
from farfield.tasks import TRAINING, SameDifferent, VAECScale, VAECTranslation
from farfield.tasks import read_vaec as read
from farfield.tasks import write_vaec as write
from processes import run_forked

TASK = VAECTranslation(image_size=64, problems_per_regime=12)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a small whole file holds."""
    path = tmp_path_factory.mktemp("whole") / "analogy_test1.hy"
    write(path, TASK.draw(stream(0))["region-2"])
    return path.read_bytes()


@pytest.fixture
def file(whole: bytes, tmp_path: Path) -> Path:
    """A small whole file."""
    path = tmp_path / "analogy_test1.hy"
    path.write_bytes(whole)
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "task",
    [
        VAECTranslation(problems_per_regime=12),
        VAECScale(image_size=64, problems_per_regime=16, levels_multiplied=True),
        VAECTranslation(image_size=64, problems_per_regime=16, levels_per_region=3, train_on=4),
    ],
    ids=["translation", "scale", "three-levels"],
)
def test_what_was_written_is_read(task: VAECTranslation | VAECScale, tmp_path: Path) -> None:
    for regime, problems in [*task.draw(stream(1)).items()][::5]:
        expected = problems.compact()
        write(tmp_path / "made" / regime, problems)
        found = read(tmp_path / "made" / regime)
        assert torch.equal(found.items, expected.table())
        assert torch.equal(found.index, expected.index)
        assert torch.equal(found.target, expected.target)
        assert found.latent.keys() == expected.latent.keys()
        for name, column in expected.latent.items():
            assert torch.equal(found.latent[name], column)
        assert (task.score(task.oracle(found), found) == 1).all()
        write(tmp_path / "again", found)
        assert (tmp_path / "again").read_bytes() == (tmp_path / "made" / regime).read_bytes()


def test_a_file_is_laid_out_as_published(tmp_path: Path) -> None:
    """Every dataset of every problem re-derived from pictures and places."""
    problems = VAECTranslation(problems_per_regime=15).draw(stream(0))["region-3"]
    write(tmp_path / "file.hy", problems)
    with h5py.File(tmp_path / "file.hy") as held:
        assert set(held) == {str(number) for number in range(15)}
        for number in range(15):
            group = held[str(number)]
            parts = {name: (part.dtype, part.shape) for name, part in group.items()}
            assert parts == {
                "imgs": (np.dtype("u1"), (7, 128, 128, 3)),
                "latent_class": (np.dtype("i8"), (7, 4)),
                "analogy_dim": (np.dtype("i8"), ()),
                "ABCD": (np.dtype("i8"), (4,)),
                "dist": (np.dtype("i8"), ()),
                "not_D": (np.dtype("i8"), (6,)),
            }
            terms = [*group["ABCD"][()].tolist(), *group["not_D"][()].tolist()]
            shown = group["imgs"][()][terms]
            assert np.array_equal(shown, problems[number : number + 1].sequences()[0].numpy())
            levels = problems.items.latent[problems.index[number]] - 14
            assert group["latent_class"][()][terms].tolist() == levels.tolist()
            dimension = group["analogy_dim"][()]
            assert group["latent_class"][()][:, dimension].tolist() == list(range(7))
            assert group["dist"][()] == levels[1, dimension] - levels[0, dimension]


def test_shuffled_candidates_are_written_in_the_published_order(tmp_path: Path) -> None:
    for shuffled in (False, True):
        task = dataclasses.replace(TASK, shuffled=shuffled)
        write(tmp_path / f"{shuffled}", task.draw(stream(0))[TRAINING])
    assert (tmp_path / "True").read_bytes() == (tmp_path / "False").read_bytes()


def test_integers_of_another_width_are_read_too(file: Path) -> None:
    expected = read(file)
    with h5py.File(file, "r+") as held:
        for group in held.values():
            for name in ("latent_class", "analogy_dim", "ABCD", "dist", "not_D"):
                value = group[name][()]
                del group[name]
                group[name] = value.astype("<i4")
    found = read(str(file))
    assert torch.equal(found.index, expected.index)
    assert torch.equal(found.items, expected.items)


def test_each_object_is_read_once(file: Path) -> None:
    found = read(file)
    codes = {tuple(image) for image in found.items.flatten(1).tolist()}
    assert len(codes) == len(found.items) == len(found.index.unique())


# --- What is refused -----------------------------------------------------------------------------


def replaced(name: str, value: object) -> Callable[[h5py.File], None]:
    def change(held: h5py.File) -> None:
        del held["3"][name]
        held["3"][name] = value

    return change


def without(name: str) -> Callable[[h5py.File], None]:
    def change(held: h5py.File) -> None:
        del held[name]

    return change


def linked(name: str, link: object) -> Callable[[h5py.File], None]:
    def change(held: h5py.File) -> None:
        del held[name]
        held[name] = link

    return change


def added(held: h5py.File) -> None:
    held["3"]["more"] = 1


def stored_elsewhere(held: h5py.File) -> None:
    del held["3"]["dist"]
    held["3"].create_dataset("dist", (1,), "i8", external=[("elsewhere", 0, 8)])


def chunked(name: str, chunks: int) -> Callable[[h5py.File], None]:
    """A dataset in chunks of so many numbers, of which it uses the first few."""

    def change(held: h5py.File) -> None:
        value = held["3"][name][()]
        del held["3"][name]
        made = held["3"].create_dataset(
            name,
            value.shape,
            value.dtype,
            maxshape=(None, *value.shape[1:]),
            chunks=(chunks, *value.shape[1:]),
            compression="gzip",
        )
        if chunks < 10_000:
            made[()] = value

    return change


def inflating(held: h5py.File) -> None:
    """A chunk whose stream unpacks to far more than the chunk holds."""
    chunked("ABCD", 4)(held)
    held["3/ABCD"].id.write_direct_chunk((0,), zlib.compress(bytes(100_000_000)))


def packed_twice(held: h5py.File) -> None:
    """What is packed is packed again, so that its size tells nothing."""
    value = held["3"]["ABCD"][()]
    del held["3"]["ABCD"]
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((4,))
    for _ in range(2):
        how.set_filter(h5py.h5z.FILTER_DEFLATE, 0, (9,))
    space, kind = h5py.h5s.create_simple((4,)), h5py.h5t.NATIVE_INT64
    h5py.h5d.create(held["3"].id, b"ABCD", kind, space, how).write(space, space, value)


def inflating_images(held: h5py.File) -> None:
    """A chunk of pictures that is small and unpacks to a hundred times what it holds."""
    chunked("imgs", 7)(held)
    packed = zlib.compress(bytes(8_000_000), 9)
    assert len(packed) < 10_000
    held["3/imgs"].id.write_direct_chunk((0, 0, 0, 0), packed)


def short(held: h5py.File) -> None:
    """A chunk that unpacks to less than it holds."""
    chunked("not_D", 6)(held)
    held["3/not_D"].id.write_direct_chunk((0,), zlib.compress(b"few"))


def unfiltered(held: h5py.File) -> None:
    """A chunk that says it is packed with no filter."""
    chunked("not_D", 6)(held)
    held["3/not_D"].id.write_direct_chunk((0,), bytes(8), filter_mask=1)


def packed_with(**how: object) -> Callable[[h5py.File], None]:
    def change(held: h5py.File) -> None:
        value = held["3/not_D"][()]
        del held["3/not_D"]
        held["3"].create_dataset("not_D", data=value, chunks=value.shape, **how)

    return change


def in_crumbs(held: h5py.File) -> None:
    value = held["3/imgs"][()]
    del held["3/imgs"]
    held["3"].create_dataset("imgs", value.shape, "u1", chunks=(1, 1, 1, 1))


def with_many(held: h5py.File) -> None:
    for number in range(100):
        held["3"][f"\x1b{number}"] = h5py.SoftLink("/")


def virtual(held: h5py.File) -> None:
    layout = h5py.VirtualLayout((4,), "i8")
    layout[:] = h5py.VirtualSource("elsewhere", "ABCD", (4,))
    del held["3"]["ABCD"]
    held["3"].create_virtual_dataset("ABCD", layout)


IMAGES = np.zeros((7, 64, 64, 3), np.uint8)
LEVELS = np.repeat(np.arange(7)[:, None], 4, axis=1)
WRONG = {
    "a problem is missing": (without("3"), "/3 is missing: problems must be numbered"),
    "a dataset is missing": (
        without("3/dist"),
        "/3 must hold imgs, .*, got ABCD, analogy_dim",
    ),
    "a dataset too many": (added, "/3 must hold imgs, .*, got ABCD, .*, more, not_D"),
    "floats": (replaced("imgs", IMAGES.astype(float)), "/3/imgs must be uint8 .* got float64"),
    "grey": (replaced("imgs", IMAGES[..., 0]), r"/3/imgs must be uint8 .*shape \(7, 64, 64\)"),
    "two images": (replaced("imgs", IMAGES[:2]), r"3…14 levels, got uint8 of shape \(2, 64, 64, 3"),
    "another size": (
        replaced("imgs", IMAGES[:, :9, :9]),
        r"/3/imgs must be of shape \(7, 64, 64, 3\) as in /0, got \(7, 9, 9, 3\)",
    ),
    "no rows": (replaced("imgs", h5py.Empty("u1")), "/3/imgs must be uint8 .* of shape None"),
    "few levels": (replaced("latent_class", LEVELS[:6]), r"/3/latent_class .*shape \(7, 4\), got"),
    "text": (replaced("analogy_dim", "size"), r"/3/analogy_dim must be integers of shape \(\)"),
    "float levels": (
        replaced("ABCD", np.ones(4)),
        r"/3/ABCD must be integers of shape \(4,\)",
    ),
    "a row": (replaced("dist", np.ones(1, int)), r"/3/dist must be .* got int64 of shape \(1,\)"),
    "dimension": (replaced("analogy_dim", 4), "/3/analogy_dim must be 0…3, got 4"),
    "levels": (
        replaced("latent_class", LEVELS),
        "/3/latent_class must ascend from 0 to 6 in",
    ),
    "negative": (replaced("latent_class", -LEVELS), "/3/latent_class must ascend"),
    "no analogy": (replaced("ABCD", [0, 1, 2, 4]), r"/3/ABCD must be an analogy .* \[0, 1, 2, 4\]"),
    "outside": (replaced("ABCD", [5, 6, 6, 7]), "/3/ABCD must be an analogy of indices 0…6"),
    "distance": (replaced("dist", 9), "/3/dist must be B − A = .*, got 9"),
    "foils": (replaced("not_D", np.arange(6, 12)), r"/3/not_D must be \[.*\], got \[6, 7"),
    "soft link": (linked("3", h5py.SoftLink("/2")), "/3 must stand in the file .* got a SoftLink"),
    "external link": (
        linked("3/imgs", h5py.ExternalLink("other.hy", "/0/imgs")),
        "/3/imgs must stand in the file itself, got a ExternalLink",
    ),
    "a dataset for a group": (linked("3", [1, 2]), "/3 must be a Group, got a Dataset"),
    "elsewhere": (stored_elsewhere, "/3/dist must hold its data itself, got data kept elsewhere"),
    "a large chunk": (
        chunked("ABCD", 100_000_000),
        r"/3/ABCD must be stored in chunks of at most 65,536 B, got .* of int64, 800,000,000 B",
    ),
    "a large chunk of images": (
        chunked("imgs", 342),
        r"/3/imgs must be stored in chunks of at most 4,194,304 B, got \(342, 64, 64, 3\)",
    ),
    "a chunk that inflates": (
        inflating,
        r"/3/ABCD must be at most 65,568 B when compressed with gzip, got 97,\d\d\d B, for",
    ),
    "packed twice": (
        packed_twice,
        "/3/ABCD must be compressed once at most, got 2 filters that compress",
    ),
    "images that inflate": (
        inflating_images,
        r"/3/imgs must have chunks of 86,016 B, .* the one at \(0, 0, 0, 0\) has more",
    ),
    "a short chunk": (short, r"/3/not_D must have chunks of 48 B, .* the one at \(0,\) has 3 B"),
    "a chunk not packed": (unfiltered, "/3/not_D must have chunks of 48 B, packed with every"),
    "another filter": (
        packed_with(compression="lzf"),
        r"/3/not_D must be compressed with gzip or not at all, got filters \[32000\]",
    ),
    "offsets": (packed_with(scaleoffset=0), r"/3/not_D must be compressed .* filters \[6\]"),
    "crumbs": (in_crumbs, "/3/imgs must be stored in at most 4,096 chunks, got 86,016"),
    "many members": (with_many, "/3 must hold imgs, .*, not_D, got 106 members"),
    "a group twice": (
        lambda held: held.move("3", "x") or held.__setitem__("3", held["2"]),
        "/2 must stand in the file once, got 2 links to it",
    ),
    "a field's name": (
        replaced("dist", np.zeros((), [("\x1b[2J\u202e", "i8")])),
        r"/3/dist must be integers of shape \(\), got",
    ),
    "virtual": (virtual, "/3/ABCD must hold its data itself, got data kept elsewhere"),
}


@pytest.mark.parametrize("change, message", WRONG.values(), ids=WRONG)
def test_what_is_no_problem_of_vaec_is_refused(
    file: Path, change: Callable[[h5py.File], None], message: str
) -> None:
    with h5py.File(file, "r+") as held:
        change(held)
    with pytest.raises(ValueError, match=message) as refused:
        read(file)
    assert str(file) in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("how", [{}, {"shuffle": True}, {"shuffle": True, "fletcher32": True}])
def test_filters_that_make_nothing_of_their_own_are_read(file: Path, how: dict[str, bool]) -> None:
    expected = read(file)
    with h5py.File(file, "r+") as held:
        packed_with(compression="gzip", **how)(held)
    assert torch.equal(read(file).table(), expected.table())


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "circle"])
def test_only_regular_files_are_opened(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "analogy.hy"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "circle":
            path.symlink_to(path)
    with pytest.raises(ValueError, match=r"analogy\.hy must be a whole HDF5 file of VAEC problems"):
        read(path)


def test_a_tilde_is_the_home_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(file.parent))
    problems = read(f"~/{file.name}")
    write("~/again.hy", problems)
    assert torch.equal(read(file.parent / "again.hy").table(), problems.table())


def test_names_are_shown_without_their_control_characters(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J.hy").write_bytes(b"no HDF5")
    with pytest.raises(ValueError, match=r"/\\x1b\[2J\.hy must be a whole") as told:
        read(tmp_path / "\x1b[2J.hy")
    assert str(told.value).isprintable()


def test_datasets_in_chunks_are_read(file: Path) -> None:
    expected = read(file)
    with h5py.File(file, "r+") as held:
        for name, chunks in {"ABCD": 1024, "not_D": 2, "latent_class": 1, "imgs": 341}.items():
            chunked(name, chunks)(held)
    assert torch.equal(read(file).table(), expected.table())


def test_a_damaged_chunk_is_named(file: Path) -> None:
    with h5py.File(file, "r+") as held:
        chunked("imgs", 7)(held)
        held["3/imgs"].id.write_direct_chunk((0, 0, 0, 0), b"no stream of deflate")
        chunked("not_D", 6)(held)
    refused = refusal(file)
    assert refused.startswith(f"{file}: /3/imgs must be whole, got a broken one: ")
    with h5py.File(file, "r+") as held:
        held["3/not_D"].id.write_direct_chunk((0,), b"no stream of deflate")
    assert refusal(file).startswith(f"{file}: /3/not_D must be whole, got a broken one: ")


def test_what_is_no_whole_file_is_refused(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-1], whole[:100], b"", b"PK\x03\x04"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"analogy_test1\.hy must be a whole HDF5 file"):
            read(file)
    with pytest.raises(ValueError, match=r"absent\.hy must be a whole HDF5 file .*No such file"):
        read(tmp_path / "absent.hy")
    with h5py.File(file, "w"):
        pass
    with pytest.raises(ValueError, match=r"analogy_test1\.hy must hold 1…2,000,000 .* got 0"):
        read(file)


def refusal(file: Path) -> str:
    """What is said of a file that is refused, or nothing."""
    try:
        read(file)
    except ValueError as error:
        return str(error)
    return ""


def test_a_broken_file_is_read_or_refused(file: Path) -> None:
    """Bytes changed anywhere: no other error than the one that is promised."""
    whole, generator = file.read_bytes(), np.random.default_rng(0)
    said = []
    for _ in range(60):
        broken = np.frombuffer(whole, np.uint8).copy()
        places = generator.integers(0, len(broken), 4000)
        broken[places] = generator.integers(0, 256, len(places))
        file.write_bytes(broken.tobytes())
        said.append(refusal(file))
    refused = [text for text in said if text]
    assert len(refused) > 20
    assert all(str(file) in text for text in refused)


def test_more_pictures_than_memory_should_hold_are_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farfield.tasks._vaec._vaec_files.LARGEST_TABLE", 7 * 64 * 64 * 3)
    with pytest.raises(ValueError, match="/1/imgs must leave the distinct pictures within 86,016"):
        read(file)


def test_other_problems_are_not_written(tmp_path: Path) -> None:
    problems = TASK.draw(stream(0))[TRAINING]
    with pytest.raises(
        ValueError, match=r"VAEC's, .* got items of \(32, 32\), lacking \['analogy'"
    ):
        write(tmp_path / "file.hy", SameDifferent().draw(stream(0))[TRAINING])
    turned = Problems(
        items=problems.items,
        index=2400 - problems.index,
        target=problems.target,
        latent=problems.latent,
    )
    with pytest.raises(ValueError, match="must be over a table in the order of the levels"):
        write(tmp_path / "file.hy", turned)
    assert files(tmp_path) == []


PROBLEMS = TASK.draw(stream(0))[TRAINING]


def described(**latent: torch.Tensor) -> Problems:
    """The problems of the task with another latent description."""
    return dataclasses.replace(PROBLEMS, latent={**PROBLEMS.latent, **latent})


UNREADABLE = {
    "none": (PROBLEMS[:0], "problems must be 1…2,000,000, got 0"),
    "distance": (
        described(distance=PROBLEMS.latent["distance"] + 5),
        r"latent\['distance'\] must be B − A, got -?\d+ in problem 0",
    ),
    "dimension": (
        described(dimension=torch.tensor([0, 1, 9, *[3] * 9])),
        r"latent\['dimension'\] must be 0…3, got 9 in problem 2",
    ),
    "another dimension": (
        described(dimension=(PROBLEMS.latent["dimension"] + 1) % 4),
        r"latent\['object'\] must be the levels 0…6 of A, along the dimension",
    ),
    "negative": (
        described(analogy=-PROBLEMS.latent["analogy"]),
        r"latent\['analogy'\] must be levels 0…6 with B − A = D − C",
    ),
    "no analogy": (
        described(analogy=PROBLEMS.latent["analogy"][:, [0, 1, 0, 1]]),
        r"latent\['analogy'\] must be levels .* neither A = B nor A = C, got \[\d, ",
    ),
    "two distances": (
        described(analogy=PROBLEMS.latent["analogy"][:, [0, 1, 2, 1]]),
        r"latent\['analogy'\] must be levels 0…6 with B − A = D − C",
    ),
    "outside": (
        described(object=PROBLEMS.latent["object"] + 7),
        r"latent\['object'\] must be the levels 0…6 of A",
    ),
    "floats": (
        described(distance=PROBLEMS.latent["distance"].double()),
        r"latent\['distance'\] must be integers of shape \(12,\), got torch\.float64",
    ),
    "columns": (
        described(object=PROBLEMS.latent["object"][:, :3]),
        r"latent\['object'\] must be integers of shape \(12, 4\), got .* shape \(12, 3\)",
    ),
    "float pictures": (
        dataclasses.replace(PROBLEMS, items=PROBLEMS.table().float()),
        r"items must be square uint8 pictures .*, got torch\.float32 of \(64, 64, 3\)",
    ),
    "oblong pictures": (
        dataclasses.replace(PROBLEMS, items=PROBLEMS.table()[:, :9]),
        r"items must be square uint8 pictures .* of \(9, 64, 3\)",
    ),
    "few candidates": (
        dataclasses.replace(PROBLEMS, index=PROBLEMS.index[:, :5]),
        "index must hold A, B, C and 3…14 candidates, got 5 positions",
    ),
    "no item": (dataclasses.replace(PROBLEMS, index=PROBLEMS.index + 9999), "index must lie in 0…"),
    "no candidate": (
        dataclasses.replace(PROBLEMS, target=PROBLEMS.target + 7),
        r"target must be one candidate, 0…6, .* \(12,\): \[7, 7, ",
    ),
}


@pytest.mark.parametrize("problems, message", UNREADABLE.values(), ids=UNREADABLE)
def test_what_would_be_refused_is_not_written(
    problems: Problems, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "made" / "file.hy", problems)
    assert files(tmp_path) == []


def test_more_pictures_than_are_read_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farfield.tasks._vaec._vaec_files.LARGEST_TABLE", 7 * 64 * 64 * 3)
    with pytest.raises(ValueError, match="must have distinct pictures of at most 86,016 bytes"):
        write(tmp_path / "file.hy", PROBLEMS)
    write(tmp_path / "file.hy", PROBLEMS[:1])
    assert len(read(tmp_path / "file.hy")) == 1


def test_a_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(file: Path) -> None:
    problems = TASK.draw(stream(0))[TRAINING]
    with pytest.raises(OSError, match="cannot write"):
        write(file / "file.hy", problems)
    assert files(file.parent) == [file.name]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    """A limit on the size of files stands in for a full disk; the system answers alike."""
    before = file.read_bytes()
    code = textwrap.dedent(
        """
        import resource, signal, sys
        from farfield.core import stream
        from farfield.tasks import VAECTranslation, write_vaec
        problems = VAECTranslation(problems_per_regime=20).draw(stream(0))["training"]
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))
        try:
            write_vaec(sys.argv[1], problems)
        except OSError as error:
            sys.exit(str(error))
        """
    )
    status, _, errors = run_forked(code, file)
    assert status == 1
    assert f"cannot write {file}" in errors
    assert file.read_bytes() == before
    assert files(file.parent) == [file.name]


def test_without_h5py_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[hdf5\]'"):
        read(tmp_path / "file.hy")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[hdf5\]'"):
        write(tmp_path / "file.hy", TASK.draw(stream(0))[TRAINING])
    assert files(tmp_path) == []

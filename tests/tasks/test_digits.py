"""Digits of several data sets: images, which are shown where, scores and the frozen version."""

from __future__ import annotations

import hashlib
import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from farfield.core import Problems, stream
from farfield.tasks import (
    DATA_SETS,
    TASKS,
    TRAINING,
    VALIDATION,
    Digits,
    is_at_hand,
)
from farfield.tasks._digits._digits import (
    BLEND_VERSION,
    BlendedImages,
    GreyImages,
    _house_numbers,
    corners,
    upsampled,
)
from farfield.tasks._files import _photographs as photographs
from farfield.tasks._files._known_data_sets import SVHN_EXCERPT
from farfield.tasks.internal import DataFile, DataSet, HasSubsets, metric_of
from oracles import digits as oracle
from tasks.sets import digest, drawn

NAMES = ("mnist", "mnist-m", "svhn-first1083")
SMALL = Digits(data_sets=NAMES, training_images=300, validation_images=50, test_images=60)
# The head of SHA-256 over which images all sets of run 0 show; a change of it raises `version`.
FROZEN = "00d3b8660b8c8cd7"
# The same over the bytes of some images, as this version of the decoder of JPEG files has them.
SHOWN = "2518f88a21b4d676"


@pytest.fixture
def files(data_folder: Path) -> Path:
    """The real images, or the test is skipped."""
    if not SMALL.is_at_hand():
        pytest.skip("MNIST, photographs or the excerpt of SVHN absent")
    return data_folder


@cache
def mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a part, as they are stored."""
    read = DATA_SETS["mnist"].read
    return read(f"{part}-images-idx3-ubyte.gz"), read(f"{part}-labels-idx1-ubyte.gz")


def image_bytes(sets: dict[str, Problems]) -> str:
    shown = {
        regime: Problems(items=torch.zeros(1), index=p.index, target=p[:40].sequences().flatten(1))
        for regime, p in ((r, p[:40]) for r, p in sets.items())
    }
    return digest(shown)


def test_drawn_sets_are_frozen_for_this_version(files: Path) -> None:
    assert (SMALL.version, BLEND_VERSION) == (1, 1)
    assert digest(drawn(SMALL)) == FROZEN
    assert image_bytes(drawn(SMALL)) == SHOWN


@pytest.mark.parametrize("seed", range(3))
def test_images_grow_as_the_fractions_say(seed: int) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (28, 28)).astype(np.uint8)
    found = upsampled(image)
    assert np.array_equal(found, oracle.upsampled(image, 32))
    assert np.array_equal(upsampled(255 - image)[0, 0], 255 - found[0, 0])


def test_images_grow_as_torch_s_do() -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 28, 28)).astype(np.uint8)
    expected = F.interpolate(
        torch.from_numpy(images)[:, None].double(), size=(32, 32), mode="bilinear"
    )
    assert np.array_equal(upsampled(images), (expected[:, 0] + 0.5).floor().numpy())
    for value in (0, 1, 255):
        assert (upsampled(np.full((28, 28), value, np.uint8)) == value).all()


def test_mnist_is_shown_in_all_colors_with_its_label(files: Path) -> None:
    for regime, problems in drawn(SMALL).items():
        part = "train" if regime in (TRAINING, VALIDATION) else "t10k"
        images, labels = mnist(part)
        own = torch.nonzero(problems.latent["data_set"] == 0)[:5, 0]
        for row in own.tolist():
            number = int(problems.latent["image"][row])
            shown = problems.sequences()[row, 0]
            expected = oracle.upsampled(images[number], 32)
            assert shown.dtype == torch.uint8
            assert np.array_equal(shown.numpy(), np.stack([expected] * 3))
            assert int(problems.target[row]) == labels[number]


def test_mnist_m_is_the_difference_to_a_piece_of_a_photograph(files: Path) -> None:
    paths = sorted((files / "sr" / "bsd200").glob("*.jpg"))
    for regime in (TRAINING, "mnist-m"):
        part = "train" if regime == TRAINING else "t10k"
        images, labels = mnist(part)
        problems = drawn(SMALL)[regime]
        mixture = problems.items.draw.parts[1]
        for row in torch.nonzero(problems.latent["data_set"] == 1)[:4, 0].tolist():
            number = int(problems.latent["image"][row])
            which, top, left = mixture.corners[number].tolist()
            with Image.open(paths[which]) as photograph:
                behind = np.asarray(photograph.convert("RGB"))
            blended = oracle.blended(images[number], behind, top, left)
            expected = np.stack([oracle.upsampled(color, 32) for color in blended])
            assert np.array_equal(problems.sequences()[row, 0].numpy(), expected)
            assert int(problems.target[row]) == 10 + labels[number]


def test_digits_stand_over_photographs_in_every_color() -> None:
    generator = np.random.default_rng(0)
    digits = generator.integers(0, 256, (3, 28, 28)).astype(np.uint8)
    behind = generator.integers(0, 256, (30, 40, 3)).astype(np.uint8)
    whole = photographs.Photographs(pixels=behind.reshape(-1, 3), sizes=np.array([[30, 40]]))
    places = np.array([[0, 0, 0], [0, 2, 12], [0, 1, 5]])
    shown = BlendedImages(digits, whole, places)(np.array([2, 1]))
    for found, number in zip(shown, (2, 1), strict=True):
        blended = oracle.blended(digits[number], behind, *places[number, 1:])
        expected = np.stack([oracle.upsampled(color, 32) for color in blended])
        assert np.array_equal(found, expected)


def test_a_matlab_file_is_read_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy.io import savemat

    images = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 4)).astype(np.uint8)
    content = io.BytesIO()
    savemat(content, {"X": images, "y": np.array([[10], [1], [9], [10]], np.uint8)})
    file = DataFile(
        name="few.mat",
        sha256=hashlib.sha256(content.getvalue()).hexdigest(),
        size=len(content.getvalue()),
        shape=images.shape,
    )
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "few.mat").write_bytes(content.getvalue())
    few = DataSet(name="few", files=(file,), mirrors=(), licence="none")
    shown, labels = _house_numbers(few, "few.mat")
    assert labels.tolist() == [0, 1, 9, 0]
    assert np.array_equal(shown(np.array([2]))[0], images[..., 2].transpose(2, 0, 1))


def test_house_numbers_are_shown_as_they_are_and_ten_is_zero(files: Path) -> None:
    from scipy.io import loadmat

    held = loadmat(files / "svhn" / "train_first1083_32x32.mat")
    counts = np.zeros(10, int)
    whole = Digits(data_sets=("svhn-first1083",))
    for problems in drawn(whole).values():
        shift = 866 if len(problems) == 217 else 0
        for row, target in enumerate(problems.target.tolist()):
            number = int(problems.latent["image"][row]) + shift
            assert target == held["y"][number, 0] % 10
            counts[target] += 1
            if row < 5:
                shown = problems.sequences()[row, 0].numpy()
                assert np.array_equal(shown, held["X"][..., number].transpose(2, 0, 1))
    assert counts.tolist() == [66, 227, 141, 134, 110, 112, 78, 70, 78, 67]


def test_pieces_are_anywhere_in_any_photograph() -> None:
    sizes = np.array([[28, 100], [60, 28], [40, 40]])
    found = corners(stream(0, "test"), 6_000, sizes)
    assert np.array_equal(found, corners(stream(0, "test"), 6_000, sizes))
    assert abs(np.bincount(found[:, 0]) - 2_000).max() < 4 * np.sqrt(6_000 * 2 / 9)
    for number, (height, width) in enumerate(sizes):
        own = found[found[:, 0] == number]
        assert set(own[:, 1]) == set(range(height - 27))
        assert set(own[:, 2]) == set(range(width - 27))
    pieces = photographs.Photographs(
        pixels=np.arange(3 * (2_800 + 1_680 + 1_600)).astype(np.uint8).reshape(-1, 3), sizes=sizes
    ).pieces(found[:50], 28)
    whole = np.arange(3 * (2_800 + 1_680 + 1_600)).astype(np.uint8)
    ends = np.cumsum(3 * sizes.prod(1))
    pictures = [
        part.reshape(*size, 3) for part, size in zip(np.split(whole, ends[:-1]), sizes, strict=True)
    ]
    for piece, (number, row, column) in zip(pieces, found[:50], strict=True):
        assert np.array_equal(piece, pictures[number][row : row + 28, column : column + 28])


def test_sets_share_no_image_and_forms_of_a_digit_stay_together(files: Path) -> None:
    sets = drawn(SMALL)
    counts = {"mnist": (300, 50), "mnist-m": (300, 50), "svhn-first1083": (300, 50)}
    numbers: dict[tuple[int, str], set[int]] = {}
    for place, name in enumerate(NAMES):
        for regime, count in zip((TRAINING, VALIDATION), counts[name], strict=True):
            of = sets[regime].latent["data_set"] == place
            own = sets[regime].latent["image"][of].tolist()
            assert len(own) == len(set(own)) == count
            numbers[place, regime] = set(own)
        assert not numbers[place, TRAINING] & numbers[place, VALIDATION]
        assert set(sets[name].latent["data_set"].tolist()) == {place}
        assert len(sets[name]) == 60
    assert numbers[0, VALIDATION] == numbers[1, VALIDATION]


def test_no_image_is_left_out_and_none_is_for_two_purposes() -> None:
    whole = {r: Digits(data_sets=NAMES)._rows(r, stream(3)) for r in (TRAINING, VALIDATION)}
    for place, (training, validation) in enumerate([(55_000, 5_000)] * 2 + [(780, 86)]):
        own = [rows[rows[:, 0] == place, 1] for rows in whole.values()]
        assert [len(part) for part in own] == [training, validation]
        assert np.array_equal(np.sort(np.concatenate(own)), np.arange(training + validation))
    for rows in whole.values():
        first, second = (np.sort(rows[rows[:, 0] == place, 1]) for place in (0, 1))
        assert np.array_equal(first, second)
    of_svhn = Digits()
    assert [len(of_svhn._rows(r.name, stream(0))) for r in of_svhn.regimes] == [
        55_000 + 55_000 + 68_257,
        15_000,
        10_000,
        10_000,
        26_032,
    ]


def test_data_sets_are_mixed_from_the_first_problem_on(files: Path) -> None:
    for regime in (TRAINING, VALIDATION):
        counts = np.bincount(drawn(SMALL)[regime].latent["data_set"][:60], minlength=3)
        assert counts.min() > 8


def test_outputs_of_other_data_sets_are_not_looked_at() -> None:
    target = torch.from_numpy(np.random.default_rng(0).integers(0, 30, 150))
    problems = Problems(
        items=torch.zeros(150, 3, 32, 32, dtype=torch.uint8),
        index=torch.arange(150)[:, None],
        target=target,
        latent={"data_set": target // 10},
    )
    outputs = torch.randn(150, 30, generator=stream(0).torch(), dtype=torch.float64)
    score, loss = SMALL.score(outputs, problems), SMALL.loss(outputs, problems)
    for row in range(150):
        place, digit = divmod(int(problems.target[row]), 10)
        assert place == problems.latent["data_set"][row]
        own = outputs[row, 10 * place : 10 * place + 10].numpy()
        assert float(score[row]) == float(own.argmax() == digit)
        assert float(loss[row]) == pytest.approx(np.log(np.exp(own).sum()) - own[digit], rel=1e-12)
        others = outputs[row].clone()
        others[:] = torch.nan
        others[10 * place : 10 * place + 10] = outputs[row, 10 * place : 10 * place + 10]
        assert SMALL.score(others[None], problems[row : row + 1]) == score[row]
    assert not SMALL.score(torch.full_like(outputs, torch.nan), problems).any()
    with pytest.raises(ValueError, match=r"outputs must be of \(batch, outputs\) = \(150, 30\)"):
        SMALL.loss(outputs[:, :10], problems)


def test_the_ceiling_and_the_parts_of_every_set(files: Path) -> None:
    for problems in drawn(SMALL).values():
        assert SMALL.score(SMALL.oracle(problems), problems).all()
        parts = SMALL.parts(problems)
        assert all(chosen.any() for chosen in parts.values())
        assert torch.equal(torch.stack(list(parts.values())).sum(0), torch.ones(len(problems)))


def test_regimes_and_shapes() -> None:
    task = Digits()
    names = [regime.name for regime in task.regimes]
    assert names == [TRAINING, VALIDATION, "mnist", "mnist-m", "svhn"]
    assert {regime.distance for regime in task.regimes} == {0}
    assert (task.item_shape, task.length, task.num_outputs) == ((3, 32, 32), 1, 30)
    assert (task.segments, metric_of(task), task.chance("svhn")) == (((0,),), "accuracy", 0.1)
    assert TASKS["digits"] is Digits
    assert isinstance(task, HasSubsets)
    assert Digits(data_sets=("svhn",)).num_outputs == 10


def test_samples_come_from_the_set_of_their_regime(files: Path) -> None:
    task = Digits(data_sets=("mnist", "svhn-first1083"), training_images=50, test_images=20)
    for regime in (task.regimes[0], task.regimes[-1]):
        first = task.sample(regime.name, 9, stream(0).numpy())
        known = drawn(task)[regime.name].latent
        pairs = set(zip(known["data_set"].tolist(), known["image"].tolist(), strict=True))
        latent = first.latent
        found = set(zip(latent["data_set"].tolist(), latent["image"].tolist(), strict=True))
        assert found <= pairs


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any data."""
    monkeypatch.setenv("FARFIELD_DATA", str(tmp_path))
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_without_the_files_it_says_how_to_get_them(nothing: Path) -> None:
    assert not is_at_hand(Digits())
    for name, said in (
        ("mnist", "run `farfield fetch mnist`"),
        ("svhn", "run `farfield fetch svhn`, or set FARFIELD_DATA"),
        ("svhn-first1083", "train_first1083_32x32.mat .*: set FARFIELD_DATA to a folder"),
    ):
        with pytest.raises(ValueError, match=said):
            Digits(data_sets=(name,)).draw(stream(0))
    with pytest.raises(ValueError, match="photographs must name a folder with JPEG files"):
        photographs.read_photographs(photographs.BSD, 28)


@pytest.mark.parametrize("cut", [0, 100, -1])
def test_another_matlab_file_is_never_opened(
    nothing: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    """A file cut short, or one that holds a pickle, is refused by its digest."""
    name = SVHN_EXCERPT.files[0].name
    (nothing / "svhn").mkdir()
    whole = data_folder / "svhn" / name
    content = whole.read_bytes()[:cut] if whole.is_file() and cut else b"\x80\x04]\x94."
    (nothing / "svhn" / name).write_bytes(content)
    monkeypatch.setattr("scipy.io.loadmat", lambda *_, **__: pytest.fail("it was opened"))
    assert Digits(data_sets=("svhn-first1083",)).is_at_hand()
    with pytest.raises(ValueError, match=f"{name} must be the published file of 2656352 bytes"):
        Digits(data_sets=("svhn-first1083",)).draw(stream(0))


def jpeg(width: int, height: int, mode: str = "RGB") -> bytes:
    content = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3)).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(content, "JPEG")
    return content.getvalue()


def huge() -> bytes:
    """A JPEG file of a few hundred bytes that says it has 65,500 × 65,500 pixels."""
    content = jpeg(30, 30)
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + b"\xff\xdc\xff\xdc" + content[place + 4 :]


@pytest.mark.parametrize(
    "content",
    [b"", jpeg(40, 40)[:300], jpeg(40, 40)[:-200], jpeg(27, 40), huge(), b"\x89PNG\r\n\x1a\n"],
    ids=["empty", "head", "cut", "narrow", "huge", "png"],
)
def test_a_photograph_that_is_none_is_named(nothing: Path, content: bytes) -> None:
    folder = nothing / "own"
    folder.mkdir()
    (folder / "a.jpg").write_bytes(jpeg(40, 50))
    (folder / "b.jpg").write_bytes(content)
    with pytest.raises(ValueError, match=r"b\.jpg must be a whole JPEG file"):
        photographs.read_photographs("own", 28)


def test_a_photograph_that_is_no_file_is_named(nothing: Path) -> None:
    folder = nothing / "own"
    folder.mkdir()
    (folder / "a.jpg").write_bytes(jpeg(40, 50))
    (folder / "b.jpg").symlink_to("absent.jpg")
    with pytest.raises(ValueError, match=r"b\.jpg must be a photograph: No such file"):
        photographs.read_photographs("own", 28)
    (folder / "absent.jpg").symlink_to("b.jpg")
    with pytest.raises(ValueError, match=r"absent\.jpg must be a photograph: Too many"):
        photographs.read_photographs("own", 28)
    (folder / "absent.jpg").unlink()
    (folder / "absent.jpg").mkdir()
    with pytest.raises(ValueError, match=r"absent\.jpg must be a photograph: it must be a regular"):
        photographs.read_photographs("own", 28)


def test_photographs_of_one_s_own_are_read_in_the_order_of_their_names(nothing: Path) -> None:
    folder = nothing / "own"
    folder.mkdir()
    (folder / "b.jpg").write_bytes(jpeg(40, 50, "L"))
    (folder / "a.JPEG").write_bytes(jpeg(60, 30))
    (folder / "notes.txt").write_text("no photograph")
    for named in ("own", str(folder)):
        found = photographs.read_photographs(named, 28)
        assert found.sizes.tolist() == [[30, 60], [50, 40]]
        assert found.pixels.shape == (1_800 + 2_000, 3)
        assert photographs.has_photographs(named)
    assert not photographs.has_photographs("other")


def test_too_many_pixels_are_refused_before_they_are_unpacked(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (nothing / "own").mkdir()
    for name in "abc":
        (nothing / "own" / f"{name}.jpg").write_bytes(jpeg(40, 40))
    monkeypatch.setattr(photographs, "MOST_PIXELS", 4_000)
    with pytest.raises(ValueError, match=r"c\.jpg must be .* all photographs together at most 4,0"):
        photographs.read_photographs("own", 28)
    monkeypatch.setattr(photographs, "MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match="own must hold photographs of at most 1,000 bytes togeth"):
        photographs.read_photographs("own", 28)
    monkeypatch.setattr(photographs, "MOST_BYTES", 2**28)
    monkeypatch.setattr(photographs, "LARGEST_FILE", 100)
    with pytest.raises(
        ValueError, match=r"a\.jpg must be a photograph: it must be of at most 100 bytes"
    ):
        photographs.read_photographs("own", 28)


def test_other_photographs_are_not_taken_for_the_published_ones(nothing: Path) -> None:
    folder = nothing / "sr" / "bsd200"
    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(jpeg(40, 50))
    with pytest.raises(ValueError, match="must hold the 200 training photographs of BSDS500"):
        photographs.read_photographs(photographs.BSD, 28)


def test_grey_images_have_equal_colors() -> None:
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype(np.uint8)
    shown = GreyImages(images)(np.array([3, 1]))
    assert shown.shape == (2, 3, 32, 32)
    assert np.array_equal(shown[0, 0], oracle.upsampled(images[3], 32))
    assert np.array_equal(shown[:, 0], shown[:, 2])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data_sets": "mnist"}, "data_sets must be a tuple .*, got 'mnist'"),
        ({"data_sets": ("mnist", "mnistm")}, "unknown data set 'mnistm'; did you mean 'mnist-m'"),
        ({"data_sets": ()}, "data_sets must name one data set or more"),
        ({"data_sets": ("svhn", "svhn-first1083")}, "no excerpt beside its whole"),
        ({"data_sets": ("mnist", "mnist")}, "none of them twice"),
        ({"training_images": 0}, "training_images must be an int 1…73257, got 0"),
        ({"validation_images": 0}, "validation_images must be an int 1…73257, got 0"),
        ({"test_images": 73_258}, "test_images must be an int 1…73257"),
    ],
)
def test_bad_fields_are_named(fields: dict[str, object], message: str, unchecked: None) -> None:
    with pytest.raises(ValueError, match=message):
        Digits(**fields)

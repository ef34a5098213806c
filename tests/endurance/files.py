"""Files that are cut short, made up or far larger than they say, for all that reads files."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import json
import lzma
import os
import random
import resource
import shutil
import struct
import tarfile
import tempfile
import time
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from PIL import Image

from endurance.kills import MEMORY, Fault, Moment, in_child
from endurance.kinds import KINDS
from farfield.cli import main as command_line
from farfield.core import FarfieldError, Problems, stream
from farfield.core.internal import read_picture
from farfield.execution import run
from farfield.execution.internal import runs_under_way
from farfield.experiments import Experiment
from farfield.models import SRCNN
from farfield.records import Store
from farfield.records.internal import DamageWarning, read_tensors, write_tensors
from farfield.reports._export._export import load_wanted
from farfield.reports._report._levels import _load as load_levels
from farfield.reports.internal import load_export, load_figure
from farfield.tasks import ProgressiveMatrices, VAECTranslation, WordText, read_vaec, write_vaec
from farfield.tasks._files._data_sets import DataFile, DataSet, tar_files, unpack_gzip, unpack_xz
from farfield.tasks._files._photographs import read_grey_png, read_photographs
from farfield.tasks._restoration._super_resolution import luma_pairs
from farfield.tasks.internal import read_matrices
from farfield.training import train
from farfield.training.internal import Clock, OneNetwork

RESULTS = Path(__file__).resolve().parents[2] / "results"
SECONDS, MEGABYTES = 1.0, 200.0
"""Most processor time and memory that a file may take."""
PATIENCE = 30.0
"""Seconds after which a reader hangs."""
LARGE = 10**8
"""Bytes that a few kilobytes unpack to."""
LONGEST = 1_500
"""Characters of an error."""

Hurt = Callable[[bytes, random.Random], bytes]


# --- What is done to any file --------------------------------------------------------------------


def cut_short(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def emptied(content: bytes, draw: random.Random) -> bytes:
    return b""


def begun_otherwise(content: bytes, draw: random.Random) -> bytes:
    return draw.randbytes(8) + content[8:]


def made_of_noise(content: bytes, draw: random.Random) -> bytes:
    return draw.randbytes(len(content))


def flipped(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def huge_inside(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(min(200, len(content)))
    return (
        content[:place]
        + (10**12).to_bytes(8, draw.choice(("little", "big")))
        + content[place + 8 :]
    )


def negative_inside(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(min(200, len(content)))
    return content[:place] + b"\xff" * 4 + content[place + 4 :]


def nested_deeply(content: bytes, draw: random.Random) -> bytes:
    return b'{"a":' + b"[" * 500_000


def no_text(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content))
    return content[:place] + b"\xff\xfe\x00\x1b[2J" + content[place:]


def twice(content: bytes, draw: random.Random) -> bytes:
    return content + content


HURTS: tuple[Hurt, ...] = (
    cut_short, emptied, begun_otherwise, made_of_noise, flipped, huge_inside, negative_inside,
    nested_deeply, no_text, twice,
)  # fmt: skip


def replaced(path: Path, draw: random.Random) -> str:
    """Put something else than a file at a path; returns what."""
    kinds = ("a folder", "a circle of links", "a pipe", "endless zeros", "a terabyte of zeros")
    kind = draw.choice(kinds)
    path.unlink()
    match kind:
        case "a folder":
            path.mkdir()
        case "a circle of links":
            path.symlink_to(path)
        case "a pipe":
            os.mkfifo(path)
        case "a terabyte of zeros":
            path.touch()
            os.truncate(path, 1 << 40)  # which takes no room
        case _:
            path.symlink_to("/dev/zero")
    return kind


# --- What is done to files of some kinds ---------------------------------------------------------

ODD = (
    float("nan"), float("inf"), -1, 0, 10**12, 2**64, 1e308, True, None, "", "\x1b[2J\u202e", "..",
    "../../etc/passwd", "os.system", "\ud800", [], {}, [[[]]], "x" * 10_000,
)  # fmt: skip


def _leaves(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in JSON: what holds it, and where in there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs) if isinstance(value, dict | list) else ():
        yield value, key
        if isinstance(inner, dict | list):
            yield from _leaves(inner)


def _odd(plain: Any, draw: random.Random) -> bytes:
    """JSON with another value, a key less or a key twice, anywhere in it."""
    holder, key = draw.choice([*_leaves(plain)])
    if draw.random() < 0.7:
        holder[key] = draw.choice(ODD)
        return json.dumps(plain).encode()
    if draw.random() < 0.5:
        del holder[key]
        return json.dumps(plain).encode()
    text = json.dumps(plain)
    return (text[0] + text[1 : text.find(",") + 1] + text[1:]).encode()


def odd_line(content: bytes, draw: random.Random) -> bytes:
    lines = content.splitlines()
    place = draw.randrange(len(lines))
    lines[place] = _odd(json.loads(lines[place]), draw)
    return b"\n".join(lines) + b"\n"


def odd_document(content: bytes, draw: random.Random) -> bytes:
    return _odd(json.loads(content), draw)


def odd_tensors(content: bytes, draw: random.Random) -> bytes:
    size = int.from_bytes(content[:8], "little")
    head = _odd(json.loads(content[8 : 8 + size]), draw)
    return len(head).to_bytes(8, "little") + head + content[8 + size :]


def odd_toml(content: bytes, draw: random.Random) -> bytes:
    lines = content.decode().splitlines()
    place = draw.choice([n for n, line in enumerate(lines) if " = " in line])
    lines[place] = lines[place].partition("=")[0] + draw.choice(
        ("= nan", "= -1", "= 1979-05-27", "= [[1]]", '= "\\u001b[2J"', "= 10e400", "=", "= {a = 1}")
    )
    return "\n".join(lines).encode()


def odd_array(content: bytes, draw: random.Random) -> bytes:
    """An npz file one of whose arrays is another."""
    with np.load(io.BytesIO(content)) as held:
        arrays = dict(held)
    name = draw.choice([*arrays])
    array = arrays[name]
    arrays[name] = draw.choice(
        (
            np.full(array.shape, np.nan),
            -1 - array.astype(np.int64),
            array.astype(complex),
            array[None],
            array.ravel()[:0],
            array.astype(object),
            np.array("text"),
        )
    )
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def odd_archive(content: bytes, draw: random.Random) -> bytes:
    """A zip archive with a member that is far larger than it is packed, or that says other."""
    with zipfile.ZipFile(io.BytesIO(content)) as held:
        members = {name: held.read(name) for name in held.namelist()}
    name, written = draw.choice([*members]), io.BytesIO()
    shape = draw.choice((b"1000000000000", b"-1", b"1e9", b"True"))
    head = b"{'descr': '<i8', 'fortran_order': False, 'shape': (" + shape + b",), }"
    announced = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    with warnings.catch_warnings(), zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for own, data in members.items():
            archive.writestr(own, data)
        match draw.randrange(4):
            case 0:
                archive.writestr(name, bytes(LARGE))
            case 1:
                archive.writestr(f"../../{name}", members[name])
            case 2:
                archive.writestr(name, announced + bytes(LARGE // 10))
            case _:
                for number in range(3_000):
                    archive.writestr(f"{number}.npy", b"")
    return written.getvalue()


def odd_hdf5(content: bytes, draw: random.Random) -> bytes:
    import h5py

    held = io.BytesIO(content)
    with h5py.File(held, "r+") as file:
        group = file[draw.choice([*file])]
        name = draw.choice([*group])
        array = group[name][()]
        del group[name]
        match draw.randrange(5):
            case 0:
                group[name] = h5py.ExternalLink("/etc/passwd", "/")
            case 1:
                group[name] = h5py.SoftLink(f"/0/{name}")
            case 2:
                group[name] = np.full(np.shape(array), np.nan)
            case 3:
                group.create_dataset(name, (10**6, 10**6), "f8", chunks=(1000, 1000))
            case _:
                group[name] = "text"
    return held.getvalue()


def bomb_in_gzip(content: bytes, draw: random.Random) -> bytes:
    return gzip.compress(bytes(LARGE), 1)


def bomb_in_xz(content: bytes, draw: random.Random) -> bytes:
    return lzma.compress(bytes(LARGE), preset=0)


def odd_tar(content: bytes, draw: random.Random) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        member = tarfile.TarInfo(draw.choice(("../a", "/etc/a", "a" * 300, "\udcff")))
        member.type = draw.choice(
            (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
        )
        member.linkname = "/etc/passwd"
        archive.addfile(member)
    return written.getvalue()


def large_picture(content: bytes, draw: random.Random) -> bytes:
    """A picture of a billion pixels in a few kilobytes."""
    written, pixels = io.BytesIO(), (40_000, 25_000)
    Image.new("1", pixels).save(written, "PNG", compress_level=1)
    return written.getvalue()


def odd_words(content: bytes, draw: random.Random) -> bytes:
    return draw.choice(
        (
            b"x" * 10**7,
            b"x " * 10**6,
            b"\n" * 10**6,
            b"a \x00 b\n",
            b"\xf0\x9f\x98\x80 \xed\xa0\x80\n",
            codecs.BOM_UTF8,
            codecs.BOM_UTF8 + codecs.BOM_UTF8 + content,
            content + codecs.BOM_UTF8 + content,
            content.decode().encode("latin-1") + "\xe9".encode("latin-1"),
            b"\r",
            b" \t\v\f\n",
            "\u2028\x85\x1c\u202ea\x1b[2J\n".encode(),
        )
    )


def same_words(content: bytes, draw: random.Random) -> bytes:
    """The same words with another end of lines, or in another encoding."""
    text = content.decode()
    return draw.choice(
        (
            codecs.BOM_UTF8 + content,
            codecs.BOM_UTF8 + content.replace(b"\n", b"\r\n"),
            codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
            codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
            codecs.BOM_UTF32_BE + text.encode("utf-32-be"),
            text.encode("utf-16-le"),
            text.encode("utf-16-be"),
            content.replace(b"\n", b"\r\n"),
            content.replace(b"\n", b"\r"),
            content.removesuffix(b"\n"),
            content.replace(b"\n", b" \t\n"),
        )
    )


def _with_exif(content: bytes, entry: bytes) -> bytes:
    """A PNG or JPEG file with one entry of EXIF, in front of what else it says."""
    exif = b"MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)
    if content.startswith(b"\x89PNG"):
        return _with_chunk(content, b"eXIf", exif)
    exif = b"Exif\0\0" + exif
    return content[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + content[2:]


def _with_chunk(content: bytes, kind: bytes, data: bytes) -> bytes:
    """A PNG file with one more chunk behind its head."""
    return content[:33] + _chunk(kind, data) + content[33:]


def _chunk(kind: bytes, data: bytes) -> bytes:
    end = zlib.crc32(kind + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + kind + data + end


def same_picture(content: bytes, draw: random.Random) -> bytes:
    """The same pixels, with an orientation that there is not, or metadata that unpack to much."""
    entry = draw.choice(
        (
            struct.pack(">HHIHxx", 0x0112, 3, 1, draw.choice((0, 1, 9, 0x8000, 0xFFFF))),
            struct.pack(">HHIi", 0x0112, 9, 1, -1),
            struct.pack(">HHIHH", 0x0112, 3, 2, 6, 6),
            struct.pack(">HHI4s", 0x0112, 2, 2, b"6"),
            struct.pack(">HHI4s", 0x0112, 7, 4, b"\6\6\6\6"),
        )
    )
    if content.startswith(b"\x89PNG") and draw.random() < 0.3:
        packed = zlib.compress(bytes(LARGE), 9)
        kind, head = draw.choice(((b"zTXt", b"a\0\0"), (b"iCCP", b"a\0\0")))
        return _with_chunk(content, kind, head + packed)
    return _with_exif(content, entry)


def odd_picture(content: bytes, draw: random.Random) -> bytes:
    """A picture of another size, kind or mode, or with EXIF that leads nowhere."""
    with Image.open(io.BytesIO(content)) as held:
        gray, form = held.convert("L"), held.format
    written = io.BytesIO()
    match draw.randrange(5):
        case 0:
            kind = draw.choice((2, 3, 4, 5, 7, 12, 13, 99, 0xFFFF))
            size, place = draw.choice((0, 1, 2, 2**31, 2**32 - 1)), draw.choice((0, 8, 2**32 - 1))
            return _with_exif(content, struct.pack(">HHII", 0x0112, kind, size, place))
        case 1:
            return _sized(content, *(draw.choice((0, 1, 7, 65_535)) for _ in range(2)))
        case 2:
            form = draw.choice(("GIF", "TIFF", "BMP", "WEBP", "PPM", "JPEG", "PNG"))
            gray.save(written, form)
        case 3:
            side = draw.choice(((1, 1), (1, 50_000), (50_000, 1)))
            gray.resize(side).save(written, form)
        case _:
            modes = {"JPEG": ("CMYK",)}.get(form, ("1", "P", "LA", "RGBA", "I;16"))
            mode = draw.choice(modes)
            other = gray if mode == "I;16" else gray.convert("RGB")
            more = {"transparency": 0} if mode == "P" and draw.random() < 0.5 else {}
            other.convert(mode).save(written, form, **more)
    return written.getvalue()


def _sized(content: bytes, width: int, height: int) -> bytes:
    """A picture whose head says another size."""
    if content.startswith(b"\x89PNG"):
        head = struct.pack(">II", width, height) + content[24:29]
        return content[:8] + _chunk(b"IHDR", head) + content[33:]
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + struct.pack(">HH", height, width) + content[place + 4 :]


KEEPS = (same_words, same_picture)
"""What leaves a file's content as it was: it is read so, or refused."""


# --- What reads files ----------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Reader:
    """A way in which the library reads files.

    Attributes:
        make: Writes what is whole, and gives the path of the file that will be hurt.
        read: Reads it; what it gives is compared.
        hurts: What is done to this kind of file alone.
        general: What is done to it as to any file.
        seals: Every change must be noticed, or change nothing.
        names: It opens the file by itself, and its errors must name it, or one beside it.
    """

    make: Callable[[Path], Path]
    read: Callable[[Path], object]
    hurts: tuple[Hurt, ...] = ()
    general: tuple[Hurt, ...] = HURTS
    seals: bool = False
    names: bool = True


def _problems(problems: Problems) -> bytes:
    return b"".join(
        t.numpy().tobytes() for t in (problems.table(), problems.index, problems.target)
    )


def _records(folder: Path) -> Path:
    kind = KINDS["chains"]
    run(kind.jobs, Store(folder), kind.executor)
    return folder / "records.sqlite"


def _all_records(path: Path) -> str:
    store = Store(path.parent)
    return repr([*map(store.records, store.keys())])


def _network(folder: Path) -> Path:
    job = KINDS["chains"].jobs[0]
    return Store(_records(folder).parent).weights_path(job.experiment.key, job.seed)


def _read_network(path: Path) -> bytes:
    job = KINDS["chains"].jobs[0]
    state = Store(path.parents[2]).weights(job.experiment.key, job.seed)
    return b"".join(state[name].numpy().tobytes() for name in sorted(state))


def _trained(path: Path) -> bytes:
    experiment = KINDS["chains"].jobs[0].experiment
    learner = OneNetwork(experiment, 0)
    train(learner, experiment, checkpoint=path, clock=Clock(checkpoint_seconds=0.0))
    state = learner.state()
    return b"".join(state[name].numpy().tobytes() for name in sorted(state))


def _checkpoint(folder: Path) -> Path:
    _trained(folder / "checkpoint")
    return folder / "checkpoint"


def _tensors(folder: Path) -> Path:
    write_tensors(folder / "w", {"a": torch.arange(6.0), "b": torch.ones(2, 3).double()}, "note")
    return folder / "w"


def _copied(source: str, name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join((RESULTS / source).read_bytes().splitlines(keepends=True)[:40]))
        return path

    return make


def _figure(folder: Path) -> Path:
    figure = RESULTS / "webb2020" / "figure-s2-quick.json"
    shutil.copytree(figure.parent, folder / "webb2020", ignore=shutil.ignore_patterns("*.jsonl"))
    return folder / "webb2020" / figure.name


def _under_way(folder: Path) -> Path:
    (folder / "progress").mkdir(exist_ok=True)
    path = folder / "progress" / "k-0.json"
    fields = dict.fromkeys(("key", "task", "model", "metric"), "k")
    numbers = dict.fromkeys(("seed", "step", "steps"), 3) | {"score": 0.5, "seconds": 1.0}
    path.write_text(json.dumps(fields | numbers | {"reported": 1.0}))
    return path


def _experiment(folder: Path) -> Path:
    (folder / "e.json").write_text(json.dumps(KINDS["chains"].jobs[-1].experiment.to_json()))
    return folder / "e.json"


def _matrix(folder: Path) -> Path:
    task = ProgressiveMatrices(image_size=160, training_problems=1, test_problems=1)
    problems, path = task.draw(stream(0))["training"], folder / "PGM_neutral_train_0.npz"
    panels = problems.items[problems.index[0]].numpy().reshape(160, 160, 16)
    np.savez_compressed(path, image=panels, target=problems.target[0].numpy())
    return path


def _list_of_matrices(folder: Path) -> Path:
    path = folder / "list.txt"
    path.write_text(f"{_matrix(folder).name}\n")
    return path


def _hdf5(folder: Path) -> Path:
    task = VAECTranslation(image_size=64, problems_per_regime=12)
    write_vaec(folder / "a.hy", task.draw(stream(0))["region-2"])
    return folder / "a.hy"


def _picture(name: str, side: int, mode: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        pixels = np.random.default_rng(0).integers(0, 256, (side, side), dtype=np.uint8)
        Image.fromarray(pixels).convert(mode).save(folder / name)
        return folder / name

    return make


SET = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
IDX = gzip.compress(
    bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]) + SET.tobytes(), mtime=0
)
FEW = DataSet(
    name="few",
    files=(
        DataFile(
            name="few.gz", sha256=hashlib.sha256(IDX).hexdigest(), size=len(IDX), shape=SET.shape
        ),
    ),
    mirrors=(),
    licence="none",
)


def _data_set(folder: Path) -> Path:
    (folder / "few").mkdir()
    (folder / "few" / "few.gz").write_bytes(IDX)
    return folder / "few" / "few.gz"


def _read_data_set(path: Path) -> bytes:
    os.environ["FARFIELD_DATA"] = str(path.parents[1])
    return FEW.read("few.gz").tobytes()


def _written(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return make


def _tar() -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return written.getvalue()


def _words(folder: Path) -> Path:
    for name in ("train.txt", "valid.txt", "test.txt"):
        (folder / name).write_text("one two three one two\nthree one\n" * 9)
    return folder / "train.txt"


def _read_words(path: Path) -> str:
    task = WordText(folder=str(path.parent), steps=4)
    return repr({name: _problems(own) for name, own in task.draw(stream(0)).items()})


def _command(*words: str) -> Callable[[Path], str]:
    """What a command says that reads a folder; an error is one line."""

    def read(path: Path) -> str:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                command_line([*words, str(path.parent)])
            except SystemExit as ended:
                if ended.code:
                    raise ValueError(err.getvalue().strip()) from None
        if err.getvalue():  # a warning
            raise ValueError(err.getvalue().strip())
        return out.getvalue()

    return read


PICTURES = (same_picture, odd_picture, large_picture, same_picture, odd_picture, odd_picture)

READERS = {
    "records": Reader(_records, _all_records, seals=True),
    "records, by command": Reader(_records, _command("runs", "list", "--records"), seals=True),
    "network": Reader(_network, _read_network, (odd_tensors,), seals=True),
    "checkpoint": Reader(_checkpoint, _trained, (odd_tensors,), seals=True),
    "tensors": Reader(_tensors, lambda path: repr(read_tensors(path)), (odd_tensors,)),
    "export": Reader(
        _copied("ren2017/table-8.jsonl", "table-8.jsonl"),
        lambda path: repr(load_export(path)),
        (odd_line,),
    ),
    "levels": Reader(
        _copied("floors-and-ceilings.jsonl", "l.jsonl"),
        lambda path: repr(load_levels(path)),
        (odd_line,),
    ),
    "figure": Reader(
        _figure, lambda path: repr(load_figure(path, path.parents[1])), (odd_document,)
    ),
    "wanted runs": Reader(
        _copied("wanted.toml", "wanted.toml"),
        lambda path: repr(load_wanted(path.parent)),
        (odd_toml,),
    ),
    "progress": Reader(
        _under_way, lambda path: repr(runs_under_way(path.parents[1])), (odd_document,)
    ),
    "experiment": Reader(
        _experiment,
        lambda path: Experiment.from_json(json.loads(path.read_bytes())).key,
        (odd_document,),
        general=(),
        names=False,
    ),
    "matrices": Reader(
        _matrix,
        lambda path: _problems(read_matrices(path.parent, image_size=80)),
        (odd_array, odd_archive),
    ),
    "list of matrices": Reader(
        _list_of_matrices, lambda path: _problems(read_matrices(path, image_size=80)), (odd_words,)
    ),
    "HDF5": Reader(_hdf5, lambda path: _problems(read_vaec(path)), (odd_hdf5, odd_hdf5)),
    "gray PNG": Reader(
        _picture("a.png", 32, "L"), lambda path: read_grey_png(path, 32).tobytes(), PICTURES
    ),
    "picture": Reader(
        _picture("a.png", 40, "RGB"), lambda path: read_picture(path).tobytes(), PICTURES
    ),
    "JPEG": Reader(
        _picture("a.jpg", 40, "RGB"), lambda path: read_picture(path).tobytes(), PICTURES
    ),
    "pictures of a folder": Reader(
        _picture("a.png", 40, "RGB"),
        lambda path: repr(
            [pair.sharp.numpy().tobytes() for pair in luma_pairs(str(path.parent), 2, 4)]
        ),
        PICTURES,
    ),
    "picture to enlarge": Reader(
        _picture("a.png", 40, "L"), lambda path: SRCNN().enlarge(path, 2).size, PICTURES
    ),
    "photograph": Reader(
        _picture("a.jpg", 40, "RGB"),
        lambda path: read_photographs(str(path.parent), 8).pixels.tobytes(),
        PICTURES,
    ),
    "data set": Reader(_data_set, _read_data_set, (bomb_in_gzip,), seals=True),
    "gzip": Reader(
        _written("a.gz", IDX),
        lambda path: unpack_gzip("a.gz", path.read_bytes(), 100),
        (bomb_in_gzip,),
        names=False,
    ),
    "xz": Reader(
        _written("a.xz", lzma.compress(bytes(50))),
        lambda path: unpack_xz("a.xz", path.read_bytes(), 100),
        (bomb_in_xz,),
        names=False,
    ),
    "tar": Reader(
        _written("a.tar", _tar()),
        lambda path: repr([*tar_files("a.tar", path.read_bytes())]),
        (odd_tar, odd_tar),
        names=False,
    ),
    "texts": Reader(_words, _read_words, (same_words, odd_words) * 3),
}


def said_by(error: BaseException) -> str:
    """What an error of ours says; raises `Fault` for one of an inner library."""
    is_ours = type(error) is ValueError or type(error).__module__.startswith("farfield.")
    if not (is_ours and isinstance(error, ValueError | FarfieldError)):
        raise Fault(f"{type(error).__name__}: {error}") from error
    return str(error)


def judged(reader: Reader, path: Path, expected: object) -> str:
    """What comes of reading a file that was hurt; raises `Fault` if that is not as it should be."""
    status = Path("/proc/self/status")
    before, started = _megabytes(status, "VmRSS"), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, said = reader.read(path), ""
        except Exception as error:  # noqa: BLE001 — which one it is, is the question
            found, said = None, said_by(error)
    seconds, more = time.process_time() - started, _megabytes(status, "VmHWM") - before
    said = said or next((str(w.message) for w in caught if w.category is DamageWarning), "")
    if other := [w for w in caught if w.category is not DamageWarning]:
        raise Fault(f"a warning of another's: {other[0].message}")
    if seconds > SECONDS or more > MEGABYTES:
        raise Fault(f"{seconds:.1f} s, {more:.0f} MB: {said[:200] or 'it is read'}")
    if said:
        if not said.isprintable() or len(said) > LONGEST:
            raise Fault(f"an error of {len(said)} characters: {said[:200]!r}")
        if reader.names and not any(name in said for name in (str(path.parent), path.name)):
            raise Fault(f"an error that does not name {path.name}: {said}")
        return "refused"
    if found == expected:
        return "read as it was"
    if reader.seals:
        raise Fault("read otherwise, and nothing was said")
    return "read otherwise"


def _megabytes(status: Path, name: str) -> float:
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    return int(lines[name].split()[0]) / 1024


def main(count: int, seed: int) -> tuple[str, bool]:
    """Hurt files of all kinds in turn; returns a line in words, and whether all is well.

    Args:
        count: How many files.
        seed: Decides what is done to them.
    """
    ends, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        wholes = {}
        for name, reader in READERS.items():
            home = Path(folder, "whole", name.replace(" ", "-"))
            home.mkdir(parents=True)
            path = reader.make(home)
            wholes[name] = (home, path.relative_to(home), reader.read(path))
        for number in range(count):
            name = [*READERS][number % len(READERS)]
            reader, (home, place, expected) = READERS[name], wholes[name]
            draw = random.Random(f"{seed} {number}")
            path = Path(folder, str(number)) / place
            shutil.copytree(home, Path(folder, str(number)))
            others = [*reader.general, *([replaced] if reader.names else ())]
            random.Random(f"{seed} {name}").shuffle(others)
            hurts = [*reader.hurts, *others]
            hurt = hurts[number // len(READERS) % len(hurts)]
            what = hurt.__name__.replace("_", " ")
            reader = replace(reader, seals=reader.seals or hurt in KEEPS)
            if hurt is replaced:
                what = replaced(path, draw)
            else:
                path.write_bytes(hurt(path.read_bytes(), draw))

            def work(end: int, reader=reader, path=path, expected=expected) -> None:
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                try:
                    said = ["end", judged(reader, path, expected)]
                except Fault as fault:
                    said = ["fault", str(fault)]
                os.write(end, json.dumps(said).encode() + b"\n")

            try:
                whole, lines = in_child(work, Moment(None, PATIENCE))
                kind, said = lines[-1] if whole and lines else ("fault", "it hangs")
            except Fault as fault:
                kind, said = "fault", str(fault)
            ends[said if kind == "end" else "faults"] += 1
            if kind == "fault":
                faults.append(f"file {number}, {name}, {what}: {said}")
                print(faults[-1], flush=True)
            shutil.rmtree(Path(folder, str(number)))
    told = ", ".join(f"{ends[end]} {end}" for end in sorted(ends))
    return f"{count:,} hostile files of {len(READERS)} kinds: {told}", not faults

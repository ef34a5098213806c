"""VAEC problems to HDF5 in the published layout, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from farfield.core import Problems
from farfield.tasks._vaec_layout import MEMBERS, PREMISES, hdf5
from farfield.tasks._vaec_problems import candidates_of

_DESCRIPTION = {"dimension", "analogy", "distance", "object"}


def write_vaec(path: str | Path, problems: Problems) -> None:
    """Write VAEC problems as the released generator does: HDF5, a group for each problem.

    Groups `"0"`, `"1"`, … hold `imgs` (uint8, the levels of the varied dimension in ascending
    order), `latent_class` (their levels within the region: X, Y, size, brightness), `analogy_dim`
    (0…3), `ABCD` (places in `imgs`), `dist` (B − A) and `not_D` (the foils). The seven pictures of
    a problem are 344 kB, a region is some 6.6 GB; nothing else here needs such a file. h5py writes
    it: `pip install 'farfield[hdf5]'`.

    ```py
    sets = VAECTranslation().draw(stream(0))
    write_vaec("analogy_train.hy", sets["training"])
    write_vaec("analogy_test1.hy", sets["region-2"])
    ```

    Args:
        path: The file; one that is there is replaced when the new one is whole.
        problems: Problems of one region or scale, as a task draws them or `read_vaec` gives them.

    Raises:
        ValueError: If these are no problems of VAEC.
        OSError: If the file cannot be written; nothing of it is left.
        ModuleNotFoundError: If h5py is not installed.

    Reference:
        webb2020, section 2.1.
    """
    path, h5py, columns = Path(path), hdf5(), _columns(problems)
    pictures = problems.table().cpu().numpy()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with h5py.File(temporary, "w") as file:
            for row in range(len(problems)):
                group = file.create_group(str(row))
                group["imgs"] = pictures[columns["imgs"][row]]
                for name in MEMBERS[1:]:
                    group[name] = columns[name][row]
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except (OSError, RuntimeError) as error:  # h5py raises either where the disk is full
        raise OSError(f"cannot write {path}: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _columns(problems: Problems) -> dict[str, np.ndarray]:
    """The datasets of all problems; of `imgs` the rows of the table."""
    lacking = sorted(_DESCRIPTION - set(problems.latent))
    if lacking or problems.items.shape[3:] != (3,):
        raise ValueError(
            "problems must be VAEC's, images in colour with their levels as latent description, "
            f"got items of {tuple(problems.items.shape[1:])}, lacking {lacking}"
        )
    latent = {name: problems.latent[name].cpu().numpy() for name in sorted(_DESCRIPTION)}
    dimension, analogy = latent["dimension"], latent["analogy"]
    imgs = _ascending(problems, analogy)
    level = np.arange(imgs.shape[1])
    levels = np.repeat(latent["object"][:, None], len(level), axis=1)
    levels[np.arange(len(levels))[:, None], level, dimension[:, None]] = level
    return {
        "imgs": imgs,
        "latent_class": levels,
        "analogy_dim": dimension,
        "ABCD": analogy,
        "dist": latent["distance"],
        "not_D": candidates_of(analogy[:, 3], len(level))[:, 1:],
    }


def _ascending(
    problems: Problems, analogy: Int64[np.ndarray, "batch 4"]
) -> Int64[np.ndarray, "batch candidate"]:
    """Rows of the candidates in the order of their levels, which is the order of the table."""
    places = problems.index.cpu().numpy()
    candidates = places[:, PREMISES:]
    right = np.take_along_axis(candidates, problems.target.cpu().numpy()[:, None], axis=1)
    ascending = np.sort(candidates, axis=1)
    terms = np.concatenate([places[:, :PREMISES], right], axis=1)
    if not np.array_equal(np.take_along_axis(ascending, analogy, axis=1), terms):
        raise ValueError(
            "problems must be over a table in the order of the levels, as the task draws it; in "
            "this one the candidates do not fit the levels of A, B, C and D"
        )
    return ascending

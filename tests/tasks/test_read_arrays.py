"""Tests of the readers of the user's data: values by hand, and files that are refused."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from farfield.core.internal import UnknownNameError
from farfield.tasks.internal import read_arrays

X, Y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1])


def npz(folder: Path, **arrays: np.ndarray) -> Path:
    path = folder / "data.npz"
    np.savez(path, **arrays)
    return path


def test_arrays_without_a_name_are_the_set_test(tmp_path: Path) -> None:
    sets = read_arrays(npz(tmp_path, x=X, y=Y))
    assert [*sets] == ["test"]
    np.testing.assert_array_equal(sets["test"][0], X)
    np.testing.assert_array_equal(sets["test"][1], Y)


@pytest.mark.parametrize("mark", ["-", "_"])
def test_the_name_behind_the_mark_is_the_set(mark: str, tmp_path: Path) -> None:
    arrays = {f"x{mark}training": X, f"y{mark}training": Y, f"x{mark}far-3": X + 5, "x": X - 5}
    sets = read_arrays(str(npz(tmp_path, **arrays)))
    assert {name: float(x[0, 0]) for name, (x, _) in sets.items()} == {
        "training": 1.0,
        "far-3": 6.0,
        "test": -4.0,
    }
    assert [name for name, (_, y) in sets.items() if y is not None] == ["training"]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": X, "y": np.array([0, 1, 1])}, "a target for each of 2 items"),
        ({"y": Y}, r"must have an array x or x_NAME, got y"),
        ({"x": X, "y-far": Y}, "it lacks those of far"),
        ({"train_x": X}, "must be named x and y, or x_NAME and y_NAME.*got 'train_x'"),
        ({"x_train": X}, "learn from must be named x_training, got 'x_train'"),
        ({"x_far": X, "x-far": X}, "must have each set once, got x-far, x_far"),
        ({"x-": X}, "got 'x-'"),
        ({"x": X, "y": np.array([0.5, np.nan])}, r"finite numbers, got nan in row 1 \(1 such"),
        ({"x": X.astype(object)}, "whole NPZ file of numbers or text: Object arrays"),
        ({"x": X.astype(complex)}, "array x must be of numbers or text, got complex128"),
        ({"x": np.float64(3)}, "must have an axis of items"),
        ({"x": X[:0], "y": Y[:0]}, "must have an item"),
    ],
)
def test_hostile_arrays_are_refused(tmp_path: Path, arrays: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_arrays(npz(tmp_path, **arrays))


def test_files_that_are_no_npz_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(b"\x80\x04K\x01.")  # a pickle
    with pytest.raises(ValueError, match="must be a whole NPZ file"):
        read_arrays(path)
    whole = npz(tmp_path, x=np.arange(1000.0)).read_bytes()
    path.write_bytes(whole[:500])
    with pytest.raises(ValueError, match="must be a whole NPZ file"):
        read_arrays(path)
    with pytest.raises(ValueError, match=r"path must be a file or a folder, there is no .*none"):
        read_arrays(tmp_path / "none.npz")
    (tmp_path / "data.pkl").touch()
    with pytest.raises(ValueError, match=r"path must be a folder of pictures or a file \.npz"):
        read_arrays(tmp_path / "data.pkl")
    with pytest.raises(ValueError, match="target must be a column of a table, got 'y'"):
        read_arrays(path, target="y")


def test_a_table_stays_a_data_frame_without_its_target(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,city,price\n30,Bern,1.5\n,Basel,2.5\n")
    (x, y) = read_arrays(path, target="price")["test"]
    expected = pd.DataFrame({"age": [30.0, np.nan], "city": ["Bern", "Basel"]})
    pd.testing.assert_frame_equal(x, expected)
    assert y is not None
    assert y.tolist() == [1.5, 2.5]
    assert read_arrays(path)["test"][0].shape == (2, 3)
    cities = read_arrays(path, target="city")["test"][1]
    assert cities is not None
    assert (cities.tolist(), cities.dtype.kind) == (["Bern", "Basel"], "U")


def test_tables_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("age,price\n30,1\n31,\n")
    with pytest.raises(ValueError, match=r"column 'price' must have a target.*row 1 has none"):
        read_arrays(path, target="price")
    with pytest.raises(UnknownNameError, match="column"):
        read_arrays(path, target="prize")
    path.write_text("price\n1\n")
    with pytest.raises(ValueError, match="must have a column beside 'price'"):
        read_arrays(path, target="price")
    path.write_text("")
    with pytest.raises(ValueError, match="must be a whole CSV file"):
        read_arrays(path)


def test_a_table_without_pandas_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'farfield\[frames\]'"):
        read_arrays(path)


def test_parquet_is_read_by_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(pd, "read_parquet", lambda _: pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    x, y = read_arrays(path, target="b")["test"]
    assert (list(x.columns), y.tolist()) == (["a"], [3, 4])

    def lacking(_: object) -> None:
        raise ImportError("no engine")

    monkeypatch.setattr(pd, "read_parquet", lacking)
    with pytest.raises(ModuleNotFoundError, match="pip install pyarrow"):
        read_arrays(path)


def picture(path: Path, level: int, mode: str = "L", size: tuple[int, int] = (3, 2)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, level).save(path)


def test_pictures_are_in_folders_of_classes(tmp_path: Path) -> None:
    picture(tmp_path / "dog" / "1.png", 7)
    picture(tmp_path / "cat" / "b.png", 9)
    picture(tmp_path / "cat" / "a.png", 8)
    (tmp_path / ".DS_Store").write_text("")
    (tmp_path / "cat" / "Thumbs.db").write_text("")
    x, y = read_arrays(tmp_path)["test"]
    assert (x.shape, x.dtype) == ((3, 2, 3), np.uint8)
    assert x[:, 0, 0].tolist() == [8, 9, 7]
    assert y.tolist() == ["cat", "cat", "dog"]


def test_folders_above_the_classes_are_sets(tmp_path: Path) -> None:
    picture(tmp_path / "training" / "cat" / "1.png", 1)
    picture(tmp_path / "far" / "cat" / "1.png", 2)
    picture(tmp_path / "far" / "dog" / "1.png", 0x0000FF, "RGB")
    sets = read_arrays(tmp_path)
    assert {name: (x.shape, y.tolist()) for name, (x, y) in sets.items()} == {
        "far": ((2, 2, 3, 3), ["cat", "dog"]),
        "training": ((1, 2, 3, 3), ["cat"]),
    }
    assert sets["far"][0][:, 0, 0].tolist() == [[2, 2, 2], [255, 0, 0]]


def test_pictures_without_folders_have_no_targets(tmp_path: Path) -> None:
    picture(tmp_path / "1.png", 5)
    assert read_arrays(tmp_path)["test"][1] is None


def test_folders_that_are_unclear_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"must hold pictures.*got no \.bmp, \.jpeg"):
        read_arrays(tmp_path)
    picture(tmp_path / "cat" / "1.png", 1)
    picture(tmp_path / "dog" / "1.png", 1, size=(4, 2))
    with pytest.raises(ValueError, match=r"of one size, .* is 3×2 and .* 4×2; resize"):
        read_arrays(tmp_path)
    picture(tmp_path / "2.png", 1)
    with pytest.raises(ValueError, match=r"got pictures in folders \[1, 2\] deep"):
        read_arrays(tmp_path)
    (tmp_path / "2.png").unlink()
    (tmp_path / "dog" / "1.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="must be a whole BMP, JPEG or PNG file"):
        read_arrays(tmp_path)

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.worlds.rearrange.original_file import OriginalFileError, read, values

PROTOCOLS = range(3, pickle.HIGHEST_PROTOCOL + 1)


class Runs:
    """Pickles to a call of anything with any arguments."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.told = (call, arguments)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.told


def written(path: Path, content: object, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(content, protocol))
    return path


def dataset(episodes: list[Any]) -> dict[str, Any]:
    return {
        "all_transforms": np.zeros((2, 4, 4), np.float32),
        "idx_to_name": {},
        "all_eps": episodes,
    }


class TestArrays:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    @pytest.mark.parametrize(
        "array",
        [
            np.arange(12, dtype=np.int64).reshape(3, 4),
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.array([1.5, -2.0], ">f4"),
            np.array([True, False]),
            np.zeros((0, 2), np.uint8),
        ],
    )
    def test_they_come_back_as_they_were(
        self, tmp_path: Path, array: np.ndarray, protocol: int
    ) -> None:
        path = written(tmp_path / "file.pickle", dataset([{"told": array}]), protocol)
        back = values(read(path)["all_eps"][0]["told"])
        np.testing.assert_array_equal(back, array)
        assert back.dtype == array.dtype

    def test_something_else_is_no_array(self) -> None:
        with pytest.raises(TypeError, match="found list"):
            values([1, 2])

    def test_arrays_of_objects_are_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path / "file.pickle", dataset([np.array([{}], object)]))
        with pytest.raises(OriginalFileError, match="not of numbers"):
            read(path)


class TestHostileFiles:
    @pytest.mark.parametrize("protocol", PROTOCOLS)
    def test_code_is_refused_by_name_and_not_run(self, tmp_path: Path, protocol: int) -> None:
        trace = tmp_path / "trace"
        content = dataset([{"instruction": Runs(os.system, f"touch {trace}")}])
        path = written(tmp_path / "file.pickle", content, protocol)
        with pytest.raises(OriginalFileError, match=r"system'.*not run"):
            read(path)
        assert not trace.exists()

    def test_the_same_file_does_harm_to_one_who_trusts_it(self, tmp_path: Path) -> None:
        """So that the test above would notice."""
        trace = tmp_path / "trace"
        path = written(tmp_path / "file.pickle", dataset([Runs(os.system, f"touch {trace}")]))
        script = f"import pickle; pickle.load(open({str(path)!r}, 'rb'))"
        subprocess.run([sys.executable, "-c", script], check=True)
        assert trace.exists()

    @pytest.mark.parametrize(
        "call",
        [
            Runs(eval, "1 + 1"),
            Runs(getattr, (), "__class__"),
            Runs(__import__, "os"),
            Runs(np.load, "file.npy"),
            Runs(np.fromfile, "/etc/hostname"),
            Runs(np.ones, 3),
        ],
    )
    def test_everything_but_arrays_is_refused(self, tmp_path: Path, call: Runs) -> None:
        with pytest.raises(OriginalFileError, match="not run"):
            read(written(tmp_path / "file.pickle", dataset([call])))

    @pytest.mark.parametrize("name", ["ndarray.tofile", "dtype.__class__.__base__"])
    def test_what_an_allowed_name_holds_is_refused(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "file.pickle"
        path.write_bytes(
            b"\x80\x04\x8c\x05numpy\x8c" + bytes([len(name)]) + name.encode() + b"\x93."
        )
        with pytest.raises(OriginalFileError, match="not run"):
            read(path)

    def test_no_memory_can_be_asked_for(self, tmp_path: Path) -> None:
        path = written(tmp_path / "file.pickle", dataset([Runs(np.ndarray, (10**15,))]))
        with pytest.raises(OriginalFileError, match="not callable"):
            read(path)

    def test_a_shape_that_the_data_do_not_fill_is_refused(self, tmp_path: Path) -> None:
        data = pickle.dumps(dataset([np.zeros(77, np.int8)]), 4)
        assert data.count(b"KM\x85") == 1
        path = tmp_path / "file.pickle"
        path.write_bytes(data.replace(b"KM\x85", b"KZ\x85"))
        with pytest.raises(OriginalFileError, match="reshape"):
            read(path)


class TestOtherFiles:
    def test_there_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(OriginalFileError, match=r"none\.pickle' cannot be read"):
            read(tmp_path / "none.pickle")

    def test_it_is_no_pickle(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("Bring the apple to the sofa.")
        with pytest.raises(OriginalFileError, match="not a pickle of episodes"):
            read(path)

    def test_it_is_cut_short(self, tmp_path: Path) -> None:
        path = tmp_path / "file.pickle"
        path.write_bytes(pickle.dumps(dataset([np.zeros(99)]), 4)[:-40])
        with pytest.raises(OriginalFileError, match="not a pickle of episodes"):
            read(path)

    def test_it_is_a_pointer_of_git_lfs(self, tmp_path: Path) -> None:
        path = tmp_path / "train.pickle"
        path.write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 833547264\n"
        )
        with pytest.raises(OriginalFileError, match="git lfs pull"):
            read(path)

    @pytest.mark.parametrize(
        "content", [[1, 2], {"all_eps": []}, {"all_eps": {}, "idx_to_name": {}}]
    )
    def test_it_holds_something_else(self, tmp_path: Path, content: object) -> None:
        with pytest.raises(OriginalFileError, match="holds a dict with 'idx_to_name'"):
            read(written(tmp_path / "file.pickle", content))

"""Whether real Habitat can be used, and what exactly is missing when it cannot."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.worlds.rearrange.habitat import CONFIG
from engine.worlds.rearrange.habitat_actions import HabitatError
from engine.worlds.rearrange.habitat_process import HabitatProcess

VERSION: Final = "0.3.0"
"""Of habitat-sim and habitat-lab, which the original benchmark names."""
_ASSETS: Final = Path("data/replica_cad")
_GET_ASSETS: Final = "python -m habitat_sim.utils.datasets_download --uids rearrange_task_assets"
_OWN: Final = (
    "Its packages are for Python 3.9, and it needs the old package gym, which breaks the studio's: "
    "it runs in a Python of its own."
)
_HOW: Final[Mapping[str, str]] = {
    "habitat_sim": (
        "conda create -n llarp -y python=3.9; conda install -n llarp -y habitat-sim==0.3.0 "
        "withbullet headless -c conda-forge -c aihabitat"
    ),
    "habitat": (
        "In that Python: git clone -b v0.3.0 --depth 1 "
        "https://github.com/facebookresearch/habitat-lab; cd habitat-lab; "
        "pip install -e habitat-lab; pip install -e habitat-baselines"
    ),
    "llarp.task": (
        "In that Python: git clone https://github.com/apple/ml-llarp; pip install -e ml-llarp "
        "(Apple's own licence); then VC-1 as its README says"
    ),
}


@dataclass(frozen=True, slots=True)
class Missing:
    """Something without which real Habitat cannot be used."""

    name: str
    detail: str
    fix: str
    """How to get it."""


@dataclass(frozen=True, slots=True)
class Found:
    """Real Habitat, with all it needs."""

    python: str
    """Version of its Python."""
    versions: Mapping[str, str]
    """Of its packages."""


def found(python: str = "", checkout: Path | None = None) -> Found | Missing:
    """Look for real Habitat; nothing is changed, and nothing is imported into this process.

    Args:
        python: the program of the Python that it is installed in; empty looks in this one, where
            its packages do not install.
        checkout: folder of ml-llarp; what has to be in it is looked for when it is given.
    """
    if checkout is not None and not (checkout / CONFIG).is_file():
        return Missing(
            "ml-llarp",
            f"there is no {str(CONFIG)!r} in {str(checkout)!r}",
            "git clone https://github.com/apple/ml-llarp, and give its folder",
        )
    if checkout is not None and not (checkout / _ASSETS).is_dir():
        return Missing(
            "scenes",
            f"there is no {str(_ASSETS)!r} in {str(checkout)!r}",
            f"In {str(checkout)!r}, with Habitat's Python: {_GET_ASSETS}",
        )
    folder = checkout or Path(sys.prefix)  # what lies in the working folder is not imported
    try:
        with HabitatProcess(python or sys.executable, folder) as process:
            process.ask({"ask": "look"})
            told, _ = process.answer()
    except HabitatError as error:
        return Missing("python", error.message, error.hint)
    where = f"{python!r} (Python {told['python']})" if python else f"this Python {told['python']}"
    if "missing" in told:
        name = told["missing"]
        return Missing(name, f"cannot be imported in {where}: {told['error']}. {_OWN}", _HOW[name])
    for name in ("habitat_sim", "habitat"):
        if told["versions"][name] != VERSION:
            version = told["versions"][name]
            detail = f"is {version!r} in {where}, and the original needs {VERSION}. {_OWN}"
            return Missing(name, detail, _HOW[name])
    return Found(told["python"], told["versions"])

"""What the figures were made with: versions of the packages, and the program's own text."""

from __future__ import annotations

import functools
import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "rlgpt-studio", "crafter", "opensimplex", "numpy", "numba", "torch", "gymnasium",
    "stable-baselines3", "sb3-contrib", "pydantic-monty",
)  # fmt: skip
"""Packages that a figure may depend on."""


def versions() -> dict[str, str]:
    """Version of Python and of each package."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found


@functools.cache
def source_digest() -> str:
    """SHA-256 over the text of the package `engine`: the same text gives the same figures.

    Kept by each job, for a program that is being worked on has one version number for many texts.
    """
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*")):
        if file.suffix in (".py", ".md", ".pyi") and "bench" not in file.relative_to(root).parts:
            digest.update(str(file.relative_to(root)).encode() + b"\0")
            digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()

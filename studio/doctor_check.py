"""One finding of `doctor`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Status = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `missing` is something the studio can do without, `broken` is not."""

    name: str
    status: Status
    detail: str
    fix: str = ""
    """How to get or to mend it."""

    def as_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return asdict(self)

"""How much a suspended program of fast mode holds."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import CellType, FrameType, GeneratorType, TracebackType

from engine.sandbox.fast import words
from engine.sandbox.fast.meter import VIEWS
from engine.sandbox.fast.policy_set import PolicySet

_HOLDERS = frozenset(
    {
        list, tuple, dict, PolicySet, GeneratorType, CellType, FrameType, TracebackType,
        type(iter([])), type(iter(())), type(iter({})), type(iter({}.items())), zip, enumerate,
        type(iter({}.values())), type(reversed([])), reversed, *VIEWS,
    }
)  # fmt: skip
_DATA = frozenset({int, float, str, bool, type(None)})


def held_bytes(roots: Iterable[object], limit: int) -> int:
    """Bytes of the data that can be reached from the roots; counting stops beyond `limit`.

    Follows what the code made (its generators with their variables, lists, dicts, caught errors)
    and nothing of the host: functions, modules and frames of other files are not entered.
    """
    # Counting every mention of a number or text is quick; only where that is too much does it
    # matter which of them are one and the same.
    total = _held(roots, limit, each_mention=True)
    return total if total <= limit else _held(roots, limit, each_mention=False)


def _held(roots: Iterable[object], limit: int, *, each_mention: bool) -> int:
    total = 0
    seen: set[int] = set()
    waiting = list(roots)
    while waiting and total <= limit:
        value = waiting.pop()
        kind = type(value)
        entered = kind in _HOLDERS or isinstance(value, Exception)
        if not (entered or kind in _DATA) or id(value) in seen:
            continue
        seen.add(id(value))
        total += sys.getsizeof(value)
        if isinstance(value, list | tuple) and each_mention and _DATA.issuperset(map(type, value)):
            total += sum(map(sys.getsizeof, value))
        elif isinstance(value, TracebackType):
            # Its frame may be the host's, which resumed the code.
            if value.tb_frame.f_code.co_filename == words.FILENAME:
                waiting.append(value.tb_frame)
            waiting.append(value.tb_next)
        elif isinstance(value, Exception):
            waiting += (value.args, value.__traceback__, value.__context__)
        elif entered:
            waiting += gc.get_referents(value)
    return total

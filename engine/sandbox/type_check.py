"""The second half of the static check: Monty's type checker against the world's stub."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic_monty import (
    FunctionSnapshot,
    FutureSnapshot,
    Monty,
    MontyComplete,
    MontyCrashedError,
    MontyError,
    MontyRuntimeError,
    MontySyntaxError,
    MontyTypingError,
    NameLookupSnapshot,
    ResourceLimits,
)

from engine.agents.plan import CodeDiagnostic
from engine.sandbox.stub import Stub

_T = TypeVar("_T")
_ATTEMPTS = 4
_GATE = "begin_of_policy_code"
"""Called on a line before the code, so that the code is checked but never begins to run."""


def on_living_worker(work: Callable[[], _T]) -> _T:
    """Do something with a worker; one that is killed from outside is replaced by another.

    A worker can die for reasons that have nothing to do with the code in it (no memory left, a
    signal). Only an error that comes again and again, or a time-out, is held against the code.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return work()
        except MontyCrashedError as error:
            if error.timed_out:
                raise
    return work()


def type_check(pool: Monty, code: str, stub: Stub) -> tuple[CodeDiagnostic, ...]:
    """What the type checker finds; the code does not run. The pool's own time limit holds."""

    def check() -> None:
        with pool.checkout(
            type_check=True,
            type_check_stubs=f"{stub.text}\ndef {_GATE}() -> None: ...\n",
            type_check_format="json",
        ) as session:
            session.feed_start(f"{_GATE}()\n{code}")

    try:
        on_living_worker(check)
    except MontyTypingError as error:
        found = [_diagnostic(item, stub) for item in json.loads(error.display())]
        return tuple(dict.fromkeys(found))
    except MontyCrashedError as error:
        what = "took too long" if error.timed_out else f"broke off: {error}"
        message = f"the type check {what}; write the code more simply"
        return (CodeDiagnostic(line=0, column=0, code="type-check", message=message),)
    except (MontyRuntimeError, MontySyntaxError) as error:
        return (_of_parser(error),)
    return ()


def load_check(pool: Monty, code: str, limits: ResourceLimits) -> tuple[CodeDiagnostic, ...]:
    """Run what stands outside functions, once; what fails or calls the world there."""

    def load() -> tuple[CodeDiagnostic, ...]:
        with pool.checkout(limits=limits) as session:
            snapshot = session.feed_start(f"{code}\nNone\n", print_callback=_silent)
            if isinstance(snapshot, MontyComplete):
                return ()
            source = f"{code}\nNone\n".encode()
            line = source[: snapshot.position.start].count(b"\n") + 1
            message = _suspended_message(snapshot)
            return (CodeDiagnostic(line=line, column=1, code="load", message=message),)

    try:
        return on_living_worker(load)
    except (MontyRuntimeError, MontySyntaxError) as error:
        return (_of_parser(error, shift=0, code="load"),)
    except MontyError as error:
        return (CodeDiagnostic(line=0, column=0, code="load", message=str(error)),)


def _suspended_message(snapshot: FunctionSnapshot | NameLookupSnapshot | FutureSnapshot) -> str:
    if isinstance(snapshot, NameLookupSnapshot):
        return f"the name `{snapshot.variable_name}` is not defined"
    if not isinstance(snapshot, FunctionSnapshot):
        return "the code awaits something: write plain functions"
    if snapshot.function_name == "import":
        return f"the module {snapshot.args[0]!r} does not exist in the sandbox"
    return f"`{snapshot.function_name}` is called while the code is loaded: move it into run()"


def _silent(_stream: str, _text: str) -> None:
    """Text printed outside functions goes nowhere; it is bounded by the time of a turn."""


def _of_parser(
    error: MontyRuntimeError | MontySyntaxError, *, shift: int = 1, code: str = "monty"
) -> CodeDiagnostic:
    frames = error.traceback()
    line = max(frames[-1].line - shift, 0) if frames else 0
    column = frames[-1].column if frames else 0
    return CodeDiagnostic(line=line, column=column, code=code, message=str(error)[:500])


def _diagnostic(item: dict[str, Any], stub: Stub) -> CodeDiagnostic:
    where = item["location"]
    return CodeDiagnostic(
        line=max(where["row"] - 1, 0),
        column=where["column"],
        code=item["code"],
        message=stub.name_aliases(item["message"]),
    )

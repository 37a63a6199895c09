"""The stub `api.pyi` read as data: its functions, and which arguments each accepts."""

from __future__ import annotations

import ast
import difflib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

PRIMITIVE_FUNCTION = "act"
_REQUIRED = object()
_LARGEST_OFFSET = 1_000_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: the texts it accepts (in the stub's order), or an integer."""

    name: str
    texts: tuple[str, ...]
    takes_none: bool
    takes_int: bool
    default: object

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is _REQUIRED


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the stub."""

    name: str
    parameters: tuple[Parameter, ...]

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """Arguments in the order of the parameters, checked.

        Raises:
            ValueError: too many, too few, unknown or impossible arguments; says which and why.
        """
        if len(args) > len(self.parameters):
            raise ValueError(
                f"{self.name}() takes {len(self.parameters)} arguments, not {len(args)}"
            )
        given = dict(zip((parameter.name for parameter in self.parameters), args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise ValueError(f"{self.name}() got {name!r} twice")
            given[name] = value
        values = []
        for parameter in self.parameters:
            if parameter.name in given:
                values.append(_checked(self.name, parameter, given.pop(parameter.name)))
            elif parameter.required:
                raise ValueError(f"{self.name}() misses the argument {parameter.name!r}")
            else:
                values.append(parameter.default)
        if given:
            raise ValueError(f"{self.name}() has no argument {next(iter(given))!r}")
        return values


def _checked(function: str, parameter: Parameter, value: Any) -> Any:
    if value is None and parameter.takes_none:
        return value
    if parameter.takes_int:
        if isinstance(value, int) and not isinstance(value, bool):
            return max(-_LARGEST_OFFSET, min(value, _LARGEST_OFFSET))
        raise ValueError(f"{function}() needs an int for {parameter.name!r}, not {value!r:.80}")
    if isinstance(value, str) and value in parameter.texts:
        return value
    close = difflib.get_close_matches(str(value)[:40], parameter.texts, n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    allowed = ", ".join(repr(text) for text in parameter.texts)
    raise ValueError(
        f"{function}() got {value!r:.80} for {parameter.name!r}; {guess}It can be {allowed}"
    )


@functools.cache
def stub_text() -> str:
    """Text of `api.pyi`."""
    return (resources.files("engine.worlds.crafter") / "api.pyi").read_text(encoding="utf-8")


@functools.cache
def stub_literals() -> Mapping[str, tuple[str, ...]]:
    """The stub's named literals, as `Item` to its texts."""
    return {
        target.id: _accepted(node.value, {})[0]
        for node in ast.parse(stub_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@functools.cache
def stub_functions() -> Mapping[str, Function]:
    """All functions of the stub by name."""
    return {
        node.name: _function(node)
        for node in ast.parse(stub_text()).body
        if isinstance(node, ast.FunctionDef)
    }


def query_names() -> frozenset[str]:
    """All functions but the one that takes a frame."""
    return frozenset(stub_functions()) - {PRIMITIVE_FUNCTION}


def _function(node: ast.FunctionDef) -> Function:
    missing = len(node.args.args) - len(node.args.defaults)
    defaults = [_REQUIRED] * missing + [ast.literal_eval(value) for value in node.args.defaults]
    parameters = []
    for argument, default in zip(node.args.args, defaults, strict=True):
        texts, takes_none, takes_int = _accepted(argument.annotation, stub_literals())
        parameters.append(Parameter(argument.arg, texts, takes_none, takes_int, default))
    return Function(node.name, tuple(parameters))


def _accepted(
    node: ast.expr | None, literals: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], bool, bool]:
    """Texts an annotation accepts, whether None, whether an int."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first, second = _accepted(left, literals), _accepted(right, literals)
            return first[0] + second[0], first[1] or second[1], first[2] or second[2]
        case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=elements)):
            return tuple(ast.literal_eval(element) for element in elements), False, False
        case ast.Subscript(value=ast.Name(id="Literal"), slice=element):
            return (ast.literal_eval(element),), False, False
        case ast.Constant(value=None):
            return (), True, False
        case ast.Name(id="int"):
            return (), False, True
        case ast.Name(id=name) if name in literals:
            return literals[name], False, False
    raise TypeError(f"the stub has an annotation this world cannot check: {node!r}")

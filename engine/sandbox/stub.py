"""What policy code may call, read from a world's stub file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import SandboxError

_SHORTENED = re.compile(r'Literal\[((?:"[^"\]]*", )+)\.\.\. omitted \d+ literals\]')


@dataclass(frozen=True, slots=True)
class Stub:
    """A stub file: its text, its functions, and the type aliases with their literal values."""

    text: str
    functions: frozenset[str]
    aliases: Mapping[str, tuple[str, ...]]

    def name_aliases(self, message: str) -> str:
        """A type checker's message with shortened literal lists replaced by the alias's name."""

        def alias_of(match: re.Match[str]) -> str:
            shown = tuple(re.findall(r'"([^"]*)"', match[1]))
            names = [name for name, values in self.aliases.items() if values[: len(shown)] == shown]
            return names[0] if len(names) == 1 else match[0]

        return _SHORTENED.sub(alias_of, message)


def read_stub(text: str) -> Stub:
    """The functions and type aliases of a stub file.

    Raises:
        SandboxError: the text is not Python, or it declares no function.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise SandboxError(
            f"the world's stub does not parse: line {error.lineno}: {error.msg}",
            "mend api.pyi of that world",
        ) from error
    functions = frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    if not functions:
        raise SandboxError("the world's stub declares no function", "mend api.pyi of that world")
    aliases = {
        target.id: _literal_values(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return Stub(text, functions, aliases)


def _literal_values(node: ast.expr) -> tuple[str, ...]:
    return tuple(
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )

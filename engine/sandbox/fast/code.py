"""Code of fast mode, translated once; any number of programs run it."""

from __future__ import annotations

from functools import cached_property
from types import CodeType, GeneratorType
from typing import Any

from engine.agents.plan import CodeDiagnostic
from engine.errors import SandboxError
from engine.sandbox import allow_list
from engine.sandbox.fast import names, words
from engine.sandbox.fast.runtime import HELPERS, Runtime
from engine.sandbox.fast.subset import refusals
from engine.sandbox.fast.translate import translate
from engine.sandbox.fast.verify import parts_of, verify
from engine.sandbox.values import SCALARS


class NotAccepted(SandboxError):
    """Code that fast mode leaves to Monty; `diagnostics` say where and why."""

    def __init__(self, diagnostics: tuple[CodeDiagnostic, ...]) -> None:
        first = diagnostics[0]
        super().__init__(
            f"line {first.line}: {first.message}", "it runs in Monty; nothing has to be done"
        )
        self.diagnostics = diagnostics


class FastCode:
    """Checked against the subset and translated; holds no state of any execution.

    Args:
        code: text of the program.
        functions: names of the functions of the world.
        primitive: the one of them that takes a frame.

    Raises:
        NotAccepted: the code has something that fast mode does not take.
    """

    def __init__(self, code: str, functions: frozenset[str], primitive: str) -> None:
        self.text = code
        self._world = functions
        self.primitive = primitive
        tree = allow_list.parse(code)
        if isinstance(tree, CodeDiagnostic):
            raise NotAccepted((tree,))
        self._tree = tree
        self._own = frozenset(names.functions_of(tree)) | names.module_names(tree)
        try:
            found = refusals(tree, functions, primitive)
        except RecursionError as error:
            raise _untranslatable(error) from error
        if found:
            raise NotAccepted(found)
        # Both forms come from one source: what cannot be translated is found now, not in training.
        _ = self.inline

    @cached_property
    def inline(self) -> CodeType:
        """The form that stops at actions only; questions are answered inside."""
        return self._compiled(inline=True)

    @cached_property
    def turns(self) -> CodeType:
        """The form that stops at every world call."""
        return self._compiled(inline=False)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Names bound outside functions."""
        return names.module_names(self._tree)

    def _compiled(self, *, inline: bool) -> CodeType:
        try:
            tree = translate(self._tree, self._world, self.primitive, inline=inline)
            code = compile(tree, words.FILENAME, "exec", dont_inherit=True, optimize=0)
            verify(code, self._own | HELPERS)
        except (TypeError, ValueError, SyntaxError, RecursionError) as error:
            raise _untranslatable(error) from error
        return code


def _untranslatable(error: Exception) -> NotAccepted:
    message = str(error) or type(error).__name__
    return NotAccepted((CodeDiagnostic(line=0, column=0, code="fast", message=message),))


class Space:
    """The global variables of one program in one form: its functions, constants and helpers."""

    def __init__(self, code: CodeType, constants: frozenset[str], runtime: Runtime) -> None:
        self._code = code
        self._constants = constants
        self._globals: dict[str, Any] = {"__builtins__": {}}
        for part in parts_of(code):
            for name in part.co_names:
                if name in HELPERS:
                    self._globals[name] = runtime.helper(name)
        self._fixed = False

    def run(self) -> GeneratorType[Any, Any, Any]:
        """A new execution of `run()`, with global variables as the code made them."""
        if not self._fixed:
            exec(self._code, self._globals)  # verified: computes, and calls helpers
            self._fixed = all(_is_fixed(value) for value in self.held())
        generator: GeneratorType[Any, Any, Any] = self._globals["run"]()
        return generator

    def held(self) -> list[Any]:
        """Values of the global variables."""
        return [self._globals[name] for name in self._constants]


def _is_fixed(value: Any) -> bool:
    """Whether nothing can change it, so that executions may share it."""
    return type(value) in SCALARS or (type(value) is tuple and all(map(_is_fixed, value)))

"""The first half of the static check: syntax, and a walk that accepts only what is listed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from difflib import get_close_matches

from engine.agents.plan import CodeDiagnostic
from engine.sandbox import language
from engine.sandbox.stub import Stub

_IGNORES = re.compile(r"#\s*(type|ty|pyright|mypy)\s*:\s*ignore", re.IGNORECASE)


def parse(code: str) -> ast.Module | CodeDiagnostic:
    """The syntax tree, or why there is none."""
    try:
        size = len(code.encode())
    except UnicodeEncodeError as error:
        message = f"the code holds a character that is not valid text: {error.reason}"
        return CodeDiagnostic(line=0, column=0, code="syntax", message=message)
    if size > language.MAX_CODE_BYTES:
        message = f"the code has {size} bytes, at most {language.MAX_CODE_BYTES} are accepted"
        return CodeDiagnostic(line=0, column=0, code="too-long", message=message)
    try:
        return ast.parse(code)
    except SyntaxError as error:
        return CodeDiagnostic(
            line=max(error.lineno or 0, 0),
            column=max(error.offset or 0, 0),
            code="syntax",
            message=error.msg,
        )
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"the code cannot be parsed: {str(error) or type(error).__name__}"
        return CodeDiagnostic(line=0, column=0, code="syntax", message=message)


def findings(code: str, tree: ast.Module, stub: Stub) -> tuple[CodeDiagnostic, ...]:
    """Everything the allow-list refuses, in order of the text."""
    walk = _Walk(tree, stub)
    try:
        walk.visit(tree)
    except RecursionError:
        walk.add(tree, "nesting", "the code is nested too deeply; cut it into functions")
    walk.found += _ignores(code)
    _require_run(tree, walk)
    return tuple(sorted(set(walk.found), key=lambda found: (found.line, found.column)))


def _ignores(code: str) -> Iterator[CodeDiagnostic]:
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT and _IGNORES.match(token.string):
            yield CodeDiagnostic(
                line=token.start[0],
                column=token.start[1] + 1,
                code="ignore",
                message="comments that switch the type check off are refused; mend the types",
            )


def _require_run(tree: ast.Module, walk: _Walk) -> None:
    runs = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "run"]
    if not runs:
        walk.add(tree, "no-run", "define `def run() -> str:`, the function that is called")
        return
    for extra in runs[1:]:
        walk.add(extra, "no-run", "`run` is defined twice; keep one")
    run = runs[0]
    arguments = run.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    if required > 0 or any(default is None for default in arguments.kw_defaults):
        walk.add(run, "no-run", "`run` is called without arguments: give it no parameters")
    if not (isinstance(run.returns, ast.Name) and run.returns.id == "str"):
        walk.add(run, "no-run", "declare `def run() -> str:`; the text says how it ended")


class _Walk(ast.NodeVisitor):
    """Collects what is refused; unknown syntax is refused because it is not listed."""

    def __init__(self, tree: ast.Module, stub: Stub) -> None:
        self.found: list[CodeDiagnostic] = []
        self._stub = stub
        self._top_level = {id(node) for node in tree.body}
        self._bound = frozenset(_bound_names(tree))
        self._called: set[int] = set()
        self._lambdas = 0
        self._functions = 0

    def add(self, node: ast.AST, code: str, message: str) -> None:
        """Note a finding at a node; the module itself stands for the whole text."""
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", -1) + 1
        self.found.append(CodeDiagnostic(line=line, column=column, code=code, message=message))

    def visit(self, node: ast.AST) -> None:
        """Check one node, then its children unless it was refused as a whole."""
        absent = language.ABSENT_SYNTAX.get(type(node))
        if absent is not None:
            what, instead = absent
            self.add(node, "syntax-refused", f"{what} is not available: {instead}")
            return
        if not isinstance(node, language.ALLOWED_SYNTAX):
            self.add(node, "syntax-refused", f"{type(node).__name__} is not available here")
            return
        if id(node) in self._top_level:
            self._check_top_level(node)
        super().visit(node)

    def _check_top_level(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            return
        constant = isinstance(node, ast.Assign | ast.AnnAssign)
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not constant and not docstring:
            message = (
                "only imports, definitions and constants may stand outside functions; "
                "put this into run(), which is called by itself"
            )
            self.add(node, "top-level", message)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._check_module(node, alias.name)
            self._check_bound(node, alias.asname or alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._check_module(node, "." * node.level + (node.module or ""))
        for alias in node.names:
            if alias.name == "*":
                self.add(node, "import", "import names one by one instead of `*`")
            self._check_bound(node, alias.asname or alias.name)

    def _check_module(self, node: ast.AST, name: str) -> None:
        if name in language.MODULES:
            return
        instead = language.ABSENT_MODULES.get(
            name.split(".")[0], "importable are " + ", ".join(sorted(language.MODULES))
        )
        self.add(node, "import", f"the module `{name}` is not available: {instead}")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.bases or node.keywords:
            self.add(node, "class", "a class cannot have bases here: use functions, or hold a part")
        self._check_decorators(node)
        self._check_bound(node, node.name)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._check_decorators(node)
        if node.name != "__init__":
            self._check_bound(node, node.name)
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1

    def _check_decorators(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not (isinstance(call, ast.Name) and call.id in language.DECORATORS):
                message = "the only decorator here is @dataclass; call the function plainly"
                self.add(decorator, "decorator", message)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._lambdas += 1
        self.generic_visit(node)
        self._lambdas -= 1

    def visit_arg(self, node: ast.arg) -> None:
        self._check_bound(node, node.arg)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is None:
            message = "`except:` is refused: name the error you expect, such as ValueError"
            self.add(node, "except", message)
        if node.name is not None:
            self._check_bound(node, node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name is not None:
            self._check_bound(node, node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name is not None:
            self._check_bound(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self._check_bound(node, node.rest)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        leaves = ast.Call | ast.Break | ast.Return | ast.Raise
        if endless and not any(isinstance(part, leaves) for part in ast.walk(node)):
            self.add(node, "endless", "this loop never ends: it has no act(), `break` or `return`")
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("__"):
            message = f"`{node.attr}`: names with double underscores are not available"
            self.add(node, "dunder", message)
        elif node.attr in language.ABSENT_ATTRIBUTES:
            instead = language.ABSENT_ATTRIBUTES[node.attr]
            self.add(node, "attribute", f"`.{node.attr}` is not available: {instead}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in self._stub.functions:
            self._called.add(id(node.func))
            name = node.func.id
            if self._lambdas:
                message = f"`{name}` cannot be called inside a lambda: write a loop"
                self.add(node, "world-call", message)
            elif not self._functions:
                message = f"`{name}` is called outside a function: move it into run()"
                self.add(node, "world-call", message)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            self._check_bound(node, name)
        elif name in self._stub.functions:
            if id(node) not in self._called:
                message = f"`{name}` is a function of the world: call it, `{name}(...)`, directly"
                self.add(node, "world-call", message)
        elif name.startswith("__"):
            message = f"`{name}`: names with double underscores are not available"
            if name == "__name__":
                message = "`__name__` is not available: run() is called by itself"
            self.add(node, "dunder", message)
        elif name not in self._bound | language.BUILTINS | self._stub.aliases.keys():
            self.add(node, "name", self._unknown(name))

    def _unknown(self, name: str) -> str:
        if name in language.ABSENT_NAMES:
            return f"`{name}` is not available: {language.ABSENT_NAMES[name]}"
        known = self._bound | language.BUILTINS | self._stub.functions
        near = get_close_matches(name, sorted(known), n=1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        return f"the name `{name}` is not defined, not in the code and not in the stub{hint}"

    def _check_bound(self, node: ast.AST, name: str) -> None:
        if name in self._stub.functions:
            message = f"`{name}` is a function of the world and cannot be redefined"
            self.add(node, "redefined", message)
        elif name.startswith("__"):
            message = f"`{name}`: names with double underscores are not available"
            self.add(node, "dunder", message)


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Every name the code binds anywhere; which scope it is in is the type checker's work."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest

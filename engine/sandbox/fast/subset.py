"""What fast mode accepts: a walk that refuses all syntax it does not name.

It decides alone and lets nothing pass that it has no method for. Every method checks one kind of
node and visits its children by itself, so to accept more is to write more.
"""

from __future__ import annotations

import ast

from engine.agents.plan import CodeDiagnostic
from engine.sandbox.fast import names, words
from engine.sandbox.fast.subset_expressions import (
    ARITHMETIC,
    Expressions,
    is_name,
    is_text,
    may_be_named,
)

_OUTSIDE = (
    ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.Import, ast.ImportFrom, ast.ClassDef,
)  # fmt: skip
"""What the walk looks at outside functions; imports and classes it refuses with a hint."""


def refusals(
    tree: ast.Module, functions: frozenset[str], primitive: str
) -> tuple[CodeDiagnostic, ...]:
    """Everything fast mode does not accept, in order of the text; empty when it accepts all.

    Args:
        tree: the program, as parsed.
        functions: names of the functions of the world.
        primitive: the one of them that takes a frame.
    """
    if _nesting(tree) > words.MAX_NESTING:
        message = f"fast mode: nested deeper than {words.MAX_NESTING}; cut it into functions"
        return (CodeDiagnostic(line=0, column=0, code="fast", message=message),)
    walk = _Subset(tree, functions, primitive)
    walk.visit(tree)
    return tuple(sorted(set(walk.found), key=lambda found: (found.line, found.column)))


def _nesting(tree: ast.AST) -> int:
    """Depth of a tree, found without recursion: what is too deep must not end this process."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


class _Subset(Expressions):
    """Visits a whole program: its functions and statements, and through them its expressions."""

    # --- the program --------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> None:
        """Constants and functions."""
        for statement in node.body:
            if isinstance(statement, _OUTSIDE) or _is_docstring(statement):
                self.visit(statement)
            else:
                self.refuse(statement, "only constants and functions may stand outside functions")
        if len(self.functions) < sum(isinstance(part, ast.FunctionDef) for part in node.body):
            self.refuse(node, "a function is defined twice")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function outside of functions; its annotations are left out of what runs."""
        if self.inside:
            self.generic_visit(node)
            return
        taken = {*words.BUILTINS, *words.ERRORS, *self.world, *self.module}
        if not may_be_named(node.name) or node.name in taken:
            self.refuse(node, f"the name `{node.name}` is not free for a function")
        if node.decorator_list:
            self.refuse(node.decorator_list[0], "decorators are not accepted")
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            self.refuse(node, "parameters are plain names, some with a default")
        for parameter in names.parameters_of(node):
            self.bind(parameter, parameter.arg)
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None and not _is_literal(default):
                self.refuse(default, "the default of a parameter is a number, a text or None")
        self.inside = True
        self.each([*arguments.defaults, *arguments.kw_defaults])
        with self.scope(names.local_names(node)):
            self.each(node.body)
        self.inside = False

    # --- statements ---------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        """`a = b = value`."""
        self.visit(node.value)
        for target in node.targets:
            self.target(target, items=self.inside)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`a: type = value`; the type is left out of what runs."""
        if node.value is None:
            self.refuse(node, "give the name a value where you name its type")
        self.each([node.value])
        self.target(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`a += value`."""
        if not isinstance(node.op, ARITHMETIC):
            self.refuse(node, f"the operator {type(node.op).__name__} is not accepted")
        if isinstance(node.target, ast.Name):
            self.visit_Name(node.target)
        self.target(node.target, items=True)
        self.visit(node.value)

    def visit_For(self, node: ast.For) -> None:
        """`for a in values`."""
        self.iterable(node.iter)
        self.target(node.target)
        self.each([*node.body, *node.orelse])

    def visit_While(self, node: ast.While) -> None:
        """`while test`."""
        self.each([node.test, *node.body, *node.orelse])

    def visit_If(self, node: ast.If) -> None:
        """`if test`."""
        self.each([node.test, *node.body, *node.orelse])

    def visit_Return(self, node: ast.Return) -> None:
        """`return value`."""
        self.each([node.value])

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call, or a text that stands alone."""
        self.visit(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        """`pass`."""

    def visit_Break(self, node: ast.Break) -> None:
        """`break`."""

    def visit_Continue(self, node: ast.Continue) -> None:
        """`continue`."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """`assert test, text`."""
        self.each([node.test, node.msg])

    def visit_Raise(self, node: ast.Raise) -> None:
        """`raise ValueError(text)`, `raise error`, and `raise` where an error is caught."""
        error = node.exc
        if node.cause is not None:
            self.refuse(node, "`raise ... from` is not accepted: leave `from` out")
        if error is None:
            # Elsewhere it would raise again what the host is handling just then.
            if not self.caught:
                self.refuse(node, "`raise` alone stands where an error was caught by name")
        elif isinstance(error, ast.Name):
            if error.id not in (*self.caught, *words.ERRORS):
                self.refuse(node, f"`{error.id}` is no error that can be raised")
        elif isinstance(error, ast.Call) and is_name(error.func, *words.ERRORS):
            if error.keywords or len(error.args) > 1:
                self.refuse(error, "an error is made of one text")
            self.each([*error.args, *error.keywords])
        else:
            self.refuse(node, f"what can be raised: {', '.join(words.ERRORS)}")

    def visit_Try(self, node: ast.Try) -> None:
        """`try` with named errors; no `finally`, which would run when an execution is ended."""
        if node.finalbody:
            self.refuse(node.finalbody[0], "`finally` is not accepted: write it after the `try`")
        self.each([*node.body, *node.handlers, *node.orelse])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except (ValueError, KeyError) as error`."""
        kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        if not all(kind is not None and is_name(kind, *words.ERRORS) for kind in kinds):
            self.refuse(node, f"what can be caught: {', '.join(words.ERRORS)}")
        name = node.name
        if name is None:
            # The empty name stands for an error that is caught without one.
            name = ""
        else:
            self.bind(node, name)
            if any(name in scope for scope in self.scopes):
                self.refuse(node, f"`{name}` has another use here: give the error its own name")
        self.caught.append(name)
        self.each(node.body)
        self.caught.pop()


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and is_text(node.value)


def _is_literal(node: ast.expr) -> bool:
    """A literal, perhaps with a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant)

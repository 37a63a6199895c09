"""Which names a program binds where, and which of its functions call which."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

_OWN_SCOPE = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda


def functions_of(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions of a program by name."""
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def parameters_of(function: ast.FunctionDef) -> list[ast.arg]:
    """All parameters in order."""
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def stored_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that statements assign to; what comprehensions and lambdas bind is theirs alone."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, _OWN_SCOPE):
            yield from stored_names(ast.iter_child_nodes(node))


def local_names(function: ast.FunctionDef) -> frozenset[str]:
    """Parameters and names assigned to; the names of caught errors are not among them."""
    parameters = (parameter.arg for parameter in parameters_of(function))
    return frozenset((*parameters, *stored_names(function.body)))


def module_names(tree: ast.Module) -> frozenset[str]:
    """Names assigned to outside functions."""
    statements = (node for node in tree.body if not isinstance(node, ast.FunctionDef))
    return frozenset(stored_names(statements))


def literals_of(tree: ast.Module) -> dict[str, ast.Constant]:
    """Names outside functions that stand for one literal, and for nothing else ever."""
    found: dict[str, ast.Constant] = {}
    times: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            continue
        for name in stored_names([node]):
            times[name] = times.get(name, 0) + 1
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = node.targets
        else:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else []
        value = getattr(node, "value", None)
        if isinstance(value, ast.Constant):
            found |= {target.id: value for target in targets if isinstance(target, ast.Name)}
    return {name: value for name, value in found.items() if times[name] == 1}


def _mentioned(node: ast.AST) -> Iterator[str]:
    """Names in what runs: annotations do not."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.FunctionDef):
        for statement in node.body:
            yield from _mentioned(statement)
    else:
        for child in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.AnnAssign) and child is node.annotation):
                yield from _mentioned(child)


def reach(functions: Mapping[str, ast.FunctionDef]) -> dict[str, frozenset[str]]:
    """By function: every name of a function it may come to call, directly or through others.

    World functions count as names of functions; any mention of a name counts as a call.
    """
    direct = {name: set(_mentioned(node)) for name, node in functions.items()}
    reached: dict[str, frozenset[str]] = {}
    for name in functions:
        seen: set[str] = set()
        waiting = set(direct[name])
        while waiting:
            called = waiting.pop()
            if called not in seen:
                seen.add(called)
                waiting |= direct.get(called, set())
        reached[name] = frozenset(seen)
    return reached

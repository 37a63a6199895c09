"""Small pieces of syntax trees that the translation puts together."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from typing import TypeVar

from engine.sandbox.fast import words

Block = list[ast.stmt]
_Node = TypeVar("_Node", bound=ast.AST)
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_UNCOUNTED = ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop | ast.keyword
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "op_add",
    ast.Sub: "op_subtract",
    ast.Mult: "op_multiply",
    ast.Div: "op_divide",
    ast.FloorDiv: "op_floor",
    ast.Mod: "op_modulo",
    ast.BitAnd: "op_and",
    ast.BitOr: "op_or",
    ast.BitXor: "op_xor",
    ast.Pow: "op_power",
}
"""Helpers by operator."""
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "op_equal",
    ast.NotEq: "op_unequal",
    ast.Lt: "op_less",
    ast.LtE: "op_at_most",
    ast.Gt: "op_greater",
    ast.GtE: "op_at_least",
    ast.In: "op_in",
    ast.NotIn: "op_not_in",
}
"""Helpers by comparison; `is` needs none."""
_SMALL = 2**63
_DEFINITION = ast.parse("def name(): pass").body[0]


def load(name: str) -> ast.Name:
    """The value of a name."""
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    """A name as what is assigned to."""
    return ast.Name(name, ast.Store())


def helper(name: str) -> str:
    """A name for the translation's own use, one that no code can spell."""
    return words.HELPER + name


def call(name: str, *arguments: ast.expr, keywords: Iterable[ast.keyword] = ()) -> ast.Call:
    """A call of a helper."""
    return ast.Call(load(helper(name)), list(arguments), list(keywords))


def at(new: _Node, old: ast.AST) -> _Node:
    """The new node, in the place of the old one."""
    return ast.copy_location(new, old)


def constants(values: Iterable[str]) -> ast.Tuple:
    """A tuple of texts."""
    return ast.Tuple([ast.Constant(value) for value in values], ast.Load())


def define(name: str, arguments: ast.arguments, body: Block, place: ast.AST) -> ast.FunctionDef:
    """A function; copied from a parsed one, whose fields differ between versions of Python."""
    made = copy.deepcopy(_DEFINITION)
    if not isinstance(made, ast.FunctionDef):
        raise TypeError(f"the pattern of a function is {made!r}")
    made.name, made.args, made.body = name, arguments, body
    return at(made, place)


def one_argument(name: str) -> ast.arguments:
    """The parameters of a function of one argument."""
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(name)], kwonlyargs=[], kw_defaults=[], defaults=[]
    )


def is_small(node: ast.expr) -> bool:
    """A literal number that cannot make a sum or a difference grow fast."""
    value = node.value if isinstance(node, ast.Constant) else None
    return type(value) is float or (type(value) is int and -_SMALL < value < _SMALL)


def literal_power(node: ast.BinOp) -> int | None:
    """The value of a power of two literals, where it is a small integer."""
    base, exponent = node.left, node.right
    if not (isinstance(base, ast.Constant) and isinstance(exponent, ast.Constant)):
        return None
    if type(base.value) is not int or type(exponent.value) is not int:
        return None
    if not (0 <= base.value < _SMALL and 0 <= exponent.value < 64):
        return None
    value: int = base.value**exponent.value
    return value if value < _SMALL else None


def suspends(body: Sequence[ast.AST]) -> bool:
    """Whether a function with this body is a generator."""
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom) or suspends(list(ast.iter_child_nodes(node)))
        for node in body
        if not isinstance(node, ast.FunctionDef)
    )


def steps_of(nodes: Iterable[ast.AST | None]) -> int:
    """Steps of running these once, loops inside not counted: they pay for themselves."""
    total = 0
    for node in nodes:
        if node is None or isinstance(node, _UNCOUNTED | ast.FunctionDef):
            continue
        total += 1
        if isinstance(node, ast.For):
            total += steps_of([node.iter, *node.orelse])
        elif isinstance(node, ast.While):
            total += steps_of(node.orelse)
        elif isinstance(node, _COMPREHENSIONS):
            total += steps_of([node.generators[0].iter])
        else:
            total += steps_of(ast.iter_child_nodes(node))
    return total

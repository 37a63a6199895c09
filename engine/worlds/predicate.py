"""Predicates: what is true of a player, in words that a person and a program both read.

The text is a Python expression over the words of a world's `Vocabulary`. It is parsed by `ast` and
walked here; nothing is ever evaluated as Python, so a predicate from a file, a person or a language
model can at worst be refused.

    unlocked(collect_wood) and wood >= 2
    health <= 3 or (threat <= 2 and not enclosed)
"""

from __future__ import annotations

import ast
import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from engine.errors import PredicateError
from engine.worlds.base import PlayerState, Vocabulary

MAX_LENGTH = 1000
MAX_DEPTH = 24
MAX_NUMBER = 1e9
_FOREIGN = re.compile(r"[^A-Za-z0-9_\s().<>=!,+-]")

Check = Callable[[PlayerState], bool]

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


@dataclass(frozen=True, slots=True)
class Constant:
    """`true` or `false`."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class Number:
    """A constant in a comparison."""

    value: float

    def __str__(self) -> str:
        return f"{self.value:.0f}" if self.value.is_integer() else repr(self.value)


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the vocabulary; only tests have an argument."""

    name: str
    argument: str | None = None

    def __str__(self) -> str:
        return self.name if self.argument is None else f"{self.name}({self.argument})"


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two numbers."""

    left: Term | Number
    symbol: str
    right: Term | Number

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}"


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Node

    def __str__(self) -> str:
        return f"not {_bracketed(self.part)}"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " and ".join(_bracketed(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple[Node, ...]

    def __str__(self) -> str:
        return " or ".join(_bracketed(part) for part in self.parts)


Node = Constant | Term | Compare | Not | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Predicate:
    """A parsed predicate; immutable, compared by its text."""

    text: str
    root: Node = field(compare=False, repr=False)
    _check: Check = field(compare=False, repr=False)

    def holds(self, player: PlayerState) -> bool:
        """Whether it is true of what the player knows now."""
        return self._check(player)

    def terms(self) -> tuple[Term, ...]:
        """The words it uses, in order, each once."""
        return tuple(dict.fromkeys(_terms(self.root)))


def parse(text: str, vocabulary: Vocabulary) -> Predicate:
    """The predicate of a text.

    Raises:
        PredicateError: it is not an expression of this grammar or uses an unknown word; the message
            names the place (column, from 1) and what is known.
    """
    stripped = text.strip()
    if not stripped:
        raise PredicateError("the predicate is empty", "write `true` if it should always hold")
    if len(stripped) > MAX_LENGTH:
        raise PredicateError(
            f"the predicate has {len(stripped)} characters, at most {MAX_LENGTH} are allowed",
            "split the step into smaller ones with a predicate each",
        )
    foreign = _FOREIGN.search(stripped)
    if foreign is not None:
        raise PredicateError(
            f"predicate {_short(stripped)}, column {foreign.start() + 1}: "
            f"{foreign.group()!r} has no meaning here",
            "names are written bare, as in `unlocked(collect_wood) and wood >= 2`",
        )
    try:
        tree = ast.parse(stripped, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 0
        place = f" at column {column}" if column else ""
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise PredicateError(
            f"cannot read the predicate {_short(stripped)}{place}: {reason}",
            "use and, or, not, comparisons and tests, as in `wood >= 2 and near(table)`",
        ) from error
    root = _Reader(stripped, vocabulary).node(tree.body, 0)
    return Predicate(stripped, root, _compile(root))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the syntax tree into nodes and refuses everything the grammar does not have."""

    text: str
    vocabulary: Vocabulary

    def node(self, tree: ast.expr, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self._error(tree, f"it is nested deeper than {MAX_DEPTH} levels", "simplify it")
        match tree:
            case ast.BoolOp(op=ast.And()):
                return AllOf(tuple(self.node(value, depth + 1) for value in tree.values))
            case ast.BoolOp():
                return AnyOf(tuple(self.node(value, depth + 1) for value in tree.values))
            case ast.UnaryOp(op=ast.Not()):
                return Not(self.node(tree.operand, depth + 1))
            case ast.Compare():
                return self._comparison(tree)
            case ast.Call():
                return self._test(tree)
            case ast.Name():
                return self._flag(tree)
            case ast.Constant(value=bool() as value):
                return Constant(value)
        raise self._error(
            tree,
            f"{_short(self._source(tree))} is neither true nor false",
            "use and, or, not, comparisons and tests, as in `wood >= 2 and near(table)`",
        )

    def _comparison(self, tree: ast.Compare) -> Node:
        operands = [self._number(operand) for operand in (tree.left, *tree.comparators)]
        parts: list[Node] = []
        for index, symbol in enumerate(tree.ops):
            if type(symbol) not in _SYMBOLS:
                raise self._error(
                    tree, "this comparison is not known", f"use one of {', '.join(_COMPARISONS)}"
                )
            parts.append(Compare(operands[index], _SYMBOLS[type(symbol)], operands[index + 1]))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _number(self, tree: ast.expr) -> Term | Number:
        match tree:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                inner = self._number(tree.operand)
                return Number(-inner.value) if isinstance(inner, Number) else inner
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                if not abs(value) <= MAX_NUMBER:
                    raise self._error(
                        tree, "the number is too big", f"at most {MAX_NUMBER:.0f} makes sense here"
                    )
                return Number(float(value))
            case ast.Name(id=name):
                if name in self.vocabulary.numbers:
                    return Term(name)
                if name in self.vocabulary.flags or name in self.vocabulary.tests:
                    raise self._error(
                        tree,
                        f"`{name}` is true or false and cannot be compared",
                        "use it by itself",
                    )
                raise self._unknown(tree, "number", name, self.vocabulary.numbers)
        raise self._error(
            tree,
            f"{_short(self._source(tree))} is not a number",
            "compare a number word with a constant, as in `wood >= 2`",
        )

    def _flag(self, tree: ast.Name) -> Node:
        name, words = tree.id, self.vocabulary
        if name in ("true", "false"):
            return Constant(name == "true")
        if name in words.flags:
            return Term(name)
        if name in words.numbers:
            raise self._error(tree, f"`{name}` is a number", f"compare it, as in `{name} >= 1`")
        if name in words.tests:
            example = min(words.tests[name], default="name")
            raise self._error(
                tree, f"`{name}` needs a name in brackets", f"as in `{name}({example})`"
            )
        known = {"true", "false", *words.flags, *words.numbers, *words.tests}
        raise self._unknown(tree, "word", name, known)

    def _test(self, tree: ast.Call) -> Node:
        if not isinstance(tree.func, ast.Name):
            raise self._error(tree, "only tests can be called", self._known_tests())
        name = tree.func.id
        if name not in self.vocabulary.tests:
            raise self._unknown(tree, "test", name, self.vocabulary.tests)
        if len(tree.args) != 1 or tree.keywords or not isinstance(tree.args[0], ast.Name):
            example = min(self.vocabulary.tests[name], default="name")
            raise self._error(
                tree, f"`{name}` takes exactly one bare name", f"as in `{name}({example})`"
            )
        argument = tree.args[0].id
        if argument not in self.vocabulary.tests[name]:
            raise self._unknown(
                tree.args[0], f"name in `{name}(...)`", argument, self.vocabulary.tests[name]
            )
        return Term(name, argument)

    def _known_tests(self) -> str:
        return f"the tests are {', '.join(sorted(self.vocabulary.tests))}"

    def _source(self, tree: ast.expr) -> str:
        return ast.get_source_segment(self.text, tree) or type(tree).__name__

    def _unknown(
        self, tree: ast.expr, what: str, name: str, known: Iterable[str]
    ) -> PredicateError:
        choices = sorted(known)
        close = difflib.get_close_matches(name, choices, n=1)
        hint = f"did you mean `{close[0]}`? " if close else ""
        return self._error(tree, f"unknown {what} {name!r}", f"{hint}known: {', '.join(choices)}")

    def _error(self, tree: ast.expr, reason: str, hint: str) -> PredicateError:
        place = f"column {tree.col_offset + 1}"
        return PredicateError(f"predicate {_short(self.text)}, {place}: {reason}", hint)


def _compile(node: Node) -> Check:
    """A closure per node: predicates are checked at every frame of a coded action."""
    match node:
        case Constant(value=value):
            return lambda player: value
        case Term(name=name, argument=argument):
            return lambda player: player.term(name, argument) != 0
        case Compare():
            return _compile_comparison(node)
        case Not(part=part):
            inner = _compile(part)
            return lambda player: not inner(player)
        case AllOf(parts=parts):
            every = tuple(_compile(part) for part in parts)
            return lambda player: all(check(player) for check in every)
        case AnyOf(parts=parts):
            some = tuple(_compile(part) for part in parts)
            return lambda player: any(check(player) for check in some)


def _compile_comparison(node: Compare) -> Check:
    compare = _COMPARISONS[node.symbol]
    left, right = _value(node.left), _value(node.right)
    return lambda player: compare(left(player), right(player))


def _value(operand: Term | Number) -> Callable[[PlayerState], float]:
    if isinstance(operand, Number):
        value = operand.value
        return lambda player: value
    name = operand.name
    return lambda player: player.term(name)


def _terms(node: Node) -> Iterator[Term]:
    match node:
        case Term():
            yield node
        case Compare(left=left, right=right):
            yield from (side for side in (left, right) if isinstance(side, Term))
        case Not(part=part):
            yield from _terms(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _terms(part)


def _bracketed(node: Node) -> str:
    return f"({node})" if isinstance(node, AllOf | AnyOf) else str(node)


def _short(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "...")

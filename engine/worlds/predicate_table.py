"""Many predicates over many players at once: compiled once, checked every frame.

A training checks some hundred predicates (masks, interrupts, goals) for every player in every
frame. Here they become one short program for a stack machine over the matrix of terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray

from engine.worlds.base import PlayerState, Vocabulary
from engine.worlds.predicate import (
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Node,
    Not,
    Number,
    Predicate,
    Term,
)

_TERM: Final = 0
_NUMBER: Final = 1
_NOT: Final = 2
_AND: Final = 3
_OR: Final = 4
_TRUTH: Final = 5
_COMPARE: Final = {"<": 6, "<=": 7, ">": 8, ">=": 9, "==": 10, "!=": 11}
_LT, _LE, _GT, _GE, _EQ, _NE = _COMPARE.values()
_DEEPEST: Final = 64

_Code = tuple[int, int, float]


class PredicateTable:
    """Predicates by number, evaluated for all rows of a term matrix by one compiled call."""

    def __init__(self, predicates: Sequence[Predicate], term_names: Sequence[str]) -> None:
        """Compile.

        Args:
            predicates: parsed in the vocabulary the terms belong to.
            term_names: what each column of the term matrix holds (`WorldBatch.term_names`).
        """
        columns = {name: index for index, name in enumerate(term_names)}
        code: list[_Code] = []
        starts = [0]
        for predicate in predicates:
            code += _postfix(predicate.root, columns)
            starts.append(len(code))
        self.size = len(predicates)
        self._operations = np.array([row[0] for row in code], np.int64)
        self._columns = np.array([row[1] for row in code], np.int64)
        self._numbers = np.array([row[2] for row in code], np.float64)
        self._starts = np.array(starts, np.int64)

    def evaluate(self, terms: NDArray[np.float64], out: NDArray[np.bool_]) -> None:
        """Fill `out`, shape (rows, size), from `terms`, shape (rows, len(term_names))."""
        _evaluate(self._operations, self._columns, self._numbers, self._starts, terms, out)


def term_names(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Every term of a vocabulary as predicates write it, in a fixed order."""
    tests = (
        str(Term(test, argument))
        for test in sorted(vocabulary.tests)
        for argument in sorted(vocabulary.tests[test])
    )
    return (*sorted(vocabulary.numbers), *sorted(vocabulary.flags), *tests)


def term_values(player: PlayerState, vocabulary: Vocabulary) -> Iterator[float]:
    """Values of `term_names`, asked one by one: for worlds without a matrix of their own."""
    for name in (*sorted(vocabulary.numbers), *sorted(vocabulary.flags)):
        yield player.term(name)
    for test in sorted(vocabulary.tests):
        for argument in sorted(vocabulary.tests[test]):
            yield player.term(test, argument)


def _postfix(node: Node, columns: dict[str, int]) -> Iterator[_Code]:
    match node:
        case Constant(value=value):
            yield _NUMBER, 0, float(value)
        case Number(value=value):
            yield _NUMBER, 0, value
        case Term():
            yield _TERM, columns[str(node)], 0.0
            yield _TRUTH, 0, 0.0
        case Compare(left=left, symbol=symbol, right=right):
            yield from _operand(left, columns)
            yield from _operand(right, columns)
            yield _COMPARE[symbol], 0, 0.0
        case Not(part=part):
            yield from _postfix(part, columns)
            yield _NOT, 0, 0.0
        case AllOf(parts=parts) | AnyOf(parts=parts):
            joint = _AND if isinstance(node, AllOf) else _OR
            for index, part in enumerate(parts):
                yield from _postfix(part, columns)
                if index:
                    yield joint, 0, 0.0


def _operand(operand: Term | Number, columns: dict[str, int]) -> Iterator[_Code]:
    if isinstance(operand, Number):
        yield _NUMBER, 0, operand.value
    else:
        yield _TERM, columns[str(operand)], 0.0


@numba.njit(cache=True)
def _evaluate(
    operations: NDArray[np.int64],
    columns: NDArray[np.int64],
    numbers: NDArray[np.float64],
    starts: NDArray[np.int64],
    terms: NDArray[np.float64],
    out: NDArray[np.bool_],
) -> None:
    stack = np.empty(_DEEPEST, np.float64)
    for row in range(terms.shape[0]):
        for predicate in range(starts.shape[0] - 1):
            top = -1
            for step in range(starts[predicate], starts[predicate + 1]):
                operation = operations[step]
                if operation == _TERM:
                    top += 1
                    stack[top] = terms[row, columns[step]]
                elif operation == _NUMBER:
                    top += 1
                    stack[top] = numbers[step]
                elif operation == _NOT:
                    stack[top] = 1.0 if stack[top] == 0 else 0.0
                elif operation == _TRUTH:
                    stack[top] = 1.0 if stack[top] != 0 else 0.0
                else:
                    top -= 1
                    stack[top] = 1.0 if _join(operation, stack[top], stack[top + 1]) else 0.0
            out[row, predicate] = stack[0] != 0


@numba.njit(cache=True)
def _join(operation: int, left: float, right: float) -> bool:
    if operation == _AND:
        return left != 0 and right != 0
    if operation == _OR:
        return left != 0 or right != 0
    if operation == _LT:
        return left < right
    if operation == _LE:
        return left <= right
    if operation == _GT:
        return left > right
    if operation == _GE:
        return left >= right
    if operation == _EQ:
        return left == right
    return left != right

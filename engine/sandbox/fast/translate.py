"""Accepted code to the syntax tree that runs: checked helpers in place of what has no bounds.

The result has no attribute access at all: operators, builtins and methods whose cost depends on
their operands become calls of helpers (`engine.sandbox.fast.runtime`), whose names no source text
can spell. World calls that suspend become `yield`, calls of functions that suspend `yield from`,
so a program is one generator. Every loop, function and comprehension pays for its steps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from engine.sandbox.fast import names, words
from engine.sandbox.fast.building import (
    Block,
    at,
    call,
    define,
    helper,
    load,
    steps_of,
    store,
    suspends,
)
from engine.sandbox.fast.translate_expressions import Expressions

_INPLACE: dict[type[ast.operator], str] = {ast.Add: "op_extend", ast.BitOr: "op_join"}
"""Operators that change a list or a dict itself when they stand in `a += b`."""


def translate(
    tree: ast.Module, functions: frozenset[str], primitive: str, *, inline: bool
) -> ast.Module:
    """The module that runs.

    Args:
        tree: a program that `engine.sandbox.fast.subset.refusals` accepts.
        functions: names of the functions of the world.
        primitive: the one of them that takes a frame.
        inline: whether only the primitive suspends and the others are answered at once; else all
            of them suspend.

    Raises:
        TypeError: syntax that is not accepted.
    """
    return _Program(tree, functions, primitive, inline).module(tree)


class _Program(Expressions):
    """Translates functions and statements."""

    def module(self, tree: ast.Module) -> ast.Module:
        """The whole program."""
        body: Block = []
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                body.append(self._function(node))
            else:
                frame = self.push(frozenset())
                statements = self._statement(node)
                self.pop()
                body += [*frame.definitions, *statements]
        return ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))

    def _function(self, node: ast.FunctionDef) -> ast.stmt:
        given = node.args
        arguments = ast.arguments(
            posonlyargs=[],
            args=[at(ast.arg(parameter.arg), parameter) for parameter in given.args],
            kwonlyargs=[at(ast.arg(parameter.arg), parameter) for parameter in given.kwonlyargs],
            kw_defaults=[None if d is None else self.expression(d) for d in given.kw_defaults],
            defaults=self.each(given.defaults),
        )
        frame = self.push(names.local_names(node))
        body = self._block(node.body)
        self.pop()
        body = [*frame.definitions, self.tick(1 + steps_of(node.body)), *body]
        if node.name == "run":
            # A program that never suspends is a generator none the less: all are driven alike.
            body += [ast.Return(None), ast.Expr(ast.Yield(None))]
        if suspends(body) != (node.name in self.suspending):
            raise TypeError(f"fast mode cannot tell whether {node.name!r} calls the world")
        if node.name in self.recursive:
            enter, leave = ast.Expr(call("op_enter")), ast.Expr(call("op_leave"))
            body = [enter, ast.Try(body=body, handlers=[], orelse=[], finalbody=[leave])]
        return define(node.name, arguments, body, node)

    def _block(self, nodes: Sequence[ast.stmt]) -> Block:
        return [made for node in nodes for made in self._statement(node)] or [ast.Pass()]

    def _statement(self, node: ast.stmt) -> Block:
        methods: dict[type[ast.stmt], Callable[[Any], Block]] = {
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.For: self._for,
            ast.While: self._while,
            ast.If: self._if,
            ast.Return: self._return,
            ast.Expr: self._alone,
            ast.Pass: lambda _: [ast.Pass()],
            ast.Break: lambda _: [ast.Break()],
            ast.Continue: lambda _: [ast.Continue()],
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.Try: self._try,
        }
        method = methods.get(type(node))
        if method is None:
            raise TypeError(f"fast mode has no translation of {type(node).__name__}")
        return [made if hasattr(made, "lineno") else at(made, node) for made in method(node)]

    # --- assignments --------------------------------------------------------------------

    def _assign(self, node: ast.Assign) -> Block:
        value = self.expression(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            where = self.each([node.targets[0].value, node.targets[0].slice])
            return [ast.Expr(call("op_store", value, *where))]
        stores: Block = []
        targets = [self.target(target, stores) for target in node.targets]
        return [ast.Assign(targets, value), *stores]

    def _annotated(self, node: ast.AnnAssign) -> Block:
        if node.value is None:
            raise TypeError("fast mode does not declare names without a value")
        return [ast.Assign([self.target(node.target, None)], self.expression(node.value))]

    def _augmented(self, node: ast.AugAssign) -> Block:
        name = _INPLACE.get(type(node.op))
        if isinstance(node.target, ast.Name):
            old, value = load(node.target.id), self.expression(node.value)
            new = self.operation(node.op, old, value, name)
            return [ast.Assign([store(node.target.id)], at(new, node))]
        if not isinstance(node.target, ast.Subscript):
            raise TypeError(f"fast mode does not assign to {type(node.target).__name__}")
        box, key = self.fresh("box"), self.fresh("key")
        new = self.operation(
            node.op, self.item(load(box), load(key)), self.expression(node.value), name
        )
        return [
            ast.Assign([store(box)], self.expression(node.target.value)),
            ast.Assign([store(key)], self.expression(node.target.slice)),
            ast.Expr(call("op_store", at(new, node), load(box), load(key))),
        ]

    # --- control ------------------------------------------------------------------------

    def _for(self, node: ast.For) -> Block:
        source, target = self.expression(node.iter), self.target(node.target, None)
        body = [at(self.tick(1 + steps_of(node.body)), node), *self._block(node.body)]
        return [ast.For(target, source, body, self._otherwise(node.orelse))]

    def _while(self, node: ast.While) -> Block:
        steps = 1 + steps_of([node.test, *node.body])
        body = [at(self.tick(steps), node), *self._block(node.body)]
        return [ast.While(self.expression(node.test), body, self._otherwise(node.orelse))]

    def _if(self, node: ast.If) -> Block:
        test = self.expression(node.test)
        return [ast.If(test, self._block(node.body), self._otherwise(node.orelse))]

    def _otherwise(self, nodes: Sequence[ast.stmt]) -> Block:
        return self._block(nodes) if nodes else []

    def _return(self, node: ast.Return) -> Block:
        return [ast.Return(None if node.value is None else self.expression(node.value))]

    def _alone(self, node: ast.Expr) -> Block:
        if isinstance(node.value, ast.Constant):
            return [ast.Pass()]  # a text for readers; a compiler would make it an attribute
        return [ast.Expr(self.expression(node.value))]

    # --- errors -------------------------------------------------------------------------

    def _assert(self, node: ast.Assert) -> Block:
        texts = [] if node.msg is None else [self.expression(node.msg)]
        wrong = ast.Raise(self._error("AssertionError", texts), None)
        test = ast.UnaryOp(ast.Not(), self.expression(node.test))
        return [ast.If(test, [at(wrong, node)], [])]

    def _raise(self, node: ast.Raise) -> Block:
        error = node.exc
        if error is None:
            return [ast.Raise(None, None)]
        if isinstance(error, ast.Call) and isinstance(error.func, ast.Name):
            return [ast.Raise(self._error(error.func.id, self.each(error.args)), None)]
        if not isinstance(error, ast.Name):
            raise TypeError("fast mode raises named errors")
        if error.id in words.ERRORS:
            return [ast.Raise(self._error(error.id, []), None)]
        return [ast.Raise(load(error.id), None)]

    def _error(self, name: str, texts: list[ast.expr]) -> ast.expr:
        return call("op_error", load(helper(name)), *texts)

    def _try(self, node: ast.Try) -> Block:
        # What is out of memory or of stack is no error of the code that it might catch.
        fatal = ast.ExceptHandler(load(helper("fatal")), None, [ast.Raise(None, None)])
        handlers = [fatal]
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            known = [load(helper(kind.id)) for kind in kinds if isinstance(kind, ast.Name)]
            caught: ast.expr = known[0] if len(known) == 1 else ast.Tuple(list(known), ast.Load())
            made = ast.ExceptHandler(caught, handler.name, self._block(handler.body))
            handlers.append(at(made, handler))
        body, otherwise = self._block(node.body), self._otherwise(node.orelse)
        return [ast.Try(body, handlers, otherwise, [])]

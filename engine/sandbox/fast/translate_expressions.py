"""Expressions of accepted code, with checked helpers in place of what has no bounds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.sandbox.fast import names, words
from engine.sandbox.fast.building import (
    COMPARISONS,
    OPERATORS,
    Block,
    at,
    call,
    constants,
    define,
    helper,
    is_small,
    literal_power,
    load,
    one_argument,
    steps_of,
    store,
    suspends,
)

_SOURCE = helper("source")
_RESULT = helper("result")


@dataclass(slots=True)
class Frame:
    """A function being translated: the names it binds, the functions its comprehensions became."""

    names: frozenset[str]
    definitions: Block = field(default_factory=list)


class Expressions:
    """Translates expressions; `expression` of a node it does not know raises TypeError."""

    def __init__(
        self, tree: ast.Module, functions: frozenset[str], primitive: str, inline: bool
    ) -> None:
        self._functions = names.functions_of(tree)
        self._world = functions
        self._primitive = primitive
        self._inline = inline
        self._literals = names.literals_of(tree)
        reached = names.reach(self._functions)
        stops = frozenset({primitive}) if inline else functions
        self.suspending = {"run"} | {
            name for name, calls in reached.items() if calls & (stops | {"run"})
        }
        self.recursive = {name for name, calls in reached.items() if name in calls}
        self._frames: list[Frame] = []
        self._count = 0
        self._methods: dict[type[ast.expr], Callable[[Any], ast.expr]] = {
            ast.Name: self._name,
            ast.Constant: self._constant,
            ast.NamedExpr: self._named,
            ast.BoolOp: self._bool,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.IfExp: self._conditional,
            ast.Compare: self._compare,
            ast.Tuple: self._tuple,
            ast.List: self._list,
            ast.Set: self._set,
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.JoinedStr: self._joined,
            ast.FormattedValue: self._formatted,
            ast.ListComp: self._list_of,
            ast.GeneratorExp: self._list_of,
            ast.SetComp: self._set_of,
            ast.DictComp: self._dict_of,
            ast.Call: self._call,
        }

    def push(self, bound: frozenset[str]) -> Frame:
        """Begin a function."""
        self._frames.append(Frame(bound))
        return self._frames[-1]

    def pop(self) -> None:
        """End it."""
        self._frames.pop()

    def fresh(self, kind: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return helper(f"{kind}{self._count}")

    def expression(self, node: ast.expr) -> ast.expr:
        """The expression that runs.

        Raises:
            TypeError: fast mode does not know the syntax.
        """
        method = self._methods.get(type(node))
        if method is None:
            raise TypeError(f"fast mode has no translation of {type(node).__name__}")
        return at(method(node), node)

    def each(self, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Several expressions."""
        return [self.expression(node) for node in nodes]

    def tick(self, steps: int) -> ast.stmt:
        """Pay for steps of computing."""
        return ast.Expr(call("op_tick", ast.Constant(steps)))

    # --- values -------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> ast.expr:
        hidden = any(node.id in frame.names for frame in self._frames)
        literal = None if hidden else self._literals.get(node.id)
        return load(node.id) if literal is None else ast.Constant(literal.value)

    def _constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(node.value)

    def _named(self, node: ast.NamedExpr) -> ast.expr:
        return ast.NamedExpr(store(node.target.id), self.expression(node.value))

    def _tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple(self.each(node.elts), ast.Load())

    def _list(self, node: ast.List) -> ast.expr:
        return ast.List(self.each(node.elts), ast.Load())

    def _set(self, node: ast.Set) -> ast.expr:
        return call("fn_set", ast.Tuple(self.each(node.elts), ast.Load()))

    def _dict(self, node: ast.Dict) -> ast.expr:
        keys = [key for key in node.keys if key is not None]
        if all(isinstance(key, ast.Constant) for key in keys):
            return ast.Dict(list(self.each(keys)), self.each(node.values))
        pairs = zip(keys, node.values, strict=True)
        parts = [self.expression(part) for pair in pairs for part in pair]
        return call("op_dict", ast.Tuple(parts, ast.Load()))

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        value = self.expression(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            none = ast.Constant(None)
            return call("op_cut", value, *(none if e is None else self.expression(e) for e in ends))
        return self.item(value, self.expression(node.slice))

    def item(self, value: ast.expr, key: ast.expr) -> ast.expr:
        """`value[key]`."""
        if isinstance(key, ast.Constant):
            return ast.Subscript(value, key, ast.Load())
        return call("op_item", value, key)

    def _joined(self, node: ast.JoinedStr) -> ast.expr:
        values: list[ast.expr] = []
        for part in self.each(node.values):
            literal = isinstance(part, ast.Constant)
            values.append(part if literal else ast.FormattedValue(part, -1, None))
        return call("op_text", ast.JoinedStr(values))

    def _formatted(self, node: ast.FormattedValue) -> ast.expr:
        value = self.expression(node.value)
        if node.conversion == ord("r"):
            value = call("fn_repr", value)
        elif node.conversion == ord("s") or node.format_spec is None:
            value = call("fn_str", value)
        if not isinstance(node.format_spec, ast.JoinedStr):
            return value
        parts = [part.value for part in node.format_spec.values if isinstance(part, ast.Constant)]
        return call("op_format", value, ast.Constant("".join(map(str, parts))))

    # --- operators ----------------------------------------------------------------------

    def _bool(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, self.each(node.values))

    def _conditional(self, node: ast.IfExp) -> ast.expr:
        parts = self.each([node.test, node.body, node.orelse])
        return ast.IfExp(*parts)

    def _unary(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.expression(node.operand)
        if (
            isinstance(node.op, ast.USub)
            and is_small(operand)
            and isinstance(operand, ast.Constant)
        ):
            return ast.Constant(-operand.value)  # type: ignore[operator]
        return ast.UnaryOp(node.op, operand)

    def _binary(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Pow) and (value := literal_power(node)) is not None:
            return ast.Constant(value)
        left, right = self.each([node.left, node.right])
        return self.operation(node.op, left, right)

    def operation(
        self, operator: ast.operator, left: ast.expr, right: ast.expr, name: str | None = None
    ) -> ast.expr:
        """Arithmetic: as it is where a literal keeps it within bounds, else by a helper."""
        either = isinstance(operator, ast.Add | ast.Sub) and (is_small(left) or is_small(right))
        if either or (isinstance(operator, ast.Div | ast.FloorDiv) and is_small(right)):
            return ast.BinOp(left, operator, right)
        known = name or OPERATORS.get(type(operator))
        if known is None:
            raise TypeError(f"fast mode has no translation of {type(operator).__name__}")
        return call(known, left, right)

    def _compare(self, node: ast.Compare) -> ast.expr:
        parts: list[ast.expr] = []
        left = self.expression(node.left)
        for index, (operator, comparator) in enumerate(
            zip(node.ops, node.comparators, strict=True), start=1
        ):
            right = self.expression(comparator)
            following = right
            if index < len(node.ops) and not isinstance(right, ast.Constant):
                name = self.fresh("middle")
                right, following = ast.NamedExpr(store(name), right), load(name)
            parts.append(at(self._comparison(operator, left, right), node))
            left = following
        return parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)

    def _comparison(self, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
        if isinstance(operator, ast.In | ast.NotIn):
            native = isinstance(right, ast.Tuple | ast.List) and all(
                isinstance(part, ast.Constant) for part in right.elts
            )
        else:
            native = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
        if native:
            return ast.Compare(left, [operator], [right])
        return call(COMPARISONS[type(operator)], left, right)

    # --- comprehensions -----------------------------------------------------------------

    def _list_of(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        def push() -> ast.stmt:
            # An augmented assignment appends without an attribute.
            one = ast.List([self.expression(node.elt)], ast.Load())
            return ast.AugAssign(store(_RESULT), ast.Add(), one)

        source = self.expression(node.generators[0].iter)
        empty = ast.List([], ast.Load())
        return self._gather(node, source, node.generators, [node.elt], empty, push)

    def _set_of(self, node: ast.SetComp) -> ast.expr:
        def push() -> ast.stmt:
            return ast.Expr(call("m_add", load(_RESULT), self.expression(node.elt)))

        source = self.expression(node.generators[0].iter)
        return self._gather(node, source, node.generators, [node.elt], call("fn_set"), push)

    def _dict_of(self, node: ast.DictComp) -> ast.expr:
        def push() -> ast.stmt:
            pair = self.each([node.key, node.value])
            return ast.Expr(call("op_put", load(_RESULT), *pair))

        source = self.expression(node.generators[0].iter)
        parts = [node.key, node.value]
        return self._gather(node, source, node.generators, parts, ast.Dict([], []), push)

    def _gather(
        self,
        place: ast.AST,
        source: ast.expr,
        loops: Sequence[ast.comprehension],
        parts: Sequence[ast.expr],
        empty: ast.expr,
        push: Callable[[], ast.stmt],
    ) -> ast.expr:
        """Call a function, defined where the enclosing one begins, that loops and collects."""
        frame = self.push(frozenset(names.stored_names(loop.target for loop in loops)))
        inner: Block = [at(push(), place)]
        for index, loop in reversed(list(enumerate(loops))):
            following = parts if index + 1 == len(loops) else [loops[index + 1].iter]
            steps = 1 + steps_of([*loop.ifs, *following])
            for test in reversed(loop.ifs):
                inner = [at(ast.If(self.expression(test), inner, []), test)]
            values = load(_SOURCE) if index == 0 else self.expression(loop.iter)
            target = self.target(loop.target, None)
            inner = [at(ast.For(target, values, [self.tick(steps), *inner], []), loop.target)]
        self.pop()
        body: Block = [
            *frame.definitions,
            ast.Assign([store(_RESULT)], empty),
            *inner,
            ast.Return(call("op_made", load(_RESULT))),
        ]
        name = self.fresh("loop")
        self._frames[-1].definitions.append(define(name, one_argument(_SOURCE), body, place))
        called = ast.Call(load(name), [source], [])
        return ast.YieldFrom(called) if suspends(body) else called

    def target(self, node: ast.expr, stores: Block | None) -> ast.expr:
        """What is assigned to; items become names here, and statements in `stores`."""
        if isinstance(node, ast.Name):
            return at(store(node.id), node)
        if isinstance(node, ast.Tuple | ast.List):
            return at(ast.Tuple([self.target(n, stores) for n in node.elts], ast.Store()), node)
        if not isinstance(node, ast.Subscript) or stores is None:
            raise TypeError(f"fast mode does not assign to {type(node).__name__}")
        name = self.fresh("item")
        where = self.each([node.value, node.slice])
        stores.append(at(ast.Expr(call("op_store", load(name), *where)), node))
        return at(store(name), node)

    # --- calls --------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> ast.expr:
        function = node.func
        if isinstance(function, ast.Attribute):
            value = self.expression(function.value)
            return self._helped(node, f"m_{function.attr}", [value, *self.each(node.args)])
        if not isinstance(function, ast.Name):
            raise TypeError("fast mode calls functions by their names")
        if function.id in self._world:
            return self._world_call(node, function.id)
        if function.id in self._functions:
            called = ast.Call(load(function.id), self.each(node.args), self._keywords(node))
            return ast.YieldFrom(called) if function.id in self.suspending else called
        if function.id not in words.BUILTINS:
            raise TypeError(f"fast mode knows no function {function.id!r}")
        if function.id == "isinstance":
            kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
            known = constants(kind.id for kind in kinds if isinstance(kind, ast.Name))
            return call("fn_isinstance", self.expression(node.args[0]), known)
        return self._helped(node, f"fn_{function.id}", self.each(node.args))

    def _keywords(self, node: ast.Call) -> list[ast.keyword]:
        return [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]

    def _world_call(self, node: ast.Call, name: str) -> ast.expr:
        arguments, keywords = self.each(node.args), self._keywords(node)
        if self._inline and name == self._primitive:
            (value,) = (*arguments, *(keyword.value for keyword in keywords))
            return ast.Yield(value)
        given = ast.Tuple(arguments, ast.Load())
        named = ast.Dict(
            [ast.Constant(keyword.arg) for keyword in keywords],
            [keyword.value for keyword in keywords],
        )
        if not self._inline:
            parts = [ast.Constant(name), ast.Constant(node.lineno), given, named]
            return ast.Yield(ast.Tuple(parts, ast.Load()))
        if keywords:
            return call("op_ask_named", ast.Constant(name), given, named)
        literal = all(isinstance(value, ast.Constant) for value in arguments)
        return call("op_ask" if literal else "op_ask_with", ast.Constant(name), given)

    def _helped(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> ast.expr:
        """A call of a builtin or method; `key=` becomes the list of all keys, made first."""
        key = next((k.value for k in node.keywords if k.arg == "key"), None)
        others = [
            ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords if k.arg != "key"
        ]
        if key is None:
            return call(name, *arguments, keywords=others)
        items = arguments[0] if name == "m_sort" else call("fn_list", arguments[0])
        kept = self.fresh("items")
        if isinstance(key, ast.Lambda):
            parameter, value = key.args.args[0].arg, key.body
        elif isinstance(key, ast.Name):
            parameter = self.fresh("each")
            value = at(ast.Call(load(key.id), [load(parameter)], []), key)
        else:
            raise TypeError("fast mode takes a lambda or a name as `key`")

        def push() -> ast.stmt:
            one = ast.List([self.expression(value)], ast.Load())
            return ast.AugAssign(store(_RESULT), ast.Add(), one)

        loop = ast.comprehension(at(store(parameter), key), load(kept), [], 0)
        empty = ast.List([], ast.Load())
        keys = self._gather(key, load(kept), [loop], [value], empty, push)
        return call(f"{name}_by", ast.NamedExpr(store(kept), items), keys, keywords=others)

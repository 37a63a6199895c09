"""What fast mode accepts of expressions: names, operators, displays, comprehensions, calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeGuard

from engine.agents.plan import CodeDiagnostic
from engine.sandbox.fast import names, words
from engine.sandbox.fast.building import literal_power
from engine.sandbox.values import is_torn

_NAME = re.compile(r"_|[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)
_INSTEAD = {
    ast.ClassDef: "keep values in a dict or a tuple",
    ast.Lambda: "only `key=` of min, max, sorted and sort takes one",
    ast.Global: "pass values as arguments",
    ast.Nonlocal: "pass values as arguments",
    ast.Match: "write if and elif",
    ast.Import: "the functions of the world are there without an import",
    ast.ImportFrom: "the functions of the world are there without an import",
    ast.Starred: "write the items one by one, or use extend()",
    ast.FunctionDef: "define functions outside of functions",
    ast.With: "write plain statements",
    ast.Delete: "use pop()",
}
ARITHMETIC = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor,
)  # fmt: skip
_LITERALS = frozenset({bool, int, float, str, type(None)})
_LARGEST_LITERAL = 2**63


class Expressions(ast.NodeVisitor):
    """Visits expressions; `visit` of a node without a method of its own refuses it."""

    def __init__(self, tree: ast.Module, functions: frozenset[str], primitive: str) -> None:
        self.found: list[CodeDiagnostic] = []
        self.world = functions
        self.primitive = primitive
        self.functions = names.functions_of(tree)
        self.module = names.module_names(tree)
        reached = names.reach(self.functions)
        self.worldly = {name for name, calls in reached.items() if calls & functions}
        self.scopes: list[frozenset[str]] = [self.module]
        self.caught: list[str] = []
        self.inside = False
        self._comprehensions = 0
        self._still = 0
        """Depth of `key=` functions, in which the world must not be called."""

    # --- findings -----------------------------------------------------------------------

    def refuse(self, node: ast.AST, message: str) -> None:
        """Note what is not accepted at a node."""
        self.found.append(
            CodeDiagnostic(
                line=getattr(node, "lineno", 0),
                column=getattr(node, "col_offset", -1) + 1,
                code="fast",
                message=f"fast mode: {message}",
            )
        )

    def generic_visit(self, node: ast.AST) -> None:
        """Refuse whatever has no method here."""
        instead = _INSTEAD.get(type(node))
        hint = f": {instead}" if instead else ""
        self.refuse(node, f"{type(node).__name__} is not accepted{hint}")

    def each(self, nodes: Sequence[ast.AST | None]) -> None:
        """Visit all that are there."""
        for node in nodes:
            if node is not None:
                self.visit(node)

    # --- names --------------------------------------------------------------------------

    def bind(self, node: ast.AST, name: str) -> None:
        """Check a name that gets a value here."""
        taken = {*self.functions, *words.BUILTINS, *words.ERRORS, *self.world}
        if not may_be_named(name):
            self.refuse(node, f"the name {name!r} is not accepted: use letters of ASCII")
        elif name in taken:
            self.refuse(node, f"the name `{name}` is taken by a function: use another")

    def visit_Name(self, node: ast.Name) -> None:
        """A name whose value is used."""
        name = node.id
        if name in self.caught:
            self.refuse(node, f"`{name}` is an error: only str(), repr(), f-strings and raise")
        elif any(name in scope for scope in self.scopes):
            return
        elif name in {*self.functions, *words.BUILTINS, *words.ERRORS, *self.world}:
            self.refuse(node, f"`{name}` is no value here: call it directly")
        else:
            self.refuse(node, f"the name `{name}` is not known here")

    def target(self, node: ast.expr, *, items: bool = False) -> None:
        """What may be assigned to: names, tuples of them, and (where `items`) items."""
        if isinstance(node, ast.Name):
            self.bind(node, node.id)
            if node.id in self.caught:
                self.refuse(node, f"`{node.id}` is an error here: use another name")
        elif isinstance(node, ast.Tuple | ast.List):
            for part in node.elts:
                self.target(part, items=items)
        elif items and isinstance(node, ast.Subscript):
            self.visit(node.value)
            if isinstance(node.slice, ast.Slice):
                self.refuse(node, "slices cannot be assigned to: build a new list")
            else:
                self.visit(node.slice)
        else:
            self.refuse(node, "only names and items can be assigned to here")

    @contextmanager
    def scope(self, bound: frozenset[str]) -> Iterator[None]:
        """Names that are known inside."""
        self.scopes.append(bound)
        yield
        self.scopes.pop()

    # --- expressions --------------------------------------------------------------------

    def visit_Constant(self, node: ast.Constant) -> None:
        """A number, a text, True, False or None."""
        value = node.value
        if type(value) not in _LITERALS:
            self.refuse(node, f"the literal {value!r:.40} is not accepted")
        elif isinstance(value, str) and is_torn(value):
            self.refuse(node, "a text with half of a character")
        elif type(value) is int and value >= _LARGEST_LITERAL:
            self.refuse(node, "an integer beyond 64 bits")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """`(a := value)` in a function."""
        if self._comprehensions or not self.inside:
            self.refuse(node, "`:=` is accepted in functions only, and not in comprehensions")
        self.visit(node.value)
        self.target(node.target)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """`a and b`."""
        self.each(node.values)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Arithmetic."""
        if isinstance(node.op, ast.Pow):
            exponent = node.right.value if isinstance(node.right, ast.Constant) else None
            fixed = type(exponent) is int and exponent in (2, 3)
            if not fixed and literal_power(node) is None:
                self.refuse(node, "`**` takes 2 or 3 as its exponent: multiply in a loop")
        elif not isinstance(node.op, ARITHMETIC):
            self.refuse(node, f"the operator {type(node.op).__name__} is not accepted")
        elif isinstance(node.op, ast.Mod) and is_text(node.left):
            self.refuse(node, 'texts are put together by f-strings: f"{value}"')
        self.each([node.left, node.right])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """`-a`, `+a`, `~a`, `not a`."""
        self.visit(node.operand)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """`a if test else b`."""
        self.each([node.test, node.body, node.orelse])

    def visit_Compare(self, node: ast.Compare) -> None:
        """Comparisons; `is` with None, True and False only."""
        operands = [node.left, *node.comparators]
        for index, operator in enumerate(node.ops):
            if isinstance(operator, ast.Is | ast.IsNot):
                pair = operands[index : index + 2]
                if not any(_is_singleton(operand) for operand in pair):
                    self.refuse(node, "`is` compares with None, True or False: write ==")
        self.each(operands)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """`(a, b)`."""
        self.each(node.elts)

    def visit_List(self, node: ast.List) -> None:
        """`[a, b]`."""
        self.each(node.elts)

    def visit_Set(self, node: ast.Set) -> None:
        """`{a, b}`."""
        self.each(node.elts)

    def visit_Dict(self, node: ast.Dict) -> None:
        """`{a: b}`."""
        if None in node.keys:
            self.refuse(node, "`**` in a dict is not accepted: use update()")
        self.each([*node.keys, *node.values])

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """`a[b]`, `a[b:c:d]`."""
        self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            self.each([node.slice.lower, node.slice.upper, node.slice.step])
        else:
            self.visit(node.slice)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """An f-string."""
        self.each(node.values)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """One `{value!r:spec}` of an f-string; the spec is a literal of bounded width."""
        if node.conversion not in (-1, ord("r"), ord("s")):
            self.refuse(node, "an f-string converts by !r and !s only")
        spec = node.format_spec
        if spec is not None:
            parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
            texts = [part.value for part in parts if isinstance(part, ast.Constant)]
            text = "".join(map(str, texts))
            if len(texts) < len(parts) or not words.FORMAT_SPEC.fullmatch(text):
                self.refuse(node, f"the format {text!r:.40} is not accepted: a width below 1000")
        self._readable(node.value)

    def _readable(self, node: ast.expr) -> None:
        """A value that is turned into text: the one place for a caught error."""
        if not (isinstance(node, ast.Name) and node.id in self.caught):
            self.visit(node)

    # --- comprehensions -----------------------------------------------------------------

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """`[a for b in c]`."""
        self._comprehension(node.generators, [node.elt])

    def visit_SetComp(self, node: ast.SetComp) -> None:
        """`{a for b in c}`."""
        self._comprehension(node.generators, [node.elt])

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """`{a: b for c in d}`."""
        self._comprehension(node.generators, [node.key, node.value])

    def _comprehension(self, loops: list[ast.comprehension], parts: list[ast.expr]) -> None:
        self._comprehensions += 1
        depth = len(self.scopes)
        for loop in loops:
            if loop.is_async:
                self.refuse(loop.target, "`async` is not accepted")
            self.iterable(loop.iter)
            self.target(loop.target)
            self.scopes.append(frozenset(names.stored_names([loop.target])))
            self.each(loop.ifs)
        self.each(parts)
        del self.scopes[depth:]
        self._comprehensions -= 1

    def iterable(self, node: ast.expr) -> None:
        """What is gone through at once: may be made by `zip` and its like."""
        if isinstance(node, ast.GeneratorExp):
            self._comprehension(node.generators, [node.elt])
        elif isinstance(node, ast.Call) and is_name(node.func, *words.ITERATORS):
            self._builtin(node, node.func.id)
        else:
            self.visit(node)

    # --- calls --------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        """A call of a function of the program, of the world, of a builtin, or of a method."""
        function = node.func
        if any(keyword.arg is None for keyword in node.keywords):
            self.refuse(node, "`**` in a call is not accepted: name the arguments")
        elif isinstance(function, ast.Attribute):
            self._method(node, function)
        elif not isinstance(function, ast.Name):
            self.refuse(node, "only functions and methods can be called, by their names")
        elif function.id in self.world:
            self._world_call(node, function.id)
        elif function.id in self.functions:
            if not self.inside:
                self.refuse(node, f"`{function.id}` is called outside a function")
            elif self._still and function.id in self.worldly:
                self.refuse(node, "the world cannot be called from a `key=` function")
            self._arguments(node)
        elif function.id in words.ITERATORS:
            self.refuse(node, f"`{function.id}` can only be gone through at once: use list()")
        elif function.id in words.BUILTINS:
            self._builtin(node, function.id)
        else:
            self.refuse(node, f"`{function.id}` is no function that can be called here")

    def _arguments(self, node: ast.Call) -> None:
        self.each([*node.args, *(keyword.value for keyword in node.keywords)])

    def _world_call(self, node: ast.Call, name: str) -> None:
        if not self.inside:
            self.refuse(node, f"`{name}` is called outside a function: move it into run()")
        elif self._still:
            self.refuse(node, "the world cannot be called from a `key=` function")
        if name == self.primitive and len(node.args) + len(node.keywords) != 1:
            self.refuse(node, f"`{name}` takes one argument")
        self._arguments(node)

    def _method(self, node: ast.Call, function: ast.Attribute) -> None:
        signature = words.METHODS.get(function.attr)
        if signature is None:
            self.refuse(function, f"`.{function.attr}` is not accepted")
            return
        self.visit(function.value)
        self._fits(node, f".{function.attr}", signature)
        self._plain_or_key(node)
        if function.attr == "join" and len(node.args) == 1:
            self.iterable(node.args[0])
        else:
            self.each(node.args)

    def _builtin(self, node: ast.Call, name: str) -> None:
        self._fits(node, name, words.BUILTINS[name])
        self._plain_or_key(node)
        if name == "isinstance":
            self.each(node.args[:1])
            self._types(node.args[1:])
        elif name in ("str", "repr", "print"):
            for argument in node.args:
                self._readable(argument)
        elif name == "zip" or (name in words.ITERATORS | words.CONSUMERS and len(node.args) == 1):
            for argument in node.args:
                self.iterable(argument)
        elif name in ("enumerate", "sum"):
            for argument in node.args[:1]:
                self.iterable(argument)
            self.each(node.args[1:])
        else:
            self.each(node.args)

    def _fits(self, node: ast.Call, name: str, signature: words.Signature) -> None:
        if not signature.least <= len(node.args) <= signature.most:
            self.refuse(node, f"`{name}` does not take {len(node.args)} arguments here")
        if strange := {keyword.arg or "" for keyword in node.keywords} - signature.keywords:
            self.refuse(node, f"`{name}` takes no {', '.join(sorted(strange))} here")

    def _types(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            kinds = node.elts if isinstance(node, ast.Tuple) else [node]
            if not all(is_name(kind, *words.TYPES) for kind in kinds):
                self.refuse(node, f"isinstance() knows {', '.join(sorted(words.TYPES))}")

    def _plain_or_key(self, node: ast.Call) -> None:
        """Visit keywords; `key` is a lambda of one parameter or the name of a function."""
        for keyword in node.keywords:
            if keyword.arg != "key":
                self.visit(keyword.value)
                continue
            if len(node.args) > 1:
                self.refuse(node, "`key=` goes with a single list")
            self._still += 1
            self._comprehensions += 1
            self._key(keyword.value)
            self._comprehensions -= 1
            self._still -= 1

    def _key(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name) and node.id in words.KEY_BUILTINS:
            return
        if isinstance(node, ast.Name) and node.id in self.functions:
            if node.id in self.worldly:
                self.refuse(node, "the world cannot be called from a `key=` function")
            return
        if not isinstance(node, ast.Lambda) or not _one_parameter(node.args):
            self.refuse(node, "`key=` takes a lambda of one parameter, or a function's name")
            return
        parameter = node.args.args[0]
        self.bind(parameter, parameter.arg)
        with self.scope(frozenset({parameter.arg})):
            self.visit(node.body)


def may_be_named(name: str) -> bool:
    """A name that code may bind."""
    return _NAME.fullmatch(name) is not None


def is_text(node: ast.expr) -> bool:
    """A literal text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_name(node: ast.expr | None, *known: str) -> TypeGuard[ast.Name]:
    """One of these names."""
    return isinstance(node, ast.Name) and node.id in known


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) is bool)


def _one_parameter(arguments: ast.arguments) -> bool:
    others = (arguments.posonlyargs, arguments.kwonlyargs, arguments.defaults)
    star = arguments.vararg or arguments.kwarg
    return len(arguments.args) == 1 and not any(others) and not star

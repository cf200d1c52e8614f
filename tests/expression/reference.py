#!/usr/bin/env python3
"""Random expressions over random events, with what the reference implementation of JMESPath's community edition gives for them.

    python3 -m venv /tmp/reference && /tmp/reference/bin/pip install jmespath-community==1.1.3
    /tmp/reference/bin/python tests/expression/reference.py --count 100000 --seed 1 > /tmp/expressions.ndjson
    RETORT_EXPRESSIONS=/tmp/expressions.ndjson cargo test -p retort --test cases -- expression::reference --nocapture

Each line is a case: `{"expression", "given", "result"}`, or `"error"` in the place of `"result"`. Where the reference went a way of Python's that
the specification doesn't have, `"python"` says which: such cases are counted, and not held to. A part of 500 cases lies beside this,
`reference.ndjson`, made by `--count 500 --seed 7 --short`; ordinary tests compare it.
"""

import argparse
import json
import random
import sys
from fractions import Fraction

import jmespath
from jmespath import exceptions, functions, parser, visitor

KEYS = ["a", "b", "c", "id", "name", "kind", "e f", "größe", "0", "x.y"]
WORDS = ["", "a", "ab", "abc", "b", "Ab", "a b", "é", "İß", "🙂x", "12", "-7", "1.5", "x12", "true", "null", "2019-05-15", " a ", "a,b,c", '{"a":1}', "'", "\\", "\n"]
NUMBERS = [0, 1, 2, 3, -1, -7, 10, 12, 1.5, -0.5, 0.25, 2.75, 100, 1557933657, 9007199254740993, 1e3]


class Odd(Exception):
    """The reference gave what is no JSON."""


class Functions(functions.Functions):
    """The reference's, which note where Python shows through."""

    notes = set()

    def call_function(self, name, arguments, *rest, **more):
        note = self.notes.add
        if name == "contains" and len(arguments) == 2:
            if isinstance(arguments[0], str) and not isinstance(arguments[1], str):
                note("contains: what a text is searched for is no text")
            elif isinstance(arguments[0], list) and any(mixed(one, arguments[1]) for one in arguments[0]):
                note("equality: true is 1")
        if name == "to_string" and arguments and not isinstance(arguments[0], str):
            if any(isinstance(one, float) for one in scalars(arguments[0])):
                note("to_string: a double as Python writes it")
            if any(isinstance(one, str) and not one.isascii() for one in scalars(arguments[0])):
                note("to_string: escapes")
        if name == "to_number" and arguments and isinstance(arguments[0], str) and not is_number(arguments[0]):
            note("to_number: a text that is a number of Python's and none of JSON's")
        if name == "zip" and not arguments:
            note("zip: of no array")
        if name in ("sum", "avg") and arguments and isinstance(arguments[0], list) and arguments[0]:
            if all(type(one) in (int, float) for one in arguments[0]):
                total = sum(map(Fraction, arguments[0]))
                exact = total / len(arguments[0]) if name == "avg" else total
                if exact != super().call_function(name, arguments, *rest, **more):
                    note("numbers: digits that a double hasn't")
        if name == "group_by" and arguments and isinstance(arguments[0], list):
            if not arguments[0]:
                note("group_by: null for no elements")
            elif not all(isinstance(one, dict) for one in arguments[0]):
                note("group_by: of what is no object")
        if name == "from_items" and arguments and isinstance(arguments[0], list):
            if not all(isinstance(one, list) and one and isinstance(one[0], str) for one in arguments[0]):
                note("from_items: keys that are no texts")
        if name == "split" and len(arguments) == 3 and arguments[1] == "" and type(arguments[2]) is int:
            if isinstance(arguments[0], str) and arguments[2] >= len(arguments[0]):
                note("split: an empty part after the last character")
        return super().call_function(name, arguments, *rest, **more)


class Interpreter(visitor.TreeInterpreter):
    def visit_arithmetic(self, node, value):
        self.only_of_numbers(node, value)
        result = super().visit_arithmetic(node, value)
        operands = [Fraction(self.visit(child, value)) for child in node["children"]]
        if self._ARITHMETIC_FUNC[node["value"]](*operands) != result:
            Functions.notes.add("numbers: digits that a double hasn't")
        if abs(result) >= 10**28:
            Functions.notes.add("numbers: more than 28 digits")
        return result

    def visit_arithmetic_unary(self, node, value):
        self.only_of_numbers(node, value)
        return super().visit_arithmetic_unary(node, value)

    def only_of_numbers(self, node, value):
        """As the specification has it: the reference repeats texts, adds lists, and counts with booleans."""
        for child in node["children"]:
            if type(self.visit(child, value)) not in (int, float):
                raise TypeError("arithmetic of what is no number")

    def visit(self, node, *rest, **more):
        """Looks for an issue of the reference's parser, 131 of jmespath/jmespath.py: of `a.*.b.c` it takes `c` of the list that `a.*.b` gives."""
        if node["type"] in ("subexpression", "filter_projection", "value_projection"):
            of = node["children"][0]
            if of["type"] == "value_projection" and of["children"][1]["type"] != "identity":
                Functions.notes.add("a.*.b.c: c is taken of the list")
        return super().visit(node, *rest, **more)

    def visit_comparator(self, node, value):
        one, other = (self.visit(child, value) for child in node["children"])
        if node["value"] in self._EQUALITY_OPS:
            if isinstance(one, (list, dict)) and mixed(one, other):
                Functions.notes.add("equality: true is 1")
        elif isinstance(one, str) or isinstance(other, str):
            Functions.notes.add("order: of texts")
        return super().visit_comparator(node, value)


def scalars(value):
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        return [one for element in value for one in scalars(element)]
    return [value]


def mixed(one, other):
    """Whether somewhere in two values that Python calls equal a boolean stands against a number."""
    if isinstance(one, bool) != isinstance(other, bool):
        return one == other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and any(map(mixed, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and any(mixed(one[key], other[key]) for key in one)
    return False


def is_number(text):
    try:
        return type(json.loads(text)) in (int, float) and text.strip() == text
    except ValueError:
        try:
            float(text)
        except ValueError:
            return True
        return False


ERRORS = [
    (exceptions.ArityError, "invalid-arity"),
    (exceptions.ParseError, "syntax"),
    (exceptions.JMESPathTypeError, "invalid-type"),
    (exceptions.JMESPathValueError, "invalid-value"),
    (exceptions.UnknownFunctionError, "unknown-function"),
    (exceptions.UndefinedVariable, "undefined-variable"),
    (exceptions.JMESPathError, "other"),
]


def evaluate(expression, given):
    """A result, or the kind of an error, and what was noted."""
    Functions.notes = notes = set()
    options = visitor.Options(custom_functions=Functions())
    try:
        result = Interpreter(options).evaluate(parser.Parser().parse(expression).parsed, given)
        return {"result": plain(result)}, notes
    except Odd as odd:
        notes.add(f"result: {odd}")
        return {"result": None}, notes
    except exceptions.JMESPathError as error:
        return {"error": next(kind for type_, kind in ERRORS if isinstance(error, type_))}, notes
    except (TypeError, ZeroDivisionError, OverflowError, ValueError, AttributeError, IndexError, KeyError) as error:
        return {"error": type(error).__name__}, notes


def plain(value):
    """A result as JSON; what is none is odd."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Odd("an object whose keys are no texts")
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise Odd("a number that JSON has not")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise Odd("a value that JSON has not")


class Maker:
    """Expressions that mostly mean something: what comes next is chosen by what the part before it gives."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def below(self, limit):
        return int(self.random.random() * limit)

    def one_of(self, values):
        return values[self.below(len(values))]

    def chance(self, probability):
        return self.random.random() < probability

    # Events.

    def document(self, depth):
        kind = self.below(10)
        if depth == 0 or kind == 9:
            return self.scalar()
        if kind < 5:
            return {self.one_of(KEYS): self.document(depth - 1) for _ in range(self.below(5))}
        return self.array(depth)

    def array(self, depth):
        """Mostly of one kind, as events have them."""
        size, kind = self.below(5), self.below(5)
        if kind == 0:
            return [self.one_of(NUMBERS) for _ in range(size)]
        if kind == 1:
            return [self.one_of(WORDS) for _ in range(size)]
        if kind == 2:
            keys = [self.one_of(KEYS) for _ in range(3)]
            types = {key: self.one_of([NUMBERS, WORDS]) for key in keys}
            return [{key: self.one_of(types[key]) for key in keys if self.chance(0.85)} for _ in range(size)]
        if kind == 3:
            return [[self.one_of(WORDS), self.scalar()] for _ in range(size)]
        return [self.document(depth - 1) for _ in range(size)]

    def scalar(self):
        return self.one_of([self.one_of(NUMBERS), self.one_of(NUMBERS), self.one_of(WORDS), self.one_of(WORDS), True, False, None])

    # Expressions.

    def literal(self, value):
        if isinstance(value, str) and "'" not in value and "\\" not in value and self.chance(0.6):
            return f"'{value}'"
        return "`" + json.dumps(value, ensure_ascii=self.chance(0.5)).replace("`", "\\`") + "`"

    def key(self, of):
        found = self.one_of(list(of)) if isinstance(of, dict) and of and self.chance(0.9) else self.one_of(KEYS)
        if found.isascii() and found.isidentifier() and self.chance(0.9):
            return found
        return json.dumps(found, ensure_ascii=self.chance(0.5))

    def expression(self, current, depth):
        if depth == 0:
            return self.leaf(current)
        base = self.expression(current, depth - 1)
        return self.further(base, current, depth)

    def leaf(self, current):
        kind = self.below(20)
        if kind == 0:
            return "@"
        if kind == 1:
            return self.literal(self.scalar())
        if kind == 2:
            return self.literal(self.document(1))
        if kind == 3:
            return "$"
        path = self.key(current)
        value = value_of(path, current)
        while isinstance(value, dict) and self.chance(0.7):
            path += "." + self.key(value)
            value = value_of(path, current)
        return path

    def held(self, base):
        """In parentheses, mostly where it isn't a path or a call."""
        if base.startswith(("let ", "!", "-")) or any(sign in base for sign in " ?|&"):
            return f"({base})"
        return base if self.chance(0.9) else f"({base})"

    def further(self, base, current, depth):
        value = value_of(base, current)
        wild = self.chance(0.04)
        if self.chance(0.22) or value is None and not wild:
            return self.general(base, value, current, depth)
        kinds = [self.of_object, self.of_array, self.of_text, self.of_number]
        if wild:
            return self.one_of(kinds)(base, value, current)
        if isinstance(value, dict):
            return self.of_object(base, value, current)
        if isinstance(value, list):
            return self.of_array(base, value, current)
        if isinstance(value, str):
            return self.of_text(base, value, current)
        if isinstance(value, bool):
            return self.general(base, value, current, depth)
        return self.of_number(base, value, current)

    def general(self, base, value, current, depth):
        held = self.held(base)
        other = lambda: self.held(self.expression(current, self.below(depth)))  # noqa: E731
        operator = self.one_of(["==", "!=", "<", "<=", ">", ">="])
        return self.one_of([
            lambda: f"{held} {operator} {other()}",
            lambda: f"{held} == {self.literal(value)}",
            lambda: f"{held} {self.one_of(['||', '&&'])} {other()}",
            lambda: f"!({base})",
            lambda: f"{base} | {self.inside(value)}",
            lambda: f"let $v = {base} in {self.with_variable(value, current)}",
            lambda: f"let $v = {base}, $w = {other()} in [$v, $w, {self.leaf(current)}]",
            lambda: f"[{base}, {other()}]",
            lambda: f"{{a: {base}, \"b c\": {other()}}}",
            lambda: f"{self.one_of(['type', 'not_null', 'to_array', 'to_string', 'to_number'])}({base})",
            lambda: f"not_null({self.leaf(current)}, {base})",
        ])()

    def with_variable(self, value, current):
        return self.one_of([
            "$v",
            f"[{self.leaf(current)}, $v]",
            f"{self.held(self.leaf(current))} == $v",
            self.further("$v", None, 1) if value is None else f"[$v] | [0] | {self.inside(value)}",
        ])

    def inside(self, value):
        """Where `value` is the current one."""
        if self.chance(0.1) or value is None:
            return "@"
        return self.expression(value, self.below(2) if self.chance(0.8) else 2)

    def of_object(self, base, value, current):
        held = self.held(base)
        return self.one_of([
            lambda: f"{held}.{self.key(value)}",
            lambda: f"{held}.{self.key(value)}",
            lambda: f"{held}.*",
            lambda: f"{held}.[{self.key(value)}, {self.key(value)}]",
            lambda: f"{held}.{{p: {self.key(value)}, q: {self.inside(value)}}}",
            lambda: f"{self.one_of(['keys', 'values', 'items', 'length'])}({base})",
            lambda: f"sort(keys({base}))",
            lambda: f"from_items(items({base}))",
            lambda: f"merge({base}, {self.literal({self.one_of(KEYS): self.scalar()})})",
        ])()

    def of_array(self, base, value, current):
        held = self.held(base)
        element = self.one_of(value) if isinstance(value, list) and value else None
        inner = self.inside(element)
        key = self.key(element)
        numbers = isinstance(value, list) and all(type(one) in (int, float) for one in value)
        texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        choices = [
            lambda: f"{held}[{self.below(9) - 4}]",
            lambda: f"{held}[{self.slice()}]",
            lambda: f"{held}[*].{key}",
            lambda: f"{held}[]",
            lambda: f"{held}[].{key}",
            lambda: f"{held}[?{inner}]",
            lambda: f"{held}[?{key} == {self.literal(value_of(key, element))}]",
            lambda: f"{held}[?{key} {self.one_of(['<', '>=', '!='])} {self.literal(self.one_of(NUMBERS))}].{self.key(element)}",
            lambda: f"map(&{self.argument(inner)}, {base})",
            lambda: f"length({base})",
            lambda: f"reverse({base})",
            lambda: f"{self.one_of(['sort_by', 'max_by', 'min_by', 'group_by'])}({base}, &{key})",
            lambda: f"{self.one_of(['sort_by', 'max_by', 'min_by'])}({base}, &length(to_string({self.argument(inner)})))",
            lambda: f"contains({base}, {self.literal(element)})",
            lambda: f"zip({base}, {base})",
            lambda: f"to_array({base})[::-1]",
        ]
        if numbers:
            choices += [lambda: f"{self.one_of(['sum', 'avg', 'max', 'min', 'sort'])}({base})"] * 4
        if texts:
            choices += [lambda: f"{self.one_of(['max', 'min', 'sort'])}({base})", lambda: f"join({self.literal(self.one_of([',', '', ' - ']))}, {base})"] * 3
        if base.endswith(".*"):
            choices += [lambda: f"{base}.{key}"] * 8
        if isinstance(value, list) and value and all(isinstance(one, list) and len(one) == 2 for one in value):
            choices += [lambda: f"from_items({base})"] * 4
        return self.one_of(choices)()

    def argument(self, inner):
        return f"({inner})" if inner.startswith("let ") else inner

    def slice(self):
        bound = lambda: "" if self.chance(0.4) else str(self.below(9) - 4)  # noqa: E731
        step = self.one_of(["", "", ":1", ":2", ":-1", ":-2", ":"])
        return f"{bound()}:{bound()}{step}"

    def of_text(self, base, value, current):
        text = value if isinstance(value, str) else "abc"
        at = self.below(len(text) + 1)
        part = lambda: self.literal(text[at: at + 1 + self.below(2)] if self.chance(0.8) else self.one_of(WORDS))  # noqa: E731
        number = lambda: f"`{self.below(9) - 2}`"  # noqa: E731
        return self.one_of([
            lambda: f"{self.one_of(['lower', 'upper', 'trim', 'trim_left', 'trim_right', 'length', 'reverse', 'to_number'])}({base})",
            lambda: f"{self.one_of(['trim', 'trim_left', 'trim_right'])}({base}, {part()})",
            lambda: f"{self.one_of(['starts_with', 'ends_with', 'contains'])}({base}, {part()})",
            lambda: f"{self.one_of(['find_first', 'find_last'])}({base}, {part()})",
            lambda: f"{self.one_of(['find_first', 'find_last'])}({base}, {part()}, {number()}, {number()})",
            lambda: f"replace({base}, {part()}, {self.literal(self.one_of(WORDS))})",
            lambda: f"replace({base}, {part()}, '_', {number()})",
            lambda: f"split({base}, {part()})",
            lambda: f"split({base}, {self.literal(self.one_of(['', ',', 'a']))}, {number()})",
            lambda: f"{self.one_of(['pad_left', 'pad_right'])}({base}, {number()}, {self.literal(self.one_of(['.', 'é', '']))})",
            lambda: f"{self.one_of(['pad_left', 'pad_right'])}({base}, `6`)",
            lambda: f"{self.held(base)}[{self.slice()}]",
            lambda: f"{base} == {self.literal(value)}" if " " not in base else f"({base}) != {self.literal(value)}",
        ])()

    def of_number(self, base, value, current):
        held = self.held(base)
        operator = self.one_of(["+", "-", "*", "/", "%", "//", "<", "<=", ">", ">=", "==", "!="])
        other = self.literal(self.one_of(NUMBERS[1:]))
        return self.one_of([
            lambda: f"{held} {operator} {other}",
            lambda: f"{held} {operator} {other}",
            lambda: f"{other} {self.one_of(['+', '-', '*', '<', '>='])} {held}",
            lambda: f"-{held}" if not held.startswith("-") else held,
            lambda: f"{self.one_of(['abs', 'ceil', 'floor', 'to_string', 'to_number'])}({base})",
            lambda: f"[{base}, {other}] | {self.one_of(['sum', 'avg', 'max', 'min', 'sort'])}(@)",
            lambda: f"({held} + {other}) * {other}",
        ])()


def value_of(expression, current):
    """What the reference gives for a part, or None."""
    return evaluate(expression, current)[0].get("result")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--short", action="store_true", help="events and expressions that are short")
    given = arguments.parse_args()
    if jmespath.__version__ != "1.1.3":
        sys.exit(f"expected jmespath-community 1.1.3, found {jmespath.__version__}")
    maker = Maker(given.seed)
    written = 0
    while written < given.count:
        document = maker.document(2 if given.short else 4)
        expression = maker.expression(document, 1 + maker.below(3 if given.short else 4))
        if given.short and len(expression) + len(json.dumps(document)) > 250:
            continue
        outcome, notes = evaluate(expression, document)
        case = {"expression": expression, "given": document, **outcome, **({"python": sorted(notes)} if notes else {})}
        print(json.dumps(case, ensure_ascii=False))
        written += 1


if __name__ == "__main__":
    main()

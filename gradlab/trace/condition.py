"""Conditions of breakpoints: `grad_norm("fc2") > 100 and step > 10`, read by a parser of their own and never evaluated as Python."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

from ..errors import GradlabError

Moment = Literal["op", "pass", "step"]
"""When a condition can be told: after each op, after a backward pass, or at the end of a step."""


class ConditionError(GradlabError, ValueError):
    """A condition that can't be read; the text shows where, and what may stand there."""


class Word(NamedTuple):
    """A word of the language: whether it takes a name in parentheses, when it is known, and what it means."""

    takes: Literal["no name", "a name or none", "a name"]
    moment: Moment
    meaning: str


NUMBERS = {
    "step": Word("no name", "step", "the number of the step"),
    "loss": Word("no name", "pass", "the root of the last backward pass"),
    "grad_norm": Word("a name or none", "pass", "norm of all gradients, or of those whose parameter's name begins so"),
    "weight_norm": Word("a name", "pass", "norm of the parameters whose name begins so"),
    "update_ratio": Word("a name", "step", "largest rms(update) / rms(values) of those parameters"),
    "lr": Word("no name", "step", "learning rate of the optimizer that stepped last"),
    "probe": Word("a name", "pass", "the newest value of a probe"),
}
"""The words that stand for a number."""

FLAGS = {
    "nan": Word("no name", "op", "an op's output or gradient holds a NaN"),
    "inf": Word("no name", "op", "an op's output or gradient holds an infinity"),
    "op": Word("a name", "op", "an op of that name ran"),
    "backward": Word("a name", "op", "the backward of an op of that name ran"),
}
"""The words that are true or false."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_OR, _AND, _NOT = {"or", "|", "||"}, {"and", "&", "&&"}, {"not", "!"}
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><=|>=|==|!=|\|\||&&|[<>()|&!-])
    )""",
    re.VERBOSE,
)
_LONGEST = 1_000
_DEEPEST = 50


class Reading(Protocol):
    """What a condition is told about: a number or a flag by its word and name, None where it is not known."""

    def number(self, word: str, name: str | None, /) -> float | None:
        """The number that a word stands for."""
        ...

    def flag(self, word: str, name: str | None, /) -> bool:
        """Whether a word is true."""
        ...


class Condition:
    """A condition as it was written, and its meaning.

    >>> condition = parse('grad_norm("fc2") > 100 or loss > 10')
    >>> condition.moment, condition.words
    ('pass', [('grad_norm', 'fc2'), ('loss', None)])
    """

    def __init__(self, text: str, test: Callable[[Reading], bool], words: list[tuple[str, str | None]]) -> None:
        self.text, self.words, self._test = text, words, test
        moments = {(NUMBERS.get(word) or FLAGS[word]).moment for word, _ in words if word != "step"}
        self.moment: Moment = "op" if "op" in moments else "pass" if moments == {"pass"} else "step"

    def holds(self, reading: Reading) -> bool:
        """Whether it is true now."""
        return self._test(reading)


def parse(text: str) -> Condition:
    """Read a condition.

    Raises: ConditionError, with the place and what may stand there.
    """
    return _Parser(text).condition()


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Parser:
    """Recursive descent: or, and, not, comparison, and what is compared."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.words: list[tuple[str, str | None]] = []
        self.depth = 0
        if len(self.text) > _LONGEST:
            raise ConditionError(f"break: a condition has at most {_LONGEST:,} characters")
        self.tokens = self._read()
        self.at = 0

    def condition(self) -> Condition:
        test = self._or()
        if self._now.kind != "end":
            self._fail("and, or, or the end of the condition")
        if not self.words:
            raise ConditionError(f"break: {self.text} is always the same: nothing in it changes\n{_help()}")
        return Condition(self.text, test, self.words)

    def _read(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while at < len(self.text):
            found = _TOKEN.match(self.text, at)
            if found is None or found.lastgroup is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                if self.text[at] in "\"'":
                    raise self._error(at, f"the {self.text[at]} that closes this name is missing")
                hint = "; did you mean ==?" if self.text[at] == "=" else ""
                raise self._error(at, f"{self.text[at]!r} has no meaning here{hint}")
            tokens.append(_Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)))
            at = found.end()
        return [*tokens, _Token("end", "", len(self.text))]

    @property
    def _now(self) -> _Token:
        return self.tokens[self.at]

    def _take(self, texts: set[str]) -> bool:
        if self._now.kind in ("word", "sign") and self._now.text in texts:
            self.at += 1
            return True
        return False

    def _or(self) -> Callable[[Reading], bool]:
        parts = [self._and()]
        while self._take(_OR):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else lambda r: any(part(r) for part in parts)

    def _and(self) -> Callable[[Reading], bool]:
        parts = [self._not()]
        while self._take(_AND):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else lambda r: all(part(r) for part in parts)

    def _not(self) -> Callable[[Reading], bool]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(self._now.at, f"nested more than {_DEEPEST} deep")
        try:
            if self._take(_NOT):
                inner = self._not()
                return lambda r: not inner(r)
            if self._take({"("}):
                inner = self._or()
                if not self._take({")"}):
                    self._fail("a closing parenthesis")
                return inner
            if self._now.kind == "word" and self._now.text in FLAGS:
                return self._flag()
            return self._comparison()
        finally:
            self.depth -= 1

    def _flag(self) -> Callable[[Reading], bool]:
        token = self._now
        word, name = self._word(FLAGS)
        if self._now.text in _COMPARE:
            raise self._error(self._now.at, f"{token.text} is true or false and can't be compared")
        return lambda r: r.flag(word, name)

    def _comparison(self) -> Callable[[Reading], bool]:
        token = self._now
        values = [self._number()]
        signs: list[Callable[[float, float], bool]] = []
        while self._now.kind == "sign" and self._now.text in _COMPARE:
            signs.append(_COMPARE[self._now.text])
            self.at += 1
            values.append(self._number())
        if not signs:
            wrong = token.text in NUMBERS and self._now.kind == "end"
            self._fail(f"a comparison: {token.text} is a number, as in {token.text} > 10" if wrong else "one of < <= > >= == !=")

        def test(reading: Reading) -> bool:
            numbers = [value(reading) for value in values]
            return all(a is not None and b is not None and sign(a, b) for sign, a, b in zip(signs, numbers, numbers[1:], strict=False))

        return test

    def _number(self) -> Callable[[Reading], float | None]:
        if self._take({"-"}):
            inner = self._unsigned()
            return lambda r: None if (x := inner(r)) is None else -x
        return self._unsigned()

    def _unsigned(self) -> Callable[[Reading], float | None]:
        token = self._now
        if token.kind == "number":
            self.at += 1
            value = float(token.text)
            if math.isinf(value):
                raise self._error(token.at, "a number beyond 1e308")
            return lambda r: value
        if token.kind != "word" or token.text not in NUMBERS:
            if token.text in FLAGS:
                raise self._error(token.at, f"{token.text} is true or false and can't be compared")
            if token.kind == "word" and token.text not in _OR | _AND | _NOT:
                raise self._error(token.at, f"there is no {token.text!r}", _help())
            self._fail("a number or a word" if self.at else "a condition", _help())
        word, name = self._word(NUMBERS)
        return lambda r: r.number(word, name)

    def _word(self, known: dict[str, Word]) -> tuple[str, str | None]:
        word, name = self._now.text, None
        takes = known[word].takes
        self.at += 1
        if takes != "no name" and self._take({"("}):
            if self._now.kind != "text":
                self._fail(f"a name in quotes, as in {_example(word)}")
            name = self._now.text[1:-1]
            self.at += 1
            if not self._take({")"}):
                self._fail("a closing parenthesis")
        elif takes == "a name":
            self._fail(f"a name in parentheses, as in {_example(word)}")
        elif takes == "no name" and self._now.text == "(":
            raise self._error(self._now.at, f"{word} takes no name")
        self.words.append((word, name))
        return word, name

    def _fail(self, expected: str, help: str = "") -> None:
        after = f" after {self.tokens[self.at - 1].text!r}" if self.at else ""
        raise self._error(self._now.at, f"expected {expected}{after}", help)

    def _error(self, at: int, said: str, help: str = "") -> ConditionError:
        return ConditionError(f"break: {said}\n  {self.text}\n  {' ' * at}^{help and chr(10) + help}")


def _example(word: str) -> str:
    return f'{word}("{"log" if word in ("op", "backward") else "fc2"}")'


def _help() -> str:
    def shown(words: dict[str, Word]) -> str:
        return ", ".join(f'{word}("...")' if w.takes == "a name" else word for word, w in words.items())

    return f"  numbers: {shown(NUMBERS)}\n  true or false: {shown(FLAGS)}"

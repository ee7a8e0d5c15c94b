"""Conditions of breakpoints: what they mean, and what is said where they can't be read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gradlab.trace import ConditionError
from gradlab.trace.condition import FLAGS, NUMBERS, parse


class Known:
    """A reading with fixed numbers and flags."""

    def __init__(self, **known: Any) -> None:
        self.known = known

    def number(self, word: str, name: str | None) -> float | None:
        return self.known.get(f"{word} {name}" if name else word)

    def flag(self, word: str, name: str | None) -> bool:
        return bool(self.known.get(f"{word} {name}" if name else word, False))


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("nan", False),
        ("not nan", True),
        ("!nan", True),
        ("inf", True),
        ("loss > 10", True),
        ("loss > 12", False),
        ("loss >= 12.0", True),
        ("loss < 1.2e1", False),
        ("loss <= 12", True),
        ("loss == 12", True),
        ("loss != 12", False),
        ("-loss < -11.5", True),
        ("step == 500", True),
        ('grad_norm("fc2") > 100', True),
        ("grad_norm('fc2') > 100", True),
        ("grad_norm > 100", False),
        ('op("log")', True),
        ('op("exp")', False),
        ("loss > 20 or step == 500", True),
        ("loss > 20 | step == 500", True),
        ("loss > 20 || nan", False),
        ("loss > 10 and nan", False),
        ("loss > 10 && step > 1 & inf", True),
        ("nan and nan or inf", True),
        ("nan and (nan or inf)", False),
        ("not (nan or inf)", False),
        ("not nan and inf", True),
        ("10 < loss <= 12", True),
        ("10 < loss < 12", False),
        ("12 == loss == 12.0 != 3", True),
        ("lr > 0", False),
        ("lr <= 0", False),
        ("not lr > 0", True),
    ],
)
def test_a_condition_means_what_it_says(text: str, true: bool) -> None:
    reading = Known(loss=12.0, step=500, grad_norm=1.0, inf=True, **{"grad_norm fc2": 101.0, "op log": True})
    assert parse(text).holds(reading) is true


def test_a_number_that_is_nan_compares_as_nan_does() -> None:
    reading = Known(loss=math.nan)
    assert not parse("loss > 1").holds(reading)
    assert not parse("loss <= 1").holds(reading)
    assert parse("loss != loss").holds(reading)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("nan", "op"),
        ('op("log") and step == 3', "op"),
        ("loss > 1", "pass"),
        ("loss > 1 and step > 3", "pass"),
        ("step == 3", "step"),
        ('loss > 1 and update_ratio("fc1") > 0.1', "step"),
        ("lr < 1e-5", "step"),
    ],
)
def test_a_condition_is_told_at_the_first_moment_when_all_of_it_is_known(text: str, moment: str) -> None:
    assert parse(text).moment == moment


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ("", 0, "expected a condition"),
        ("loss", 4, "loss is a number, as in loss > 10"),
        ("loss >", 6, "expected a number or a word after '>'"),
        ("loss > and", 7, "expected a number or a word after '>'"),
        ("loss > foo", 7, "there is no 'foo'"),
        ("los > 3", 0, "there is no 'los'"),
        ("loss = 3", 5, "did you mean ==?"),
        ("loss > 3 nan", 9, "expected and, or, or the end of the condition after '3'"),
        ("loss > 3)", 8, "the end of the condition"),
        ("(loss > 3", 9, "expected a closing parenthesis"),
        ("loss > 3 and", 12, "after 'and'"),
        ("nan > 3", 4, "nan is true or false and can't be compared"),
        ("3 < nan", 4, "nan is true or false and can't be compared"),
        ("op", 2, 'a name in parentheses, as in op("log")'),
        ("op(log)", 3, 'a name in quotes, as in op("log")'),
        ("weight_norm > 1", 12, 'as in weight_norm("fc2")'),
        ('step("x") > 1', 4, "step takes no name"),
        ('grad_norm("fc2', 10, 'the " that closes this name is missing'),
        ("loss > 1e999", 7, "beyond 1e308"),
        ("loss + 1 > 3", 5, "'+' has no meaning here"),
        ("loss.real > 3", 4, "'.' has no meaning here"),
        ("__import__('os') > 1", 0, "there is no '__import__'"),
        ("loss > 3; nan", 8, "';' has no meaning here"),
        ("lambda: nan", 6, "':' has no meaning here"),
        ("not", 3, "after 'not'"),
        ("(" * 60 + "nan" + ")" * 60, 50, "nested more than 50 deep"),
    ],
)
def test_what_can_t_be_read_is_shown_at_its_place(text: str, at: int, said: str) -> None:
    with pytest.raises(ConditionError) as error:
        parse(text)
    lines = str(error.value).split("\n")
    assert said in lines[0]
    assert lines[1] == f"  {text}"
    assert lines[2] == f"  {' ' * at}^"


@pytest.mark.parametrize("text", ["loss > foo", "3", "'x' > 1"])
def test_where_a_word_is_missing_all_words_are_named(text: str) -> None:
    with pytest.raises(ConditionError) as error:
        parse(text)
    if text != "3":
        assert all(word in str(error.value) for word in [*NUMBERS, *FLAGS])


def test_a_condition_in_which_nothing_changes_is_refused() -> None:
    with pytest.raises(ConditionError, match="always the same"):
        parse("3 > 2")


def test_a_condition_of_a_thousand_characters_is_enough() -> None:
    with pytest.raises(ConditionError, match="at most 1,000"):
        parse("nan or " * 200 + "nan")
    assert parse("nan or " * 100 + "nan").holds(Known(nan=True))
    with pytest.raises(ConditionError, match="deep"):
        parse("not " * 100 + "nan")

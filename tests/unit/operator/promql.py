"""The subset of PromQL that the recording rules need, for one application: an expression has one
value at a time, or none. If promtool is installed, it runs the same cases."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence

from rheostat.signals.statistics.windows import Samples, deriv, mean, within

Value = float | None
Words = list[tuple[str, ...]]
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d+)?)|([a-z_]\w*(?::\w+)?)(?:\[(\d+)m\])?|(==|!=|[-+*/()<>]))"
)
_LEVELS: Sequence[tuple[str, ...]] = (("or",), ("==", "!=", ">", "<"), ("+", "-"), ("*", "/"))
_TESTS = {"==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt}
_WINDOWS: Mapping[str, Callable[[Samples], Value]] = {"deriv": deriv, "avg_over_time": mean}
_SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_LOOK_BACK_S = 300.0


class PromQL:
    """Series and rules by name; a rule is evaluated at the requested time."""

    def __init__(self, series: Mapping[str, Samples], rules: Mapping[str, str]) -> None:
        self._series, self._rules = series, rules

    def at(self, expression: str, now: float) -> Value:
        """Return the value of an expression at a time; None without a sample."""
        tokens = [token for token in _TOKEN.findall(expression) if any(token)]
        value, rest = self._level(tokens, now, 0)
        assert not rest, rest
        return value

    def _level(self, tokens: Words, now: float, level: int) -> tuple[Value, Words]:
        if level == len(_LEVELS):
            return self._atom(tokens, now)
        left, tokens = self._level(tokens, now, level + 1)
        while tokens and (tokens[0][1] or tokens[0][3]) in _LEVELS[level]:
            sign, tokens = tokens[0][1] or tokens[0][3], tokens[1:]
            as_number = bool(tokens) and tokens[0][1] == "bool"
            right, tokens = self._level(tokens[as_number:], now, level + 1)
            left = _combine(sign, left, right, as_number)
        return left, tokens

    def _atom(self, tokens: Words, now: float) -> tuple[Value, Words]:
        number, name, minutes, sign = tokens[0]
        if number:
            return float(number), tokens[1:]
        if sign == "(":
            value, rest = self._level(tokens[1:], now, 0)
            return value, rest[1:]
        if name in _WINDOWS:
            _, series, minutes, _ = tokens[2]
            inside = within(self._series.get(series, ()), now, 60.0 * int(minutes))
            return _WINDOWS[name](inside), tokens[4:]
        if name == "sgn":
            value, rest = self._level(tokens[2:], now, 0)
            return None if value is None else float((value > 0) - (value < 0)), rest[1:]
        if name in self._rules:
            return self.at(self._rules[name], now), tokens[1:]
        known = within(self._series.get(name, ()), now, _LOOK_BACK_S)
        return (known[-1][1] if known else None), tokens[1:]


def _combine(sign: str, left: Value, right: Value, as_number: bool) -> Value:
    if sign == "or":
        return left if left is not None else right
    if left is None or right is None:
        return None
    if sign in _TESTS:
        holds = _TESTS[sign](left, right)
        return float(holds) if as_number else (left if holds else None)
    if sign == "/" and right == 0:
        return math.nan if left == 0 else math.copysign(math.inf, left)
    return float(_SUMS[sign](left, right))


def samples(values: str, step_s: float) -> list[tuple[float, float]]:
    """Return the samples of promtool's notation: ``a+bxn`` is a, a+b, ... a+n b."""
    values_by_step: list[float] = []
    for word in values.split():
        first, step, times = re.fullmatch(r"([\d.]+)([+-][\d.]+)?x(\d+)", word).groups()  # type: ignore[union-attr]
        values_by_step += [float(first) + n * float(step or 0) for n in range(int(times) + 1)]
    return [(n * step_s, value) for n, value in enumerate(values_by_step)]

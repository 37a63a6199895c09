"""Times stay true, JSON stays what it was."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects import postgresql, sqlite

from skills_db.types import JsonText, UtcDateTime, json_hash

TOKYO = timezone(timedelta(hours=9))


def test_a_time_of_another_zone_comes_back_as_the_same_moment():
    moment = datetime(2026, 11, 30, 23, 3, 12, 345, tzinfo=TOKYO)
    for dialect in (sqlite.dialect(), postgresql.dialect()):
        stored = UtcDateTime().process_bind_param(moment, dialect)
        back = UtcDateTime().process_result_value(stored, dialect)
        assert back == moment
        assert back.tzinfo is UTC


def test_a_naive_time_is_refused():
    with pytest.raises(ValueError, match="naive"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), sqlite.dialect())


def test_json_keeps_order_letters_and_numbers_that_are_none():
    value = {"b": 1, "a": "žluťoučký [/kůň]", "nan": math.nan, "nested": {"t": (1, 2)}}
    column, dialect = JsonText(), sqlite.dialect()
    back = column.process_result_value(column.process_bind_param(value, dialect), dialect)
    assert list(back) == ["b", "a", "nan", "nested"]
    assert back["a"] == value["a"]
    assert math.isnan(back["nan"])
    assert back["nested"] == {"t": [1, 2]}


def test_the_hash_does_not_depend_on_the_order_of_keys():
    assert json_hash({"a": 1, "b": 2}) == json_hash({"b": 2, "a": 1})
    assert json_hash({"a": 1}) != json_hash({"a": 2})


def test_what_is_no_json_is_refused():
    with pytest.raises(TypeError, match="cannot be stored"):
        json_hash({"a": object()})

"""The readable part of a reply that is still being written."""

from __future__ import annotations

import json

import pytest

from studio.written import Part, readable, unescaped

CODE = 'def run() -> str:\n    return "a\\n é😀 \\u0041 {x: [1]}"\n'
REPLY = json.dumps({"code": CODE, "comment": 'it "walks"'})


def test_a_whole_answer_gives_its_code_and_its_words():
    assert readable(REPLY) == (
        Part("code", CODE, "code"),
        Part("field", 'it "walks"', "comment"),
    )


@pytest.mark.parametrize("reply", [REPLY, json.dumps({"code": CODE}, ensure_ascii=False)])
def test_wherever_it_is_cut_the_code_so_far_is_the_beginning_of_the_code(reply):
    longest = 0
    for end in range(len(reply) + 1):
        for part in readable(reply[:end]):
            if part.kind == "code":
                assert CODE.startswith(part.text.removesuffix("\ufffd"))
                longest = max(longest, len(part.text))
    assert longest == len(CODE)


def test_a_plan_gives_its_values_and_where_a_new_item_begins():
    plan = {"subtasks": [
        {"name": "wood", "goal": "get wood", "depends_on": []},
        {"name": "stone", "goal": "dig", "depends_on": ["wood", "light"], "budget": 300},
    ]}  # fmt: skip
    parts = readable(json.dumps(plan))
    assert [(part.name, part.text) for part in parts] == [
        ("name", "wood"), ("goal", "get wood"),
        ("name", "stone"), ("goal", "dig"), ("depends_on", "wood"), ("depends_on", "light"),
        ("budget", "300"),
    ]  # fmt: skip
    assert [part.text for part in parts if part.begins] == ["wood", "stone"]


def test_words_and_fences_around_an_answer():
    assert readable('Sure:\n```json\n{"goal": "di') == (
        Part("text", "Sure:"), Part("field", "di", "goal", begins=True),
    )  # fmt: skip
    python = readable('Here:\n```python\nx = {"a": 1}\n```\nDone')
    assert [(part.kind, part.text) for part in python] == [
        ("text", "Here:"), ("code", 'x = {"a": 1}'), ("text", "Done"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", '{"', '{"a"', "}{", '"\\', "[[[[", '{"a": "\\ud83d'])
def test_no_text_is_too_odd(text):
    readable(text)


@pytest.mark.parametrize(
    ("string", "plain"),
    [('"a', "a"), ('"a\\"', 'a"'), ('"a\\\\"', "a\\"), ('"a\\', "a"), ('"\\u00', ""),
     ('"\\u00e9"', "é"), ('"\\ud83d\\ude00"', "😀"), ('"\\n\\t"', "\n\t")],
)  # fmt: skip
def test_strings_are_unescaped_as_far_as_they_go(string, plain):
    assert unescaped(string) == plain

"""A picture beside a prompt: a PNG that others can read, sent only where it is taken."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel

from engine.errors import LlmError
from engine.llm.failures import PICTURE_REFUSED
from engine.llm.picture import Picture, picture_of, png_of
from engine.llm.replay import RecordedCall, Replay

KEY = "sk-very-secret-0123456789"
NOWHERE = "http://127.0.0.1:9/v1"
WORDS = "Attached is an orchard."
REFUSALS = [
    (400, "invalid request"),
    (415, "unsupported"),
    (422, "body.messages: value is not a valid string"),
    (404, "No endpoints found that support image input"),
    (500, "image input is not supported - hint: you may need to provide the mmproj"),
]

Serve = Callable[..., Any]
Make = Callable[..., Any]


class Basket(BaseModel):
    fruit: str


APPLE, PEAR = (json.dumps({"fruit": fruit}) for fruit in ("apple", "pear"))


def pixels(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def picture(seed: int = 0, size: int = 16, words: str = WORDS) -> Picture:
    return picture_of(pixels(size, size, seed), words)


def ask(one: Any, shown: Picture | None = None, question: str = "What is it?") -> str:
    basket: Basket = one.client.ask("critic", "You look.", question, Basket, picture=shown)
    return basket.fruit


@pytest.mark.parametrize(("height", "width"), [(1, 1), (5, 3), (63, 288)])
def test_a_png_shows_exactly_its_pixels(height: int, width: int) -> None:
    image = Image.open(io.BytesIO(png_of(pixels(height, width))))
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (width, height))
    assert np.array_equal(np.asarray(image), pixels(height, width))


def test_what_is_no_image_makes_no_picture() -> None:
    with pytest.raises(ValueError, match=r"shape \(height, width, 3\), not \(4, 4\)"):
        picture_of(np.zeros((4, 4), np.uint8), WORDS)


def test_a_picture_goes_beside_the_words_where_images_are_on(serve: Serve, asker: Make) -> None:
    server, shown = serve(APPLE), picture()
    ask(asker(server.base_url, images=True), shown)
    (request,) = server.requests
    system, user = request.body["messages"]
    assert system["content"] == "You look."
    text, image = user["content"]
    assert text == {"type": "text", "text": f"What is it?\n\n# The picture\n{WORDS}"}
    assert (image["type"], set(image["image_url"])) == ("image_url", {"url"})
    assert request.pictures == [shown.png]


def test_neither_picture_nor_its_words_go_where_images_are_off(serve: Serve, asker: Make) -> None:
    server = serve(APPLE)
    one = asker(server.base_url)
    ask(one, picture())
    assert server.requests[0].body["messages"][1]["content"] == "What is it?"
    assert one.calls[0].prompt.endswith("## user\nWhat is it?")


def test_without_a_picture_the_message_stays_plain_text(serve: Serve, asker: Make) -> None:
    server = serve(APPLE)
    ask(asker(server.base_url, images=True))
    assert server.requests[0].body["messages"][1]["content"] == "What is it?"


def test_an_answer_that_goes_back_goes_back_with_the_picture(serve: Serve, asker: Make) -> None:
    server = serve("no fruit", APPLE)
    ask(asker(server.base_url, images=True), picture())
    assert [len(request.pictures) for request in server.requests] == [1, 1]


# --- refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "said"), REFUSALS)
def test_a_server_that_refuses_pictures_is_asked_without_and_that_is_said_once(
    serve: Serve, asker: Make, fake: Any, status: int, said: str
) -> None:
    server = serve(fake.Reply(status=status, error=said), APPLE, PEAR)
    one = asker(server.base_url, images=True)
    assert [ask(one, picture()), ask(one, picture(1))] == ["apple", "pear"]
    assert [len(request.pictures) for request in server.requests] == [1, 0, 0]
    assert WORDS not in server.requests[1].text
    (warning,) = one.warnings
    assert warning.startswith(f"'test-model': {PICTURE_REFUSED} ({status}): ")
    assert said in warning
    assert "goes on without pictures" in warning
    assert one.calls[0].error.startswith(PICTURE_REFUSED)
    # The form of answer is not to blame.
    assert [request.mode for request in server.requests] == ["json_schema"] * 3
    assert one.waits == []


def test_a_run_whose_server_refused_before_sends_none(serve: Serve, asker: Make) -> None:
    server = serve(APPLE)
    one = asker(server.base_url, images=True, pictures_refused=True)
    ask(one, picture())
    assert server.requests[0].pictures == []
    assert one.warnings == []


@pytest.mark.parametrize(
    ("status", "said"), [(400, "response_format is not supported"), (500, "internal error")]
)
def test_a_refused_form_of_answer_is_not_blamed_on_the_picture(
    serve: Serve, asker: Make, fake: Any, status: int, said: str
) -> None:
    server = serve(fake.Reply(status=status, error=said), APPLE)
    one = asker(server.base_url, images=True)
    ask(one, picture())
    assert [len(request.pictures) for request in server.requests] == [1, 1]
    assert [request.mode for request in server.requests] == ["json_schema", "json_object"]
    assert one.warnings == []


@pytest.mark.parametrize(
    ("status", "said", "message"),
    [(404, "no such model", "does not know the model"), (401, "no", "refused the key")],
)
def test_other_refusals_stay_what_they_are(
    serve: Serve, asker: Make, fake: Any, status: int, said: str, message: str
) -> None:
    one = asker(serve(fake.Reply(status=status, error=said)).base_url, images=True)
    with pytest.raises(LlmError, match=message):
        ask(one, picture())
    assert len(one.calls) == 1
    assert one.warnings == []


def test_a_call_without_a_picture_is_refused_as_ever(serve: Serve, asker: Make, fake: Any) -> None:
    server = serve(APPLE, fake.Reply(status=400, error="image"))
    one = asker(server.base_url, images=True)
    ask(one)
    with pytest.raises(LlmError, match=r"refused the call \(400\)"):
        ask(one)
    assert one.warnings == []


# --- recorded and counted ---------------------------------------------------------------------


def test_a_record_holds_a_mark_and_nothing_of_the_picture(serve: Serve, asker: Make) -> None:
    one, shown = asker(serve(APPLE).base_url, images=True), picture()
    ask(one, shown)
    digest = hashlib.sha256(shown.png).hexdigest()
    assert one.calls[0].prompt == (
        "## system\nYou look.\n\n## user\nWhat is it?\n\n# The picture\n"
        f"{WORDS}\n[picture: 16x16 PNG, sha256 {digest}]"
    )


def test_a_server_that_repeats_picture_and_key_brings_neither_into_the_record(
    serve: Serve, asker: Make, fake: Any
) -> None:
    shown = picture(words=f"An orchard. {KEY}")
    server = serve(fake.Reply(status=422, error=f"bad {shown.url} of {KEY}"), APPLE)
    one = asker(server.base_url, images=True)
    ask(one, shown)
    assert len(server.requests) == 2
    kept = f"{one.calls} {one.warnings}"
    assert "bad [picture] of" in kept
    assert shown.url[-40:] not in kept
    assert "base64" not in kept
    assert KEY not in kept


def test_a_picture_is_not_counted_by_its_length_where_the_server_does_not_count(
    serve: Serve, asker: Make, fake: Any
) -> None:
    shown = picture(size=128)
    assert len(shown.url) > 60_000
    server = serve(fake.Reply(APPLE, usage=None))
    one = asker(server.base_url, images=True, max_tokens_total=1_000)
    assert [ask(one, shown) for _ in range(5)] == ["apple"] * 5
    assert one.warnings == []


# --- played back ------------------------------------------------------------------------------


@pytest.fixture
def again(asker: Make) -> Callable[..., tuple[Any, list[str]]]:
    """Plays the calls of a client back to another, which notes what it is warned of."""

    def make(recorded: Any, **settings: Any) -> tuple[Any, list[str]]:
        calls = [RecordedCall(c.role, c.prompt, c.reply) for c in recorded.calls if not c.error]
        told: list[str] = []
        return asker(NOWHERE, transport=Replay(calls, "r1", on_warning=told.append), **settings), (
            told
        )

    return make


def test_each_picture_gets_its_own_answer_played_back(
    serve: Serve, asker: Make, again: Make
) -> None:
    recorded = asker(serve(APPLE, PEAR).base_url, images=True)
    assert [ask(recorded, picture(0)), ask(recorded, picture(1))] == ["apple", "pear"]
    one, told = again(recorded, images=True)
    assert [ask(one, picture(1)), ask(one, picture(0))] == ["pear", "apple"]
    assert told == []
    assert {call.prompt for call in one.calls} == {call.prompt for call in recorded.calls}


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("images", [False, True])
def test_the_prompt_is_known_whether_or_not_a_picture_went_along(
    serve: Serve, asker: Make, again: Make, fake: Any, *, refused: bool, images: bool
) -> None:
    first = [fake.Reply(status=400, error="no images")] if refused else []
    recorded = asker(serve(*first, APPLE, PEAR).base_url, images=True)
    ask(recorded, picture(), "one")
    ask(recorded, picture(), "two")
    one, told = again(recorded, images=images)
    assert [ask(one, picture(), "two"), ask(one, picture(), "one")] == ["pear", "apple"]
    assert told == []

"""Executions of coded actions: every way to end, and what is kept of them."""

from __future__ import annotations

import pytest

from engine.rl.options import MAX_QUERIES_PER_FRAME, OptionEnd, OptionExecution
from engine.rl.oscillation import IDLE_FRAMES, WINDOW
from engine.sandbox.turns import Raised, WorldCall
from engine.worlds.predicate import parse


class FakePlayer:
    """A player whose terms and position the test sets."""

    def __init__(self, **terms: float) -> None:
        self.values = {"gems": 0.0, "frames": 0.0, "x": 0.0, **terms}
        self.place: tuple[int, int] = (0, 0)

    def term(self, name, argument=None):
        return self.values[name]

    def answer(self, function, args, kwargs):
        if function == "whistle":
            raise ValueError("wrong tune")
        return self.place

    def terms(self):
        return self.values


class Answering:
    """A program that asks the player by itself and stops at actions only."""

    def __init__(self, program, world):
        self._program = program
        self._queries = world.queries
        self._answer = None

    def begin(self, answer):
        self._answer = answer
        return self._on(self._program.start())

    def proceed(self, value):
        return self._on(self._program.answer(value))

    def reject(self, message):
        return self._on(self._program.fail(message))

    def abort(self):
        self._program.abort()

    def _on(self, turn):
        for _ in range(MAX_QUERIES_PER_FRAME):
            if not isinstance(turn, WorldCall):
                return turn
            if turn.function == "act":
                plain = len(turn.args) == 1 and isinstance(turn.args[0], str)
                if plain or turn.kwargs:
                    return next(iter((*turn.args, *turn.kwargs.values())))
                return turn
            turn = self._ask(turn)
        self.abort()
        return Raised(f"asked {MAX_QUERIES_PER_FRAME} questions", 0, "questions")

    def _ask(self, call):
        if call.function not in self._queries:
            return self._program.fail(f"there is no `{call.function}`")
        try:
            return self._program.answer(self._answer(call.function, call.args, call.kwargs))
        except ValueError as error:
            return self._program.fail(str(error))


@pytest.fixture(params=["turns", "answering"])
def execute(world, make_action, scripted_program, request):
    """An execution of a script, with the program it runs: each test is of both kinds."""

    def make(script, **changes):
        action = make_action(**changes)
        vocabulary = world.vocabulary()
        inner = program = scripted_program(script)
        if request.param == "answering":
            program = Answering(inner, world)
        interrupt, success = parse(action.interrupt, vocabulary), parse(action.success, vocabulary)
        return OptionExecution(action, program, world, interrupt, success), inner

    return make


def run(execution, player, *, changed=True, frames=1000, each=None):
    """Step until the end or for so many frames; `each` changes the player after a frame."""
    following = execution.begin(player)
    for frame in range(1, frames + 1):
        if isinstance(following, OptionEnd):
            return following
        player.values["frames"] += 1
        if each is not None:
            each(frame)
        following = execution.proceed(player, changed)
    return following


def acts(call, *names, value="done"):
    def script():
        for name in names:
            yield call("act", name)
        return value

    return script


def forever(call, *names):
    def script():
        while True:
            for name in names:
                yield call("act", name)

    return script


def test_success_is_the_predicate_not_the_text(execute, world_call):
    player = FakePlayer()
    execution, _ = execute(acts(world_call, "left", "left", "take", value="I did it"))
    assert run(execution, player) == OptionEnd("failed", "I did it", 3)
    player.values["gems"] = 1
    execution, _ = execute(acts(world_call, "take"))
    assert run(execution, player) == OptionEnd("success", "done", 1)


def test_actions_are_run_length_coded(execute, world_call):
    execution, _ = execute(acts(world_call, "left", "left", "take", "left"))
    run(execution, FakePlayer())
    assert execution.actions == (("left", 2), ("take", 1), ("left", 1))
    assert execution.frames == 4


def test_a_program_that_never_acts_costs_no_frame(execute, world_call):
    execution, _ = execute(acts(world_call))
    assert execution.begin(FakePlayer()) == OptionEnd("failed", "done", 0)


@pytest.mark.parametrize("bad", ["fly", 3, None])
def test_an_unknown_action_raises_inside_the_code(execute, world_call, bad):
    def script():
        try:
            yield world_call("act", bad)
        except ValueError as error:
            return str(error)

    end = execute(script)[0].begin(FakePlayer())
    assert end.outcome == "failed"
    assert repr(bad) in end.detail
    assert "noop, left" in end.detail


def test_act_takes_exactly_one_argument(execute, world_call):
    for wrong in (world_call("act"), world_call("act", "left", "left")):

        def script(wrong=wrong):
            yield wrong

        assert execute(script)[0].begin(FakePlayer()).outcome == "error"
    execution, _ = execute(lambda: iter([world_call("act", action="right")]))
    assert execution.begin(FakePlayer()) == 2


def test_functions_outside_the_stub_raise_inside_the_code(execute, world_call):
    def script():
        yield world_call("teleport", 1)

    end = execute(script)[0].begin(FakePlayer())
    assert end.outcome == "error"
    assert end.detail.startswith("line 7:")
    assert "teleport" in end.detail


def test_a_refused_argument_reaches_the_code(execute, world_call):
    def script():
        try:
            yield world_call("whistle", 9)
        except ValueError as error:
            return f"heard: {error}"

    assert execute(script)[0].begin(FakePlayer()).detail == "heard: wrong tune"


def test_out_of_frames_ends_the_program(execute, world_call):
    execution, program = execute(forever(world_call, "left"), max_frames=5)
    end = run(execution, FakePlayer(), changed=False)
    assert (end.outcome, end.frames) == ("out_of_frames", 5)
    assert program.aborted == 1


def test_done_on_the_last_frame_is_done(execute, world_call):
    execution, _ = execute(acts(world_call, *["left"] * 5), max_frames=5, success="true")
    assert run(execution, FakePlayer()) == OptionEnd("success", "done", 5)


def test_the_interrupt_fires_when_it_becomes_true(execute, world_call):
    player = FakePlayer()
    execution, program = execute(forever(world_call, "left"), interrupt="x >= 2")

    def danger(frame):
        player.values["x"] = 2 if frame == 3 else 0

    end = run(execution, player, each=danger)
    assert (end.outcome, end.frames) == ("interrupted", 3)
    assert "x >= 2" in end.detail
    assert program.aborted == 1


def test_what_held_at_the_start_does_not_interrupt(execute, world_call):
    player = FakePlayer(x=2)
    execution, _ = execute(forever(world_call, "left"), interrupt="x >= 2", max_frames=100)

    def danger(frame):
        player.place = (frame, 0)
        player.values["x"] = 0 if frame == 5 else 2

    end = run(execution, player, each=danger)
    assert (end.outcome, end.frames) == ("interrupted", 6)


def test_only_asking_is_stuck(execute, world_call):
    def script():
        while True:
            try:
                yield world_call("whistle", 2)
            except ValueError:
                yield world_call("position")

    execution, program = execute(script)
    end = execution.begin(FakePlayer())
    assert (end.outcome, end.frames) == ("stuck", 0)
    assert str(MAX_QUERIES_PER_FRAME) in end.detail
    assert program.aborted == 1


def test_an_error_names_its_line(execute, world_call):
    def script():
        yield world_call("act", "left")
        raise KeyError("oops")

    assert run(execute(script)[0], FakePlayer()) == OptionEnd(
        "error", "line 7: KeyError: 'oops'", 1
    )


def test_cut_counts_the_frame_it_ends_in(execute, world_call):
    execution, program = execute(forever(world_call, "left"))
    player = FakePlayer()
    execution.begin(player)
    execution.proceed(player, True)
    assert execution.cut("died", "the episode ended") == OptionEnd("died", "the episode ended", 2)
    assert execution.actions == (("left", 2),)
    assert program.aborted == 1


def test_proceed_after_the_end_is_refused(execute, world_call):
    execution, _ = execute(acts(world_call))
    execution.begin(FakePlayer())
    with pytest.raises(RuntimeError, match="begin"):
        execution.proceed(FakePlayer(), True)


def test_standing_still_takes_no_frame_and_the_pending_step_had_no_effect(execute, world_call):
    heard = []

    def script():
        while True:
            heard.append((yield world_call("act", "left")))

    execution, program = execute(script, max_frames=3, interrupt="x >= 2")
    player = FakePlayer()
    execution.begin(player)
    assert execution.proceed(player, True) == 1
    player.values["x"] = 2
    assert execution.catch_up(player) == 1
    assert (heard, execution.frames) == ([True, False], 1)
    assert execution.proceed(player, True) == 1, "what came true meanwhile does not interrupt"
    assert execution.proceed(player, True).outcome == "out_of_frames"
    assert execution.actions == (("left", 3),)
    assert (program.started, program.aborted) == (1, 1)


def test_what_is_dropped_frees_its_program_once(execute, world_call):
    execution, program = execute(forever(world_call, "left"))
    player = FakePlayer()
    execution.begin(player)
    execution.proceed(player, True)
    assert execution.drop("something else came up") == OptionEnd(
        "interrupted", "something else came up", 1
    )
    assert (program.aborted, execution.actions) == (1, (("left", 1),))
    for late in (lambda: execution.catch_up(player), lambda: execution.proceed(player, True)):
        with pytest.raises(RuntimeError, match="after the end"):
            late()


def test_two_cells_for_ever_is_stuck(execute, world_call):
    player = FakePlayer()
    execution, _ = execute(forever(world_call, "left", "right"), max_frames=1000)

    def step(frame):
        player.place = (frame % 2, 0)

    end = run(execution, player, each=step)
    assert end.outcome == "stuck"
    assert WINDOW <= end.frames <= WINDOW + 10


def test_digging_and_filling_for_ever_is_stuck(execute, world_call):
    player = FakePlayer()
    execution, _ = execute(forever(world_call, "take", "noop"), max_frames=1000)

    def step(frame):
        player.values["gems"] = frame % 2

    assert run(execution, player, each=step).outcome == "stuck"


def test_gaining_on_one_spot_is_not_stuck(execute, world_call):
    player = FakePlayer()
    execution, _ = execute(forever(world_call, "take"), max_frames=300)

    def step(frame):
        player.values["gems"] = frame // 20

    assert run(execution, player, each=step).outcome == "out_of_frames"


def test_walking_about_is_not_stuck(execute, world_call):
    player = FakePlayer()
    execution, _ = execute(forever(world_call, "left"), max_frames=500)

    def step(frame):
        player.place = (frame % 30, 0)

    assert run(execution, player, each=step).outcome == "out_of_frames"


def test_a_wait_may_be_long_but_not_endless(execute, world_call):
    execution, _ = execute(forever(world_call, "noop"), max_frames=1000)
    end = run(execution, FakePlayer(), changed=False)
    assert end.outcome == "stuck"
    assert IDLE_FRAMES <= end.frames <= IDLE_FRAMES + 10

"""Programs of a set of coded actions: loaded at once, used again, closed at the end."""

from __future__ import annotations

import pytest

from engine.errors import SandboxError
from engine.rl.option_set import OptionSet


@pytest.fixture
def player(world):
    env = world.make_env()
    env.reset(seed=1)
    return env.player


def test_one_program_of_each_is_loaded_at_once(world, sandbox, make_action):
    with OptionSet(world, [make_action(), make_action("idle", "idle")], sandbox):
        assert len(sandbox.programs) == 2
    assert all(program.closed for program in sandbox.programs)


def test_code_that_does_not_load_is_found_before_anything_runs(world, sandbox, make_action):
    load = sandbox.load

    def load_unless_bad(code):
        if code == "bad":
            raise SandboxError("the code does not load: line 1: no `run`")
        return load(code)

    sandbox.load = load_unless_bad
    with pytest.raises(SandboxError, match="no `run`"):
        OptionSet(world, [make_action(), make_action("broken", "bad")], sandbox)
    assert [program.closed for program in sandbox.programs] == [True]


def test_executions_at_once_have_programs_of_their_own_that_are_used_again(
    world, sandbox, make_action, player
):
    idle = make_action("idle", "idle")
    with OptionSet(world, [idle], sandbox) as options:
        first, second = (options.execution(options.primitives) for _ in range(2))
        first.begin(player)
        second.begin(player)
        assert len(sandbox.programs) == 2
        first.drop("no longer wanted")
        options.execution(options.primitives).begin(player)
        assert len(sandbox.programs) == 2
    assert all(program.closed for program in sandbox.programs)


def test_actions_of_the_same_code_share_its_programs(world, sandbox, make_action, player):
    actions = [make_action("one", "idle"), make_action("two", "idle")]
    with OptionSet(world, actions, sandbox) as options:
        options.execution(options.primitives).begin(player)
        options.execution(options.primitives + 1).begin(player)
        assert [program.started for program in sandbox.programs] == [1, 1]

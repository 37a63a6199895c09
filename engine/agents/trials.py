"""Trials: proposed code, once approved, executed in the world from where it may start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from engine.agents.executive import PlanExecutive
from engine.agents.plan import CodeProposal, Plan, SubAction, Trial, code_hash
from engine.rl.option_set import OptionSet
from engine.rl.options import (
    CodedAction,
    LoadedProgram,
    OptionEnd,
    OptionExecution,
    ProgramLoader,
)
from engine.rl.watched import OnFrame, Watched
from engine.worlds.base import World, WorldEnv
from engine.worlds.predicate import Predicate, parse

OnEnd = Callable[[Watched, Trial], None]
"""Takes the episode as a trial left it, and the trial."""

PROLOGUE_FRAMES = 1500
"""Env frames to bring about a precondition before another seed is tried."""
SEEDS_PER_TRIAL = 3
"""Worlds tried for one trial; in some the precondition cannot be brought about."""
RESUMPTIONS = 25
"""Times an interrupted execution is taken up again after the danger is over."""
RELIEF_FRAMES = 200
"""Env frames the approved actions have to deal with what interrupted."""
_POLL_FRAMES = 10
_CLOCKS = ("frames", "day_frame")
"""Terms that change by themselves: nothing that was gained."""


class _Stopped(Exception):
    """The caller does not want to wait for the rest."""


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a trial starts: a world in which the precondition holds."""

    seed: int
    snapshot: bytes | None
    """None when the precondition could not be brought about."""
    why: str = ""


class TrialRunner:
    """Runs trials of one plan's sub-actions, one per seed.

    Before each trial the moment at which code alone would run it is brought about (the precondition
    holds, it is due, success is still open) by the approved actions alone, as the executive would
    choose them; where the player dies on the way or does not get there, another seed is tried. What
    is never due, because only a policy chooses it, starts where its precondition holds. The
    snapshots reached are kept, so a new version of the code starts from the same moments.

    An execution that is interrupted is taken up again once the approved actions have dealt with the
    interruption and it is due again, as in real use; budget and frames count those of the code
    alone.
    """

    def __init__(
        self,
        world: World,
        sandbox: ProgramLoader,
        plan: Plan,
        *,
        seeds: Sequence[int],
        on_frame: OnFrame | None = None,
        on_end: OnEnd | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        """Prepare; nothing runs yet.

        Args:
            seeds: one trial each; further ones are tried beyond the largest.
            on_frame: called after each env step with the environment and a caption; captions of
                the way to the precondition begin with `prologue`.
            on_end: called after each trial whose precondition was brought about.
            should_stop: asked every few env steps; when true, no more trials are yielded.
        """
        self._world = world
        self._sandbox = sandbox
        self._plan = plan
        self._seeds = tuple(seeds)
        self._on_frame = on_frame
        self._on_end = on_end
        self._should_stop = should_stop
        self._starts: dict[tuple[int, frozenset[str], str], _Start] = {}
        self._polls = 0

    def run(
        self, sub_action: SubAction, proposal: CodeProposal, approved: Sequence[CodedAction]
    ) -> Iterator[Trial]:
        """One trial per seed of approved code; fewer when stopped.

        Raises:
            SandboxError: the code does not even load.
        """
        action = coded_action(sub_action, proposal)
        helpers = [other for other in approved if other.name != sub_action.name]
        env = self._world.make_env()
        with ExitStack() as stack:
            stack.callback(env.close)
            options = stack.enter_context(OptionSet(self._world, helpers, self._sandbox))
            program = self._sandbox.load(action.code)
            stack.callback(program.close)
            stage = _Stage(self, env, options, helpers, action, program)
            try:
                for index, seed in enumerate(self._seeds):
                    yield self._trial(stage, action, index, seed)
            except _Stopped:
                return

    def step(self, env: WorldEnv, primitive: int, caption: str) -> tuple[bool, bool, bool]:
        """One env step: terminated, truncated, changed."""
        _, _, terminated, truncated, info = env.step(np.int64(primitive))
        if self._on_frame is not None:
            self._on_frame(env, caption)
        self._polls += 1
        due = self._polls % _POLL_FRAMES == 0
        if due and self._should_stop is not None and self._should_stop():
            raise _Stopped
        return bool(terminated), bool(truncated), bool(info["changed"])

    def executive(self, helpers: Sequence[CodedAction]) -> PlanExecutive:
        """A fresh executive over approved actions."""
        return PlanExecutive(self._plan, helpers, self._world)

    def _trial(self, stage: _Stage, action: CodedAction, index: int, seed: int) -> Trial:
        start = self._start(stage, action, index, seed)
        if start.snapshot is None:
            return Trial(
                sub_action=action.name,
                version=action.version,
                index=index,
                seed=start.seed,
                outcome="failed",
                detail=start.why,
                frames=0,
                actions=(),
                gained={},
                started=False,
            )
        stage.env.restore(start.snapshot)
        before = dict(stage.env.player.terms())
        end, actions, conclusive = stage.attempt()
        after = stage.env.player.terms()
        trial = Trial(
            sub_action=action.name,
            version=action.version,
            index=index,
            seed=start.seed,
            outcome=end.outcome,
            detail=end.detail,
            frames=end.frames,
            actions=actions,
            started=conclusive,
            gained={
                name: value - before[name]
                for name, value in after.items()
                if value != before[name] and name not in _CLOCKS
            },
        )
        if self._on_end is not None:
            self._on_end(stage.env, trial)
        return trial

    def _start(self, stage: _Stage, action: CodedAction, index: int, seed: int) -> _Start:
        approved = frozenset(f"{h.name}:{code_hash(h.code)}" for h in stage.helpers)
        key = (seed, approved, f"{_start_of(action)} | {action.success}")
        if key not in self._starts:
            self._starts[key] = self._search(stage, action, index, seed)
        return self._starts[key]

    def _search(self, stage: _Stage, action: CodedAction, index: int, seed: int) -> _Start:
        start = _start_of(action)
        open_case = f"({start}) and not ({action.success})"
        wanted = parse(open_case, self._world.vocabulary())
        beyond = max(self._seeds) + 1 + index
        others = [beyond + n * len(self._seeds) for n in range(SEEDS_PER_TRIAL - 1)]
        reasons: list[str] = []
        for candidate in (seed, *others):
            stage.env.reset(seed=candidate)
            reason = stage.bring_about(wanted, PROLOGUE_FRAMES)
            if not reason:
                return _Start(candidate, stage.env.snapshot())
            reasons.append(f"seed {candidate}: {reason}")
        why = f"`{start}` could not be brought about; {'; '.join(reasons)}"
        return _Start(seed, None, why)


class _Stage:
    """One environment with the approved actions and the code on trial."""

    def __init__(
        self,
        runner: TrialRunner,
        env: WorldEnv,
        options: OptionSet,
        helpers: Sequence[CodedAction],
        action: CodedAction,
        program: LoadedProgram,
    ) -> None:
        words = options.world.vocabulary()
        self.env = env
        self.helpers = tuple(helpers)
        self._runner = runner
        self._options = options
        self._action = action
        self._program = program
        self._interrupt = parse(action.interrupt, words)
        self._success = parse(action.success, words)
        again = "true" if action.due == "false" else action.due
        self._calm = parse(f"not ({action.interrupt}) and ({again})", words)
        self._has_time = again != "true"
        self._executive = runner.executive(helpers)
        self._indices = {helper.name: i for i, helper in enumerate(helpers, options.primitives)}

    def bring_about(self, goal: Predicate, frames: int, *, wait: bool = True) -> str:
        """Act until the goal holds; the reason when it does not come to that, else empty."""
        last = self.env.episode_frames + frames
        self._executive = self._runner.executive(self.helpers)
        while not goal.holds(self.env.player):
            if self.env.episode_frames >= last:
                return f"not within {frames} frames"
            helper = self._executive.choose(self.env.player)
            if helper is None and not wait:
                return "nothing to do"
            if helper is None:
                # Nothing to do is not nothing to wait for: night, hunger, a creature.
                over = self._runner.step(self.env, 0, "prologue: waiting")
                if over[0] or over[1]:
                    return "the player died"
                continue
            execution = self._options.execution(self._indices[helper.name])
            end = self._play(execution, f"prologue: {helper.name}", goal, last)
            if end.outcome == "died":
                return "the player died"
        return ""

    def attempt(self) -> tuple[OptionEnd, tuple[tuple[str, int], ...], bool]:
        """The code from here to its end, taken up again after interruptions.

        Returns:
            how it ended, its primitive actions, and whether the end was its own: False when the
            player died while it had yielded.
        """
        action = self._action
        frames, actions, breaks = 0, list[tuple[str, int]](), 0
        while True:
            execution = OptionExecution(
                replace(action, max_frames=action.max_frames - frames),
                self._program,
                self._options.world,
                self._interrupt,
                self._success,
            )
            end = self._play(execution, action.name)
            frames += end.frames
            actions += execution.actions
            again = end.outcome == "interrupted" and breaks < RESUMPTIONS
            if not again or frames >= action.max_frames:
                break
            # What is not due again yet, as in the night, is worth waiting for.
            relief = self.bring_about(self._calm, RELIEF_FRAMES, wait=self._has_time)
            if relief == "the player died":
                why = f"while it had yielded: {end.detail}"
                return OptionEnd("died", why, frames), tuple(actions), False
            breaks += 1
        detail = f"{end.detail} (after {breaks} interruptions)" if breaks else end.detail
        return OptionEnd(end.outcome, detail, frames), tuple(actions), True

    def _play(
        self,
        execution: OptionExecution,
        caption: str,
        goal: Predicate | None = None,
        last: int | None = None,
    ) -> OptionEnd:
        """One execution; stops early when the goal holds or the episode's frame `last` came."""
        following = execution.begin(self.env.player)
        try:
            while not isinstance(following, OptionEnd):
                terminated, truncated, changed = self._runner.step(self.env, following, caption)
                if terminated:
                    return execution.cut("died", "the episode ended")
                if truncated:
                    return execution.cut("out_of_frames", "the episode ran out of frames")
                if goal is not None and goal.holds(self.env.player):
                    return execution.cut("interrupted", "got there")
                if last is not None and self.env.episode_frames >= last:
                    return execution.cut("out_of_frames", "the prologue is over")
                following = execution.proceed(self.env.player, changed)
        except BaseException:
            execution.cut("interrupted", "stopped from outside")
            raise
        return following


def _start_of(action: CodedAction) -> str:
    """Predicate of the moment a trial starts in."""
    if action.due in ("true", "false"):
        return action.precondition
    if action.precondition == "true":
        return action.due
    return f"({action.precondition}) and ({action.due})"


def coded_action(sub_action: SubAction, proposal: CodeProposal) -> CodedAction:
    """Approved code of a sub-action as an option."""
    return CodedAction(
        name=sub_action.name,
        code=proposal.code,
        success=sub_action.success,
        precondition=sub_action.precondition,
        interrupt=sub_action.interrupt,
        due=sub_action.due,
        max_frames=sub_action.budget,
        version=proposal.version,
    )

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from textual.app import App, ComposeResult

from engine.events import CritiqueGiven, TrialFinished
from skills_db.records import FrameRecord
from studio.widgets.trial_panel import TrialPanel, action_words

MakeFrame = Callable[..., FrameRecord]


class TrialApp(App[None]):
    def compose(self) -> ComposeResult:
        yield TrialPanel()

    @property
    def panel(self) -> TrialPanel:
        return self.query_one(TrialPanel)

    @property
    def visible(self) -> list[str]:
        shown = self.panel.lines
        return [shown.render_line(y).text.rstrip() for y in range(shown.size.height)]


def test_few_actions_are_all_said() -> None:
    assert action_words((("move_left", 3), ("do", 1), ("place_table", 1)), 40) == (
        "left\u00d73 do place_table"
    )


def test_many_actions_are_said_from_both_ends() -> None:
    actions = tuple((f"move_{i % 3}", i + 1) for i in range(40))
    words = action_words(actions, 60)
    assert words.startswith("0 1\u00d72 ")
    assert words.endswith("\u00d740")
    assert len(words) <= 60
    before, middle, after = words.split("…")
    said = [word for part in (before, after) for word in part.split()]
    frames = sum(int(word.partition("\u00d7")[2] or 1) for word in said)
    assert frames + int(middle.split()[0]) == sum(count for _, count in actions)


async def test_trials_are_grouped_and_the_verdict_follows(make: ModuleType) -> None:
    app = TrialApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.panel.trial(TrialFinished(trial=make.trial(0, "failed", seed=17)))
        app.panel.trial(TrialFinished(trial=make.trial(1, "success")))
        app.panel.critique(CritiqueGiven(critique=make.critique(1, works=False)))
        app.panel.trial(TrialFinished(trial=make.trial(0, "success", version=2)))
        await pilot.pause()
        text = "\n".join(app.visible)
        assert text.count("collect_wood  version") == 2
        assert "✗ failed        seed 17        30 frames" in text
        assert "✔ success       seed 4         71 frames" in text
        assert "+5 wood, -1 drink; wood collected" in text
        assert "✗ does not work yet, 25 % of 4 trials" in text
        assert "next: Look around before giving up." in text
        assert "critic: the rules agents" in text


async def test_a_trial_that_never_began_says_so(make: ModuleType) -> None:
    app = TrialApp()
    async with app.run_test(size=(120, 40)) as pilot:
        trial = make.trial(0, "failed", started=False, frames=0, actions=(), gained={})
        app.panel.trial(TrialFinished(trial=trial))
        await pilot.pause()
        assert "○ not started" in app.visible[1]


async def test_scrolled_up_stays_scrolled_up(make: ModuleType) -> None:
    app = TrialApp()
    async with app.run_test(size=(100, 16)) as pilot:
        for index in range(12):
            app.panel.trial(TrialFinished(trial=make.trial(index, "success")))
        await pilot.pause()
        app.panel.lines.focus()
        await pilot.press("g")
        before = app.visible
        app.panel.trial(TrialFinished(trial=make.trial(99, "failed")))
        await pilot.pause()
        assert app.visible == before
        await pilot.press("G")
        assert any("seed 102" in line for line in app.visible)


async def test_before_the_first_trial_is_over_one_sees_what_goes_on(
    make: ModuleType, make_frame: MakeFrame
) -> None:
    app = TrialApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.panel.frame(make_frame(1, caption="prologue: gather_wood"))
        await pilot.pause()
        words = "on the way to the precondition: gather_wood"
        assert app.visible[0] == f"no trial is over yet; {words}"
        assert app.panel.frame_view.frame is not None
        assert app.panel.frame_view.frame.caption == words
        app.panel.frame(make_frame(2, caption="make_pickaxe"))
        await pilot.pause()
        assert app.visible[0] == "no trial is over yet; make_pickaxe"
        app.panel.trial(TrialFinished(trial=make.trial(0, "success")))
        app.panel.frame(make_frame(3, caption="make_pickaxe"))
        await pilot.pause()
        assert app.visible[0] == "collect_wood  version 1"
        assert not any("no trial" in line for line in app.visible)


async def test_frame_is_shown_and_a_narrow_place_stacks(make_frame: MakeFrame) -> None:
    app = TrialApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.panel.frame(make_frame(caption="seed 3"))
        await pilot.pause()
        assert app.panel.frame_view.region.right <= app.panel.lines.region.x
        await pilot.resize_terminal(50, 30)
        await pilot.pause()
        assert app.panel.frame_view.region.bottom <= app.panel.lines.region.y
        app.panel.clear()
        assert app.panel.frame_view.frame is None

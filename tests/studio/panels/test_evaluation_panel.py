from __future__ import annotations

from types import ModuleType
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Static

from studio.widgets.evaluation_panel import EvaluationPanel


class EvaluationApp(App[None]):
    def compose(self) -> ComposeResult:
        yield EvaluationPanel()

    @property
    def panel(self) -> EvaluationPanel:
        return self.query_one(EvaluationPanel)

    @property
    def lines(self) -> list[str]:
        return str(self.panel.query_one(Static).content).splitlines()

    def order(self) -> list[str]:
        names = ("collect_diamond", "collect_wood", "place_table", "wake_up")
        lines = self.lines
        start = next(i for i, line in enumerate(lines) if line.startswith("achievements"))
        return [line.split()[0] for line in lines[start + 1 : start + 5] if line.startswith(names)]


def line_of(app: EvaluationApp, name: str) -> str:
    return next(line for line in app.lines if line.startswith(name))


async def test_figures_seeds_and_who_wrote_the_code(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(100, 40)):
        assert "No evaluation yet" in app.lines[0]
        app.panel.show(make.EVALUATION, agents="llm:gpt-5-mini")
        text = "\n".join(app.lines)
        assert "20 episodes, held-out seeds 1000000:1000020" in text
        assert "plan and code by the language model gpt-5-mini" in text
        assert "±22 points" in text
        assert line_of(app, "task success").split()[2:] == ["35", "%", "0", "%", "+35"]
        assert line_of(app, "score").split()[2:] == ["12.34", "2.50", "+9.84"]
        assert line_of(app, "reward").split()[3:] == ["5.21", "1.90", "+3.31"]
        assert line_of(app, "wake_up").split()[1:6] == ["10", "%", "30", "%", "-20"]


async def test_order_by_difference_or_as_the_world_has_it(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(100, 40)) as pilot:
        app.panel.show(make.EVALUATION)
        assert app.order() == ["place_table", "collect_diamond", "collect_wood", "wake_up"]
        app.panel.focus()
        await pilot.press("o")
        assert app.order() == ["collect_wood", "place_table", "collect_diamond", "wake_up"]


async def test_without_a_baseline_only_the_policy_is_shown(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(100, 40)):
        app.panel.show({k: v for k, v in make.EVALUATION.items() if k != "baseline"})
        assert "untrained" not in "\n".join(app.lines)
        assert line_of(app, "task success").split()[2:] == ["35", "%"]


async def test_bars_show_shared_gained_and_lost(make: ModuleType) -> None:
    app = EvaluationApp()
    app.ascii_only = True  # type: ignore[attr-defined]
    async with app.run_test(size=(100, 40)):
        app.panel.show(make.EVALUATION)
        bars = {line.split()[0]: line.split()[-1] for line in app.lines if "---" in line}
        width = len(bars["place_table"])
        assert bars["place_table"].count("=") == round(0.1 * width)
        assert bars["place_table"].count("+") == round(0.8 * width) - round(0.1 * width)
        assert bars["wake_up"].count("~") == round(0.3 * width) - round(0.1 * width)


async def test_strange_json_is_no_crash() -> None:
    app = EvaluationApp()
    async with app.run_test(size=(60, 20)):
        strange: dict[str, Any] = {"success": None, "goals": {"a": "x"}, "baseline": 3}
        app.panel.show(strange)
        assert "0 episodes" in app.lines[0]


async def test_narrow_has_no_bars_but_all_numbers(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(50, 20)):
        app.panel.show(make.EVALUATION)
        assert line_of(app, "place_table").split()[1:] == ["80", "%", "10", "%", "+70"]


async def test_code_alone_stands_beside_what_was_learnt(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(100, 40)):
        code_only = {**make.EVALUATION["baseline"], "score": 45.68, "task_success": 0.45}
        app.panel.show({**make.EVALUATION, "code_only": code_only})
        assert "code only" in "\n".join(app.lines)
        assert line_of(app, "task success").split()[-2:] == ["45", "%"]
        assert line_of(app, "score").split()[-1] == "45.68"


async def test_code_that_was_never_trained_is_not_called_trained(make: ModuleType) -> None:
    app = EvaluationApp()
    async with app.run_test(size=(100, 40)):
        alone = {k: v for k, v in make.EVALUATION.items() if k != "baseline"}
        app.panel.show({**alone, "policy": "code_only"})
        assert "trained" not in "\n".join(app.lines)

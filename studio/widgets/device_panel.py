"""What the machine does while it trains: the GPU where there is one, else the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from studio.widgets.bars import line_bar
from studio.widgets.charset import ascii_only
from studio.widgets.paint import toned
from studio.words import shorten

if TYPE_CHECKING:
    from engine.events import DeviceSampled

_LABEL = 13
_VALUE = 17
_FULL = 0.9
"""Memory beyond this share is worth a warning."""
_HOT_C = 85.0


class DevicePanel(Widget):
    """Name, utilisation, memory and temperature; what cannot be read is a dash."""

    DEFAULT_CSS = """
    DevicePanel { height: 7; min-width: 24; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._sample: DeviceSampled | None = None

    def show(self, sample: DeviceSampled | None) -> None:
        """Draw a sample; None when nothing is known."""
        self._sample = sample
        self.refresh()

    def render(self) -> RenderResult:
        """Title line, then one line a figure."""
        width = max(1, self.size.width)
        sample = self._sample
        if sample is None:
            return Content.assemble(("device", "bold"), "\n", toned("not read yet", "muted"))
        what = "GPU" if sample.is_gpu else "CPU"
        name = shorten(sample.name, max(0, width - len(what) - 2))
        lines = [Content.assemble((what, "bold"), "  ", toned(name, "muted"))]
        if sample.is_gpu:
            lines.append(self._share("utilisation", sample.utilisation, width))
            lines.append(self._memory(sample, width))
            lines.append(_temperature(sample.temperature_c))
            lines.append(self._share("CPU", sample.cpu_percent, width))
        else:
            lines.append(self._share("this run", sample.utilisation, width))
            lines.append(self._share("whole CPU", sample.cpu_percent, width))
            lines.append(self._memory(sample, width))
            if sample.temperature_c is not None:
                lines.append(_temperature(sample.temperature_c))
        lines.append(_figure("run's memory", f"{sample.rss_gb:.1f} GB"))
        return Content("\n").join(lines)

    def _share(self, label: str, value: float | None, width: int) -> Content:
        text = "-" if value is None else f"{value:.0f} %"
        return self._bar(label, None if value is None else value / 100, text, width)

    def _memory(self, sample: DeviceSampled, width: int) -> Content:
        used, total = sample.memory_used_gb, sample.memory_total_gb
        if used is None or total is None or total <= 0:
            return _figure("memory", "-")
        return self._bar("memory", used / total, f"{used:.1f} of {total:.1f} GB", width)

    def _bar(self, label: str, share: float | None, text: str, width: int) -> Content:
        room = min(24, width - _LABEL - _VALUE)
        if share is None or room < 4:
            return _figure(label, text)
        tone = "$warning" if share > _FULL and label == "memory" else "$primary"
        return Content.assemble(
            toned(f"{label:<{_LABEL}}", "muted"),
            line_bar(share, room, tone, ascii_only=ascii_only(self)),
            f" {text}",
        )


def _figure(label: str, text: str) -> Content:
    return Content.assemble(toned(f"{label:<{_LABEL}}", "muted"), text)


def _temperature(celsius: float | None) -> Content:
    if celsius is None:
        return _figure("temperature", "-")
    hot = toned("  hot", "warn") if celsius >= _HOT_C else Content()
    return Content.assemble(_figure("temperature", f"{celsius:.0f} °C"), hot)

"""What the machine does while a run works on it: the GPU by NVML, else the CPU."""

from __future__ import annotations

import importlib
import logging
import os
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import psutil

from engine.events import DeviceSampled

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_GB = 1e9


class DeviceSampler:
    """Samples the first GPU that this process may use, or the CPU where there is none.

    Never raises: what cannot be read is None.

    Args:
        interval: seconds between the samples that `due` gives.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        interval: float = 2.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._interval = interval
        self._clock = clock
        self._next = clock()
        self._process = psutil.Process()
        self._process.cpu_percent()  # the first call only sets the mark it measures from
        self._gpu = _Gpu.find(environment.get("CUDA_VISIBLE_DEVICES"))
        self._name = cpu_name() if self._gpu is None else self._gpu.name

    def due(self) -> DeviceSampled | None:
        """A sample when the last one is old enough, else None."""
        now = self._clock()
        if now < self._next:
            return None
        self._next = now + self._interval
        return self.sample()

    def sample(self) -> DeviceSampled:
        """A sample now. CPU percent is of one core, since the last sample."""
        cpu = float(self._process.cpu_percent())
        rss = self._process.memory_info().rss / _GB
        if self._gpu is not None:
            used, total = self._gpu.memory_gb()
            return DeviceSampled(
                name=self._name,
                is_gpu=True,
                utilisation=self._gpu.utilisation(),
                memory_used_gb=used,
                memory_total_gb=total,
                temperature_c=self._gpu.temperature(),
                cpu_percent=cpu,
                rss_gb=rss,
            )
        memory = psutil.virtual_memory()
        return DeviceSampled(
            name=self._name,
            is_gpu=False,
            utilisation=cpu,
            memory_used_gb=(memory.total - memory.available) / _GB,
            memory_total_gb=memory.total / _GB,
            temperature_c=None,
            cpu_percent=cpu,
            rss_gb=rss,
        )

    def close(self) -> None:
        """Lets go of the GPU; later samples are of the CPU."""
        if self._gpu is not None:
            self._gpu.close()
            self._gpu = None
            self._name = cpu_name()


class _Gpu:
    """One GPU through NVML; a figure the card does not give is None."""

    def __init__(self, nvml: ModuleType, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle
        name = self._read(lambda: nvml.nvmlDeviceGetName(handle)) or "NVIDIA GPU"
        self.name = name.decode() if isinstance(name, bytes) else str(name)

    @classmethod
    def find(cls, visible: str | None) -> _Gpu | None:
        """The first GPU of `CUDA_VISIBLE_DEVICES` (None: of the machine), or None."""
        first = "0" if visible is None else visible.split(",")[0].strip()
        if first in ("", "-1"):
            return None
        try:
            nvml = importlib.import_module("pynvml")
            nvml.nvmlInit()
        except Exception as error:  # no driver, no library, a driver that does not fit
            _log.info("no GPU is shown: %s", error)
            return None
        try:
            if first.isdigit():
                return cls(nvml, nvml.nvmlDeviceGetHandleByIndex(int(first)))
            return cls(nvml, nvml.nvmlDeviceGetHandleByUUID(first))
        except nvml.NVMLError as error:
            _log.info("GPU %r is not shown: %s", first, error)
            nvml.nvmlShutdown()
            return None

    def utilisation(self) -> float | None:
        """Percent of time in which the GPU computed."""
        rates = self._read(lambda: self._nvml.nvmlDeviceGetUtilizationRates(self._handle))
        return None if rates is None else float(rates.gpu)

    def memory_gb(self) -> tuple[float | None, float | None]:
        """Memory used (by all processes) and present, in GB."""
        memory = self._read(lambda: self._nvml.nvmlDeviceGetMemoryInfo(self._handle))
        return (None, None) if memory is None else (memory.used / _GB, memory.total / _GB)

    def temperature(self) -> float | None:
        """Degrees Celsius."""
        sensor = self._nvml.NVML_TEMPERATURE_GPU
        degrees = self._read(lambda: self._nvml.nvmlDeviceGetTemperature(self._handle, sensor))
        return None if degrees is None else float(degrees)

    def close(self) -> None:
        """Ends NVML."""
        self._read(self._nvml.nvmlShutdown)

    def _read(self, get: Callable[[], _T]) -> _T | None:
        try:
            return get()
        except self._nvml.NVMLError:
            return None


def cpu_name() -> str:
    """Name of the processor as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "CPU"

"""Samples of the device: the CPU here, a GPU through a stand-in for NVML's library."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from engine.events import DeviceSampled, decode, encode
from engine.telemetry import DeviceSampler, cpu_name


class NvmlError(Exception):
    pass


def fake_nvml(*, gpus: int = 1, blind: frozenset[str] = frozenset()) -> ModuleType:
    """A card with known figures; reading one that is in `blind` fails as NVML does."""
    nvml = ModuleType("pynvml")
    nvml.NVMLError = NvmlError
    nvml.NVML_TEMPERATURE_GPU = 0
    nvml.shut = 0

    def reads(name, value):
        def read(*_):
            if name in blind:
                raise NvmlError(name)
            return value

        return read

    def by_index(index):
        if index >= gpus:
            raise NvmlError("not found")
        return f"gpu{index}"

    def shutdown():
        nvml.shut += 1

    nvml.nvmlInit = reads("init", None)
    nvml.nvmlShutdown = shutdown
    nvml.nvmlDeviceGetHandleByIndex = by_index
    nvml.nvmlDeviceGetHandleByUUID = lambda uuid: f"gpu-{uuid}"
    nvml.nvmlDeviceGetName = lambda handle: f"Card {handle}".encode()
    nvml.nvmlDeviceGetUtilizationRates = reads("rates", SimpleNamespace(gpu=37))
    memory = SimpleNamespace(used=2_500_000_000, total=24_000_000_000)
    nvml.nvmlDeviceGetMemoryInfo = reads("memory", memory)
    nvml.nvmlDeviceGetTemperature = reads("temperature", 61)
    return nvml


@pytest.fixture
def nvml(monkeypatch):
    def install(**options) -> ModuleType:
        module = fake_nvml(**options)
        monkeypatch.setitem(sys.modules, "pynvml", module)
        return module

    return install


def test_without_a_gpu_the_cpu_is_sampled():
    sample = DeviceSampler(environment={"CUDA_VISIBLE_DEVICES": ""}).sample()
    assert not sample.is_gpu
    assert sample.name == cpu_name() != ""
    assert sample.utilisation == sample.cpu_percent >= 0
    assert 0 < sample.rss_gb < sample.memory_total_gb
    assert 0 < sample.memory_used_gb < sample.memory_total_gb
    assert sample.temperature_c is None
    assert decode(*encode(sample)) == sample


def test_the_cpu_percent_is_of_this_process():
    sampler = DeviceSampler(environment={"CUDA_VISIBLE_DEVICES": ""})
    until = sampler._process.cpu_times().user + 0.2
    while sampler._process.cpu_times().user < until:
        sum(range(1000))
    assert sampler.sample().cpu_percent > 5


def test_a_gpu_is_sampled(nvml):
    module = nvml()
    sampler = DeviceSampler(environment={})
    sample = sampler.sample()
    assert sample == DeviceSampled(
        name="Card gpu0",
        is_gpu=True,
        utilisation=37.0,
        memory_used_gb=2.5,
        memory_total_gb=24.0,
        temperature_c=61.0,
        cpu_percent=sample.cpu_percent,
        rss_gb=sample.rss_gb,
    )
    sampler.close()
    assert module.shut == 1
    assert not sampler.sample().is_gpu


@pytest.mark.parametrize(
    ("visible", "name"),
    [("1,0", "Card gpu1"), ("GPU-abc", "Card gpu-GPU-abc"), (None, "Card gpu0")],
)
def test_the_gpu_is_the_one_the_process_may_use(nvml, visible, name):
    nvml(gpus=2)
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert DeviceSampler(environment=environment).sample().name == name


@pytest.mark.parametrize("blind", ["rates", "memory", "temperature"])
def test_what_a_card_does_not_tell_is_none(nvml, blind):
    nvml(blind=frozenset({blind}))
    sample = DeviceSampler(environment={}).sample()
    fields = {
        "rates": sample.utilisation,
        "memory": sample.memory_used_gb,
        "temperature": sample.temperature_c,
    }
    assert sample.is_gpu
    assert [name for name, value in fields.items() if value is None] == [blind]


def test_a_driver_that_does_not_work_is_no_error(nvml):
    nvml(blind=frozenset({"init"}))
    assert not DeviceSampler(environment={}).sample().is_gpu
    nvml(gpus=0)
    assert not DeviceSampler(environment={}).sample().is_gpu


def test_samples_come_at_their_interval():
    now = [0.0]
    sampler = DeviceSampler(2.0, clock=lambda: now[0], environment={"CUDA_VISIBLE_DEVICES": ""})
    assert sampler.due() is not None
    now[0] = 1.9
    assert sampler.due() is None
    now[0] = 2.0
    assert sampler.due() is not None
    assert sampler.due() is None

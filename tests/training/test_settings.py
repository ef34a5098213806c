"""Settings of the caller's: they change no result, and are left as they were."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from farfield.execution import Here, run
from farfield.execution.internal import Job
from farfield.experiments import Experiment, Network, Recipe, Spec
from farfield.records import Store
from farfield.training import train, trained_network
from farfield.training.internal import OneNetwork, Stack, problems_of_run
from small import SMALL_ENCODER, small_experiment


class Sensitive(nn.Module):
    """A reasoner that shows every setting: types, casts, kernels, tiny numbers."""

    def __init__(self, in_features: int, num_outputs: int) -> None:
        super().__init__()
        self.output = nn.Linear(in_features, num_outputs)
        tiny = torch.full((in_features,), 1e-39) * 1e38
        self.register_buffer("constant", torch.rand(in_features) + tiny)

    def forward(self, z: Tensor) -> Tensor:
        here = torch.ones(z.shape[-1]) / 3
        return self.output((z * here * self.constant).mean(1))


EXPERIMENT = Experiment(
    task=small_experiment().task,
    model=Network(reasoner=Spec(Sensitive), encoder=SMALL_ENCODER),
    recipe=Recipe(steps=3, evaluations=1, batch_size=16),
)


def setting(
    read: Callable[[], object], write: Callable[[object], object], value: object
) -> contextlib.AbstractContextManager[None]:
    @contextlib.contextmanager
    def changed() -> Iterator[None]:
        before = read()
        write(value)
        try:
            yield
            assert read() == value
        finally:
            write(before)

    return changed()


def flushes() -> bool:
    return sys.float_info.min / 2 == 0.0


SETTINGS: dict[str, Callable[[], contextlib.AbstractContextManager[object]]] = {
    "default dtype": lambda: setting(
        torch.get_default_dtype, torch.set_default_dtype, torch.float64
    ),
    "flush denormal": lambda: setting(flushes, torch.set_flush_denormal, True),
    "threads": lambda: setting(torch.get_num_threads, torch.set_num_threads, 2),
    "deterministic": lambda: setting(
        torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True
    ),
    "matmul precision": lambda: setting(
        torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"
    ),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "inference mode": torch.inference_mode,
    "no gradients": torch.no_grad,
    "default device": lambda: torch.device("meta"),
}


def trained() -> dict[str, Tensor]:
    learner = OneNetwork(EXPERIMENT, 0)
    train(learner, EXPERIMENT)
    return learner.weights()[0]


@pytest.fixture(scope="module")
def plain() -> dict[str, Tensor]:
    return trained()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_changes_no_byte(plain: dict[str, Tensor], name: str) -> None:
    modes = (torch.is_grad_enabled, torch.is_inference_mode_enabled, torch.get_default_device)
    with SETTINGS[name]():
        before = [mode() for mode in modes], torch.is_autocast_enabled("cpu")
        found = trained()
        assert ([mode() for mode in modes], torch.is_autocast_enabled("cpu")) == before
    for key, tensor in plain.items():
        assert found[key].dtype == tensor.dtype
        assert torch.equal(found[key], tensor), key


def test_settings_are_given_back_after_a_failure() -> None:
    class FailingError(Exception):
        pass

    def fail(progress: object) -> None:
        assert flushes()
        assert torch.get_default_dtype() == torch.float32
        raise FailingError

    with (
        SETTINGS["default dtype"](),
        SETTINGS["threads"](),
        pytest.raises(FailingError),
    ):
        train(OneNetwork(EXPERIMENT, 0), EXPERIMENT, report=fail)
    assert not flushes()


def test_problems_and_trained_networks_are_the_same_under_any_default(tmp_path) -> None:
    store = Store(tmp_path)
    run([Job(experiment=EXPERIMENT, seed=0)], store, Here())
    first = problems_of_run(EXPERIMENT.task, 0)["training"].sequences()
    with SETTINGS["default dtype"](), SETTINGS["flush denormal"]():
        again = problems_of_run(EXPERIMENT.task, 0)["training"].sequences()
        network = trained_network(EXPERIMENT, 0, store)
    assert torch.equal(first, again)
    assert {tensor.dtype for tensor in network.state_dict().values()} == {torch.float32}


def test_a_stack_is_built_under_the_same_settings() -> None:
    plain = Stack(EXPERIMENT, [0, 1]).weights()
    with SETTINGS["default dtype"]():
        found = Stack(EXPERIMENT, [0, 1]).weights()
    for first, second in zip(plain, found, strict=True):
        assert all(torch.equal(first[name], second[name]) for name in first)

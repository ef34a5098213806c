"""The model that reads a sequence with a layer used as `nn.LSTM` is."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.core import stream
from farfield.experiments import Experiment, Recipe, SequenceNetwork, Spec
from farfield.functional import Indexed
from farfield.models import _sequence_model as module
from farfield.models.internal import SequenceModel
from farfield.nn import (
    InputAttention,
    LayerNorm,
    LinearEncoder,
    NormalizedGRU,
    NormalizedLSTM,
    PreNormTransformer,
    RIMs,
    Wiring,
    WordEncoder,
)
from farfield.tasks import Copying, SameDifferent


def small(*, answers_everywhere: bool, seed: int = 0) -> SequenceModel:
    source = torch.Generator().manual_seed(seed)
    encoder = LinearEncoder((4,), out_features=3, generator=source)
    core = NormalizedGRU(3, 5, batch_first=True, generator=source)
    model = SequenceModel(
        encoder, core, num_outputs=2, answers_everywhere=answers_everywhere, generator=source
    ).double()
    nn.init.normal_(model.output.bias, generator=source)
    return model


def some_problems() -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(1)
    items = torch.randn(6, 4, dtype=torch.float64, generator=source)
    return items, torch.randint(6, (3, 11), generator=source)


def test_it_answers_as_its_parts_do_place_by_place() -> None:
    items, index = some_problems()
    model = small(answers_everywhere=True)
    hidden = torch.zeros(3, 5, dtype=torch.float64)
    cell = nn.GRUCell(3, 5).double()
    cell.load_state_dict({n.removesuffix("_l0"): p for n, p in model.core.named_parameters()})
    expected = []
    for place in range(11):
        hidden = cell(items[index[:, place]] @ model.encoder.weight.T, hidden)
        expected.append((hidden @ model.output.weight.T + model.output.bias).detach().numpy())
    got = model(items, index).detach().numpy()
    np.testing.assert_allclose(got, np.stack(expected, axis=1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("answers_everywhere", [False, True])
def test_reading_in_pieces_gives_what_reading_at_once_gives(
    answers_everywhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    items, index = some_problems()
    model = small(answers_everywhere=answers_everywhere)
    whole = model(items, index)
    monkeypatch.setattr(module, "PLACES", 4)
    read: list[int] = []
    model.core.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[1]))
    with torch.inference_mode():
        pieces = model(items, index)
    assert read == [4, 4, 3]
    np.testing.assert_allclose(pieces.numpy(), whole.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_tied_weights_are_one_matrix_that_learns_from_both_ends() -> None:
    source = torch.Generator().manual_seed(0)
    encoder = WordEncoder(7, out_features=5, generator=source)
    core = NormalizedLSTM(5, 5, batch_first=True, generator=source)
    parts = {"num_outputs": 7, "answers_everywhere": True, "generator": source}
    model = SequenceModel(encoder, core, tied=True, **parts)
    apart = SequenceModel(encoder, core, **parts)
    sizes = [sum(p.numel() for p in each.parameters()) for each in (apart, model)]
    assert sizes[0] - sizes[1] == 7 * 5
    apart.load_state_dict(model.state_dict())
    items, index = torch.arange(7)[:, None], torch.randint(7, (2, 4), generator=source)
    grads = []
    for each in (model, apart):
        encoder.weight.grad = None
        each(items, index).square().sum().backward()
        grads.append(encoder.weight.grad.clone())
    torch.testing.assert_close(grads[0], grads[1] + apart.output.weight.grad)
    with pytest.raises(ValueError, match=r"encoder must have weights of \(7, 6\) .* got \(7, 5\)"):
        SequenceModel(encoder, nn.LSTM(5, 6, batch_first=True), tied=True, **parts)
    with pytest.raises(ValueError, match=r"encoder must have weights of \(7, 5\) .* got none"):
        SequenceModel(nn.Identity(), core, tied=True, **parts)


def test_the_last_answer_is_that_of_the_last_place() -> None:
    items, index = some_problems()
    everywhere = small(answers_everywhere=True)(items, index)
    assert torch.equal(small(answers_everywhere=False)(items, index), everywhere[:, -1])


def test_a_core_that_chooses_between_positions_is_given_them() -> None:
    attention = InputAttention(key_size=3, per_position=True)
    source = torch.Generator().manual_seed(0)
    core = RIMs(
        4,
        8,
        num_mechanisms=2,
        num_active=1,
        wiring=Wiring(input_attention=attention),
        batch_first=True,
    )
    model = SequenceModel(
        nn.Identity(), core, num_outputs=2, answers_everywhere=True, generator=source
    ).double()
    items = torch.randn(6, 5, 4, dtype=torch.float64, generator=source)
    index = torch.randint(6, (3, 7), generator=source)
    expected = model.output(core(items[index])[0])
    torch.testing.assert_close(model(items, index), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("core, takes", [(RIMs, True), (nn.GRU, False)])
def test_items_that_come_again_reach_a_core_that_takes_them_once(
    core: type[nn.Module], takes: bool
) -> None:
    items, index = some_problems()
    model = SequenceModel(
        nn.Identity(), core(4, 24, batch_first=True), num_outputs=2, answers_everywhere=True
    ).double()
    read: list[object] = []
    model.core.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    expected = model.output(model.core(items[index])[0])
    torch.testing.assert_close(model(items, index), expected, rtol=1e-9, atol=1e-12)
    model(items, index[:2, :3])  # as many places as items
    kinds = [isinstance(given, Indexed) for given in read]
    assert kinds == [False, takes, False]


def test_every_call_starts_from_a_fresh_state() -> None:
    items, index = some_problems()
    model = small(answers_everywhere=False)
    assert torch.equal(model(items, index), model(items, index))


def test_a_core_from_set_to_set_reads_all_items_at_once() -> None:
    source = torch.Generator().manual_seed(2)
    items, index = torch.randn(9, 4, generator=source), torch.randint(9, (2, 90), generator=source)
    encoder = LinearEncoder((4,), out_features=8, generator=source)
    core = PreNormTransformer(8, num_layers=1, num_heads=2, generator=source)
    model = SequenceModel(
        encoder, core, num_outputs=3, answers_everywhere=True, generator=source
    ).eval()
    expected = core(items[index] @ encoder.weight.T) @ model.output.weight.T + model.output.bias
    torch.testing.assert_close(model(items, index), expected)
    with torch.no_grad():  # a sequence layer would read it in two pieces
        torch.testing.assert_close(model(items, index), expected)
    assert not model.carries_state
    assert model.continued(items, index, None)[1] == ()


def test_a_core_that_does_not_say_its_width_is_refused() -> None:
    with pytest.raises(TypeError, match="hidden_size"):
        SequenceModel(LinearEncoder((4,)), nn.Linear(3, 3), num_outputs=1, answers_everywhere=False)


def test_an_index_without_places_is_refused() -> None:
    items, _ = some_problems()
    with pytest.raises(ValueError, match="index must be"):
        small(answers_everywhere=False)(items, torch.zeros(3, 0, dtype=torch.int64))


def test_items_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="items must be"):
        LinearEncoder((4,))(torch.zeros(2, 5))


def test_bytes_are_embedded_as_fractions() -> None:
    source = torch.Generator().manual_seed(0)
    encoder = LinearEncoder((2, 3), out_features=4, generator=source).double()
    items = torch.randint(0, 256, (5, 2, 3), dtype=torch.uint8, generator=source)
    expected = items.numpy().reshape(5, 6) / 255 @ encoder.weight.detach().numpy().T
    np.testing.assert_allclose(encoder(items).detach(), expected, rtol=1e-12)


@pytest.mark.parametrize("options", [{"out_features": 0}, {"bound": 0.0}, {"bound": float("nan")}])
def test_wrong_sizes_of_an_encoder_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        LinearEncoder((4,), **options)


def test_a_network_is_put_together_for_its_task() -> None:
    core = Spec(NormalizedLSTM, hidden_size=7)
    experiment = Experiment(
        task=SameDifferent(withheld=98),
        model=SequenceNetwork(core=core, encoder=Spec(LinearEncoder, out_features=5)),
        recipe=Recipe(steps=1, clip_norm=1.0),
    )
    built = experiment.model.build(experiment.task, stream(0, "weights"))
    outputs = built(torch.randn(3, 32, 32), torch.tensor([[0, 1], [2, 2]]))
    assert outputs.shape == (2, 1)
    assert built.core.input_size == 5
    assert Experiment.from_json(experiment.to_json()) == experiment


def dropping(*, dropout: float) -> SequenceModel:
    source = torch.Generator().manual_seed(0)
    encoder = LinearEncoder((4,), out_features=64, generator=source)
    core = RIMs(
        64,
        60,
        num_mechanisms=3,
        num_active=2,
        wiring=Wiring(communication=None),
        batch_first=True,
        generator=source,
    )
    return SequenceModel(
        encoder,
        core,
        num_outputs=2,
        answers_everywhere=True,
        dropout=dropout,
        generator=source,
    )


def test_dropout_stands_behind_the_encoder_and_behind_the_core_at_each_place_anew() -> None:
    model, read, answered = dropping(dropout=0.5), [], []
    model.core.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    model.output.register_forward_pre_hook(lambda _, inputs: answered.append(inputs[0]))
    embeddings = model.encode(torch.eye(4))
    model.answer(embeddings, torch.zeros(2, 200, dtype=torch.long))
    for found, whole in ((read[0], embeddings[0].expand(2, 200, 64)), (answered[0], None)):
        assert (found == 0).float().mean().item() == pytest.approx(0.5, abs=0.02)
        assert not torch.equal(found[0, 0] == 0, found[0, 1] == 0)
        if whole is not None:
            kept = found != 0
            torch.testing.assert_close(found[kept], 2 * whole[kept])


def test_without_training_nothing_is_dropped() -> None:
    items, index = torch.eye(4), torch.tensor([[0, 1, 1, 3, 1]])
    with torch.no_grad():
        found = dropping(dropout=0.5).eval()(items, index)
        assert torch.equal(found, dropping(dropout=0.0)(items, index))


@pytest.mark.parametrize("dropout", [-0.1, 1.0, float("nan")])
def test_a_dropout_that_is_no_probability_is_refused(dropout: float) -> None:
    with pytest.raises(
        ValueError, match=r"dropout must be a finite number of at least 0 and below 1, got"
    ):
        dropping(dropout=dropout)


def test_a_network_has_the_dropout_of_its_spec() -> None:
    core = Spec(NormalizedGRU, hidden_size=5)
    made = SequenceNetwork(core=core, dropout=0.25).build(SameDifferent(), stream(0))
    assert isinstance(made, SequenceModel)
    assert made.dropout == 0.25


def test_first_weights_of_a_core_are_uniform_within_a_bound() -> None:
    core = Spec(NormalizedLSTM, hidden_size=40, num_layers=2, normalizer=Spec(LayerNorm))
    network = SequenceNetwork(core=core, core_bound=0.3)
    model = network.build(Copying(), stream(0, "weights"))
    again = network.build(Copying(), stream(0, "weights"))
    for name, parameter in model.core.named_parameters():
        assert torch.equal(parameter, again.core.get_parameter(name))
        if parameter.ndim > 1:
            assert 0.29 < parameter.abs().max() <= 0.3
            assert abs(parameter.mean()) < 0.01
            np.testing.assert_allclose(parameter.detach().std(), 0.3 / 3**0.5, rtol=0.05)
        else:
            assert parameter.eq(float(name.endswith("weight"))).all()  # normalizers keep theirs

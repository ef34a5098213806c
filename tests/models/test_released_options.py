"""`released()`: all options by which the released code differs from the text, at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn

from farfield.models import MNM, NTM, TRN, LSTMScorer, Transformer
from farfield.models.internal import LayerNormLSTMScorer, SequenceModel, TokenReader
from farfield.nn import (
    ContextNorm,
    DivisiveNorm2d,
    GRULayer,
    LinearEncoder,
    NeuralInterpreter,
    NormalizedLSTM,
    PerProjection,
    PreNormTransformer,
    RIMs,
    SlidingContextNorm,
    Syntax,
    Wiring,
)
from farfield.nn.internal import SequenceNorm
from farfield.reproductions.webb2020._experiments import RELEASED_CONTEXTS
from farfield.reproductions.webb2021._experiments import RELEASED_REASONERS
from made import drawn, generator

Build = Callable[..., nn.Module]
SCORER = {"position_tags": True, "forget_bias": 1.0}
EMBEDDINGS, IMAGES = (3, 4, 8), (2, 4, 6, 5)


def reader(build: Build) -> Build:
    core = PreNormTransformer(8, num_layers=1, generator=generator())
    return lambda *args, **options: build(core, *args, **options)


def sequence_model(build: Build) -> Build:
    parts = LinearEncoder((8,), out_features=8), GRULayer(8, 8, batch_first=True)
    others = {"num_outputs": 2, "answers_everywhere": True}
    return lambda *args, **options: build(*parts, *args, **others, **options)


CASES = {
    **{
        cls.__name__: (cls.released, cls, (8, 2), options, EMBEDDINGS)
        for cls, options in RELEASED_REASONERS.items()
    },
    **{
        cls.__name__: (cls.released, cls, (8, 4), SCORER, EMBEDDINGS)
        for cls in (LSTMScorer, LayerNormLSTMScorer)
    },
    **{
        cls.__name__: (cls.released, cls, (8,), dict(options), EMBEDDINGS)
        for cls, options in RELEASED_CONTEXTS.items()
    },
    "ContextNorm": (ContextNorm.released, ContextNorm, (8,), {"correction": 1}, EMBEDDINGS),
    "SequenceNorm": (
        SequenceNorm.released,
        SequenceNorm,
        (8,),
        {"include_last": True, "correction": 1, "eps": 1e-15},
        EMBEDDINGS,
    ),
    "DivisiveNorm2d": (
        lambda *args: DivisiveNorm2d.released(*args, suppression_window=5),
        lambda *args, **options: DivisiveNorm2d(*args, suppression_window=5, **options),
        (4, 3),
        {"released_suppression": True},
        IMAGES,
    ),
    "NeuralInterpreter": (
        NeuralInterpreter.released,
        NeuralInterpreter,
        (8,),
        {"syntax": Syntax.released()},
        EMBEDDINGS,
    ),
    "TokenReader": (
        lambda *args, **options: reader(TokenReader.released)(*args, num_tokens=2, **options),
        lambda *args, **options: reader(TokenReader)(*args, num_tokens=2, **options),
        (8, 2),
        {"shared": True},
        EMBEDDINGS,
    ),
}


def made(build: Build, *args: object, draws: bool, **options: object) -> nn.Module:
    source = {"generator": generator()} if draws else {}
    return build(*args, **options, **source).double()


@pytest.mark.parametrize("name", CASES)
def test_one_switch_sets_all_released_options(name: str) -> None:
    released, build, args, options, shape = CASES[name]
    draws = "Norm" not in name or name == "LayerNormLSTMScorer"
    mine, theirs, text = (
        made(released, *args, draws=draws),
        made(build, *args, draws=draws, **options),
        made(build, *args, draws=draws),
    )
    found, expected, other = (module(drawn(*shape)) for module in (mine, theirs, text))
    if isinstance(found, tuple):
        found, expected, other = found.inputs, expected.inputs, other.inputs
    assert torch.equal(found, expected)
    learned = [{name for name, _ in module.named_parameters()} for module in (mine, text)]
    assert learned[0] != learned[1] or not torch.allclose(found, other)


def test_recurrent_layers_have_the_switch() -> None:
    x, normalizer = drawn(5, 3, 8), nn.LayerNorm
    for placement, options in (
        (None, {"forget_bias_normalized": True}),
        (PerProjection(), {"carry_normalized": True, "placement": PerProjection()}),
    ):
        switch = partial(NormalizedLSTM.released, normalizer=normalizer, placement=placement)
        mine = made(switch, 8, 6, draws=True)
        theirs = made(NormalizedLSTM, 8, 6, 2, draws=True, normalizer=normalizer, **options)
        assert torch.equal(mine(x)[0], theirs(x)[0])
    for gru in (False, True):
        mine = made(partial(RIMs.released, gru=gru), 8, 12, draws=True).eval()
        theirs = made(RIMs, 8, 12, draws=True, wiring=Wiring.released(gru=gru)).eval()
        assert torch.equal(mine(x)[0], theirs(x)[0])


def test_the_released_sequence_model_drops_half() -> None:
    released, text = sequence_model(SequenceModel.released)(), sequence_model(SequenceModel)()
    assert (released.dropout, text.dropout) == (0.5, 0.0)


def test_every_reasoner_and_context_of_the_released_tables_has_the_switch() -> None:
    assert RELEASED_REASONERS.keys() == {Transformer, NTM, MNM, TRN}
    assert RELEASED_CONTEXTS.keys() == {SlidingContextNorm}

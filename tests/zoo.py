"""Cases of the suites over all public mechanisms: each once, with a tiny input."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.functional import (
    context_norm,
    context_whiten,
    denormalize,
    divisive_norm_1d,
    divisive_norm_2d,
    field_norm,
    field_statistics,
    over_batch,
    over_batch_and_places,
    over_batch_and_time,
    over_sub_batches,
    sliding_context_norm,
)
from farfield.functional.internal import (
    CommunicationParameters,
    DNCParameters,
    DNCState,
    EntityNetworkParameters,
    ESBNParameters,
    GatedParameters,
    InputAttentionParameters,
    LineParameters,
    LineRules,
    MeanImages,
    MemoryLayer,
    MLSTMState,
    MNMParameters,
    ModulatedLayer,
    NFMRules,
    NFMWeights,
    NTMParameters,
    NTMState,
    Overlay,
    PixelSpectrum,
    RelationalMemoryParameters,
    RelativePositionParameters,
    RIMsParameters,
    RIMsRules,
    ScriptParameters,
    ScriptRules,
    SLSTMState,
    TypingParameters,
    WrittenState,
    as_fractions,
    bicubic_resize,
    block_linear,
    cached_log_probs,
    causal_attention,
    causal_convolution,
    clipped_policy_loss,
    clipped_value_loss,
    compatibilities,
    content_scores,
    content_weights,
    context_statistics,
    cosine_similarity,
    divisive_center_1d,
    divisive_center_2d,
    divisive_lstm,
    dnc,
    dnc_interface_sizes,
    double_estimate,
    entity_network,
    esbn,
    esbn_keys,
    field_center,
    field_moments,
    folded_query,
    gated_delta_rule,
    gated_linear_attention,
    gated_recurrence,
    generalized_advantages,
    gru_dynamics,
    holding_recurrence,
    importance_weights,
    interpreter,
    line_of_code,
    linear,
    linear_recurrence,
    lstm,
    lstm_dynamics,
    memory_read,
    memory_write,
    mlstm,
    mnm,
    modulated_attention,
    modulated_linear,
    modulated_mlp,
    modulated_weight,
    n_step_returns,
    nfm_change,
    nfm_read,
    nfm_trace,
    noisy_linear,
    norm_by_statistics,
    ntm,
    ntm_head_sizes,
    ntm_states,
    overlay_convolution,
    pair_attention,
    quantile_huber_loss,
    read_confidence,
    relation_matrix,
    relation_sum,
    relational_memory,
    relative_position_scores,
    relu,
    rescale_state,
    rgb_to_ycbcr,
    rims,
    rims_trace,
    running_context_statistics,
    script,
    script_trace,
    selective_scan,
    self_attention,
    silhouette_moments,
    sinusoidal_position,
    sliding_context_center,
    slot_address,
    slot_allocation,
    slot_links,
    slot_usage,
    slstm,
    spatial_moments,
    square_mask,
    tag_positions,
    top_k_mask,
    truncated_kernel,
    type_distance,
    type_inference,
    type_matching,
    ycbcr_to_rgb,
)
from farfield.models import (
    CNN13,
    ESBN,
    GAN,
    LSTM,
    MNM,
    NTM,
    OCRA,
    RN,
    SRAN,
    SRCNN,
    TRN,
    AbstractorNet,
    ActorCritic,
    AnchoredRegression,
    BottleneckMLP,
    CoRelNet,
    DeepSets,
    DigitCNN,
    LikenessNet,
    LSTMScorer,
    PacedSequence,
    PreActResNet,
    PreActResNetNFM,
    PrediNet,
    QuantileAgent,
    QuickCNN,
    RelConvNet,
    ResizedSequence,
    ResNet,
    ResNetDiscriminator,
    ResNetGenerator,
    SetScorer,
    SlotAbstractor,
    SlotwiseScorer,
    Transformer,
    WideResNet,
    WReN,
)
from farfield.models.internal import (
    AnalogyScoring,
    ConvMaps,
    DenseMaps,
    FeatureNetwork,
    ItemModel,
    LastState,
    LayerNormLSTMScorer,
    MapModel,
    MLPReader,
    NextEmbedding,
    ObjectAutoencoder,
    ObjectPredictor,
    ObjectReader,
    OutlineMaps,
    PresenceReader,
    Relational,
    RNNScorer,
    RNReader,
    RollOut,
    SelectiveScorer,
    SequenceModel,
    SetModel,
    TokenReader,
)
from farfield.nn import (
    DNC,
    MLSTM,
    NFM,
    SLSTM,
    ZCA,
    Abstractor,
    AnalogyEncoder,
    BatchContextNorm,
    CausalTransformer,
    Communication,
    ComponentEncoder,
    ContextNorm,
    ContextWhitening,
    ConvEncoder,
    DirectionEncoder,
    DivisiveNorm1d,
    DivisiveNorm2d,
    DualAttention,
    DualAttentionTransformer,
    EntNet,
    FigureEncoder,
    FrameEncoder,
    Functions,
    GatedDeltaNet,
    GatedLinearAttention,
    GroupAttentionConvolution,
    GroupNorm,
    GRUDynamics,
    GRULayer,
    HoldingRNN,
    ImageBatchNorm,
    InputAttention,
    InstanceNorm,
    Instructions,
    LayerNorm,
    LinearEncoder,
    LinearRecurrentUnit,
    LSTMLayer,
    Mamba,
    MapNormalizer,
    MisalignedContextNorm,
    MLPEncoder,
    MomentEncoder,
    MultiPass,
    NeuralInterpreter,
    NormalizedGRU,
    NormalizedLSTM,
    NormalizedRNN,
    NTMLayer,
    PanelEncoder,
    PatchEncoder,
    PerProjection,
    PlanesEncoder,
    PlanesNFMEncoder,
    PooledBatchNorm,
    PoseEncoder,
    PositionalSymbols,
    PreNormTransformer,
    QuantileHead,
    RandomEncoder,
    RegisterMachine,
    RelationalConvolution,
    RelationalCrossAttention,
    RelationalMemoryCore,
    RelativeSymbols,
    RIMs,
    SilhouetteEncoder,
    SlidingContextNorm,
    SlotAttention,
    SlotBatchNorm,
    SlotDecoder,
    SlotEncoder,
    Standardize,
    StatisticsMatch,
    SubBatchNorm,
    SymbolLibrary,
    Syntax,
    TypeMatching,
    Wiring,
    WordEncoder,
)
from farfield.nn.internal import (
    CenterImages,
    FrameDecoder,
    IdentityNorm,
    LinearDecoder,
    LineOfCode,
    ModAttn,
    ModLin,
    ModMLP,
    NoisyLinear,
    PastNorm,
    RelativePosition,
    Script,
    SequenceNorm,
    TimeStepNorm,
    TypeInference,
)

BATCH, TIME, FEATURES, OUTPUTS, SEEDS = 4, 3, 6, 2, 3


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(*shape: int, seed: int = 5) -> Tensor:
    return torch.randn(*shape, generator=generator(seed))


@dataclass(frozen=True, kw_only=True, eq=False)
class Animal:
    """What the zoo needs to know of a module.

    Args:
        build: Makes it from a generator.
        inputs: Of one call; all have the batch axis first.
        shape: Of what it gives for these.
        without_gradient: Parameters that get none.
        drawing: Whether its first parameters are drawn.
        alone: Whether what it gives for a problem is the same without the others.
    """

    build: Callable[[torch.Generator | None], nn.Module]
    inputs: tuple[Tensor, ...]
    shape: tuple[int, ...]
    without_gradient: frozenset[str] = frozenset()
    drawing: bool = True
    alone: bool = True


def relational(source: torch.Generator | None) -> Relational:
    reasoner = ESBN(FEATURES, OUTPUTS, hidden_size=5, key_size=4, generator=source)
    encoder = ConvEncoder((8, 8), out_features=FEATURES, generator=source)
    return Relational(encoder, ContextNorm(FEATURES), reasoner)


def token_reader(
    source: torch.Generator | None, *, num_tokens: int = 1, **options: object
) -> TokenReader:
    core = PreNormTransformer(8, num_layers=1, num_heads=2, generator=source)
    return TokenReader(core, FEATURES, OUTPUTS, num_tokens=num_tokens, generator=source, **options)


class Outputs(nn.Module):
    """A recurrent module without the state that it gives besides its outputs."""

    def __init__(self, recurrent: nn.Module) -> None:
        super().__init__()
        self.recurrent = recurrent

    def forward(self, z: Tensor) -> Tensor:
        return self.recurrent(z)[0]


def recurrent(
    cls: type[nn.Module], **options: object
) -> Callable[[torch.Generator | None], nn.Module]:
    return lambda source: Outputs(
        cls(FEATURES, 5, num_layers=2, batch_first=True, generator=source, **options)
    )


MACHINE = {"num_automata": 1, "num_states": 2, "num_counters": 1, "num_registers": 1}


def sequence_layer(cls: type[nn.Module], **options: object) -> Animal:
    return Animal(
        build=lambda source: Outputs(
            cls(FEATURES, 8, batch_first=True, generator=source, **options)
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 8),
    )


def mechanisms(**parts: object) -> Callable[[torch.Generator | None], nn.Module]:
    """Of three, two active, except where nothing makes them compete."""
    parts = {"communication": Communication(num_heads=2, key_size=3), **parts}
    active = 2 if parts.get("input_attention", True) else 3
    options = {"num_mechanisms": 3, "num_active": active, "wiring": Wiring(**parts)}
    return lambda source: Outputs(
        RIMs(FEATURES, 12, 2, batch_first=True, generator=source, **options)
    )


TWO_CODES = drawn(2, 4)


class InFunctions(nn.Module):
    """A layer by functions on elements that all of them have, the batch first."""

    def __init__(self, layer: nn.Module, *, shares: bool = False) -> None:
        super().__init__()
        self.layer, self.shares = layer, shares

    def forward(self, z: Tensor) -> Tensor:
        codes, streams = TWO_CODES.to(z.dtype), z.unsqueeze(0)
        shares = [torch.stack((z[..., 0].sigmoid(), z[..., 1].sigmoid()))] * self.shares
        return self.layer(streams, *shares, codes).transpose(0, 1)


class Positions(nn.Module):
    """Positions for the codes of every problem."""

    def __init__(self, position: RelativePosition) -> None:
        super().__init__()
        self.position = position

    def forward(self, z: Tensor) -> Tensor:
        return torch.stack([self.position(codes, TIME) for codes in z])


def syntax(functions: Functions | None = None, **options: object) -> Syntax:
    """Little is cut: a parameter away from its first value is nowhere without effect."""
    return Syntax(
        functions=functions or Functions(code_size=4),
        matching=TypeMatching(type_size=4, truncation=1.8),
        instructions=Instructions(num_heads=2, key_size=5),
        **options,
    )


class Inputs(nn.Module):
    """What a normalizer of sequences lets a predictor read."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, z: Tensor) -> Tensor:
        return self.norm(z).inputs


def settled(norm: TimeStepNorm) -> TimeStepNorm:
    """With the statistics that evaluation asks for."""
    norm.calibrate(drawn(3, TIME, FEATURES))
    return norm


def ends(source: torch.Generator | None) -> tuple[FrameEncoder, FrameDecoder]:
    encoder = FrameEncoder(
        (8, 8), out_features=FEATURES, channels=3, hidden_size=16, generator=source
    )
    return encoder, FrameDecoder((8, 8), FEATURES, channels=3, hidden_size=16, generator=source)


def autoencoder(source: torch.Generator | None) -> ObjectAutoencoder:
    return ObjectAutoencoder(*ends(source))


def predictor(source: torch.Generator | None) -> ObjectPredictor:
    encoder, decoder = ends(source)
    reader = NextEmbedding(FEATURES, hidden_size=5, generator=source)
    return ObjectPredictor(encoder, SequenceNorm(FEATURES), reader, decoder)


def sequence_model(source: torch.Generator | None) -> SequenceModel:
    encoder = LinearEncoder((8, 8), out_features=FEATURES, generator=source)
    core = NormalizedGRU(FEATURES, 5, batch_first=True, generator=source)
    return SequenceModel(
        encoder, core, num_outputs=OUTPUTS, answers_everywhere=True, generator=source
    )


class Acting(nn.Module):
    """Logits and values of an agent for sequences that begin episodes."""

    def __init__(self, source: torch.Generator | None) -> None:
        super().__init__()
        encoder = LinearEncoder((8, 8), out_features=FEATURES, generator=source)
        core = NormalizedGRU(FEATURES, 5, batch_first=True, generator=source)
        self.agent = ActorCritic(encoder, core, num_actions=OUTPUTS - 1, generator=source)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        first, begins = self.agent.first_state(len(index)), torch.ones(len(index)).bool()
        logits, values, _ = self.agent(items, index, first, begins)
        return torch.cat([logits, values.unsqueeze(-1)], dim=-1)


class Noisy(nn.Module):
    """A layer or an agent, with fractions and noise that are parts of its input."""

    def __init__(self, part: nn.Module, *sizes: int) -> None:
        super().__init__()
        self.part, self.sizes = part, (*sizes, part.noise_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.part(*x.split([x.shape[-1] - sum(self.sizes), *self.sizes], dim=-1))


def acting_on_quantiles(source: torch.Generator | None) -> Noisy:
    encoder = LinearEncoder((FEATURES,), out_features=4, generator=source)
    head = QuantileHead(4, 2, hidden_size=3, num_cosines=5, generator=source)
    return Noisy(QuantileAgent(encoder, head), 2)


def rolling_out(source: torch.Generator | None) -> RollOut:
    encoder = LinearEncoder((8, 8), out_features=FEATURES, generator=source)
    core = NormalizedGRU(FEATURES, 5, batch_first=True, generator=source)
    return RollOut(encoder, core, LinearDecoder((8, 8), 5, generator=source), given=2)


NOISY_WEIGHTS = (drawn(2, FEATURES), drawn(2))
IMAGES = torch.rand(BATCH, 8, 8, generator=generator(6))
FIGURES = torch.ones(BATCH, 32, 24)
"""White panels, each with two grey rectangles of its own."""
for _number in range(BATCH):
    FIGURES[_number, 5 + _number : 13, 5 : 10 + _number % 3] = 0.2 + 0.1 * _number
    FIGURES[_number, 18:26, 14 : 17 + _number] = 0.1 * _number
SEQUENCES = drawn(BATCH, TIME, FEATURES)


def drawing_from(
    cls: Callable[..., nn.Module],
    *given: object,
    inputs: tuple[Tensor, ...] = (SEQUENCES,),
    shape: tuple[int, ...] = (BATCH, OUTPUTS),
    without_gradient: frozenset[str] = frozenset(),
    drawing: bool = True,
    alone: bool = True,
    **options: object,
) -> Animal:
    """A module of these arguments, and of a generator."""
    return Animal(
        build=lambda source: cls(*given, **options, generator=source),
        inputs=inputs,
        shape=shape,
        without_gradient=without_gradient,
        drawing=drawing,
        alone=alone,
    )


class ReadsItself(nn.Module):
    """A layer over objects and symbols, whose symbols are the objects in another order."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x, x.flip(1))


MAPS = drawn(BATCH, 4, 5, 3)


def normalizer(
    build: Callable[[], nn.Module], inputs: Tensor = SEQUENCES, *, alone: bool = True
) -> Animal:
    """A module that keeps the shape and starts from ones and zeros."""
    return Animal(
        build=lambda _: build(), inputs=(inputs,), shape=inputs.shape, drawing=False, alone=alone
    )


def classifier(
    build: Callable[[torch.Generator | None], nn.Module], images: Tensor = IMAGES
) -> Animal:
    """A network of single images, whose running averages take the place of the batch."""
    return Animal(build=lambda source: build(source).eval(), inputs=(images,), shape=(BATCH, 3))


class Played(nn.Module):
    """Scores of the images that are made."""

    def __init__(self, gan: GAN) -> None:
        super().__init__()
        self.gan = gan

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        images = self.gan(items, index).unflatten(1, (8, 8))
        return self.gan.realness(self.gan.look(images)[1])


UNREAD = frozenset(
    f"body.nfm.layers.1.{name}"
    for name in ("query.weight", "gamma", "out.0.weight", "out.1.weight", "out.1.bias")
) | {"body.nfm.layers.1.out.3.weight"}
"""Of the last read of a first pass, which nothing reads again."""


def maker(nfm: NFMRules | None) -> Animal:
    """A generator of small images, whose running averages take the place of the batch."""
    return Animal(
        build=lambda source: ResNetGenerator(
            FEATURES, (8, 8), width=3, nfm=nfm, generator=source
        ).eval(),
        inputs=(drawn(BATCH, FEATURES),),
        shape=(BATCH, 8, 8),
        without_gradient=frozenset() if nfm is None else UNREAD,
    )


def anchored(source: torch.Generator | None) -> nn.Module:
    """A layer that draws images, then regressions around anchors that were not fitted to any."""
    regression = AnchoredRegression(scale=2, num_anchors=3, num_components=4)
    for part in regression.buffers():
        part.normal_(generator=source)
    images = LinearEncoder((2, 2, 2), out_features=11 * 12, generator=source)
    return nn.Sequential(images, nn.Unflatten(1, (11, 12)), regression)


def preprocessing(build: Callable[[], nn.Module]) -> Animal:
    """A module without parameters on small images, before a layer that has some."""

    def whole(source: torch.Generator | None) -> nn.Module:
        encoder = LinearEncoder((2, 2, 2), out_features=5, generator=source)
        return nn.Sequential(build(), encoder)

    images = torch.rand(BATCH, 2, 2, 2, generator=generator(6))
    return Animal(build=whole, inputs=(images,), shape=(BATCH, 5))


def unsettled(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in float64 with all parameters moved; the first biases, 0, silence much."""
    module, source = module.double(), generator(100 + seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=source))
    return module


@functools.cache
def first(animal: Animal, seed: int = 0) -> nn.Module:
    """The module as it is made, once for all tests, which leave it as it is."""
    return animal.build(generator(seed))


@functools.cache
def moved(animal: Animal, seed: int = 0) -> nn.Module:
    """The unsettled module, once for all tests, which leave it as it is."""
    return unsettled(animal.build(generator(seed)), seed)


class InLayers(nn.Module):
    """Three layers that read one another, the last at half the height."""

    def __init__(self, nfm: NFM) -> None:
        super().__init__()
        self.nfm = nfm

    def forward(self, z: Tensor) -> Tensor:
        written: tuple[WrittenState, ...] = ()
        for layer, x in enumerate((z, z.tanh(), z[:, :, ::2])):
            found, written = self.nfm(x, written, layer=layer)
        return found


def function_modules(rules: NFMRules) -> Animal:
    return Animal(
        build=lambda source: InLayers(
            NFM((4, 4, 4), first_reader=2, rules=rules, generator=source)
        ).eval(),
        inputs=(drawn(BATCH, 4, 6, 3),),
        shape=(BATCH, 4, 3, 3),
    )


def in_passes(*, shared: bool, without_gradient: frozenset[str] = frozenset()) -> Animal:
    def build(source: torch.Generator | None) -> nn.Module:
        encoder = ConvEncoder((8, 8), out_features=5, generator=source)
        sizes = {"rules": READING, "generator": source}
        return MultiPass(encoder, ("conv1", "conv2"), (32, 32), shared=shared, **sizes).eval()

    return Animal(
        build=build, inputs=(IMAGES,), shape=(BATCH, 5), without_gradient=without_gradient
    )


class Asked(nn.Module):
    """A reader of small maps, with maps and question in one vector."""

    def __init__(self, reader: nn.Module) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, z: Tensor) -> Tensor:
        return self.reader(z[:, 5:].unflatten(1, (3, 2, 2)), z[:, :5])


def reading(cls: Callable[..., nn.Module]) -> Animal:
    sizes = {"map_shape": (3, 2, 2), "num_outputs": 4, "question_size": 5, "hidden_size": 6}
    return Animal(
        build=lambda source: Asked(cls(**sizes, generator=source)).eval(),
        inputs=(drawn(BATCH, 17),),
        shape=(BATCH, 4),
    )


def map_model(source: torch.Generator | None) -> nn.Module:
    maps = ConvMaps((8, 8), width=2, scales=2, generator=source)
    reader = MLPReader((4, 2, 2), 3, question_size=5, hidden_size=6, generator=source)
    return MapModel(maps, reader, map_shape=(4, 2, 2), question_size=5).eval()


READING = NFMRules(num_heads=2, key_size=3, value_size=3)
SLSTM_WEIGHT, SCAN_RATE = drawn(2, 12, 3), drawn(FEATURES, 2)


def heads_of(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of two heads, the time first."""
    by_time = x.transpose(0, 1).unflatten(-1, (2, 3))
    return by_time, by_time.flip(-1), by_time.tanh()


SQUARE, ONE = drawn(FEATURES, FEATURES, 1, 1), torch.ones(FEATURES)


def reader(like: Tensor) -> tuple[NFMWeights, tuple[Tensor, Tensor], NFMRules]:
    square, one = SQUARE.to(like), ONE.to(like)
    weights = NFMWeights(square.flatten(1), None, square, None, one, one, -square, None, one[0])
    return weights, (0 * one, one), READING


BEHIND = frozenset(
    f"networks.0.{layer}.{kind}" for layer in ("conv3", "fc1", "fc2") for kind in ("weight", "bias")
)
"""Of a first pass, whose output counts for nothing."""


MODULES = {
    "ContextNorm": Animal(
        build=lambda _: ContextNorm(FEATURES),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
        drawing=False,
    ),
    "ContextNorm, segments": Animal(
        build=lambda _: ContextNorm(FEATURES, segments=((0, 2), (1,))),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
        drawing=False,
    ),
    "ContextNorm, learned": normalizer(lambda: ContextNorm(FEATURES, learned_sigma=True, eps=0.1)),
    "BatchContextNorm": normalizer(lambda: BatchContextNorm(FEATURES), alone=False),
    "BatchContextNorm, learned": normalizer(
        lambda: BatchContextNorm(FEATURES, learned_sigma=True, eps=0.1), alone=False
    ),
    "MisalignedContextNorm": normalizer(lambda: MisalignedContextNorm(FEATURES), alone=False),
    "PooledBatchNorm": normalizer(lambda: PooledBatchNorm(FEATURES), alone=False),
    "PooledBatchNorm, learned": normalizer(
        lambda: PooledBatchNorm(FEATURES, learned_sigma=True, eps=0.1), alone=False
    ),
    "SlidingContextNorm": normalizer(
        lambda: SlidingContextNorm(FEATURES, learned_sigma=True, eps=0.1), alone=False
    ),
    "SlotBatchNorm": normalizer(lambda: SlotBatchNorm(FEATURES), alone=False),
    "SlotBatchNorm, correction": normalizer(
        lambda: SlotBatchNorm(FEATURES, correction=1), alone=False
    ),
    "SubBatchNorm": normalizer(lambda: SubBatchNorm(FEATURES, group_size=3), alone=False),
    "DivisiveNorm1d": normalizer(lambda: DivisiveNorm1d(FEATURES, 3, affine=True)),
    "DivisiveNorm1d, learned": normalizer(lambda: DivisiveNorm1d(FEATURES, 3, learned_sigma=True)),
    "DivisiveNorm2d": normalizer(lambda: DivisiveNorm2d(4, 3, affine=True), MAPS),
    "DivisiveNorm2d, learned": normalizer(lambda: DivisiveNorm2d(4, 3, learned_sigma=True), MAPS),
    "GroupNorm": normalizer(lambda: GroupNorm(2, 4), MAPS),
    "GroupNorm, learned": normalizer(lambda: GroupNorm(2, 4, learned_sigma=True, sigma=0.5), MAPS),
    "StatisticsMatch": normalizer(
        lambda: nn.Sequential(StatisticsMatch.of(SEQUENCES, (-2,)), LayerNorm(FEATURES))
    ),
    "IdentityNorm": normalizer(lambda: nn.Sequential(IdentityNorm(FEATURES), LayerNorm(FEATURES))),
    "ImageBatchNorm": normalizer(lambda: ImageBatchNorm(4).eval(), MAPS),
    "ImageBatchNorm, learned": normalizer(
        lambda: ImageBatchNorm(4, learned_sigma=True, sigma=0.5).eval(), MAPS
    ),
    "InstanceNorm": normalizer(lambda: InstanceNorm(4), MAPS),
    "InstanceNorm, learned": normalizer(
        lambda: InstanceNorm(4, learned_sigma=True, sigma=0.5), MAPS
    ),
    "LayerNorm": normalizer(lambda: LayerNorm(FEATURES)),
    "LayerNorm, learned": normalizer(lambda: LayerNorm(FEATURES, learned_sigma=True, sigma=0.5)),
    "BottleneckMLP": classifier(
        lambda source: BottleneckMLP(
            (8, 8), 3, hidden_sizes=(7, 5), bottleneck=2, batch_norm=True, generator=source
        ),
    ),
    "CNN13": classifier(
        lambda source: CNN13((12, 12), 3, width=3, generator=source),
        torch.rand(BATCH, 12, 12, generator=generator(6)),
    ),
    "ResNetGenerator": maker(None),
    "ResNetGenerator, NFM": maker(NFMRules(num_heads=2, key_size=2, value_size=2)),
    "ResNetDiscriminator": Animal(
        build=lambda source: ResNetDiscriminator((8, 8), width=3, generator=source).eval(),
        inputs=(IMAGES,),
        shape=(BATCH,),
    ),
    "GAN": Animal(
        build=lambda source: Played(
            GAN(
                ResNetGenerator(FEATURES, (8, 8), width=3, generator=source),
                ResNetDiscriminator((8, 8), width=3, generator=source),
            )
        ).eval(),
        inputs=(drawn(BATCH, FEATURES), torch.tensor([[1], [0], [3], [1]])),
        shape=(BATCH,),
    ),
    "FeatureNetwork": Animal(
        build=lambda source: Outputs(
            FeatureNetwork(
                ItemModel(BottleneckMLP((8, 8), 3, generator=source)),
                layer="core.output",
                label="mlp",
            )
        ),
        inputs=(IMAGES,),
        shape=(BATCH, 3),
    ),
    "ItemModel": Animal(
        build=lambda source: ItemModel(BottleneckMLP((8, 8), 3, generator=source)),
        inputs=(IMAGES, torch.tensor([[1], [0], [3], [1]])),
        shape=(BATCH, 3),
    ),
    "ConvMaps": Animal(
        build=lambda source: ConvMaps((8, 8), width=2, scales=2, generator=source).eval(),
        inputs=(IMAGES,),
        shape=(BATCH, 4, 2, 2),
    ),
    "DenseMaps": Animal(
        build=lambda source: DenseMaps((8, 8), growth_rate=2, generator=source).eval(),
        inputs=(IMAGES,),
        shape=(BATCH, 8, 2, 2),
    ),
    "MLPReader": reading(MLPReader),
    "ObjectReader": reading(partial(ObjectReader, name_size=2, color_size=1)),
    "ObjectReader, controls": reading(
        partial(ObjectReader, name_size=2, color_size=1, whole_question=True, relations=False)
    ),
    "ObjectReader, whole objects": reading(
        partial(ObjectReader, name_size=2, color_size=1, whole_objects=True)
    ),
    "OutlineMaps": Animal(
        build=lambda source: OutlineMaps((8, 8), width=2, generator=source).eval(),
        inputs=(IMAGES,),
        shape=(BATCH, 6, 2, 2),
    ),
    "OutlineMaps, colors": Animal(
        build=lambda source: OutlineMaps((8, 8), width=2, colors=True, generator=source).eval(),
        inputs=(IMAGES,),
        shape=(BATCH, 6, 2, 2),
    ),
    "PresenceReader": reading(PresenceReader),
    "RNReader": reading(RNReader),
    "MapModel": Animal(
        build=map_model,
        inputs=(IMAGES, torch.tensor([[1, 0], [0, 3], [3, 2], [1, 1]])),
        shape=(BATCH, 3),
    ),
    "PreActResNet": classifier(lambda source: PreActResNet((8, 8), 3, width=3, generator=source)),
    "PreActResNetNFM": classifier(
        lambda source: PreActResNetNFM(
            (8, 8), 3, rules=READING, passes=1, width=2, generator=source
        )
    ),
    "PreActResNet, depth": classifier(
        lambda source: PreActResNet((8, 8), 3, depth=50, width=3, generator=source)
    ),
    "DigitCNN": classifier(lambda source: DigitCNN((8, 8), 3, width=8, generator=source)),
    "QuickCNN": classifier(
        lambda source: QuickCNN(
            (8, 8), 3, width=3, normalizer=MapNormalizer(field="window"), generator=source
        )
    ),
    "AnchoredRegression": Animal(
        build=anchored, inputs=(drawn(BATCH, 2, 2, 2),), shape=(BATCH, 11, 12)
    ),
    "SRCNN": drawing_from(
        SRCNN,
        channels=(3, 2),
        normalizer=MapNormalizer(field="window"),
        inputs=(drawn(BATCH, 18, 19),),
        shape=(BATCH, 2, 3),
    ),
    "SRCNN, padded": drawing_from(
        SRCNN, channels=(3, 2), padded=True, inputs=(drawn(BATCH, 6, 7),), shape=(BATCH, 6, 7)
    ),
    "ResNet": classifier(
        lambda source: ResNet(
            (8, 8),
            3,
            depth=8,
            width=3,
            normalizer=MapNormalizer(learned_sigma=True),
            generator=source,
        )
    ),
    "WideResNet": classifier(
        lambda source: WideResNet((8, 8), 3, depth=10, widen_factor=1, generator=source)
    ),
    "ContextWhitening": Animal(
        build=lambda _: nn.Sequential(ContextNorm(FEATURES), ContextWhitening(FEATURES)),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
        drawing=False,
    ),
    "CenterImages": preprocessing(
        lambda: CenterImages(MeanImages(torch.full((2, 2, 2), 0.4), torch.full((2, 2, 2), 0.5)))
    ),
    "Standardize": preprocessing(lambda: Standardize((0.4, 0.5), (0.2, 0.3))),
    "ZCA": preprocessing(
        lambda: ZCA(
            (0.4, 0.5),
            (0.2, 0.3),
            PixelSpectrum(torch.zeros(8), torch.arange(1.0, 9.0), torch.eye(8)),
        )
    ),
    "NFM": function_modules(READING),
    "NFM, released": function_modules(NFMRules.released()),
    "MultiPass": in_passes(shared=False, without_gradient=BEHIND),
    "MultiPass, shared": in_passes(shared=True),
    "ConvEncoder": drawing_from(
        ConvEncoder, (8, 8), out_features=5, inputs=(IMAGES,), shape=(BATCH, 5)
    ),
    "LinearDecoder": drawing_from(LinearDecoder, (8, 8), FEATURES, shape=(BATCH, TIME, 8, 8)),
    "WordEncoder": drawing_from(
        WordEncoder,
        7,
        out_features=5,
        inputs=(torch.tensor([[0], [6], [3], [3], [1], [2]])[:BATCH],),
        shape=(BATCH, 5),
    ),
    "LinearEncoder": drawing_from(
        LinearEncoder, (8, 8), out_features=5, inputs=(IMAGES,), shape=(BATCH, 5)
    ),
    "MLPEncoder": drawing_from(
        MLPEncoder, (8, 8), out_features=5, inputs=(IMAGES,), shape=(BATCH, 5)
    ),
    "RandomEncoder": drawing_from(
        RandomEncoder, (8, 8), out_features=5, inputs=(IMAGES,), shape=(BATCH, 5)
    ),
    "NormalizedGRU": Animal(
        build=recurrent(NormalizedGRU),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedGRU, layer norm": Animal(
        build=recurrent(NormalizedGRU, normalizer=nn.LayerNorm),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedGRU, layer norm on projections": Animal(
        build=recurrent(NormalizedGRU, normalizer=nn.LayerNorm, placement=PerProjection()),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedLSTM": Animal(
        build=recurrent(NormalizedLSTM),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedLSTM, layer norm": Animal(
        build=recurrent(NormalizedLSTM, normalizer=nn.LayerNorm),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedLSTM, layer norm on projections": Animal(
        build=recurrent(NormalizedLSTM, normalizer=nn.LayerNorm, placement=PerProjection()),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedLSTM, layer norm as in TensorFlow": Animal(
        build=recurrent(
            NormalizedLSTM,
            bias=False,
            normalizer=nn.LayerNorm,
            forget_bias=1.0,
            carry_normalized=True,
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedRNN": Animal(
        build=recurrent(NormalizedRNN),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedRNN, layer norm": Animal(
        build=recurrent(NormalizedRNN, normalizer=nn.LayerNorm),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "NormalizedRNN, layer norm on projections": Animal(
        build=recurrent(NormalizedRNN, normalizer=nn.LayerNorm, placement=PerProjection()),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 5),
    ),
    "LSTMLayer": sequence_layer(LSTMLayer, num_layers=2),
    "GRULayer": sequence_layer(GRULayer, num_layers=2),
    "NTMLayer": sequence_layer(NTMLayer, num_slots=4, slot_size=3),
    "DNC": sequence_layer(DNC, num_slots=4, slot_size=3),
    "DNC, two heads": sequence_layer(DNC, num_slots=4, slot_size=2, num_heads=2),
    "RelationalMemoryCore": sequence_layer(RelationalMemoryCore, num_slots=2),
    "RelationalMemoryCore, gates of slots": sequence_layer(
        RelationalMemoryCore, num_slots=2, num_heads=2, unit_gates=False
    ),
    "EntNet": sequence_layer(EntNet, num_slots=2),
    "CausalTransformer": sequence_layer(CausalTransformer, feedforward_size=5),
    "CausalTransformer, window": sequence_layer(CausalTransformer, window=2),
    "CausalTransformer, layers": sequence_layer(CausalTransformer, layer_heads=2),
    "HoldingRNN": sequence_layer(HoldingRNN, num_groups=4),
    "HoldingRNN, least move": sequence_layer(HoldingRNN, num_groups=4, min_update=0.2),
    "RegisterMachine": sequence_layer(RegisterMachine, **MACHINE),
    "HoldingRNN, sums": sequence_layer(HoldingRNN, num_groups=2, num_sums=2, min_update=0.1),
    "LinearRecurrentUnit": sequence_layer(LinearRecurrentUnit, state_size=5),
    "GatedLinearAttention": sequence_layer(
        GatedLinearAttention, num_heads=2, gate_rank=2, feedforward_size=5
    ),
    "GatedDeltaNet": sequence_layer(GatedDeltaNet, num_heads=2, key_size=2, feedforward_size=5),
    "GatedDeltaNet, ungated": sequence_layer(
        GatedDeltaNet, num_heads=2, gated=False, negative_eigenvalues=False, feedforward_size=0
    ),
    "MLSTM": sequence_layer(MLSTM, num_heads=2),
    "SLSTM": sequence_layer(SLSTM, num_heads=2, feedforward_size=5),
    "Mamba": sequence_layer(Mamba, state_size=3),
    "Mamba, negative eigenvalues": sequence_layer(
        Mamba, state_size=3, negative_eigenvalues=True, euler=True
    ),
    "RIMs": Animal(
        build=mechanisms(input_attention=InputAttention(num_heads=2, key_size=3)),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 12),
    ),
    "RIMs, gated recurrent units, one head": Animal(
        build=mechanisms(dynamics=GRUDynamics()), inputs=(SEQUENCES,), shape=(BATCH, TIME, 12)
    ),
    "RIMs, no input attention": Animal(
        build=mechanisms(input_attention=None), inputs=(SEQUENCES,), shape=(BATCH, TIME, 12)
    ),
    "RIMs, no communication": Animal(
        build=mechanisms(communication=None), inputs=(SEQUENCES,), shape=(BATCH, TIME, 12)
    ),
    "RIMs, positions": Animal(
        build=mechanisms(input_attention=InputAttention(key_size=3, per_position=True)),
        inputs=(drawn(BATCH, TIME, 5, FEATURES),),
        shape=(BATCH, TIME, 12),
    ),
    "RIMs, sparse communication through a gate": Animal(
        build=mechanisms(
            communication=Communication(
                num_heads=2, key_size=3, value_size=4, top_k=2, hypothetical=True, gated=True
            )
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 12),
    ),
    "ModLin": Animal(
        build=lambda source: InFunctions(ModLin(FEATURES, 5, 4, generator=source)),
        inputs=(SEQUENCES,),
        shape=(BATCH, 2, TIME, 5),
    ),
    "ModMLP": Animal(
        build=lambda source: InFunctions(ModMLP((FEATURES, 7, 5), 4, generator=source)),
        inputs=(SEQUENCES,),
        shape=(BATCH, 2, TIME, 5),
    ),
    "ModAttn": Animal(
        build=lambda source: InFunctions(
            ModAttn(FEATURES, 4, num_heads=2, key_size=5, generator=source), shares=True
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, 2, TIME, FEATURES),
    ),
    "LineOfCode": Animal(
        build=lambda source: InFunctions(
            LineOfCode(
                FEATURES, 4, instructions=Instructions(num_heads=2), grid=(1, 2), generator=source
            ),
            shares=True,
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, 2, TIME, FEATURES),
    ),
    "RelativePosition": Animal(
        build=lambda source: Positions(RelativePosition((1, 2), 2, 5, FEATURES, generator=source)),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME, 2, TIME, TIME),
    ),
    "TypeInference": drawing_from(TypeInference, FEATURES, 4, shape=(BATCH, TIME, 4)),
    "Script": drawing_from(Script, FEATURES, 3, 2, syntax=syntax(), shape=SEQUENCES.shape),
    "NeuralInterpreter": drawing_from(
        NeuralInterpreter,
        FEATURES,
        3,
        2,
        num_lines=2,
        num_scripts=2,
        syntax=syntax(),
        shape=SEQUENCES.shape,
    ),
    "NeuralInterpreter, learned signatures, positions": drawing_from(
        NeuralInterpreter,
        FEATURES,
        3,
        2,
        syntax=syntax(Functions(learned_signatures=True), outer_residual=False),
        grid=(2, 1),
        shape=SEQUENCES.shape,
    ),
    "ESBN": drawing_from(ESBN, FEATURES, OUTPUTS, hidden_size=5, key_size=8),
    "ESBN, default memory": drawing_from(
        ESBN, FEATURES, OUTPUTS, hidden_size=5, key_size=8, default_memory=True
    ),
    "LSTM": drawing_from(LSTM, FEATURES, OUTPUTS, hidden_size=5),
    "LastState": Animal(
        build=lambda source: LastState(
            FEATURES,
            OUTPUTS,
            core=lambda size: GRULayer(size, 5, batch_first=True, generator=source),
            generator=source,
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, OUTPUTS),
    ),
    "CoRelNet": drawing_from(CoRelNet, FEATURES, OUTPUTS, TIME, hidden_size=8),
    "OCRA": drawing_from(
        OCRA, FEATURES, OUTPUTS, num_layers=1, num_heads=2, head_size=3, feedforward_size=5
    ),
    "SlotAbstractor": drawing_from(
        SlotAbstractor,
        FEATURES,
        OUTPUTS,
        num_layers=2,
        num_heads=2,
        head_size=3,
        feedforward_size=5,
    ),
    "AbstractorNet": drawing_from(AbstractorNet, FEATURES, OUTPUTS, num_symbols=3, hidden_size=5),
    "RelConvNet": drawing_from(
        RelConvNet, FEATURES, OUTPUTS, num_groups=2, group_size=2, num_filters=3, hidden_size=5
    ),
    "LikenessNet": drawing_from(
        LikenessNet,
        16,
        OUTPUTS,
        TIME,
        hidden_size=8,
        width=0.2,
        inputs=(torch.rand(BATCH, TIME, 16, generator=generator(7)),),
    ),
    "DeepSets": drawing_from(DeepSets, FEATURES, OUTPUTS, hidden_size=8),
    "DeepSets, maximum": drawing_from(DeepSets, FEATURES, OUTPUTS, hidden_size=8, maximum=True),
    "CoRelNet, causal": drawing_from(CoRelNet, FEATURES, OUTPUTS, TIME, hidden_size=8, causal=True),
    "MNM": drawing_from(MNM, FEATURES, OUTPUTS, hidden_size=5, memory_size=4),
    "MNM, two heads, memory not trained": drawing_from(
        MNM, FEATURES, OUTPUTS, hidden_size=5, memory_size=4, num_heads=2, memory_trained=False
    ),
    "NTM": drawing_from(NTM, FEATURES, OUTPUTS, hidden_size=5, num_slots=4, slot_size=3),
    "NTM, no first read": drawing_from(
        NTM, FEATURES, OUTPUTS, hidden_size=5, num_slots=4, slot_size=3, first_read=False
    ),
    "PrediNet": drawing_from(
        PrediNet, FEATURES, OUTPUTS, TIME, num_heads=2, key_size=3, num_relations=4, hidden_size=6
    ),
    "RN": drawing_from(RN, FEATURES, OUTPUTS, hidden_size=8, relation_size=5),
    "TRN": drawing_from(TRN, FEATURES, OUTPUTS, hidden_size=8, relation_size=8),
    "TRN, bare sums": drawing_from(
        TRN, FEATURES, OUTPUTS, hidden_size=8, relation_size=8, order_layers=False
    ),
    "Transformer": drawing_from(Transformer, FEATURES, OUTPUTS, num_heads=2, feedforward_size=8),
    "AnalogyEncoder": drawing_from(
        AnalogyEncoder,
        (16, 16, 3),
        out_features=5,
        hidden_size=6,
        inputs=(torch.rand(BATCH, 16, 16, 3, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "AnalogyEncoder, coordinates": drawing_from(
        AnalogyEncoder,
        (16, 16, 3),
        out_features=5,
        hidden_size=6,
        coordinates=True,
        inputs=(torch.rand(BATCH, 16, 16, 3, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "MomentEncoder": drawing_from(
        MomentEncoder,
        (8, 6, 3),
        out_features=5,
        num_maps=4,
        inputs=(torch.rand(BATCH, 8, 6, 3, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "MomentEncoder, convolutions": drawing_from(
        MomentEncoder,
        (8, 6, 3),
        out_features=5,
        num_maps=4,
        num_layers=2,
        kernel_size=3,
        inputs=(torch.rand(BATCH, 8, 6, 3, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "PoseEncoder": Animal(
        build=lambda source: nn.Sequential(
            PoseEncoder((8, 6), side=3), LinearEncoder((9,), out_features=5, generator=source)
        ),
        inputs=(torch.rand(BATCH, 8, 6, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "DirectionEncoder": Animal(
        build=lambda source: nn.Sequential(
            DirectionEncoder((16, 14), num_objects=2, narrowest=5.0, widest=8.0),
            LinearEncoder((104,), out_features=5, generator=source),
        ),
        inputs=(torch.rand(BATCH, 16, 14, generator=generator(7)),),
        shape=(BATCH, 5),
    ),
    "SilhouetteEncoder": drawing_from(
        SilhouetteEncoder,
        (8, 6, 3),
        num_maps=2,
        map_features=3,
        inputs=(torch.rand(BATCH, 8, 6, 3, generator=generator(7)),),
        shape=(BATCH, 6),
    ),
    "SetScorer": drawing_from(
        SetScorer,
        FEATURES,
        set_sizes=(2, FEATURES - 2),
        hidden_size=8,
        line_size=3,
        inputs=(torch.rand(BATCH, 9, FEATURES, generator=generator(7)),),
        shape=(BATCH, 1),
    ),
    "SelectiveScorer": drawing_from(
        SelectiveScorer,
        10,
        4,
        num_slots=2,
        hidden_size=5,
        inputs=(torch.randn(BATCH, 4, 10, generator=generator(7)),),
        shape=(BATCH, 1),
    ),
    "SlotwiseScorer": drawing_from(
        SlotwiseScorer, FEATURES, TIME, num_slots=2, hidden_size=5, shape=(BATCH, 1)
    ),
    "LSTMScorer": drawing_from(LSTMScorer, FEATURES, TIME, hidden_size=5, shape=(BATCH, 1)),
    "LSTMScorer, released": drawing_from(
        LSTMScorer,
        FEATURES,
        TIME,
        hidden_size=5,
        position_tags=True,
        forget_bias=1.0,
        shape=(BATCH, 1),
    ),
    "WReN": drawing_from(
        WReN, FEATURES, TIME, panel_size=5, hidden_size=8, relation_size=7, shape=(BATCH, 1)
    ),
    "SRAN": drawing_from(
        SRAN,
        FEATURES,
        hidden_size=8,
        rule_size=5,
        inputs=(drawn(BATCH, 9, FEATURES),),
        shape=(BATCH, 1),
    ),
    "PatchEncoder": drawing_from(
        PatchEncoder,
        (2, 4, 6),
        patch_size=2,
        out_features=5,
        positions=True,
        inputs=(torch.rand(BATCH, 2, 4, 6, generator=generator(7)),),
        shape=(BATCH, 6, 5),
    ),
    "SlotEncoder": drawing_from(
        SlotEncoder,
        (2, 4, 6),
        num_slots=2,
        num_features=4,
        num_halvings=1,
        split=True,
        inputs=(torch.rand(BATCH, 2, 4, 6, generator=generator(7)),),
        shape=(BATCH, 2, 8),
    ),
    "SlotEncoder, white ground": drawing_from(
        SlotEncoder,
        (2, 4, 6),
        num_slots=2,
        num_features=4,
        num_halvings=1,
        white_ground=True,
        inputs=(torch.rand(BATCH, 2, 4, 6, generator=generator(7)),),
        shape=(BATCH, 2, 4),
    ),
    "SlotDecoder": drawing_from(
        SlotDecoder, (8, 8), FEATURES, channels=3, num_doublings=1, shape=(BATCH, 8, 8)
    ),
    "ComponentEncoder": drawing_from(
        ComponentEncoder,
        (TIME,),
        out_features=5,
        inputs=(drawn(BATCH, TIME),),
        shape=(BATCH, TIME, 5),
    ),
    "PositionalSymbols": drawing_from(
        PositionalSymbols, FEATURES, num_symbols=TIME, shape=SEQUENCES.shape
    ),
    "RelativeSymbols": drawing_from(
        RelativeSymbols, FEATURES, reach=1, shape=(BATCH, TIME, TIME, FEATURES)
    ),
    "SymbolLibrary": drawing_from(
        SymbolLibrary, FEATURES, num_symbols=5, num_heads=2, shape=SEQUENCES.shape
    ),
    "RelationalCrossAttention": Animal(
        build=lambda source: ReadsItself(
            RelationalCrossAttention(FEATURES, num_heads=2, generator=source)
        ),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
    ),
    "Abstractor": Animal(
        build=lambda source: Abstractor(
            FEATURES, symbols=partial(SymbolLibrary, generator=source), generator=source
        ),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
    ),
    "DualAttention": Animal(
        build=lambda source: ReadsItself(
            DualAttention(FEATURES, num_heads=1, num_relational_heads=2, generator=source)
        ),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
    ),
    "DualAttentionTransformer": Animal(
        build=lambda source: DualAttentionTransformer(
            FEATURES,
            symbols=partial(SymbolLibrary, generator=source),
            num_heads=1,
            num_relational_heads=1,
            generator=source,
        ),
        inputs=(SEQUENCES,),
        shape=SEQUENCES.shape,
    ),
    "RelationalConvolution": drawing_from(
        RelationalConvolution,
        FEATURES,
        num_relations=2,
        num_filters=4,
        group_size=2,
        shape=(BATCH, 3, 4),
    ),
    "RelationalConvolution, soft groups": drawing_from(
        RelationalConvolution,
        FEATURES,
        num_filters=4,
        group_size=2,
        num_groups=2,
        num_items=TIME,
        shape=(BATCH, 2, 4),
    ),
    "GroupAttentionConvolution": drawing_from(
        GroupAttentionConvolution,
        FEATURES,
        num_groups=2,
        num_filters=4,
        group_size=2,
        shape=(BATCH, 2, 4),
    ),
    "SlotAttention": drawing_from(
        SlotAttention, FEATURES, num_slots=2, feedforward_size=5, shape=(BATCH, 2, FEATURES)
    ),
    "PreNormTransformer": drawing_from(
        PreNormTransformer,
        FEATURES,
        num_layers=2,
        num_heads=2,
        feedforward_size=5,
        shape=SEQUENCES.shape,
    ),
    "TokenReader": Animal(
        build=lambda source: token_reader(source, num_tokens=OUTPUTS),
        inputs=(SEQUENCES,),
        shape=(BATCH, OUTPUTS),
    ),
    "TokenReader, places and one head": Animal(
        build=lambda source: token_reader(
            source, num_tokens=OUTPUTS, length=TIME, shared_head=True
        ),
        inputs=(SEQUENCES,),
        shape=(BATCH, OUTPUTS),
    ),
    "SetModel": Animal(
        build=lambda source: SetModel(
            ComponentEncoder((TIME,), out_features=FEATURES, generator=source),
            token_reader(source),
        ),
        inputs=(drawn(BATCH, TIME), torch.tensor([[0], [3], [1], [0]])),
        shape=(BATCH, OUTPUTS),
    ),
    "NoisyLinear": Animal(
        build=lambda source: Noisy(NoisyLinear(FEATURES, 3, generator=source)),
        inputs=(drawn(BATCH, 2 * FEATURES + 3),),
        shape=(BATCH, 3),
    ),
    "QuantileHead": Animal(
        build=lambda source: Noisy(QuantileHead(FEATURES, 2, hidden_size=3, generator=source), 2),
        inputs=(drawn(BATCH, FEATURES + 29),),
        shape=(BATCH, 2, 2),
    ),
    "QuantileAgent": Animal(
        build=acting_on_quantiles,
        inputs=(drawn(BATCH, FEATURES + 25),),
        shape=(BATCH, 2, 2),
    ),
    "PlanesEncoder": drawing_from(
        PlanesEncoder,
        (3, 5, 6),
        convolutions=((4, 2, 1), (3, 3, 2)),
        out_features=5,
        inputs=(drawn(BATCH, 3, 5, 6).abs(),),
        shape=(BATCH, 5),
    ),
    "PlanesNFMEncoder": Animal(
        build=lambda source: PlanesNFMEncoder(
            (3, 5, 6),
            convolutions=((4, 2, 1), (3, 3, 2)),
            out_features=5,
            rules=NFMRules(num_heads=2, key_size=2, value_size=2, space_to_depth=False),
            generator=source,
        ).eval(),
        inputs=(drawn(BATCH, 3, 5, 6).abs(),),
        shape=(BATCH, 5),
        without_gradient=frozenset(
            {"core.networks.0.output.weight", "core.networks.0.output.bias"}
        ),
    ),
    "FigureEncoder": drawing_from(
        FigureEncoder, (32, 24), cells=2, num_kinds=5, inputs=(FIGURES,), shape=(BATCH, 112)
    ),
    "PanelEncoder": drawing_from(PanelEncoder, (8, 8), inputs=(IMAGES,), shape=(BATCH, 32)),
    "RNNScorer": drawing_from(RNNScorer, FEATURES, hidden_size=5, shape=(BATCH, 1)),
    "LayerNormLSTMScorer": drawing_from(
        LayerNormLSTMScorer, FEATURES, TIME, hidden_size=5, shape=(BATCH, 1)
    ),
    "AnalogyScoring": Animal(
        build=lambda source: AnalogyScoring(
            LinearEncoder((8, 8), out_features=FEATURES, generator=source),
            ContextNorm(FEATURES),
            LSTMScorer(FEATURES, TIME, hidden_size=5, generator=source),
            num_candidates=OUTPUTS,
        ),
        inputs=(IMAGES, torch.tensor([[0, 1, 0, 3], [3, 2, 1, 0], [1, 1, 2, 2], [0, 3, 3, 1]])),
        shape=(BATCH, OUTPUTS),
    ),
    "FrameEncoder": drawing_from(
        FrameEncoder,
        (8, 8),
        out_features=5,
        channels=3,
        hidden_size=16,
        inputs=(IMAGES,),
        shape=(BATCH, 5),
    ),
    "FrameDecoder": drawing_from(
        FrameDecoder, (8, 8), FEATURES, channels=3, hidden_size=16, shape=(BATCH, TIME, 8, 8)
    ),
    "NextEmbedding": drawing_from(NextEmbedding, FEATURES, hidden_size=5, shape=SEQUENCES.shape),
    "PastNorm": Animal(
        build=lambda _: Inputs(PastNorm(FEATURES)),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME - 1, FEATURES),
        drawing=False,
    ),
    "SequenceNorm": Animal(
        build=lambda _: Inputs(SequenceNorm(FEATURES, include_last=True, correction=1)),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME - 1, FEATURES),
        drawing=False,
    ),
    "TimeStepNorm": Animal(
        build=lambda _: Inputs(settled(TimeStepNorm(FEATURES, TIME, sample=3)).eval()),
        inputs=(SEQUENCES,),
        shape=(BATCH, TIME - 1, FEATURES),
        drawing=False,
    ),
    "ObjectAutoencoder": Animal(
        build=autoencoder,
        inputs=(IMAGES, torch.tensor([[0], [3], [1], [0]])),
        shape=(BATCH, 8, 8),
    ),
    "ObjectPredictor": Animal(
        build=predictor,
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, TIME - 1, 8, 8),
    ),
    "PacedSequence": Animal(
        build=lambda source: PacedSequence(sequence_model(source), pace=2),
        inputs=(IMAGES, torch.tensor([[0, 1, 2, 3], [1, 0, 0, 0], [3, 2, 0, 1], [0] * 4]).tile(4)),
        shape=(BATCH, 16, OUTPUTS),
    ),
    "PacedSequence, as an image": Animal(
        build=lambda source: PacedSequence(
            ItemModel(BottleneckMLP((64, 3, 3), 3, generator=source)), pace=3
        ),
        inputs=(IMAGES, torch.tensor([[0, 1, 2, 3], [1, 0, 0, 0], [3, 2, 0, 1], [0] * 4]).tile(4)),
        shape=(BATCH, 3),
    ),
    "ResizedSequence": Animal(
        build=lambda source: ResizedSequence(sequence_model(source), side=3),
        inputs=(IMAGES, torch.tensor([[0, 1, 0, 0], [3, 2, 1, 0], [1, 1, 2, 3], [0, 3, 3, 2]])),
        shape=(BATCH, 4, OUTPUTS),
    ),
    "SequenceModel": Animal(
        build=sequence_model,
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, TIME, OUTPUTS),
    ),
    "ActorCritic": Animal(
        build=Acting,
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, TIME, OUTPUTS),
    ),
    "RollOut": Animal(
        build=rolling_out,
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, TIME, 64),
    ),
    "RollOut, going on from its own": Animal(
        build=lambda source: rolling_out(source).eval(),
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, TIME, 64),
    ),
    "Relational": Animal(
        build=relational,
        inputs=(IMAGES, torch.tensor([[0, 1, 0], [3, 2, 1], [1, 1, 2], [0, 3, 3]])),
        shape=(BATCH, OUTPUTS),
    ),
}
WEIGHTS = drawn(BATCH, TIME - 1, TIME - 1).softmax(-1).tril()
LSTM_PARAMETERS = [drawn(*shape) for shape in ((20, FEATURES), (20, 5), (20,), (20,))]
ESBN_PARAMETERS = [
    drawn(*shape) for shape in ((20, 4), (20, 5), (20,), (20,), (4, 5), (4,), (1, 5), (1,))
]
RELATION_PARAMETERS = [drawn(*shape) for shape in ((7, 2 * FEATURES), (7,), (5, 7), (5,))]
NTM_PARAMETERS = [
    drawn(*shape)
    for shape in (
        (20, FEATURES + 3),
        (20, 5),
        (20,),
        (20,),
        (sum(ntm_head_sizes(3)), 5),
        (sum(ntm_head_sizes(3)),),
        (4, 3),
    )
]
MNM_PARAMETERS = [
    drawn(*shape)
    for shape in (
        (20, FEATURES + 4),
        (20, 5),
        (20,),
        (20,),
        (28, 5),
        (28,),
        (1, 4),
        (1,),
        (12, 4),
        (12,),
        (3, 4, 4),
    )
]
RELATIONAL_MEMORY_PARAMETERS = [
    drawn(*shape)
    for shape in (
        (4, FEATURES),
        (4,),
        (12, 4),
        (4,),
        (4,),
        (4, 4),
        (4,),
        (4, 4),
        (4,),
        (4,),
        (4,),
        (12, FEATURES),
        (12, 4),
        (12,),
    )
]
DNC_PARAMETERS = [
    drawn(*shape)
    for shape in (
        (20, FEATURES + 6),
        (20, 5),
        (20,),
        (20,),
        (sum(dnc_interface_sizes(2, 3)), 5),
        (sum(dnc_interface_sizes(2, 3)),),
    )
]
ENTITY_NETWORK_PARAMETERS = [
    drawn(*shape) for shape in ((4, FEATURES), (4,), (2, 4), (4, 4), (4, 4), (4, 4), (4,))
]
QUERIES = [drawn(4, TIME * FEATURES), drawn(4, TIME * FEATURES), drawn(2, FEATURES)]
ATTENTION_PARAMETERS = [drawn(3 * FEATURES, FEATURES), drawn(3 * FEATURES)]


RIMS_PARAMETERS = [drawn(*shape) for shape in ((3, 16, 5), (3, 16, 4), (3, 16), (3, 16))]
RIMS_ATTENTION = [drawn(*shape) for shape in ((3, 1, 2, 4), (1, 2, FEATURES), (1, 5, FEATURES))]
RIMS_COMMUNICATION = [drawn(3, 2, 2, 4) for _ in range(3)]


def like(z: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    return [parameter.to(z.dtype) for parameter in parameters]


def rims_of(z: Tensor) -> tuple[RIMsParameters, RIMsRules]:
    parameters = RIMsParameters(
        *like(z, RIMS_PARAMETERS),
        InputAttentionParameters(*like(z, RIMS_ATTENTION)),
        CommunicationParameters(*like(z, RIMS_COMMUNICATION)),
    )
    return parameters, RIMsRules(num_active=2)


TYPING_PARAMETERS = [
    drawn(*shape) for shape in ((FEATURES,), (FEATURES,), (7, FEATURES), (7,), (4, 7), (4,))
]
SIGNATURES, CODES = drawn(3, 4), drawn(3, 2)
POSITION_PARAMETERS = [
    drawn(*shape) for shape in ((1, 5), (3, 5), (2, 5), (2, 5), (2, FEATURES), (2, FEATURES))
]
MODULATED_WEIGHTS = {
    outputs: [drawn(outputs, FEATURES), drawn(FEATURES, 2)] for outputs in (5, FEATURES, 8)
}


def modulated(z: Tensor, outputs: int, *, bias: bool = True) -> ModulatedLayer:
    """For three functions."""
    layer = ModulatedLayer(modulated_weight(*like(z, [*MODULATED_WEIGHTS[outputs], CODES])))
    return layer._replace(bias=z.new_ones(outputs)) if bias else layer


def line_of(z: Tensor) -> LineParameters:
    norm = like(z, TYPING_PARAMETERS[:2])
    wide, same = modulated(z, 8, bias=False), modulated(z, FEATURES)
    return LineParameters(*norm, wide, wide, same, same, *norm, (same, same))


RULES = ScriptRules(line=LineRules(num_heads=2), truncation=1.6)


def script_of(z: Tensor) -> ScriptParameters:
    typing = TypingParameters(*like(z, TYPING_PARAMETERS))
    return ScriptParameters(typing, SIGNATURES.to(z.dtype), z.new_ones(()), (line_of(z),) * 2)


def streams(z: Tensor) -> Tensor:
    """Three, of which each has other elements."""
    return torch.stack((z, 2 * z, -z))


def shares(z: Tensor) -> Tensor:
    return streams(z)[..., 0].sigmoid()


OVERLAID = drawn(1, 2, 8, 6), drawn(3, 2, 4, 4)
GATED_WEIGHTS = [drawn(6, FEATURES), drawn(6, 2), drawn(6, seed=7), drawn(6, seed=8)]
HOLDING_WEIGHT = drawn(FEATURES + 2, FEATURES)
MEMORY_WEIGHTS = [drawn(5, FEATURES), drawn(4, 5)]


def layers_of(z: Tensor) -> tuple[MemoryLayer, ...]:
    return tuple(MemoryLayer(weight) for weight in like(z, MEMORY_WEIGHTS))


FUNCTIONS = {
    "context_norm": (context_norm, (SEQUENCES,), SEQUENCES.shape),
    "context_statistics": (
        lambda z: torch.cat(context_statistics(z), dim=-2).to(z.dtype),
        (SEQUENCES,),
        (BATCH, 2, FEATURES),
    ),
    "running_context_statistics": (
        lambda z: torch.cat(running_context_statistics(z), dim=-1).to(z.dtype),
        (SEQUENCES,),
        (BATCH, TIME, 2 * FEATURES),
    ),
    "denormalize": (
        lambda z: denormalize(z, *(each.to(z.dtype) for each in context_statistics(z))),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "field_norm": (
        lambda z: field_norm(z, over_sub_batches(2 * BATCH)),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "field_center": (
        lambda z: field_center(z, over_batch_and_time),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "field_statistics": (
        lambda z: torch.cat(field_statistics(z, over_batch), dim=-1).to(z.dtype),
        (SEQUENCES,),
        (BATCH, TIME, 2 * FEATURES),
    ),
    "field_moments": (
        lambda z: torch.cat(field_moments(z, over_batch_and_places)).to(z.dtype),
        (SEQUENCES,),
        (2 * FEATURES,),
    ),
    "norm_by_statistics": (
        lambda z: norm_by_statistics(z, z.new_ones(FEATURES), z.new_full((FEATURES,), 4.0)),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "sliding_context_norm": (
        lambda z: sliding_context_norm(z, include_self=False),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "sliding_context_center": (sliding_context_center, (SEQUENCES,), SEQUENCES.shape),
    "divisive_lstm": (
        lambda z: divisive_lstm(
            z.transpose(0, 1)[..., [0, 1, 2, 3, 4, 5, 0, 1]],
            torch.linspace(-1, 1, 16, dtype=z.dtype).reshape(8, 2),
            z[:, 0, :2],
            z[:, 1, :2],
            sigma=1.0,
            window=2,
            suppression_window=1,
        )[0].transpose(0, 1),
        (SEQUENCES,),
        (BATCH, TIME, 2),
    ),
    "divisive_norm_1d": (lambda z: divisive_norm_1d(z, 4), (SEQUENCES,), SEQUENCES.shape),
    "divisive_center_1d": (lambda z: divisive_center_1d(z, 4), (SEQUENCES,), SEQUENCES.shape),
    "bicubic_resize": (lambda z: bicubic_resize(z, (3, 9)), (MAPS,), (*MAPS.shape[:2], 3, 9)),
    "rgb_to_ycbcr": (rgb_to_ycbcr, (MAPS[:, :3],), MAPS[:, :3].shape),
    "ycbcr_to_rgb": (ycbcr_to_rgb, (MAPS[:, :3],), MAPS[:, :3].shape),
    "divisive_norm_2d": (lambda z: divisive_norm_2d(z, 3), (MAPS,), MAPS.shape),
    "divisive_center_2d": (lambda z: divisive_center_2d(z, 3), (MAPS,), MAPS.shape),
    "context_whiten": (context_whiten, (SEQUENCES,), SEQUENCES.shape),
    "content_scores": (content_scores, (SEQUENCES,), WEIGHTS.shape),
    "content_weights": (content_weights, (drawn(*WEIGHTS.shape),), WEIGHTS.shape),
    "read_confidence": (
        lambda scores, weights: read_confidence(
            scores, weights, scores.new_ones(1), scores.new_zeros(1)
        ),
        (drawn(*WEIGHTS.shape), WEIGHTS),
        WEIGHTS.shape[:-1],
    ),
    "lstm": (
        lambda z: lstm(z, *like(z, LSTM_PARAMETERS)),
        (SEQUENCES,),
        (BATCH, TIME, 5),
    ),
    "as_fractions": (
        lambda z: as_fractions(z, z.dtype),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "linear": (
        lambda z: linear(z, *like(z, ATTENTION_PARAMETERS)),
        (SEQUENCES,),
        (BATCH, TIME, 3 * FEATURES),
    ),
    "esbn": (
        lambda weights: esbn(weights, None, ESBNParameters(*like(weights, ESBN_PARAMETERS))),
        (WEIGHTS,),
        (BATCH, 5),
    ),
    "esbn_keys": (
        lambda weights: torch.cat(
            esbn_keys(weights, None, ESBNParameters(*like(weights, ESBN_PARAMETERS))), dim=-1
        ),
        (WEIGHTS,),
        (BATCH, TIME, 8),
    ),
    "causal_attention": (
        lambda q, k, v: causal_attention(*(each.unsqueeze(1) for each in (q, k, v))).squeeze(1),
        (SEQUENCES, drawn(BATCH, 5, FEATURES), drawn(BATCH, 5, FEATURES, seed=6)),
        SEQUENCES.shape,
    ),
    "holding_recurrence": (
        lambda inputs, state: holding_recurrence(
            inputs.transpose(0, 1),
            inputs.transpose(0, 1)[..., :2],
            HOLDING_WEIGHT.to(inputs.dtype),
            state,
        ).transpose(0, 1),
        (SEQUENCES, drawn(BATCH, FEATURES)),
        SEQUENCES.shape,
    ),
    "linear_recurrence": (
        lambda inputs, state: linear_recurrence(
            inputs.transpose(0, 1), torch.linspace(-1, 1, FEATURES, dtype=inputs.dtype), state
        ).transpose(0, 1),
        (SEQUENCES, drawn(BATCH, FEATURES)),
        SEQUENCES.shape,
    ),
    "gated_linear_attention": (
        lambda x, memory: gated_linear_attention(
            *heads_of(x), F.logsigmoid(heads_of(x)[0]), memory
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 3, 3)),
        (BATCH, TIME, 2, 3),
    ),
    "gated_delta_rule": (
        lambda x, memory: gated_delta_rule(
            *heads_of(x), *(heads_of(x.sigmoid().log())[0][..., n] for n in (0, 1)), memory
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 3, 3)),
        (BATCH, TIME, 2, 3),
    ),
    "mlstm": (
        lambda x, memory: mlstm(
            *heads_of(x),
            *(heads_of(x)[0][..., n] for n in (0, 1)),
            MLSTMState(memory, memory[..., 0], memory[..., 0, 0]),
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 3, 3)),
        (BATCH, TIME, 2, 3),
    ),
    "slstm": (
        lambda x, state: slstm(
            torch.cat([*heads_of(x), heads_of(x.cos())[0]], -1),
            SLSTM_WEIGHT.to(x),
            SLSTMState(state, state, state.exp(), state),
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 3)),
        (BATCH, TIME, 2, 3),
    ),
    "selective_scan": (
        lambda x, state: selective_scan(
            x.transpose(0, 1),
            x.transpose(0, 1).exp(),
            -SCAN_RATE.to(x).exp(),
            x[..., :2].transpose(0, 1),
            x[..., 2:4].transpose(0, 1),
            state,
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, FEATURES, 2)),
        SEQUENCES.shape,
    ),
    "causal_convolution": (
        lambda x, state: causal_convolution(
            x.transpose(0, 1), SCAN_RATE.to(x), SCAN_RATE[:, 0].to(x), state
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 1, FEATURES)),
        SEQUENCES.shape,
    ),
    "block_linear": (
        lambda x: block_linear(x, SLSTM_WEIGHT.to(x)),
        (SEQUENCES,),
        (BATCH, TIME, 24),
    ),
    "relational_memory": (
        lambda x, memory, hidden: relational_memory(
            x.transpose(0, 1),
            memory,
            hidden,
            RelationalMemoryParameters(*like(x, RELATIONAL_MEMORY_PARAMETERS)),
            num_heads=2,
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 4), drawn(BATCH, 2, 4, seed=6)),
        (BATCH, TIME, 8),
    ),
    "entity_network": (
        lambda x, slots: entity_network(
            x.transpose(0, 1), slots, EntityNetworkParameters(*like(x, ENTITY_NETWORK_PARAMETERS))
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 4)),
        (BATCH, TIME, 8),
    ),
    "ntm_states": (
        lambda x, read, memory: ntm_states(
            x.transpose(0, 1),
            NTMParameters(*like(x, NTM_PARAMETERS)),
            NTMState(x[:, 0, :5], x[:, 1, :5], read, memory[:, :2].softmax(-1), memory[:, :, 1:]),
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 3), drawn(BATCH, 4, 4)),
        (BATCH, TIME, 8),
    ),
    "dnc": (
        lambda x, read: dnc(
            x.transpose(0, 1),
            DNCParameters(*like(x, DNC_PARAMETERS)),
            DNCState(
                x[:, 0, :5],
                x[:, 1, :5],
                read,
                x.new_zeros(len(x), 4, 3),
                *(x.new_zeros(len(x), 4) for _ in range(2)),
                x.new_zeros(len(x), 4, 4),
                x.new_zeros(len(x), 4),
                x.new_zeros(len(x), 2, 4),
            ),
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2, 3)),
        (BATCH, TIME, 11),
    ),
    "slot_usage": (
        slot_usage,
        (
            drawn(BATCH, 5).sigmoid(),
            drawn(BATCH, 5).softmax(-1),
            drawn(BATCH, 2, 5).softmax(-1),
            drawn(BATCH, 2).sigmoid(),
        ),
        (BATCH, 5),
    ),
    "slot_allocation": (slot_allocation, (drawn(BATCH, 5).sigmoid(),), (BATCH, 5)),
    "slot_links": (
        lambda links, last, written: slot_links(links, last, written)[0],
        (drawn(BATCH, 5, 5), drawn(BATCH, 5).softmax(-1), drawn(BATCH, 5, seed=6).softmax(-1)),
        (BATCH, 5, 5),
    ),
    "cosine_similarity": (cosine_similarity, (SEQUENCES, SEQUENCES), (BATCH, TIME, TIME)),
    "slot_address": (
        lambda similarity, numbers: slot_address(
            similarity,
            similarity.softmax(-1),
            strength=numbers[..., 0].square(),
            gate=numbers[..., 1].sigmoid(),
            shift=numbers[..., 2:].softmax(-1),
            sharpening=1 + numbers[..., 2].square(),
        ),
        (SEQUENCES, drawn(BATCH, TIME, 5)),
        SEQUENCES.shape,
    ),
    "memory_read": (
        lambda keys: memory_read(keys, layers_of(keys))[-1],
        (SEQUENCES,),
        (BATCH, TIME, 4),
    ),
    "memory_write": (
        lambda keys, targets: memory_read(
            keys, memory_write(keys, targets, keys[:, 0, :1].sigmoid(), layers_of(keys))
        )[-1],
        (SEQUENCES, drawn(BATCH, TIME, 9)),
        (BATCH, TIME, 4),
    ),
    "mnm": (
        lambda z: torch.cat(mnm(z, MNMParameters(*like(z, MNM_PARAMETERS)))[:2], dim=-1),
        (SEQUENCES,),
        (BATCH, 9),
    ),
    "ntm": (
        lambda z: ntm(z, NTMParameters(*like(z, NTM_PARAMETERS))),
        (SEQUENCES,),
        (BATCH, 5),
    ),
    "pair_attention": (
        lambda z: torch.cat(pair_attention(z, *like(z, QUERIES)), dim=-1),
        (SEQUENCES,),
        (BATCH, 2, 2 * TIME),
    ),
    "relation_matrix": (relation_matrix, (SEQUENCES,), (BATCH, TIME, TIME)),
    "relu": (relu, (SEQUENCES,), SEQUENCES.shape),
    "relation_sum": (
        lambda z: relation_sum(z, [(0, 2), (1, 1), (1, 0)], *like(z, RELATION_PARAMETERS)),
        (SEQUENCES,),
        (BATCH, 5),
    ),
    "rims": (
        lambda z: rims(
            z.transpose(0, 1), (z.new_ones(len(z), 12),) * 2, *rims_of(z)
        ).outputs.transpose(0, 1),
        (SEQUENCES,),
        (BATCH, TIME, 12),
    ),
    "rims_trace": (
        lambda z: rims_trace(
            z.transpose(0, 1), (z.new_ones(len(z), 12),) * 2, *rims_of(z)
        ).communication.transpose(0, 1),
        (SEQUENCES,),
        (BATCH, TIME, 2, 3, 3),
    ),
    "gated_recurrence": (
        lambda x, state: gated_recurrence(
            x.transpose(0, 1), GatedParameters(*like(x, GATED_WEIGHTS)), (state,), gru_dynamics
        )[0].transpose(0, 1),
        (SEQUENCES, drawn(BATCH, 2)),
        (BATCH, TIME, 2),
    ),
    "lstm_dynamics": (
        lambda z: torch.cat(lstm_dynamics(z, z.flip(1), (z[..., :2], z[..., :2])), dim=-1),
        (drawn(BATCH, TIME, 8),),
        (BATCH, TIME, 4),
    ),
    "gru_dynamics": (
        lambda z: gru_dynamics(z, z.flip(1), (z[..., :2],))[0],
        (SEQUENCES,),
        (BATCH, TIME, 2),
    ),
    "top_k_mask": (
        lambda z: top_k_mask(z, 2).to(z.dtype),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "compatibilities": (
        lambda z: compatibilities(streams(z).exp()).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME, FEATURES),
    ),
    "folded_query": (
        lambda z: folded_query(ModulatedLayer(z), ModulatedLayer(z.cos()), 3).weight,
        (SEQUENCES,),
        (BATCH, 3 * FEATURES, FEATURES),
    ),
    "interpreter": (
        lambda z: interpreter(z, shares(z), [line_of(z)], RULES),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "line_of_code": (
        lambda z: line_of_code(streams(z), shares(z), line_of(z), RULES.line).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME, FEATURES),
    ),
    "modulated_attention": (
        lambda z: modulated_attention(
            *(streams(part) for part in (z, z.cos(), z)), shares(z), num_heads=2
        ).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME, FEATURES),
    ),
    "modulated_linear": (
        lambda z: modulated_linear(streams(z), modulated(z, 5)).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME, 5),
    ),
    "modulated_mlp": (
        lambda z: modulated_mlp(
            z.unsqueeze(0), (modulated(z, FEATURES), modulated(z, 5))
        ).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME, 5),
    ),
    "modulated_weight": (
        lambda z: torch.stack(
            [modulated_weight(*like(z, MODULATED_WEIGHTS[FEATURES]), codes) for codes in z]
        ),
        (drawn(BATCH, TIME, 2),),
        (BATCH, TIME, FEATURES, FEATURES),
    ),
    "relative_position_scores": (
        lambda z: torch.stack(
            [
                relative_position_scores(
                    codes, RelativePositionParameters(*like(z, POSITION_PARAMETERS)), 1
                )
                for codes in z
            ]
        ),
        (SEQUENCES,),
        (BATCH, TIME, 2, TIME, TIME),
    ),
    "script": (
        lambda z: script(z, script_of(z), RULES, 2),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "script_trace": (
        lambda z: script_trace(z, script_of(z), RULES, 2).compatibility.transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 2, 3, TIME),
    ),
    "truncated_kernel": (
        lambda z: truncated_kernel(z.square(), z.new_tensor(0.5), truncation=1.5),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "type_distance": (
        lambda z: type_distance(z[..., :4], SIGNATURES.to(z.dtype)).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME),
    ),
    "type_inference": (
        lambda z: type_inference(z, TypingParameters(*like(z, TYPING_PARAMETERS))),
        (SEQUENCES,),
        (BATCH, TIME, 4),
    ),
    "type_matching": (
        lambda z: type_matching(
            z[..., :4], SIGNATURES.to(z.dtype), z.new_ones(()), truncation=1.5
        ).transpose(0, 1),
        (SEQUENCES,),
        (BATCH, 3, TIME),
    ),
    "nfm_read": (
        lambda z: nfm_read(z, [WrittenState(z, z.tanh()), WrittenState(-z, z)], READING).values,
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "nfm_change": (
        lambda z: nfm_change(z, [WrittenState(z, z.tanh()), WrittenState(-z, z)], *reader(z)),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "nfm_trace": (
        lambda z: nfm_trace(z, [WrittenState(z, -z)], *reader(z))[0],
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "square_mask": (
        lambda x: square_mask(x.round().long(), 2, (3, 4)).to(x),
        (drawn(BATCH, 2),),
        (BATCH, 3, 4),
    ),
    "rescale_state": (
        lambda x: rescale_state(x, (2, 6)),
        (drawn(BATCH, 4, 3, 2),),
        (BATCH, 2, 6, 2, 2),
    ),
    "tag_positions": (tag_positions, (SEQUENCES,), (BATCH, TIME, FEATURES + 1)),
    "overlay_convolution": (
        lambda window: overlay_convolution(
            Overlay(OVERLAID[0].to(window.dtype), window, 1, 2),
            OVERLAID[1].to(window.dtype),
            stride=2,
            padding=1,
        ).whole(),
        (drawn(BATCH, 2, 3, 2),),
        (BATCH, 3, 4, 3),
    ),
    "generalized_advantages": (
        lambda rewards, values: generalized_advantages(
            rewards, values, rewards, values > 0, discount=0.9, decay=0.8
        ),
        (drawn(BATCH, TIME), drawn(BATCH, TIME, seed=1)),
        (BATCH, TIME),
    ),
    "cached_log_probs": (
        lambda logits, hidden: cached_log_probs(
            logits, hidden, hidden[..., 0].round().long() % 3, size=2, scale=0.5, weight=0.1
        ),
        (drawn(BATCH, 2, 3), drawn(BATCH, TIME, FEATURES, seed=1)),
        (BATCH, 2, 3),
    ),
    "quantile_huber_loss": (
        quantile_huber_loss,
        (drawn(BATCH, 3), drawn(BATCH, 3, seed=1), drawn(BATCH, 2, seed=2)),
        (BATCH,),
    ),
    "double_estimate": (
        double_estimate,
        (drawn(BATCH, 3, 2), drawn(BATCH, 4, 2, seed=1)),
        (BATCH, 3),
    ),
    "n_step_returns": (
        lambda rewards: torch.stack(
            n_step_returns(rewards, rewards > 1, rewards < -1, discount=0.9)[:2]
        ).movedim(0, -1),
        (drawn(BATCH, TIME),),
        (BATCH, 2),
    ),
    "noisy_linear": (
        lambda x, noise: noisy_linear(
            x, *(part.to(x) for part in (*NOISY_WEIGHTS, *NOISY_WEIGHTS)), noise
        ),
        (drawn(BATCH, FEATURES), drawn(BATCH, FEATURES + 2)),
        (BATCH, 2),
    ),
    "importance_weights": (
        lambda given: importance_weights(given, exponent=0.5),
        (1 / torch.arange(1.0, BATCH + 1),),
        (BATCH,),
    ),
    "clipped_policy_loss": (
        lambda *given: clipped_policy_loss(*given, clip=0.2),
        (drawn(BATCH), drawn(BATCH, seed=1), drawn(BATCH, seed=2)),
        (BATCH,),
    ),
    "clipped_value_loss": (
        lambda *given: clipped_value_loss(*given, clip=0.2),
        (drawn(BATCH), drawn(BATCH, seed=1), drawn(BATCH, seed=2)),
        (BATCH,),
    ),
    "silhouette_moments": (
        lambda z: silhouette_moments(
            z.relu(), z.relu(), *(torch.arange(TIME, dtype=z.dtype) for _ in range(2))
        ),
        (SEQUENCES,),
        (BATCH, 5, FEATURES),
    ),
    "spatial_moments": (
        lambda maps: spatial_moments(maps, *(torch.arange(n, dtype=maps.dtype) for n in (5, 3))),
        (drawn(BATCH, 5, 3, 2),),
        (BATCH, 5, 2),
    ),
    "self_attention": (
        lambda z: self_attention(z, *like(z, ATTENTION_PARAMETERS), num_heads=2),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
    "sinusoidal_position": (
        lambda z: z + sinusoidal_position(TIME, FEATURES, dtype=z.dtype),
        (SEQUENCES,),
        SEQUENCES.shape,
    ),
}
# What these give for a problem depends on the others.
TOGETHER = {
    "field_center",
    "field_moments",
    "field_norm",
    "field_statistics",
    "importance_weights",
    "sliding_context_center",
    "sliding_context_norm",
}
LEARNING_RULES = {
    "ClassStatistics",
    "are_accepted",
    "fairness",
    "pseudo_label_loss",
    "adversarial_direction",
    "box_around",
    "check_bounds",
    "vat_loss",
    "consistency",
    "label_smoothing",
    "mixup",
    "mean_teacher",
    "kl_divergence",
    "log_probabilities",
    "mix",
    "mix_pairs",
    "probabilities",
    "running_mean",
    "covariance_distance",
    "group_weights",
    "invariance_penalty",
    "loss_valley",
    "risk_variance",
    "scale_slopes",
    "squared_distance",
}
# Initializations, slopes, fields and learning rules have tests of their own; the others are no
# mechanisms.
ELSEWHERE = LEARNING_RULES | {
    "ict_loss",
    "MapNormalizer",
    "MeanImages",
    "AgentOutputs",
    "HasFirstState",
    "PixelSpectrum",
    "zca_matrix",
    "CarriesState",
    "EncodesItems",
    "EncodesToSets",
    "EncodesWithPart",
    "HasHiddenSize",
    "HasOutFeatures",
    "LayerRead",
    "NStepReturns",
    "prioritized_rows",
    "NFMRead",
    "NFMRules",
    "NFMWeights",
    "FitsAtOnce",
    "NeedsCalibration",
    "ReadsMemberships",
    "WrittenState",
    "width_of",
    "Communication",
    "CommunicationParameters",
    "Functions",
    "Instructions",
    "LineParameters",
    "LineRules",
    "ModulatedLayer",
    "RelativePositionParameters",
    "ScriptParameters",
    "ScriptRules",
    "ScriptTrace",
    "Syntax",
    "TypeMatching",
    "TypingParameters",
    "check_truncation",
    "GRUDynamics",
    "InputAttention",
    "InputAttentionParameters",
    "LSTMDynamics",
    "RIMsOutputs",
    "RIMsParameters",
    "RIMsRules",
    "RIMsTrace",
    "Wiring",
    "NormalizedSequence",
    "fan_in_uniform_",
    "lstm_uniform_",
    "uniform_weights_",
    "ContextStatistics",
    "DNCParameters",
    "DNCState",
    "EntityNetworkParameters",
    "NTMState",
    "dnc_interface_sizes",
    "ntm_heads",
    "ESBNKeys",
    "ESBNParameters",
    "RelationalMemoryParameters",
    "Field",
    "Fold",
    "GatedParameters",
    "Indexed",
    "MemoryLayer",
    "MNMOutputs",
    "MLSTMState",
    "MNMParameters",
    "NTMParameters",
    "SLSTMState",
    "PerNonlinearity",
    "PerProjection",
    "Placement",
    "CLASSIFIERS",
    "MAP_READERS",
    "CONTEXTS",
    "ENCODERS",
    "REASONERS",
    "RESTORERS",
    "SCORERS",
    "SEQUENCE_LAYERS",
    "SET_LAYERS",
    "VALUE_HEADS",
    "alibi_slopes",
    "ring_spectrum",
    "check_segments",
    "Overlay",
    "differing",
    "is_recorded",
    "is_autocast",
    "is_transformed",
    "kaiming_normal_",
    "lstm_controller",
    "lstm_weights",
    "default_layer",
    "linear_layer",
    "relu_layer",
    "xavier_layer",
    "normal_",
    "ntm_head_sizes",
    "over_batch",
    "over_batch_and_places",
    "over_batch_and_time",
    "over_channel_groups",
    "over_features",
    "over_images",
    "over_pieces",
    "over_sub_batches",
    "over_time",
    "periods",
    "FEWEST",
    "Rows",
    "find_rows",
    "row_points",
    "row_positions",
    "uninitialized",
    "xavier_uniform_",
    "inverse_softplus_",
}

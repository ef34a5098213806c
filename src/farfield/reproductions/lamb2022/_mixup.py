"""Networks and recipes of chapters 4 and 6 of lamb2022: Manifold Mixup and ICT.

Chapter 4. Settings that the text leaves open are taken from the released code: Nesterov momentum,
batches of 100, a loss of binary cross-entropies of the softmax for every regularizer, a learning
rate that is divided by ten at a quarter, a half and three quarters of the run (of Wide ResNets and
on Tiny-ImageNet, at a half and at three quarters), and a border of 2 pixels around images to be
cropped, of 4 on Tiny-ImageNet. The released code reports the best test accuracy over all epochs;
here it is that of the last step. Neither says how large the step of the fast gradient sign method
is: 8/255 of full intensity here, as in Madry et al. 2018, whose numbers Table 7 quotes.

Chapter 6, Interpolation Consistency Training. Networks, schedules and weights are those of the text
and of the released code: labeled and unlabeled images in batches of 100, half a cosine over 450
epochs of which 400 are trained, no dropout. The released code draws the teacher apart, mixes its
logits, and reports the teacher at the epoch of its best validation accuracy; here it is the teacher
of the last step. The rivals that others have trained are trained here with the same network,
schedule and images, and with the weights of their papers (Laine and Aila 2017: 100 and 30;
Tarvainen and Valpola 2017: 100; Miyato et al. 2018: a radius of 8, at standardized or whitened
images). Their noise at the input and their dropout are left out. VAdD (Park et al. 2018) drops half
of the maps behind the second group, of which a twentieth is changed against the network, with the
squared distance and the weight of its released commands, 25. SNTG (Luo et al. 2018) has the
temporal ensemble as its teacher on CIFAR-10 and the mean teacher on SVHN, by whose numbers the rows
are known; the weight of its pairs is taken to be 0.4 times that of the distance of answers. MT +
Fast SWA (Athiwaratkun et al. 2019) has the schedule and the averages of its released commands: half
a cosine over 210 epochs of which 180 are trained, the last thirty again up to 1,200, and the mean
of every third epoch from the 150th.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final

from farfield.analysis import FGSM, Rotation, Shear, Zoom
from farfield.experiments import (
    SGD,
    Cosine,
    Experiment,
    ItemNetwork,
    Perturbation,
    Recipe,
    Schedule,
    Spec,
    Steps,
)
from farfield.models import CNN13, PreActResNet, WideResNet
from farfield.nn import ZCA, Standardize
from farfield.objectives import (
    ICT,
    SNTG,
    SWA,
    VAT,
    AdversarialTraining,
    CropAndFlip,
    Cutout,
    ManifoldMixup,
    MeanTeacher,
    Mixup,
    Objective,
    PiModel,
    Supervised,
    TemporalEnsembling,
    VAdD,
)
from farfield.reproductions._grid import Cell
from farfield.reproductions._unbuilt import Unbuilt
from farfield.tasks import FewLabels, ImageClasses

BATCH_SIZE: Final = 100
EPOCH: Final = {"cifar10": 500, "cifar100": 500, "svhn": 733, "tiny-imagenet": 1_000}
"""Updates of an epoch: all training images in batches of 100."""
EPOCHS: Final = 1_200
"""Epochs of residual networks in Table 1 (section 4.5.1)."""
EPOCHS_SENSITIVITY: Final = 2_000
"""Epochs of Tables 5 and 6 (section 4.5.1), and of Tiny-ImageNet in the released commands."""
EPOCHS_REGULARIZERS: Final = 600
EPOCHS_WIDE: Final = 400
"""Epochs of Wide ResNets in the released commands."""
QUARTERS: Final = Steps(factors=((0.25, 0.1), (0.5, 0.01), (0.75, 0.001)))
HALVES: Final = Steps(factors=((0.5, 0.1), (0.75, 0.01)))
MOMENTUM: Final = SGD(momentum=0.9, nesterov=True, weight_decay=1e-4)

LAYERS: Final = ("input", "core.group1", "core.group2", "core.group3")
"""Layers by their numbers in Table 5: the input, then the groups of residual blocks."""
ELIGIBLE: Final = LAYERS[:3]
ALPHA: Final = {"Input Mixup": 1.0, "Manifold Mixup": 2.0}
"""Parameter of the Beta distribution in Table 1."""
NETWORKS: Final = {
    "PreActResNet18": Spec(PreActResNet),
    "PreActResNet34": Spec(PreActResNet, depth=34),
    "WRN-28-10": Spec(WideResNet),
}
DEFORMATIONS: Final[tuple[Perturbation, ...]] = (
    Rotation(degrees=20.0, of="test"),
    Rotation(degrees=40.0, of="test"),
    Shear(degrees=28.6, of="test"),
    Shear(degrees=57.3, of="test"),
    Zoom(scale=0.6, of="test"),
    Zoom(scale=0.8, of="test"),
    Zoom(scale=1.2, of="test"),
    Zoom(scale=1.4, of="test"),
)
"""Deformations of Table 4."""
ATTACK: Final = FGSM(eps=8 / 255, of="test")
"""Attack of Table 7, whose row of PGD training has the same ε."""


def _regularized(row: str) -> Objective:
    """Build the learning rule of a row, e.g. `"Manifold Mixup"` or `"Input Mixup (α = 0.2)"`."""
    name, _, alpha = row.removesuffix(")").partition(" (α = ")
    name = name.removesuffix(", quoted")
    if name == "Input Mixup":
        return Mixup(alpha=float(alpha or ALPHA[name]))
    if name == "Manifold Mixup":
        return ManifoldMixup(layers=ELIGIBLE, alpha=float(alpha or ALPHA[name]))
    return Cutout(layer="front") if name == "Cutout" else Supervised()


def experiment(
    data_set: str,
    core: Spec,
    objective: Objective,
    *,
    epochs: int = EPOCHS,
    perturbations: tuple[Perturbation, ...] = (),
) -> Experiment:
    """Describe an experiment of the chapter: augmented images, momentum, a learning rate in steps.

    Args:
        data_set: Name of the images.
        core: The network.
        objective: The learning rule.
        epochs: Epochs of a network that is not wide.
        perturbations: Regimes made from the trained network.
    """
    is_wide = core.cls is WideResNet
    is_tiny = data_set == "tiny-imagenet"
    return Experiment(
        task=ImageClasses(data_set=data_set, binary_cross_entropy=True),
        model=ItemNetwork(core=core, front=Spec(Standardize)),
        objective=CropAndFlip(
            objective=objective, padding=4 if is_tiny else 2, flip=data_set != "svhn"
        ),
        recipe=Recipe(
            steps=(EPOCHS_WIDE if is_wide else epochs) * EPOCH[data_set],
            learning_rate=0.1,
            batch_size=BATCH_SIZE,
            optimizer=MOMENTUM,
            schedule=HALVES if is_wide or is_tiny else QUARTERS,
        ),
        perturbations=perturbations,
    )


def _quoted(data_set: str, model: str) -> Experiment:
    """Describe a row that is taken over from another paper, whose method is not built here."""
    return experiment(data_set, Spec(Unbuilt, model=model), Supervised())


def _error(data_set: str, row: str) -> Experiment:
    """Describe a row of Tables 1 and 2, e.g. `"PreActResNet18, No Mixup"`."""
    network, _, rule = row.partition(", ")
    if rule == "AdaMix":
        return _quoted(data_set, rule)
    return experiment(data_set, NETWORKS[network], _regularized(rule))


def errors_cifar10(cell: Cell) -> Experiment:
    """Describe a row of Table 1a."""
    return _error("cifar10", cell.row)


def errors_cifar100(cell: Cell) -> Experiment:
    """Describe a row of Table 1b."""
    return _error("cifar100", cell.row)


def errors_svhn(cell: Cell) -> Experiment:
    """Describe a row of Table 2."""
    return _error("svhn", cell.row)


def tiny_imagenet(cell: Cell) -> Experiment:
    """Describe a row of Table 3."""
    core = Spec(PreActResNet, stem_stride=2)
    rule = _regularized(cell.row)
    return experiment("tiny-imagenet", core, rule, epochs=EPOCHS_SENSITIVITY)


def deformed(cell: Cell) -> Experiment:
    """Describe a row of Table 4."""
    core, rule = NETWORKS["PreActResNet34"], _regularized(cell.row)
    return experiment("cifar100", core, rule, perturbations=DEFORMATIONS)


def eligible_layers(cell: Cell) -> Experiment:
    """Describe a row of Table 5, e.g. `"S = {0, 1}"`, on the images of a group."""
    layers = tuple(LAYERS[int(number)] for number in re.findall(r"\d", cell.row))
    rule = ManifoldMixup(layers=layers) if layers else Supervised()
    core = NETWORKS["PreActResNet18"]
    return experiment(cell.group, core, rule, epochs=EPOCHS_SENSITIVITY)


def alphas(cell: Cell) -> Experiment:
    """Describe a row of Table 6."""
    core, rule = NETWORKS["PreActResNet18"], _regularized(cell.row)
    return experiment("cifar10", core, rule, epochs=EPOCHS_SENSITIVITY)


def attacked(cell: Cell) -> Experiment:
    """Describe a row of Table 7 on the images of a group."""
    svhn = cell.group == "svhn"
    core = Spec(WideResNet, depth=20) if svhn else NETWORKS["PreActResNet18"]
    rule = AdversarialTraining() if cell.row == "PGD training" else _regularized(cell.row)
    return experiment(cell.group, core, rule, perturbations=(ATTACK,))


def zeroed_gradients(_: Cell) -> Experiment:
    """Describe Manifold Mixup without a gradient below the mixture (section 4.5.1)."""
    rule = ManifoldMixup(layers=ELIGIBLE, stop_gradient=True)
    return experiment("cifar10", NETWORKS["PreActResNet18"], rule)


def regularizers(cell: Cell) -> Experiment:
    """Describe a row of section 4.5.1, e.g. `"PreActResNet50, Dropout"`.

    The probability of dropping is not said.
    """
    _, _, rule = cell.row.partition(", ")
    core = Spec(PreActResNet, depth=50)
    if rule == "Dropout":
        core = Spec(PreActResNet, depth=50, dropout=0.1)
    return experiment("cifar10", core, _regularized(rule), epochs=EPOCHS_REGULARIZERS)


UNLABELLED: Final = "unlabelled"
EPOCHS_ICT: Final = {CNN13: 400, WideResNet: 600}
IMAGES: Final = {"cifar10": 45_000, "svhn": 72_257}
"""Number of unlabelled images: the training file without the validation images."""
VALIDATION: Final = {"cifar10": 500, "svhn": 100}
"""Validation images of each class (section 6.3.3: 5,000 and 1,000)."""
CNN: Final = Spec(CNN13)
WIDE: Final = Spec(WideResNet, widen_factor=2, negative_slope=0.01)
WEIGHTS: Final = {"cifar10-1000": 10.0}
"""Best largest consistency coefficients that are not 100 (section 6.3.4)."""
ICT_ALPHAS: Final = {"cifar10-1000": 0.2, "cifar10-2000": 1.0, "cifar10-4000": 1.0}
"""Best alphas that are not 0.1 (section 6.3.4)."""
SAME: Final = {"MT": "Mean Teacher", "Mean-Teacher": "Mean Teacher", "VAT-EM": "VAT + Ent"}
"""Rows with other names in Tables 2 and 3."""
PART_OF_COSINE: Final = Cosine(span=400 / 450)
FAST_SWA: Final = "MT + Fast SWA"
EPOCHS_FAST_SWA: Final = 1_200
CYCLES: Final = Cosine(span=180 / 210, first=180 / EPOCHS_FAST_SWA, again=30 / 180)
"""Schedule of the row, in parts of its epochs."""


def rule_of(row: str, group: str) -> Objective:
    """Build the learning rule of a row.

    Args:
        row: The row, e.g. `"ICT"`.
        group: Images and number of labels, e.g. `"cifar10-1000"`.
    """
    own = ICT(
        alpha=ICT_ALPHAS.get(group, 0.1),
        weight=WEIGHTS.get(group, 100.0),
        ramp=0.25,
        decay=0.999,
        consistency=UNLABELLED,
    )
    mean_teacher = MeanTeacher(weight=100.0, decay=0.999, warmup=True, consistency=UNLABELLED)
    ensembles = TemporalEnsembling(weight=30.0, num_outputs=10, consistency=UNLABELLED)
    teacher = ensembles if group.startswith("cifar10") else mean_teacher
    rules: dict[str, Objective] = {
        "Supervised": Supervised(),
        "Supervised (Mixup)": Mixup(alpha=1.0),
        "Supervised (Manifold Mixup)": ManifoldMixup(alpha=1.0),
        "Π model": PiModel(weight=100.0, noise=0.0, consistency=UNLABELLED),
        "TempEns": ensembles,
        "Mean Teacher": mean_teacher,
        "VAT": VAT(layer="front", consistency=UNLABELLED),
        "VAT + Ent": VAT(layer="front", entropy=1.0, consistency=UNLABELLED),
        "VAdD": VAdD(layer="core.pooled2", shape=(256, 8, 8), weight=25.0, consistency=UNLABELLED),
        "SNTG": SNTG(objective=teacher, layer="core.features", weight=0.4 * teacher.weight),
        FAST_SWA: SWA(
            objective=mean_teacher, begin=150 / EPOCHS_FAST_SWA, every=3 / EPOCHS_FAST_SWA
        ),
        "ICT": own,
        "ICT, no mean teacher": dataclasses.replace(own, decay=None),
        "ICT, no supervised mixup": dataclasses.replace(own, supervised_mixup=False),
    }
    return rules[SAME.get(row, row)]


def few_labels(cell: Cell) -> Experiment:
    """Describe a row of Tables 1 and 2 of chapter 6, or an ablation."""
    rule = rule_of(cell.row, cell.group)
    if cell.row == FAST_SWA:
        return _few_labels(cell.group, CNN, rule, epochs=EPOCHS_FAST_SWA, schedule=CYCLES)
    return _few_labels(cell.group, CNN, rule)


def few_labels_wide(cell: Cell) -> Experiment:
    """Describe a row of Table 3 of chapter 6."""
    return _few_labels(cell.group, WIDE, rule_of(cell.row, cell.group))


def _few_labels(
    group: str,
    core: Spec,
    objective: Objective,
    *,
    epochs: int | None = None,
    schedule: Schedule = PART_OF_COSINE,
) -> Experiment:
    """Describe an experiment of chapter 6.

    Args:
        group: Images and number of labels, e.g. `"cifar10-1000"`.
        core: The network.
        objective: The learning rule.
        epochs: Epochs; `None` for those of the network.
        schedule: Course of the learning rate.
    """
    data_set, _, labels = group.partition("-")
    whitened = data_set == "cifar10"
    epochs = epochs or EPOCHS_ICT.get(core.cls, EPOCHS_ICT[CNN13])
    return Experiment(
        task=FewLabels(
            data_set=data_set,
            labels_per_class=int(labels) // 10,
            validation_per_class=VALIDATION[data_set],
        ),
        model=ItemNetwork(core=core, front=Spec(ZCA if whitened else Standardize)),
        objective=CropAndFlip(objective=objective, flip=whitened),
        recipe=Recipe(
            steps=epochs * (IMAGES[data_set] // BATCH_SIZE),
            learning_rate=0.1,
            batch_size=BATCH_SIZE,
            optimizer=MOMENTUM,
            schedule=schedule,
        ),
    )

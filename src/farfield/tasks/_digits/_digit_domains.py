"""Digits of several domains: colored or rotated (gulrajani2021)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final, Literal, final

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int64, UInt8
from torch import Tensor

from farfield.core import Problems, Stream
from farfield.core.internal import Limits, UnknownNameError, check_fields, joined
from farfield.tasks._files._known_data_sets import MNIST
from farfield.tasks._files._labelled_images import Labels, idx_images
from farfield.tasks._protocol._answers import ClassTask
from farfield.tasks._protocol._draws import integers, permutation
from farfield.tasks._protocol._task import (
    CHANNELS_FIRST,
    ORACLE,
    TRAINING,
    VALIDATION,
    Form,
    Regime,
    SingleItem,
    regimes_at,
)

SIDE: Final = 28
"""Height and width of an image, pixels."""
ALL: Final = 70_000
"""Number of digits of MNIST, both files."""
ANGLES: Final = (0, 15, 30, 45, 60, 75)
"""Degrees by which the domains of rotated digits are turned, counterclockwise."""
AGREEMENT: Final = {"plus-90": 90, "plus-80": 80, "minus-90": 10}
"""Percentage of the images of each domain of colored digits whose color is the label's."""
DOMAINS: Final[dict[str, dict[str, int]]] = {
    "colored": AGREEMENT,
    "rotated": {f"rotation-{angle}": angle for angle in ANGLES},
}
"""Domains of each kind, with their position in the unit of the distance."""
_UNITS: Final = {"colored": "points of agreement", "rotated": "degrees"}
_FLIPPED: Final = 25
"""Percentage of labels of colored digits that are flipped."""
_HELD_OUT: Final = 5
"""One of so many images of each domain is held out."""

Images = UInt8[np.ndarray, "item 28 28"]


@final
@dataclass(frozen=True, kw_only=True)
class DigitDomains(SingleItem, ClassTask):
    r"""Which digit is it, in a domain that training lacks? Colored or rotated digits.

    **Task.** The 70,000 digits of MNIST, 28 × 28 pixels as bytes, are dealt out to domains.
    *Colored*: two classes, digits 0…4 (class 1) and 5…9 (class 0); a quarter of the labels is
    flipped; the digit is shown in one of two channels, its color, which agrees with the (flipped)
    label in 90 %, 80 % or 10 % of the images: domains `plus-90`, `plus-80`, `minus-90`. *Rotated*:
    ten classes; domains `rotation-0`, `rotation-15`, … `rotation-75` by degrees, counterclockwise.

    **Worked example** (colored).

    ```text
      domain plus-90     a 3, label 1 (not flipped), channel 1 (9 of 10: channel = label)
      domain minus-90    a 3, label 1 (not flipped), channel 0 (9 of 10: channel ≠ label)
    ```

    **Regimes.** One domain is the test, the others are training domains. A fifth of every domain is
    held out: that of the training domains is `validation`; that of the test domain is `oracle`,
    on which only an oracle can choose, and which is reported as such. `training` and `validation`
    have a score for each domain. The test has the name of its domain; its distance is measured
    from the nearest training domain: points of agreement of color and label, or degrees.

    **Score, floor and ceiling.** Share of right answers; 1/2 and 1/10 by guessing. The ceiling are
    the labels; a network that sees the shape alone reaches 0.75 on colored digits.

    **Known shortcuts.** Colored: the color alone is right in 90 %, 80 % and 10 %, by the domain,
    more often than the shape alone in the first two.

    **Source and deviations.** Arjovsky et al. 2019; Gulrajani and Lopez-Paz 2021, section 3, with
    28 × 28 pixels for both. The digits are dealt out anew in each run. Numbers between pixels
    are interpolated bilinearly, in integers, and rounded to bytes.

    Args:
        kind: `"colored"` or `"rotated"`.
        test: Name of the domain of the test; `None` for the last one.
        left_out: Names of domains that are neither training nor test.
        images: Number of digits of all domains together, at most 70,000.

    Raises:
        UnknownNameError: If a domain has none of these names.
        ValueError: If a number is out of range, a domain is named twice, or none is left for
            training.

    Reference:
        Gulrajani and Lopez-Paz 2021, section 3.
    """

    name: ClassVar[str] = "digit-domains"
    version: ClassVar[int] = 1
    form: ClassVar[Form] = Form(axes=CHANNELS_FIRST, arrangement="single")
    training_scored: ClassVar[int] = 2_000

    kind: Literal["colored", "rotated"] = "colored"
    test: str | None = None
    left_out: tuple[str, ...] = ()
    images: Annotated[int, Limits(at_least=100, at_most=ALL)] = ALL

    def __post_init__(self) -> None:
        check_fields(self)
        named = (self._test, *self.left_out)
        for name in named:
            if name not in self._places:
                raise UnknownNameError("domain", name, self._places)
        if len({*named}) < len(named):
            raise ValueError(f"left_out must name other domains, each once, got {named}")
        if not self.domains:
            raise ValueError(f"left_out must leave a training domain, got {self.left_out}")

    @property
    def _places(self) -> dict[str, int]:
        """Positions of all domains of the kind, by name."""
        return DOMAINS[self.kind]

    @property
    def _test(self) -> str:
        """Name of the domain of the test."""
        return self.test or [*self._places][-1]

    @property
    def domains(self) -> tuple[str, ...]:
        """Names of the training domains."""
        return tuple(n for n in self._places if n not in (self._test, *self.left_out))

    def leaving_out(self, domain: str) -> DigitDomains:
        """Copy the task without a training domain, which becomes the test.

        Args:
            domain: Name of the domain.

        Raises:
            ValueError: If it is no training domain, or the only one.
        """
        if domain not in self.domains:
            raise UnknownNameError("training domain", domain, self.domains)
        return replace(self, test=domain, left_out=(*self.left_out, self._test))

    @property
    def item_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return (2 if self.kind == "colored" else 1, SIDE, SIDE)

    @property
    def num_outputs(self) -> int:
        """Number of classes."""
        return 2 if self.kind == "colored" else 10

    @property
    def regimes(self) -> tuple[Regime, ...]:
        """Training, validation, the test, and the held-out part of its domain."""
        own = self._places[self._test]
        distance = min(abs(own - self._places[name]) for name in self.domains)
        known = {TRAINING: 0, VALIDATION: 0, self._test: distance, ORACLE: distance}
        return regimes_at(_UNITS[self.kind], known)

    def is_at_hand(self) -> bool:
        """Check whether the files of MNIST are on this machine."""
        return MNIST.is_at_hand()

    def draw(self, stream: Stream) -> dict[str, Problems]:
        """Draw the sets of a run, by regime name.

        Raises:
            ValueError: If a file is missing, or differs from the published one.
        """
        images, digits = _all_digits()
        branch = stream.child(self.name, f"v{self.version}", self.kind)
        order = permutation(branch.child("digits").numpy(), ALL)[: self.images]
        chance = {
            name: integers(branch.child(name).numpy(), 100, len(order))
            for name in ("label", "color")
        }
        sets: dict[str, list[Problems]] = {}
        for number, domain in enumerate((*self.domains, self._test)):
            first = [*self._places].index(domain)
            places = np.arange(first, len(order), len(self._places))
            held = len(places) // _HELD_OUT
            regimes = (ORACLE, domain) if domain == self._test else (VALIDATION, TRAINING)
            for regime, own in zip(regimes, (places[:held], places[held:]), strict=True):
                drawn = {name: numbers[own] for name, numbers in chance.items()}
                rows = order[own]
                part = self._problems(domain, images[rows], digits[rows], drawn)
                part["image"], part["domain"] = rows, np.full_like(rows, number)
                sets.setdefault(regime, []).append(_as_problems(part))
        names = [regime.name for regime in self.regimes]
        return {name: joined(sets[name]) for name in names}

    def _problems(
        self, domain: str, images: Images, digits: Labels, drawn: Mapping[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Render the images of a domain, with their targets."""
        place = self._places[domain]
        if self.kind == "rotated":
            return {"items": rotated(images, place)[:, None], "target": digits}
        label = (digits < 5) ^ (drawn["label"] < _FLIPPED)
        color = label ^ (drawn["color"] >= place)
        items = np.zeros((len(images), 2, SIDE, SIDE), np.uint8)
        items[np.arange(len(images)), color.astype(np.int64)] = images
        return {"items": items, "target": label.astype(np.int64), "color": color.astype(np.int64)}

    def parts(self, problems: Problems) -> dict[str, Bool[Tensor, " batch"]]:
        """Return the mask of the problems of each domain, by its name, where there are several."""
        of = problems.latent["domain"]
        names = (*self.domains, self._test)
        found = {names[number]: of == number for number in {*of.tolist()}}
        return found if len(found) > 1 else {}


def _all_digits() -> tuple[Images, Int64[np.ndarray, " item"]]:
    """Read images and labels of both files, training images first."""
    parts = [idx_images(MNIST, part) for part in ("train", "t10k")]
    images, labels = zip(*parts, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def _as_problems(part: dict[str, np.ndarray]) -> Problems:
    """Make problems of one item each."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in part.items()}
    items, target = tensors.pop("items"), tensors.pop("target")
    index = torch.arange(len(items))[:, None]
    return Problems(items=items, index=index, target=target, latent=tensors)


_PART: Final = 256
"""Parts of the way between two pixels that positions are rounded to."""


def rotated(images: Images, degrees: int) -> Images:
    """Rotate images counterclockwise around their center; outside there are zeros.

    Bilinear between the middles of pixels. Weights and sums are integers that float32 holds
    exactly: the same on every machine.

    Args:
        images: The images.
        degrees: Angle.
    """
    if degrees == 0:
        return images
    total = images.reshape(len(images), -1).astype(np.float32) @ _rotation(degrees).T
    return (total.astype(np.int32) + _PART**2 // 2 >> 16).astype(np.uint8).reshape(images.shape)


def _rotation(degrees: int) -> Float32[np.ndarray, "pixel pixel"]:
    """Compute the weight of each original pixel in each new one, times 256²."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    middle = (SIDE - 1) / 2
    down, across = (np.mgrid[:SIDE, :SIDE] - middle).reshape(2, -1)
    row, column = (
        np.divmod(np.rint((middle + place) * _PART).astype(np.int64), _PART)
        for place in (cosine * down + sine * across, cosine * across - sine * down)
    )
    weights = np.zeros((SIDE**2, SIDE**2), np.float32)
    for below in (0, 1):
        for right in (0, 1):
            places = np.stack([row[0] + below, column[0] + right])
            inside = ((places >= 0) & (places < SIDE)).all(0)
            weight = np.abs(_PART * (1 - below) - row[1]) * np.abs(_PART * (1 - right) - column[1])
            new, old = np.flatnonzero(inside), places[:, inside]
            weights[new, old[0] * SIDE + old[1]] += weight[inside]
    return weights

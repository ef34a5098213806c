"""Super-resolution by linear regressions around the atoms of a dictionary (A+)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Annotated, Final, final

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn
from torch.nn import functional as F
from torch.types import Device

from farfield.core import Problems
from farfield.core.internal import Limits, PositiveFloat, Size, check_arguments
from farfield.functional.internal import bicubic_resize

_CELLS: Final = 3
"""Side of a window, in pixels of the small image."""
_BORDER: Final = 1
"""Pixels of the small image along each border that no window covers."""
_LEVELS: Final = 12
"""Sizes of each training image."""
_SHRINK: Final = 0.98
"""Factor from one of these sizes to the next."""
_LEARNED_FROM: Final = 20_000
"""Windows that the projection and the dictionary are learned from."""
_PENALTY: Final = 0.3
"""Weight of the absolute coefficients of the dictionary, for features of length 1."""
_FLAT: Final = 0.1
"""Length of features under which they are not scaled to length 1."""
_AT_ONCE: Final = 2**15
"""Training windows that are compared with all atoms at once."""
_ANSWERED: Final = 2**12
"""Windows that are answered at once, each by a matrix."""


@final
class AnchoredRegression(nn.Module):
    r"""Sharpen an enlarged image by a linear regression of each window, chosen by its features.

    The features of a window are the first and second differences of the enlarged image along both
    axes, projected to principal components. An atom of a dictionary is an anchor $d_k$; its matrix

    $$P_k = H_k L_k^\top (L_k L_k^\top + \lambda I)^{-1}$$

    is the ridge regression from the features $L_k$ of the training windows that are nearest to the
    anchor to the differences of sharp and enlarged image there, $H_k$, both divided by the length
    of the features. A window takes the matrix of the anchor with the largest absolute product with
    its features. Windows overlap, and the image is the mean of their answers.

    Nothing is trained by steps: `fit_at_once` computes all of it from the training images, each of
    them at twelve sizes. The dictionary is learned by scikit-learn with a penalty of absolute
    coefficients; the paper's has three coefficients a window, by K-SVD. The number of principal
    components is fixed here, and 99.9 % of the variance in the paper.

    Args:
        scale: Factor of the enlargement.
        num_anchors: Atoms of the dictionary.
        num_neighbors: Training windows of a regression.
        num_components: Principal components of the features.
        penalty: Weight λ of the squared matrix.

    Shape:
        `(batch, height, width)` to the same.

    Raises:
        ValueError: If a size is out of range.

    Reference:
        Timofte et al. 2014; ren2017, section 4.3.

    Example:
        >>> AnchoredRegression(scale=2, num_anchors=8)(torch.rand(2, 20, 30)).shape
        torch.Size([2, 20, 30])
    """

    projection: Tensor
    anchors: Tensor
    regressors: Tensor

    @check_arguments
    def __init__(
        self,
        *,
        scale: Annotated[int, Limits(at_least=2, at_most=16)] = 3,
        num_anchors: Size = 1024,
        num_neighbors: Size = 2048,
        num_components: Size = 30,
        penalty: PositiveFloat = 0.1,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        window = (_CELLS * scale) ** 2
        if num_components > 4 * window:
            raise ValueError(
                f"num_components must be at most {4 * window}, the features of a window, got "
                f"{num_components}"
            )
        self.scale = scale
        self.num_neighbors = num_neighbors
        self.penalty = penalty
        self.register_buffer("projection", torch.zeros(4 * window, num_components))
        self.register_buffer("anchors", torch.zeros(num_anchors, num_components))
        self.register_buffer("regressors", torch.zeros(num_anchors, num_components, window))
        self.to(device=device, dtype=dtype)

    def forward(
        self, items: Float[Tensor, "batch height width"]
    ) -> Float[Tensor, "batch height width"]:
        """Sharpen every image.

        Args:
            items: Enlarged images, luma as fractions.

        Raises:
            ValueError: If they have no window.
        """
        least = self.scale * (_CELLS + 2 * _BORDER)
        if items.ndim != 3 or min(items.shape[1:]) < least:
            raise ValueError(
                f"items must be images (batch, height, width) of at least {least} × {least} "
                f"pixels, got shape {tuple(items.shape)}"
            )
        if not len(items):
            return items.clone()
        return torch.cat([self._sharpened(image) for image in torch.split(items, 1)])

    def _sharpened(self, image: Tensor) -> Tensor:
        """Sharpen one image, `(1, height, width)`."""
        z = self._features(image) @ self.projection
        lacking = torch.cat([self._lacking(some) for some in torch.split(z, _ANSWERED)])
        whole = self._inner(image)
        both = torch.stack([lacking, torch.ones_like(lacking)]).mT
        size, side = tuple(whole.shape[1:]), _CELLS * self.scale
        total, count = F.fold(both, size, side, stride=self.scale)[:, 0]
        sharp = image.clone()
        self._inner(sharp).add_(total / count.clamp_min(1))
        return sharp

    def _lacking(self, z: Tensor) -> Tensor:
        """Answer windows `(window, component)`, each by the matrix of its anchor."""
        nearest = (z @ self.anchors.mT).abs().argmax(1)
        return torch.einsum("wc,wcp->wp", z, self.regressors[nearest])

    def _inner(self, images: Tensor) -> Tensor:
        """View images without their borders, cut to whole pixels of the small image."""
        start = _BORDER * self.scale
        height, width = (side - side % self.scale - start for side in images.shape[1:])
        return images[:, start:height, start:width]

    def _windows(self, images: Tensor) -> Tensor:
        """Cut maps into windows: `(image, channel, height, width)` to `(window, number)`."""
        inner = torch.stack([self._inner(maps) for maps in images.unbind(1)], 1)
        cut = F.unfold(inner, _CELLS * self.scale, stride=self.scale)
        return cut.mT.flatten(0, 1)

    def _features(self, images: Tensor) -> Tensor:
        """Compute first and second differences of enlarged images, window by window."""
        step, half = self.scale, (self.scale + 1) // 2
        height, width = images.shape[1:]
        around = F.pad(images, [step] * 4)

        def at(down: int, right: int) -> Tensor:
            return around[:, step + down :, step + right :][:, :height, :width]

        maps = []
        for down, right in ((0, 1), (1, 0)):
            before, after = at(-half * down, -half * right), step - half
            maps.append(before - at(after * down, after * right))
            maps.append(
                (at(-step * down, -step * right) + at(step * down, step * right)) / 2 - images
            )
        return self._windows(torch.stack(maps, 1))

    @torch.no_grad()
    def fit_at_once(self, problems: Problems, generator: torch.Generator) -> None:
        """Compute dictionary and regressions from all training images.

        Args:
            problems: Training problems, whose targets are sharp images in levels of 0…255.
            generator: Source of the windows that the dictionary is learned from.

        Raises:
            ValueError: If targets are no images, or they have fewer windows than an anchor has
                neighbors, or than the dictionary has atoms.
            ModuleNotFoundError: If scikit-learn is missing; the message says how to install it.
        """
        sharp = problems.target
        if sharp.ndim != 3 or sharp.dtype != torch.uint8:
            raise ValueError(
                "problems must have sharp images in bytes as targets, such as those of "
                f"SuperResolution, got {sharp.dtype} of shape {tuple(sharp.shape)}"
            )
        whole = torch.cat([self._features(enlarged) for enlarged, _ in self._pairs(sharp, 1)])
        needed = max(self.num_neighbors, len(self.anchors))
        if len(whole) < needed:
            raise ValueError(
                f"problems must show at least {needed} windows, as many as num_neighbors and "
                f"num_anchors, got {len(whole)}"
            )
        some = torch.randperm(len(whole), generator=generator)[:_LEARNED_FROM].sort().values
        rows = whole[some]
        vectors = torch.linalg.eigh((rows.mT @ rows).double()).eigenvectors
        del whole
        self.projection.copy_(vectors.flip(1)[:, : self.projection.shape[1]])
        seed = int(torch.randint(2**31, (), generator=generator))
        self.anchors.copy_(_dictionary(_scaled(rows @ self.projection)[0], len(self.anchors), seed))
        features, lacking = [], []
        for enlarged, missing in self._pairs(sharp, _LEVELS):
            z, length = _scaled(self._features(enlarged) @ self.projection)
            features.append(z)
            lacking.append(self._windows(missing.unsqueeze(1)) / length)
        self._regress(torch.cat(features), torch.cat(lacking))

    def _pairs(
        self, sharp: UInt8[Tensor, "image height width"], levels: int
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield enlarged images and their differences from the sharp images, at several sizes."""
        for images in torch.split(sharp, max(1, 2**21 // sharp[0].numel())):
            for level in range(levels):
                rows, columns = (round(side * _SHRINK**level) for side in images.shape[1:])
                height, width = rows - rows % self.scale, columns - columns % self.scale
                full = images.to(self.projection) / 255
                full = (bicubic_resize(full, (rows, columns)) if level else full)[
                    :, :height, :width
                ]
                few = bicubic_resize(full, (height // self.scale, width // self.scale))
                enlarged = bicubic_resize(few, (height, width))
                yield enlarged, full - enlarged

    def _regress(self, z: Tensor, lacking: Tensor) -> None:
        """Compute the matrix of every anchor from the windows that are nearest to it."""
        count = self.num_neighbors
        best = z.new_zeros(len(self.anchors), 0)
        rows = torch.empty_like(best, dtype=torch.int64)
        for start in range(0, len(z), _AT_ONCE):
            part = z[start : start + _AT_ONCE]
            # The nearest by distance: |z − d|² without |d|², the same for all windows.
            near = 2 * self.anchors @ part.mT - part.square().sum(1)
            best = torch.cat([best, near], 1)
            own = torch.arange(start, start + len(part), device=z.device).expand(len(near), -1)
            best, kept = best.topk(min(count, best.shape[1]), 1, sorted=False)
            rows = torch.cat([rows, own], 1).gather(1, kept)
        eye = self.penalty * torch.eye(z.shape[1]).to(z)
        for anchor, own in enumerate(rows):
            low, high = z[own], lacking[own]
            self.regressors[anchor] = torch.linalg.solve(low.mT @ low + eye, low.mT @ high)


def _scaled(z: Tensor) -> tuple[Tensor, Tensor]:
    """Divide features by their length, unless they are flat, and return the length too."""
    length = z.norm(dim=1, keepdim=True)
    length = length.masked_fill(length < _FLAT, 1.0)
    return z / length, length


def _dictionary(z: Tensor, size: int, seed: int) -> Tensor:
    """Learn a dictionary of atoms of length 1 by scikit-learn."""
    try:
        from sklearn.decomposition import MiniBatchDictionaryLearning  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a dictionary needs scikit-learn: pip install 'farfield[stats]'"
        ) from error
    learner = MiniBatchDictionaryLearning(
        n_components=size,
        alpha=_PENALTY,
        fit_algorithm="cd",
        batch_size=min(1024, len(z)),
        max_iter=2,
        random_state=seed,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of codes that are near, but not at, their least penalty
        learner.fit(z.double().cpu().numpy())
    return F.normalize(torch.from_numpy(learner.components_))

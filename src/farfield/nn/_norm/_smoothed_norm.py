"""Normalizers over a field that torch has a kernel for, where the constant is not learned."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from farfield.functional import Fold, field_center, field_norm
from farfield.nn._norm._normalizer import Normalizer


class SmoothedNorm(Normalizer):
    """A normalizer with a constant; a subclass gives its field and torch's kernel."""

    def _field(self, z: Tensor) -> Fold:
        """The field that is pooled."""
        raise NotImplementedError

    def _by_torch(self, z: Tensor, eps: float) -> Tensor:
        """Result of torch's kernel with a number added to the variance."""
        raise NotImplementedError

    def forward(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """Normalize the activations."""
        self._check(z)
        eps = self._smoothing()
        if not isinstance(eps, Tensor):
            return self._by_torch(z, eps)
        return self._scaled_and_shifted(field_norm(z, self._field, eps=eps))

    def center(self, z: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        """The activations without the mean of their field, before anything is divided."""
        self._check(z)
        return field_center(z, self._field)

"""Running means of weights."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from farfield.core.internal import Fraction, check_arguments


def running_mean(
    old: Mapping[str, Tensor], new: Mapping[str, Tensor], decay: float | Tensor
) -> dict[str, Tensor]:
    """Update the running means of floating-point numbers by one step; copy the new counts.

    Args:
        old: Means so far, by name.
        new: Numbers of this step; names that are not among the means are left out.
        decay: Weight of the past.
    """

    def mean(old: Tensor, tensor: Tensor) -> Tensor:
        if not old.is_floating_point():
            return tensor
        own = decay.to(old.dtype) if isinstance(decay, Tensor) else decay
        return own * old + (1 - own) * tensor

    return {name: mean(old[name], new[name]) for name in old.keys() & new.keys()}


@check_arguments
def mean_teacher(
    teacher: Mapping[str, Tensor], student: Mapping[str, Tensor], *, decay: Fraction = 0.99
) -> dict[str, Tensor]:
    r"""Update the weights of a teacher: the running mean of the weights of a student.

    $$\theta' \leftarrow d\, \theta' + (1 - d)\, \theta$$

    for all floating-point numbers; counts, as in batch normalization, are those of the student.
    After $n$ steps the weight of the first teacher is $d^n$, so that a short run needs a small
    decay; `decay=min(d, 1 - 1 / (n + 1))` in step $n$ starts from the plain mean. `state_dict()`
    averages buffers too, as `averages_buffers=True` of `farfield.objectives.MeanTeacher`; vectors
    of spectral normalization must be left out.

    Args:
        teacher: Weights of the teacher by name, e.g. its `state_dict()`; not changed.
        student: Weights of the student, under the same names.
        decay: Weight $d$ of the teacher, in 0…1.

    Returns:
        New weights of the teacher, without gradient, e.g. for its `load_state_dict`.

    Raises:
        ValueError: If names or shapes differ, or the decay is out of range.

    Reference:
        Tarvainen and Valpola 2017.
    """
    if odd := sorted(teacher.keys() ^ student.keys()):
        raise ValueError(
            f"teacher and student must have the same names, got {odd[0]!r} in one of them alone"
        )
    for name, tensor in teacher.items():
        if tensor.shape != student[name].shape:
            raise ValueError(
                f"teacher and student must have the same shapes, got {tuple(tensor.shape)} and "
                f"{tuple(student[name].shape)} of {name!r}"
            )
    new = {name: tensor.detach().clone() for name, tensor in student.items()}
    means = running_mean({name: tensor.detach() for name, tensor in teacher.items()}, new, decay)
    return {name: means[name] for name in teacher}

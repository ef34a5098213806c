"""Rules over objects in one picture: what is shown where, and what the answers follow from."""

from __future__ import annotations

from functools import cache
from typing import get_args

import numpy as np
import pytest
import torch

from each import each
from farfield.core import Problems, stream
from farfield.experiments import ScoringNetwork, Spec
from farfield.models import OCRA
from farfield.nn import SlotEncoder
from farfield.tasks import CanvasRules, GlyphSet
from farfield.tasks._rules._canvas_rules import Rule
from tasks.sets import digest

CELLS = {
    "same-different": "304eafc823228acd",
    "relational-match-to-sample": "43babf35ebd06a44",
    "distribution-of-three": "14cfd6247bc30c75",
    "identity-rules": "f2e987871f09cec0",
}
rules = pytest.mark.parametrize("rule", get_args(Rule))


@cache
def drawn(rule: str, withheld: int = 95) -> dict[str, Problems]:
    return CanvasRules(rule=rule, withheld=withheld, max_problems=60).draw(stream(0))


@each("rule", get_args(Rule))
def test_drawn_sets_are_frozen_for_this_version(rule: str) -> None:
    assert CanvasRules.version == 1
    assert digest(drawn(rule)) == CELLS[rule]


def objects(problems: Problems) -> torch.Tensor:
    """Return image and move of each object, `(batch, picture, object, 3)`."""
    return problems.items.latent[problems.index][..., :3]


@rules
def test_targets_follow_from_the_images(rule: str) -> None:
    for problems in drawn(rule).values():
        images = objects(problems)[..., 0]
        first, second = images[..., 0], images[..., 1]
        if rule == "same-different":
            assert (first != second)[:, 0].long().equal(problems.target)
            continue
        assert (images[:, :, :-1] == images[:, :1, :-1]).all() or rule.startswith("relational")
        if rule == "relational-match-to-sample":
            fits = (first == second) == (images[..., 2] == images[..., 3])
        elif rule == "distribution-of-three":
            fits = (images[..., :3].sort(-1)[0] == images[..., 3:].sort(-1)[0]).all(-1)
        else:
            rows = images[..., :3], images[..., 3:]
            (a, b, c), (d, e, f) = (row.unbind(-1) for row in rows)
            fits = ((a == b) == (d == e)) & ((b == c) == (e == f)) & ((a == c) == (d == f))
        assert fits.sum(1).eq(1).all()
        assert fits.long().argmax(1).equal(problems.target)


def test_an_object_is_moved_within_its_cell() -> None:
    problems = drawn("same-different")["withheld-95"]
    moves = objects(problems)[..., 1:]
    assert (moves.amin().item(), moves.amax().item()) == (-5, 4)
    (pair,) = objects(problems)[0]
    picture = problems.items.index_select(0, problems.index[0])[0]
    for (image, right, down), (x, y) in zip(pair.tolist(), ((32, 64), (96, 64)), strict=True):
        top, left = y - 16 + down, x - 16 + right
        shown = picture[top : top + 32, left : left + 32]
        assert torch.equal(shown, GlyphSet.glyphs().items[image])
        picture[top : top + 32, left : left + 32] = 1
    assert picture.eq(1).all()


def test_other_sizes_show_the_same_problems() -> None:
    sets = drawn("identity-rules")
    ink = []
    for name in ("withheld-95", "size-75", "size-50"):
        problems = sets[name]
        assert objects(problems).equal(objects(sets["withheld-95"]))
        assert problems.target.equal(sets["withheld-95"].target)
        ink.append((1 - problems.items.index_select(0, problems.index[:, 0])).sum().item())
    assert ink[1] / ink[0] == pytest.approx(0.75**2, abs=0.05)
    assert ink[2] / ink[0] == pytest.approx(0.5**2, abs=0.05)


def test_a_network_scores_each_picture_by_its_slots() -> None:
    task = CanvasRules(rule="distribution-of-three", withheld=95, max_problems=20)
    encoder = Spec(SlotEncoder, num_slots=2, num_features=4, num_halvings=4, split=True)
    scorer = Spec(OCRA, num_layers=1, num_heads=1, head_size=4)
    model = ScoringNetwork(scorer=scorer, encoder=encoder, context=None).build(task, stream(0))
    problems = task.draw(stream(0))["training"][:3]
    scores = model(problems.items, problems.index)
    elements = model.encoder(problems.items.index_select(0, problems.index[1]))
    torch.testing.assert_close(scores[1], model.scorer(elements)[:, 0])


def test_images_of_another_size_are_refused() -> None:
    shapes = GlyphSet(np.arange(6 * 16, dtype=np.uint8).reshape(6, 4, 4))
    with pytest.raises(ValueError, match=r"shapes must be of 32×32 pixels, got \(4, 4\)"):
        CanvasRules(shapes=shapes)

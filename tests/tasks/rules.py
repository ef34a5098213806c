"""Rule tasks of webb2021 and their harder variants, for tests: cells, targets, answers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from farfield.core import Problems
from farfield.tasks import (
    AllSame,
    DistributionOfN,
    DistributionOfThree,
    IdentityRules,
    IdentityRulesMiddle,
    ProblemTask,
    RelationalMatchToSample,
    SameDifferent,
    TintedSameDifferent,
    TripleMatchToSample,
)
from tasks.sets import drawn, rows_of, shown

CELLS: dict[ProblemTask, tuple[int, int, str]] = {
    SameDifferent(): (18_810, 990, "56e95181c9ccee8c"),
    SameDifferent(withheld=50): (4_900, 4_900, "cc3d7d6ee56bd662"),
    SameDifferent(withheld=85): (420, 10_000, "86b1138ef7261d12"),
    SameDifferent(withheld=95): (40, 10_000, "362b758b3d2e3f85"),
    SameDifferent(withheld=98): (4, 10_000, "f581c99515563550"),
    RelationalMatchToSample(): (10_000, 10_000, "a01723d25c58426f"),
    RelationalMatchToSample(withheld=50): (10_000, 10_000, "bd69e736951b517b"),
    RelationalMatchToSample(withheld=85): (10_000, 10_000, "9e8b3cbf5e62b54d"),
    RelationalMatchToSample(withheld=95): (480, 10_000, "1735704c18d77e68"),
    DistributionOfThree(): (10_000, 10_000, "bfc9a17875d38ad4"),
    DistributionOfThree(withheld=50): (10_000, 10_000, "9fd291c5cb71c2ff"),
    DistributionOfThree(withheld=85): (10_000, 10_000, "b3f4619a3ae0a0b3"),
    DistributionOfThree(withheld=95): (360, 10_000, "71079b4dd72aa694"),
    IdentityRules(): (10_000, 10_000, "01112d3b306f99c4"),
    IdentityRules(withheld=50): (10_000, 10_000, "512192e0ee367815"),
    IdentityRules(withheld=85): (10_000, 10_000, "e403c5efa778db06"),
    IdentityRules(withheld=95): (8_640, 10_000, "e32027f6a3708482"),
    AllSame(): (10_000, 10_000, "cfd5d6ccde8e0ce8"),
    AllSame(withheld=50): (10_000, 10_000, "f2b23a2dee5ce234"),
    AllSame(withheld=85): (10_000, 10_000, "1e20afcf8c2d04e8"),
    AllSame(withheld=95): (1_800, 10_000, "8aa20cb807c8c7ba"),
    AllSame(withheld=98): (180, 10_000, "2903223a45b066d0"),
    AllSame(num_images=2, withheld=50): (4_900, 4_900, "5a453abf974c7a26"),
    AllSame(num_images=20, withheld=85): (10_000, 10_000, "b2b17caa71fa4517"),
    TripleMatchToSample(): (10_000, 10_000, "30de1bba7bcf1c0f"),
    TripleMatchToSample(withheld=50): (10_000, 10_000, "48660ae3ee58717c"),
    TripleMatchToSample(withheld=85): (10_000, 10_000, "507f99149a09cf9d"),
    TripleMatchToSample(withheld=94): (8_640, 10_000, "901c795eb4c13574"),
    TripleMatchToSample(withheld=50, all_patterns=True): (10_000, 10_000, "22558c115fb3f3f3"),
    DistributionOfN(): (10_000, 10_000, "f4b19de3cc8fdb98"),
    DistributionOfN(withheld=50): (10_000, 10_000, "d2ae02ff642dd98e"),
    DistributionOfN(withheld=85): (10_000, 10_000, "a998d93ce079f00e"),
    DistributionOfN(row_length=3, withheld=95): (360, 10_000, "1fcac83daf98f66a"),
    DistributionOfN(row_length=4, withheld=95): (2_880, 10_000, "56baa2a20e4d4bb7"),
    DistributionOfN(row_length=20): (10_000, 10_000, "6aee10883fc81a57"),
    DistributionOfN(row_length=20, withheld=79): (10_000, 10_000, "e7c4b0ed672e9b8a"),
    IdentityRulesMiddle(): (10_000, 10_000, "dd15e5efdefb2a28"),
    IdentityRulesMiddle(withheld=50): (10_000, 10_000, "5c297d74cce7ed26"),
    IdentityRulesMiddle(withheld=85): (10_000, 10_000, "8c94e5831efa6add"),
    IdentityRulesMiddle(withheld=95): (10_000, 10_000, "d4a675384c1dfb50"),
    IdentityRulesMiddle(withheld=96): (2_304, 10_000, "8c540656232fd3e8"),
    TintedSameDifferent(): (18_810, 990, "7d5a5309d2a035fe"),
    TintedSameDifferent(withheld=50): (4_900, 4_900, "852b1430ef43cbc0"),
    TintedSameDifferent(withheld=85): (420, 10_000, "58d09d0b333a76af"),
    TintedSameDifferent(withheld=95): (40, 10_000, "c8d6fc25cf17ec32"),
    TintedSameDifferent(withheld=98): (4, 10_000, "6e05aa1c99c7b9c0"),
}

"""Problems in training and in each test, and the head of SHA-256 over everything drawn for run 0.

A change of a digest raises `version`. Sizes of the first four are those of tables 1–4 of webb2021.
"""
FEWEST = {
    SameDifferent: 2,
    RelationalMatchToSample: 5,
    DistributionOfThree: 4,
    IdentityRules: 4,
    AllSame: 2,
    TripleMatchToSample: 6,
    DistributionOfN: 9,
    IdentityRulesMiddle: 4,
    TintedSameDifferent: 2,
}
"""Fewest images on either side, by task."""


def last_test(task: ProblemTask, seed: int = 0) -> Problems:
    """The farthest test; of the tinted task the one whose tint says nothing."""
    return drawn(task, seed)["tint-random" if "tinted" in task.name else task.regimes[-1].name]


def shapes_shown(task: ProblemTask, problems: Problems) -> set[int]:
    tints = 2 if isinstance(task, TintedSameDifferent) else 1
    return {item % (len(problems.items) // tints) for item in shown(problems)}


def identities(problems: Problems) -> list[bytes]:
    """What makes a problem another one: of distributions the array, else the images."""
    latent = problems.latent
    array = "rows" in latent and "rule" not in latent
    columns = latent["rows"] if array else latent.get("shapes", problems.index)
    return rows_of(columns.flatten(1))


def pattern_of(row: list[int]) -> str:
    letters = {image: "ABC"[number] for number, image in enumerate(dict.fromkeys(row))}
    return "".join(letters[image] for image in row)


def rederived(task: ProblemTask, problems: Problems, row: int) -> int:  # noqa: PLR0911, PLR0915
    """The target from the latent description alone, by the words of the card."""
    latent = {name: column[row].tolist() for name, column in problems.latent.items()}
    places = problems.index[row].tolist()
    match task:
        case SameDifferent():
            first, second = latent["shapes"]
            return int(first != second)
        case RelationalMatchToSample():
            source, matching, other = latent["pairs"]
            alike = {pair[0] == pair[1] for pair in (source, matching)}
            assert alike == {latent["relation"] == 0}
            assert (other[0] == other[1]) != (source[0] == source[1])
            assert places[:2] == source
            assert {tuple(places[2:4]), tuple(places[4:])} == {tuple(matching), tuple(other)}
            return [places[2:4], places[4:]].index(matching)
        case IdentityRules():
            first, second = latent["rows"]
            pattern = ("ABA", "ABB", "AAA")[latent["rule"]]
            assert pattern_of(first) == pattern_of(second) == pattern
            assert not set(first) & set(second)
            assert len(set(latent["choices"])) == 4
            assert places == [*first, *second[:2], *latent["choices"]]
            return latent["choices"].index(second[2])
        case TintedSameDifferent():
            first, second = latent["shapes"]
            moved = len(problems.items) // 2 * latent["tint"]
            assert places == [first + moved, second + moved]
            return int(first != second)
        case AllSame():
            counts = Counter(latent["shapes"])
            assert places == latent["shapes"]
            assert len(counts) == 1 + (latent["odd"] > 0)
            assert min(counts.values()) == (latent["odd"] or task.num_images)
            return int(len(counts) > 1)
        case TripleMatchToSample():
            source, matching, other = latent["triples"]
            names = ("AAA", "AAB", "ABA", "ABB", "ABC")
            assert pattern_of(source) == pattern_of(matching) == names[latent["relation"]]
            assert pattern_of(other) == names[latent["other"]] != pattern_of(source)
            held = [image for triple in latent["triples"] for image in set(triple)]
            assert len(held) == len(set(held))
            assert places[:3] == source
            assert sorted([places[3:6], places[6:]]) == sorted([matching, other])
            return [places[3:6], places[6:]].index(matching)
        case DistributionOfN() | DistributionOfThree():
            first, second = latent["rows"]
            assert set(first) == set(second)
            assert len(set(first)) == getattr(task, "row_length", 3)
            assert len(set(latent["choices"])) == 4
            assert len(set(latent["choices"]) - set(first)) == 1
            assert places == [*first, *second[:-1], *latent["choices"]]
            return latent["choices"].index(second[-1])
        case IdentityRulesMiddle():
            first, second = latent["rows"]
            pattern = ("ABA", "AAA", "ABB", "AAB")[latent["rule"]]
            assert places == [*first, second[0], second[2], *latent["choices"]]
            fitting = [
                choice
                for choice, image in enumerate(latent["choices"])
                if pattern_of([second[0], image, second[2]]) == pattern_of(first) == pattern
                and image not in first
            ]
            assert fitting == [latent["choices"].index(second[1])]
            assert not set(first) & set(second)
            return fitting[0]
    raise AssertionError(task)


def rule_read_off_pixels(task: ProblemTask, pictures: np.ndarray) -> int:  # noqa: PLR0911
    """The answer from the pictures alone, one problem at a time."""

    def same(first: int, second: int) -> bool:
        return bool((pictures[first] == pictures[second]).all())

    def relations(start: int) -> list[bool]:
        return [same(start, start + 1), same(start, start + 2), same(start + 1, start + 2)]

    places = range(len(pictures))
    match task:
        case TintedSameDifferent() | AllSame() | SameDifferent():
            return int(not all(same(0, place) for place in places))
        case RelationalMatchToSample():
            return int(same(0, 1) == same(4, 5))
        case TripleMatchToSample():
            return int(relations(0) == relations(6))
        case IdentityRules():
            repeated = 4 if same(1, 2) else 3
            return next(choice for choice in range(4) if same(repeated, 5 + choice))
        case DistributionOfN() | DistributionOfThree():
            length = getattr(task, "row_length", 3)
            second = places[length:-4]
            (missing,) = [p for p in range(length) if not any(same(p, q) for q in second)]
            return next(choice for choice in range(4) if same(missing, choice - 4 + len(places)))
    if same(0, 1) or same(1, 2):
        wanted = 3 if same(0, 1) else 4
        return next(choice for choice in range(4) if same(wanted, 5 + choice))
    return next(c for c in range(4) if not any(same(place, 5 + c) for place in range(5)))

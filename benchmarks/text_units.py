"""Perplexity of WikiText-2 by counting, a word or a piece of a word at a time.

`python -m benchmarks.text_units` writes a table to `benchmarks/results/text-units`: the
perplexities that smoothed counts of words, and of the pieces that byte-pair encoding makes, give
on the test text. It is there to find the unit of a published perplexity, when the text does not
name it.

Counts of n units are smoothed by absolute discounting (0.75), interpolated with those of n - 1,
down to equal probabilities; they are made of the training text.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from farfield.core import stream
from farfield.tasks import WordText

DISCOUNT = 0.75
SPECIAL = ("<unk>", "<eos>")
ENDING = "</w>"
FOLDER = Path(__file__).parent / "results" / "text-units"
Pair = tuple[str, str]


def cross_entropy(train: Sequence[str], test: Sequence[str], order: int) -> float:
    """Compute the nats of all units of the test, by counts of up to `order` units."""
    counts = [Counter[tuple[str, ...]]() for _ in range(order)]
    contexts = [Counter[tuple[str, ...]]() for _ in range(order)]
    followers = [Counter[tuple[str, ...]]() for _ in range(order)]
    for length in range(order):
        for end in range(length, len(train)):
            gram = tuple(train[end - length : end + 1])
            followers[length][gram[:-1]] += not counts[length][gram]
            counts[length][gram] += 1
            contexts[length][gram[:-1]] += 1
    total = 0.0
    for end in range(len(test)):
        probability = 1 / len(counts[0])
        for length in range(min(order, end + 1)):
            gram = tuple(test[end - length : end + 1])
            seen = contexts[length][gram[:-1]]
            if seen:
                own = max(counts[length][gram] - DISCOUNT, 0.0) / seen
                left = DISCOUNT * followers[length][gram[:-1]] / seen
                probability = own + left * probability
        total -= math.log(probability)
    return total


@dataclass
class Pieces:
    """Byte-pair encoding of the words of a text, merge by merge (Sennrich et al. 2016)."""

    counts: Counter[str]
    merges: dict[Pair, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = {word: [*word, ENDING] for word in self.counts}
        self.pairs: Counter[Pair] = Counter()
        self.words: defaultdict[Pair, set[str]] = defaultdict(set)
        for word in self.parts:
            self._add(word, 1)
        self.queue = [(-count, pair) for pair, count in self.pairs.items()]
        heapq.heapify(self.queue)

    def _add(self, word: str, sign: int) -> set[Pair]:
        pairs = list(pairwise(self.parts[word]))
        for pair in pairs:
            self.pairs[pair] += sign * self.counts[word]
            self.words[pair].add(word)
        return set(pairs)

    def merge(self) -> None:
        """Make one piece of the pair that is most frequent."""
        count, pair = heapq.heappop(self.queue)
        while -count != self.pairs[pair]:
            if self.pairs[pair]:
                heapq.heappush(self.queue, (-self.pairs[pair], pair))
            count, pair = heapq.heappop(self.queue)
        self.merges[pair] = len(self.merges)
        changed: set[Pair] = set()
        for word in sorted(self.words[pair]):
            changed |= self._add(word, -1)
            self.parts[word] = joined(self.parts[word], pair)
            changed |= self._add(word, 1)
        for each in changed:
            heapq.heappush(self.queue, (-self.pairs[each], each))

    def of(self, word: str) -> list[str]:
        """Split a word into pieces; it need not be a word of the text."""
        if word in SPECIAL:
            return [word]
        parts = self.parts.get(word) or [*word, ENDING]
        while word not in self.parts:
            known = [pair for pair in pairwise(parts) if pair in self.merges]
            if not known:
                break
            parts = joined(parts, min(known, key=self.merges.__getitem__))
        return parts


def joined(parts: list[str], pair: Pair) -> list[str]:
    """Merge every occurrence of a pair in the parts of a word."""
    found: list[str] = []
    for part in parts:
        if found and (found[-1], part) == pair:
            found[-1] += part
        else:
            found.append(part)
    return found


def rows(merges: Sequence[int]) -> Iterator[str]:
    """Format the rows of the table."""
    task = WordText(data_set="wikitext2")
    vocabulary, sets = task.words(), task.draw(stream(0))
    texts = []
    for regime in ("training", "test"):
        target = sets[regime].target.flatten()
        texts.append([vocabulary[number] for number in target[target >= 0].tolist()])
    train, test = texts
    for order in (1, 2, 3):
        nats = cross_entropy(train, test, order)
        yield row(f"{order} words", len(test), len(test), nats)
    pieces = Pieces(Counter(word for word in train if word not in SPECIAL))
    for number in merges:
        while len(pieces.merges) < number:
            pieces.merge()
        cut = [[part for word in text for part in pieces.of(word)] for text in texts]
        for order in (1, 3):
            nats = cross_entropy(*cut, order)
            yield row(f"{order} pieces, {number:,} merges", len(cut[1]), len(test), nats)


def row(name: str, units: int, words: int, nats: float) -> str:
    """Format a row: units per word, perplexity of a unit and of a word."""
    found = [units / words, math.exp(nats / units), math.exp(nats / words)]
    return f"| {name} | {found[0]:.2f} | {found[1]:.1f} | {found[2]:,.1f} |"


def main() -> None:
    """Write the table."""
    head = [
        "| counts of | units a word | perplexity of a unit | of a word |",
        "|---|---:|---:|---:|",
    ]
    lines = ["# WikiText-2 by counting", "", *head]
    for line in rows((500, 1_000, 2_000, 4_000)):
        lines.append(line)
        print(line, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "wikitext2.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

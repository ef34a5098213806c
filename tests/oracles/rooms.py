"""A room with objects, one at a time and cell by cell: what an agent sees and what it may do."""

from __future__ import annotations

import numpy as np

WAYS = [(0, 1), (1, 0), (0, -1), (-1, 0)]  # east, south, west, north: rows grow to the south


class OneRoom:
    """Cells by coordinates: `None` where empty, `"wall"`, or the kind and color of an object."""

    def __init__(self, side, view, limit, agent, way, objects, target):
        self.side, self.view, self.limit = side, view, limit
        self.agent, self.way, self.objects, self.target = agent, way, dict(objects), target
        self.time = 0

    def cell(self, row, column):
        if not (0 <= row < self.side and 0 <= column < self.side):
            return "wall"
        return self.objects.get((row, column))

    def seen(self, kinds, colors, known_kinds, known_colors):
        planes = np.zeros((1 + kinds + colors + known_kinds + known_colors, self.view, self.view))
        down, right = WAYS[self.way], WAYS[(self.way + 1) % 4]
        for i in range(self.view):
            for j in range(self.view):
                ahead, aside = self.view - 1 - i, j - (self.view - 1) // 2
                found = self.cell(
                    self.agent[0] + ahead * down[0] + aside * right[0],
                    self.agent[1] + ahead * down[1] + aside * right[1],
                )
                if found == "wall":
                    planes[0, i, j] = 1
                elif found is not None:
                    planes[1 + found[0], i, j] = 1
                    planes[1 + kinds + found[1], i, j] = 1
        kind, color = self.objects[self.target]
        planes[1 + kinds + colors + kind] = 1
        planes[1 + kinds + colors + known_kinds + color] = 1
        return planes

    def act(self, action):
        """Reward, whether the episode terminated, and whether it was truncated."""
        self.time += 1
        reward, terminated = 0.0, False
        ahead = (self.agent[0] + WAYS[self.way][0], self.agent[1] + WAYS[self.way][1])
        if action == 0:
            self.way = (self.way + 3) % 4
        elif action == 1:
            self.way = (self.way + 1) % 4
        elif action == 2 and self.cell(*ahead) is None:
            self.agent = ahead
        elif action == 3 and isinstance(self.cell(*ahead), tuple):
            terminated = True
            if ahead == self.target:
                reward = 1 - 0.9 * self.time / self.limit
        return reward, terminated, not terminated and self.time >= self.limit

    def fewest_actions(self):
        """Length of a shortest way to pick up the target, or `None` where there is none."""
        reached, frontier, length = set(), [(self.agent, self.way)], 1
        while frontier:
            further = []
            for (row, column), way in frontier:
                if (row, column, way) in reached:
                    continue
                reached.add((row, column, way))
                ahead = (row + WAYS[way][0], column + WAYS[way][1])
                if ahead == self.target:
                    return length
                further += [((row, column), (way + 1) % 4), ((row, column), (way + 3) % 4)]
                if self.cell(*ahead) is None:
                    further.append((ahead, way))
            frontier, length = further, length + 1
        return None

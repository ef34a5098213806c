"""Numbers of lamb2022 on agents, typed from the paper once."""

from __future__ import annotations

from typing import Final

TRIALS: Final = 3
"""Trials for each game (caption of Figure 5)."""

TABLE_3: Final[dict[str, tuple[tuple[int, None], tuple[int, int]]]] = {
    "Ms. Pacman": ((6432, None), (6300, 3384)),
    "Alien": ((12500, None), (14382, 239)),
    "Amidar": ((3923, None), (3948, 23)),
    "Q-bert": ((27433, None), (33253, 2302)),
    "Crazy Climber": ((333242, None), (334323, 2389)),
}
"""Chapter 10: mean score and what stands after ±, of the baseline and with NFM."""
BETTER: Final = 4
"""Games of Table 3 of which the text says that results improve substantially."""

GAMES: Final[dict[str, str]] = {
    "Ms. Pacman": "ms_pacman",
    "Frostbite": "frostbite",
    "Alien": "alien",
    "Amidar": "amidar",
    "Hero": "hero",
    "Q-bert": "qbert",
    "Crazy Climber": "crazy_climber",
    "Demon Attack": "demon_attack",
}
"""Games that the text names: those of section 10.4.5, and the example of section 8.4.3."""

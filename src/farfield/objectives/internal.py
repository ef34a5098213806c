"""Names of `farfield.objectives` for Farfield itself; they may change in any release."""

from typing import Final

from farfield import objectives
from farfield._exports import exported
from farfield.objectives._objective import Carry as Carry
from farfield.objectives._teachers import teacher_warning as teacher_warning

AGENT_OBJECTIVES: Final[dict[str, type]] = {
    "ppo": objectives.PPO,
    "rainbow-iqn": objectives.RainbowIQN,
}
"""Objectives of agents, by name on the command line."""

__all__ = exported(vars())

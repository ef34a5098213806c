"""The sequence layers of chapter 8 of lamb2022, and rivals."""

from __future__ import annotations

from typing import Final

from farfield.experiments import Spec
from farfield.nn import (
    DNC,
    CausalTransformer,
    Communication,
    EntNet,
    GRULayer,
    HoldingRNN,
    LinearRecurrentUnit,
    LSTMLayer,
    NTMLayer,
    RelationalMemoryCore,
    RIMs,
    Wiring,
)


def _rims(
    num_mechanisms: int, num_active: int, hidden_size: int, wiring: Wiring | None = None
) -> Spec:
    return Spec(
        RIMs,
        hidden_size=hidden_size,
        num_mechanisms=num_mechanisms,
        num_active=num_active,
        wiring=wiring,
    )


PRINTED: Final[dict[str, Spec]] = {
    **{
        f"RIMs ({mechanisms}, {active}, {size})": _rims(mechanisms, active, size)
        for mechanisms, active, size in (
            (6, 6, 600),
            (6, 5, 600),
            (6, 4, 600),
            (6, 3, 600),
            (6, 2, 600),
            (5, 2, 500),
        )
    },
    "LSTM (300)": Spec(LSTMLayer, hidden_size=300),
    "LSTM (600)": Spec(LSTMLayer, hidden_size=600),
    "NTM": Spec(NTMLayer, hidden_size=256),
    "DNC": Spec(DNC, hidden_size=256),
    "RMC": Spec(RelationalMemoryCore, hidden_size=256),
    "EntNet": Spec(EntNet, hidden_size=256),
    "Transformers": Spec(CausalTransformer, hidden_size=128),
}
"""Layers by the row of Table 1 that they stand for. Sizes of the last five are not published."""

RELEASED: Final = _rims(6, 4, 600, wiring=Wiring.released())
"""The first row of the copying half, as in the released code."""

AS_ANSWERED: Final = _rims(5, 3, 510, wiring=Wiring.released())
"""RIMs as the author of the released code advises those who find less than published."""

TAKEN_AWAY: Final[dict[str, Spec]] = {
    "one active": _rims(6, 1, 600),
    "five active": _rims(6, 5, 600),
    "all active": _rims(6, 6, 600),
    "no input attention": _rims(6, 6, 600, wiring=Wiring(input_attention=None)),
    "no communication": _rims(6, 4, 600, wiring=Wiring(communication=None)),
    "sparse communication": _rims(6, 4, 600, wiring=Wiring(communication=Communication(top_k=2))),
}
"""Ablations of section 8.4.4: fewer and more active mechanisms than the 30 to 70 % that it calls
best, no input attention, less communication."""

SILENT: Final = ", no communication"
"""Suffix of a row whose mechanisms do not communicate."""
WITHOUT_COMMUNICATION: Final[dict[str, Spec]] = {
    f"RIMs (6, {active}, 600){SILENT}": _rims(6, active, 600, wiring=Wiring(communication=None))
    for active in (6, 5, 4)
}
"""The rows of RIMs of the digits' half of Table 1 that section 8.4.4 compares with them."""

RIVALS: Final[dict[str, Spec]] = {
    "GRU (600)": Spec(GRULayer, hidden_size=600),
    "Linear recurrent unit": Spec(LinearRecurrentUnit, hidden_size=128),
    "Holding RNN": Spec(HoldingRNN, hidden_size=256),
}
"""Layers that the text does not try; the last one is Farfield's own."""

"""RIMs in place of an LSTM
========================

A symbol is shown, then noise, and the answer at the end is the symbol. `RIMs` has the interface of
`nn.LSTM`. Of its six mechanisms three are active at a step; the others keep their state, which thus
outlasts the noise.

Both layers are trained on sequences of six steps, with equally many updates, and tested after up
to a hundred times as many steps.
"""

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.nn import RIMs

STEPS = 200
SYMBOLS, HIDDEN = 8, 48
LENGTHS = [6, 15, 60, 150, 600]
LAYERS = {
    "LSTM": lambda: nn.LSTM(SYMBOLS + 1, HIDDEN, batch_first=True),
    "RIMs": lambda: RIMs(SYMBOLS + 1, HIDDEN, num_mechanisms=6, num_active=3, batch_first=True),
}


class Recall(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer
        self.output = nn.Linear(HIDDEN, SYMBOLS)

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.layer(x)
        return self.output(states[:, -1])


def sequences(n: int, length: int) -> tuple[Tensor, Tensor]:
    """Draw a symbol in the first step, and a channel of noise in all other steps."""
    symbols = torch.randint(SYMBOLS, (n,))
    x = torch.zeros(n, length, SYMBOLS + 1)
    x[:, 0, :SYMBOLS] = F.one_hot(symbols, SYMBOLS).float()
    x[:, 1:, SYMBOLS] = torch.rand(n, length - 1)
    return x, symbols


# %%
# A loop like any other.


def train(layer: nn.Module) -> Recall:
    model = Recall(layer)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(STEPS):
        x, symbols = sequences(32, LENGTHS[0])
        loss = F.cross_entropy(model(x), symbols)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model.eval()


torch.manual_seed(0)
MODELS = {name: train(layer()) for name, layer in LAYERS.items()}

# %%
# Left: recall after ever longer noise. Right: which mechanisms are active in one sequence; `trace`
# says so.

figure, (recall, active) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
with torch.no_grad():
    for name, model in MODELS.items():
        tests = [sequences(300, length) for length in LENGTHS]
        scores = [100 * (model(x).argmax(1) == s).float().mean() for x, s in tests]
        recall.semilogx(LENGTHS, scores, "o-", label=name)
    x, _ = sequences(1, 30)
    mechanisms = MODELS["RIMs"].layer.trace(x)[0].active[:, 0].T
recall.axhline(100 / SYMBOLS, color="gray", linestyle=":", label="guessing")
recall.set(xlabel="steps", ylabel="right answers, percent", ylim=(0, 103))
recall.legend()
active.imshow(mechanisms.numpy(), cmap="Greys", aspect="auto")
active.set(xlabel="step", ylabel="mechanism", title="black: active")
figure.savefig("rims_for_an_lstm.png")

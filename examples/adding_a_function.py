"""A Neural Interpreter learns another function
============================================

A Neural Interpreter has a few functions and calls them by attention. For a new job, a token can be
trained with everything else unchanged: the existing functions are then called in another way. Or a
function is added: `add_functions(1, freeze=True)` fixes all learned weights, and the new function
learns beside the token.

Sets of six numbers are shown. The old jobs are their largest number, their smallest and their mean;
the new one is the second largest. The token alone does better in the one network trained here, as
it did on images (see the findings): try it first.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from farfield.nn import NeuralInterpreter, Syntax, TypeMatching

STEPS = 160
FEATURES = 32
OLD = (lambda x: x.amax(1), lambda x: x.amin(1), lambda x: x.mean(1))
NEW = (lambda x: x.topk(2, 1).values[:, 1],)


class Answers(nn.Module):
    """Reads a set of numbers, with a token for each thing that is asked of it."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.embed = nn.Linear(1, FEATURES)
        self.tokens = nn.Parameter(torch.randn(questions, FEATURES))
        self.core = NeuralInterpreter(
            FEATURES,
            num_functions=3,
            num_iterations=2,
            syntax=Syntax(matching=TypeMatching(bandwidth=0.3)),  # each type has separate functions
        )
        self.read = nn.Linear(FEATURES, 1)

    def elements(self, x: Tensor) -> Tensor:
        return torch.cat((self.tokens.expand(len(x), -1, -1), self.embed(x[..., None])), 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.read(self.core(self.elements(x))[:, : len(self.tokens)])[..., 0]


# %%
# One loop for both lessons: it trains the parameters that require gradients.


def learn(model: Answers, jobs: tuple, steps: int, learning_rate: float) -> list[float]:
    learned = [weights for weights in model.parameters() if weights.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=learning_rate)
    losses = []
    for _ in range(steps):
        x = torch.rand(32, 6)
        loss = F.mse_loss(model(x), torch.stack([job(x) for job in jobs], 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


torch.manual_seed(0)
trained = Answers(len(OLD))
learn(trained, OLD, 2 * STEPS, 3e-3)

# %%
# Two ways to the new job: a token for it and nothing else, or a token and a function.

MODELS, LOSSES = {}, {}
for name, functions in {"a token alone": 0, "a token and a function": 1}.items():
    torch.manual_seed(1)
    model = MODELS[name] = copy.deepcopy(trained).requires_grad_(False)
    model.tokens = nn.Parameter(torch.randn(1, FEATURES))
    if functions:
        model.core.add_functions(functions, freeze=True)
    LOSSES[name] = learn(model, NEW, STEPS, 1e-2)

# %%
# Left: how the new job is learned. Right: how much access the functions have to the token, in each
# of two iterations; the fourth is the new one.

figure, (curves, access) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
floor = NEW[0](torch.rand(10_000, 6)).var()
for name, losses in LOSSES.items():
    means = [part.mean() for part in torch.tensor(losses).chunk(20)]
    curves.semilogy(torch.linspace(0, STEPS, len(means) + 1)[1:], means, label=name)
curves.axhline(floor, color="gray", linestyle=":", label="the mean for every set")
curves.set(xlabel="steps", ylabel="squared error")
curves.legend()
model = MODELS["a token and a function"]
with torch.no_grad():
    trace = model.core.trace(model.elements(torch.rand(256, 6)))[0]
shares = trace.compatibility[..., 0].mean(1)  # (iteration, function) of the token
access.imshow(shares.T.numpy(), cmap="Greys", vmin=0, vmax=1)
for (iteration, function), share in np.ndenumerate(shares.numpy()):
    access.text(iteration, function, f"{share:.0%}", ha="center", va="center", color="tab:red")
labels = ["function 1", "function 2", "function 3", "the new one"]
access.set(yticks=range(4), yticklabels=labels, xticks=range(2), xticklabels=[1, 2])
access.set(xlabel="iteration", title="access of functions to the token")
figure.savefig("adding_a_function.png")

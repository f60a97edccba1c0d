#!/usr/bin/env python3
"""Trains the models of examples/ in PyTorch on the CPU: same data, sizes, batches, steps, optimisers.

Prints one JSON line: the training's name, threads, seed and steps, the seconds that
its steps took, drawing the batches included and measuring the model not, and the
result in the unit of the example: accuracy, nats per character, squared error, or
how many are right. `go run ./bench` lets it take turns with the examples.
"""
import argparse
import csv
import datetime
import json
import math
import os
import random
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("name", help="digits-mlp, digits-cnn, chars-gpt, chars-lstm, autoencoder, karate-gcn, dates-SCORE of attention")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read once, when the libraries load
    os.environ.setdefault(variable, str(args.threads))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(args.threads)
torch.manual_seed(args.seed)
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "train", "data")


def read(name):
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        return file.read()


def table(name):
    """The rows below the header, as numbers."""
    return torch.tensor([[float(v) for v in row] for row in list(csv.reader(read(name).splitlines()))[1:]])


def update(optimiser, loss, clip=None):
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    if clip:
        nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], clip)
    optimiser.step()


# A training is a pair: a generator that does a step each time it is asked, and a
# function that measures what has been learnt.


def digits(net, epochs):
    images = table("digits.csv")
    x, y = images[:, :64] / 16, images[:, 64].long()
    held = torch.arange(len(x)) % 5 == 4
    fit_x, fit_y = x[~held], y[~held]
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)

    def steps():
        for _ in range(epochs):
            for rows in torch.randperm(len(fit_x)).split(64):
                update(optimiser, F.cross_entropy(net(fit_x[rows]), fit_y[rows]))
                yield

    return steps(), lambda: (net(x[held]).argmax(1) == y[held]).float().mean().item()


def digits_mlp():
    return digits(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)), 30)


def digits_cnn():
    return digits(nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10)), 20)


WINDOW = 64


class GPT(nn.Module):
    def __init__(self, vocabulary, width=64, heads=4, layers=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(WINDOW, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm, self.output = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.register_buffer("mask", torch.triu(torch.full((WINDOW, WINDOW), float("-inf")), 1))

    def forward(self, x):
        h = self.tokens(x) + self.places.weight
        for block in self.blocks:
            h = block(h, src_mask=self.mask)
        return self.output(self.norm(h))


class LSTM(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.lstm = nn.Embedding(vocabulary, 64), nn.LSTM(64, 128, batch_first=True)
        self.output = nn.Linear(128, vocabulary)

    def forward(self, x):
        return self.output(self.lstm(self.tokens(x))[0])


def characters(model, rate):
    text = read("us-constitution.txt")
    codes = {c: code for code, c in enumerate(sorted(set(text)))}
    text = torch.tensor([codes[c] for c in text])
    fit, held = text[:len(text) * 9 // 10], text[len(text) * 9 // 10:]
    net = model(len(codes))
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate)

    def loss(windows):
        return F.cross_entropy(net(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    def steps():
        for _ in range(1000):
            starts = torch.randint(len(fit) - WINDOW, (16, 1))
            update(optimiser, loss(fit[starts + torch.arange(WINDOW + 1)]))
            yield

    return steps(), lambda: loss(held.unfold(0, WINDOW + 1, WINDOW)).item()


def autoencoder():
    x = table("digits.csv")[:, :64]
    net = nn.Sequential(nn.Linear(64, 10), nn.Linear(10, 64))
    count = 20_000
    optimiser = torch.optim.Adam(net.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.01 ** (1 / (count - 1)))

    def loss():
        return F.mse_loss(net(x), x, reduction="sum") / len(x)

    def steps():
        for _ in range(count):
            update(optimiser, loss())
            schedule.step()
            yield

    return steps(), lambda: loss().item()


class GCN(nn.Module):
    def __init__(self, members, adjacency):
        super().__init__()
        self.first, self.second = nn.Linear(members, 16, bias=False), nn.Linear(16, 2, bias=False)
        self.first_offset, self.second_offset = nn.Parameter(torch.zeros(16)), nn.Parameter(torch.zeros(2))
        self.register_buffer("adjacency", adjacency)

    def forward(self, x):
        h = torch.relu(self.adjacency @ self.first(x) + self.first_offset)
        return self.adjacency @ self.second(h) + self.second_offset


def karate():
    edges, faction = table("karate_edges.csv").long(), table("karate_members.csv")[:, 1].long()
    friends = torch.eye(len(faction))
    friends[edges[:, 0], edges[:, 1]] = friends[edges[:, 1], edges[:, 0]] = 1
    degree = friends.sum(1)
    net, x, known = GCN(len(faction), friends / (degree[:, None] * degree).sqrt()), torch.eye(len(faction)), [0, 33]
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)

    def steps():
        for _ in range(200):
            update(optimiser, F.cross_entropy(net(x)[known], faction[known]))
            yield

    return steps(), lambda: (net(x).argmax(1) == faction).sum().item()


TEXT = " ,./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ISO, START = "-0123456789", 11


def ordinal(day):
    return f"{day}" + ("th" if day // 10 == 1 or day % 10 > 3 else ["th", "st", "nd", "rd"][day % 10])


FORMATS = [
    lambda d: f"{d.day} {d:%B} {d.year}",
    lambda d: f"{d:%B} {d.day} {d:%y}".lower(),
    lambda d: f"{d:%A}, {d:%B} {d.day}, {d.year}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d:%m/%d/%y}",
    lambda d: f"the {ordinal(d.day)} of {d:%B} {d.year}",
]


class Translator(nn.Module):
    """Two GRUs read, one says; attention looks back for all characters at once, and none of them reads padding."""

    def __init__(self, score, width=64):
        super().__init__()
        self.score = score
        self.source, self.target = nn.Embedding(len(TEXT), 32), nn.Embedding(len(ISO) + 1, 32)
        self.encoder = nn.GRU(32, width, bidirectional=True, batch_first=True)
        self.decoder = nn.GRU(32, 2 * width, batch_first=True)
        if score == "multiplicative":
            self.w = nn.Linear(2 * width, 2 * width, bias=False)
        if score == "additive":
            self.w1, self.w2 = nn.Linear(2 * width, width, bias=False), nn.Linear(2 * width, width, bias=False)
            self.v = nn.Parameter(torch.randn(width))
        self.output = nn.Linear(4 * width, len(ISO))

    def read(self, text, length):
        packed = nn.utils.rnn.pack_padded_sequence(self.source(text), length, batch_first=True, enforce_sorted=False)
        seen, last = self.encoder(packed)
        seen, _ = nn.utils.rnn.pad_packed_sequence(seen, batch_first=True, total_length=text.shape[1])
        padding = torch.arange(text.shape[1]) >= length[:, None]
        return seen, padding[:, None], torch.cat([last[0], last[1]], -1)[None]

    def say(self, said, seen, padding):
        if self.score == "dot":
            e = said @ seen.transpose(1, 2)
        elif self.score == "multiplicative":
            e = self.w(said) @ seen.transpose(1, 2)
        else:
            e = torch.tanh(self.w1(seen)[:, None] + self.w2(said)[:, :, None]) @ self.v
        return self.output(torch.cat([e.masked_fill(padding, -math.inf).softmax(-1) @ seen, said], -1))

    def forward(self, text, length, iso):
        seen, padding, state = self.read(text, length)
        before = F.pad(iso[:, :-1], (1, 0), value=START)
        return self.say(self.decoder(self.target(before), state)[0], seen, padding)

    def free(self, text, length):
        """What it says on its own."""
        seen, padding, state = self.read(text, length)
        said = [torch.full((len(text), 1), START)]
        for _ in range(10):
            out, state = self.decoder(self.target(said[-1]), state)
            said.append(self.say(out, seen, padding).argmax(-1))
        return torch.cat(said[1:], 1)


def dates(score):
    random.seed(args.seed)
    first, pairs = datetime.date(1950, 1, 1), []
    for k in random.sample(range(36525 * len(FORMATS)), 10_000):
        date = first + datetime.timedelta(k // len(FORMATS))
        pairs.append((FORMATS[k % len(FORMATS)](date), date.isoformat()))
    text = torch.tensor([[TEXT.index(c) for c in t.ljust(29)] for t, _ in pairs])
    length = torch.tensor([len(t) for t, _ in pairs])
    iso = torch.tensor([[ISO.index(c) for c in i] for _, i in pairs])
    net, count = Translator(score), 1000
    optimiser = torch.optim.Adam(net.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda k: (k + 1) / 50 if k < 50 else (1 + math.cos(math.pi * (k - 50) / (count - 50))) / 2)

    def batches():
        while True:
            yield from torch.randperm(9000).split(64)

    def steps():
        for _, rows in zip(range(count), batches()):
            said = net(text[rows], length[rows], iso[rows])
            update(optimiser, F.cross_entropy(said.flatten(0, 1), iso[rows].flatten()), clip=1)
            schedule.step()
            yield

    return steps(), lambda: (net.free(text[9000:], length[9000:]) == iso[9000:]).all(1).sum().item()


TRAININGS = {
    "digits-mlp": digits_mlp,
    "digits-cnn": digits_cnn,
    "chars-gpt": lambda: characters(GPT, 1e-3),
    "chars-lstm": lambda: characters(LSTM, 3e-3),
    "autoencoder": autoencoder,
    "karate-gcn": karate,
    "dates-dot": lambda: dates("dot"),
    "dates-multiplicative": lambda: dates("multiplicative"),
    "dates-additive": lambda: dates("additive"),
}
if args.name not in TRAININGS:
    parser.error(f"there is no training {args.name}: want one of {', '.join(TRAININGS)}")

steps, measure = TRAININGS[args.name]()
start = time.perf_counter()
count = sum(1 for _ in steps)
seconds = time.perf_counter() - start
with torch.no_grad():
    result = measure()
print(json.dumps({"training": args.name, "threads": args.threads, "seed": args.seed, "steps": count,
                  "seconds": round(seconds, 6), "result": result}))

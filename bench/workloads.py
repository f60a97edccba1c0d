"""The training steps of internal/workload, written in PyTorch.

Each workload is a function of a dtype that gives a Workload: a loss over
parameters, and the parameters with the same initial values, element for element,
as the Go side. What a PyTorch user would write, with the fused functions that
PyTorch has (addmm, layer_norm, cross_entropy, LSTM); nothing is tuned by hand.
"""
import math
from typing import Callable, List, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # Knuth's MMIX
WORD = 1 << 64


class Workload(NamedTuple):
    loss: Callable[[], torch.Tensor]
    params: List[torch.Tensor]
    rate: float


def uniform(seed, count):
    """The first count numbers in [0, 1) of the linear congruential generator.

    s0 = 0x9E3779B97F4A7C15·(seed+1), s ← s·MULTIPLIER + INCREMENT modulo 2⁶⁴,
    u = (s >> 40)·2⁻²⁴. m steps at once are again s·a + c, so the known numbers
    give as many new ones.
    """
    a, c = MULTIPLIER, INCREMENT
    states = np.array([(0x9E3779B97F4A7C15 * (seed + 1) * a + c) % WORD], np.uint64)
    while len(states) < count:
        states = np.concatenate([states, states * np.uint64(a) + np.uint64(c)])
        a, c = a * a % WORD, (a + 1) * c % WORD
    return (states[:count] >> np.uint64(40)).astype(np.float64) * 2.0**-24


def values(seed, shape, scale=1.0):
    """Numbers in [−scale, scale), row by row."""
    return torch.from_numpy((2 * uniform(seed, math.prod(shape)) - 1) * scale).reshape(shape)


def labels(seed, count, classes):
    return torch.from_numpy(np.floor(uniform(seed, count) * classes).astype(np.int64))


def params(dtype, *given):
    """Leaves of the given element type that are trained."""
    return [g.to(dtype).contiguous().requires_grad_() for g in given]


def kmeans(dtype, n, d, k, rate, goofy=False, gamma=0.05):
    x = values(1, (n, d)).to(dtype)
    (r,) = params(dtype, values(2, (k, d)))

    def loss():
        norms = (x * x).sum(1, keepdim=True) + (r * r).sum(1)
        dist = torch.addmm(norms, x, r.t(), alpha=-2)
        alpha = torch.softmax(dist * -gamma, 1)
        if goofy:
            return (alpha @ r - x).square().sum(1).mean()
        return (alpha * dist).sum(1).mean()

    return Workload(loss, [r], rate)


def mlp(dtype):
    sizes = [784, 512, 256, 10]
    x, y = values(10, (128, sizes[0])).to(dtype), labels(11, 128, sizes[-1])
    ps = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        ps += params(dtype, values(20 + i, (a, b), math.sqrt(6 / a)), torch.zeros(b))

    def loss():
        h = x
        for w, b in zip(ps[0:4:2], ps[1:4:2]):
            h = torch.relu(torch.addmm(b, h, w))
        return F.cross_entropy(torch.addmm(ps[5], h, ps[4]), y)

    return Workload(loss, ps, 0.05)


def attention(dtype):
    batch, steps, width, heads, inner = 8, 64, 128, 4, 512
    rows = batch * steps
    x, target = values(30, (rows, width)).to(dtype), values(31, (rows, width)).to(dtype)
    linear = lambda seed, a, b: params(dtype, values(seed, (a, b), math.sqrt(3 / a)), torch.zeros(b))
    norm = lambda: params(dtype, torch.ones(width), torch.zeros(width))
    before, after = norm(), norm()
    wq, bq, wk, bk, wv, bv, wo, bo = sum((linear(seed, width, width) for seed in range(32, 36)), [])
    w1, b1 = linear(36, width, inner)
    w2, b2 = linear(37, inner, width)
    split = lambda z: z.view(batch, steps, heads, width // heads).transpose(1, 2)

    def loss():
        n = F.layer_norm(x, (width,), *before)
        q, k, v = (split(torch.addmm(b, n, w)) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
        p = torch.softmax(q @ k.transpose(2, 3) * (width // heads) ** -0.5, -1)
        h = x + torch.addmm(bo, (p @ v).transpose(1, 2).reshape(rows, width), wo)
        n = F.layer_norm(h, (width,), *after)
        y = h + torch.addmm(b2, F.gelu(torch.addmm(b1, n, w1), approximate="tanh"), w2)
        return (y - target).square().mean()

    return Workload(loss, [*before, wq, bq, wk, bk, wv, bv, wo, bo, *after, w1, b1, w2, b2], 0.1)


def lstm(dtype):
    batch, steps, width, hidden = 32, 64, 128, 256
    x, target = values(50, (steps, batch, width)).to(dtype), values(51, (batch, hidden)).to(dtype)
    # torch.lstm wants the weights as [4·hidden, in]; its second bias stays zero.
    w, u, b = params(dtype, values(52, (width, 4 * hidden), math.sqrt(3 / width)).t(),
                     values(53, (hidden, 4 * hidden), math.sqrt(3 / hidden)).t(), torch.zeros(4 * hidden))
    zero = torch.zeros(4 * hidden, dtype=dtype)
    start = torch.zeros(1, batch, hidden, dtype=dtype)

    def loss():
        _, last, _ = torch.lstm(x, (start, start), [w, u, b, zero], True, 1, 0.0, True, False, False)
        return (last[0] - target).square().mean()

    return Workload(loss, [w, u, b], 10.0)


def conv(dtype, channels_last=False):
    batch, side, classes = 32, 32, 10
    layout = torch.channels_last if channels_last else torch.contiguous_format
    # Values are drawn for [n h w c], [kh kw c o] and rows of the last matrix in
    # the order (h w c); PyTorch wants the channels before the places.
    x = values(40, (batch, side, side, 3)).permute(0, 3, 1, 2).to(dtype).contiguous(memory_format=layout)
    y = labels(41, batch, classes)
    ps, channels = [], [3, 32, 64, 64]
    for i, (a, b) in enumerate(zip(channels, channels[1:])):
        w = values(42 + i, (3, 3, a, b), math.sqrt(6 / (9 * a))).permute(3, 2, 0, 1)
        ps += [w.to(dtype).contiguous(memory_format=layout).requires_grad_(), *params(dtype, torch.zeros(b))]
    last = side // 8
    w = values(45, (last, last, channels[-1], classes), math.sqrt(6 / (last * last * channels[-1])))
    ps += params(dtype, w.permute(2, 0, 1, 3).reshape(-1, classes), torch.zeros(classes))

    def loss():
        h = x
        for w, b in zip(ps[0:6:2], ps[1:6:2]):
            h = F.max_pool2d(torch.relu(F.conv2d(h, w, b, padding=1)), 2)
        return F.cross_entropy(torch.addmm(ps[7], h.flatten(1), ps[6]), y)

    return Workload(loss, ps, 0.05)


WORKLOADS = {
    "kmeans_softmax": lambda dtype: kmeans(dtype, 4096, 64, 64, 1.0),
    "kmeans_goofy": lambda dtype: kmeans(dtype, 4096, 64, 64, 1.0, goofy=True),
    "kmeans_large": lambda dtype: kmeans(dtype, 200_000, 32, 256, 1.0),
    "mlp": mlp,
    "attention": attention,
    "small": lambda dtype: kmeans(dtype, 8, 2, 3, 0.1),
    "lstm": lstm,
    "conv": conv,
    "conv_channels_last": lambda dtype: conv(dtype, channels_last=True),
}

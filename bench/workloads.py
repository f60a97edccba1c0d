"""The training steps of internal/workload, written in PyTorch.

Each workload is a function of a dtype that gives a Workload: a loss over
parameters, and the parameters with the same initial values, element for element,
as the Go side; or, without parameters, an evaluation of some arrays. What a PyTorch user would write, with the fused functions that
PyTorch has (addmm, layer_norm, cross_entropy, LSTM); nothing is tuned by hand.
"""
import math
from typing import Callable, List, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

MULTIPLIER, INCREMENT = 6364136223846793005, 1442695040888963407  # Knuth's MMIX
WORD = 1 << 64


class Workload(NamedTuple):
    loss: Callable[[], torch.Tensor]  # of an evaluation the arrays, a tuple
    params: List[torch.Tensor] = []
    rate: float = 0.0


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


def checksum(arrays):
    """The sum of all arrays times numbers of seed 1000 for the first, 1001 for the second and so on."""
    there = [a.double() if a.dim() < 4 else a.double().permute(2, 3, 1, 0) for a in arrays]  # filters are [kh kw c o] there
    return sum((values(1000 + i, a.shape) * a).sum().item() for i, a in enumerate(there))


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


def reprojection(dtype, cameras=100, points=5000, rows=50_000):
    camera = values(70, (cameras, 11), 0.3)
    camera[:, 5] -= 4
    camera[:, 6] += 1
    camera, point = camera.to(dtype), values(71, (points, 3)).to(dtype)
    weight, seen = values(72, (rows, 1)).to(dtype), values(73, (rows, 2)).to(dtype)
    by_camera, by_point = labels(74, rows, cameras), labels(75, rows, points)

    def residuals(row):
        r, place, focal, middle, k1, k2, x, w = row.split([3, 3, 1, 2, 1, 1, 3, 1], 1)
        theta = r.norm(dim=1, keepdim=True)
        axis, d = r / theta, x - place
        along = axis * (axis * d).sum(1, keepdim=True)
        turned = d * theta.cos() + torch.cross(axis, d, 1) * theta.sin() + along * (1 - theta.cos())
        u = turned[:, :2] / turned[:, 2:]
        r2 = u.square().sum(1, keepdim=True)
        return (u * (1 + r2 * (k1 + r2 * k2)) * focal + middle - seen) * w

    def run():
        row = torch.cat([camera[by_camera], point[by_point], weight], 1).requires_grad_()
        residual = residuals(row)
        # No row depends on another: the gradient of a column's sum is a row of each Jacobian.
        rows_of = [torch.autograd.grad(residual[:, i].sum(), row, retain_graph=True)[0] for i in (0, 1)]
        return residual.detach(), torch.stack(rows_of, 1)

    return Workload(run)


def chain(dtype, points=544):
    fingers, finger_bones = 5, 4
    bones, size = 2 + fingers * finger_bones, 26
    parents = [1 if b >= 2 and (b - 2) % finger_bones == 0 else b - 1 for b in range(bones)]
    at = [[0, 1, 2], [3, 4, 5]]
    for a in range(6, size, finger_bones):
        at += [[a, size, a + 1], [a + 2, size, size], [a + 3, size, size], [size] * 3]
    at = torch.tensor(at)
    pose, directions = values(80, (size,)).to(dtype), values(81, (size, size)).to(dtype)
    offset = values(82, (bones, 3), 0.3)
    rest = torch.eye(4, dtype=torch.float64).repeat(bones, 1, 1)
    for b in range(bones):
        rest[b, :3, 3] = -offset[b] + (rest[parents[b], :3, 3] if b else 0)
    offset, rest = offset.to(dtype), rest.to(dtype)
    skin = torch.cat([values(83, (3, points)), torch.ones(1, points, dtype=torch.float64)]).to(dtype)
    weight = (torch.from_numpy(uniform(84, bones * points)).reshape(bones, 1, points) / (bones // 2)).to(dtype)
    seen, point = values(85, (points, 3)).to(dtype), labels(86, points, points)
    zero, one = torch.zeros(bones, dtype=dtype), torch.ones(bones, dtype=dtype)

    def far(pose):
        angles = F.pad(pose, (0, 1))[at]
        (sx, sy, sz), (cx, cy, cz), (ox, oy, oz) = angles.sin().unbind(1), angles.cos().unbind(1), offset.unbind(1)
        local = torch.stack([cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz, ox,
                             cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz, oy,
                             -sy, sx * cy, cx * cy, oz, zero, zero, zero, one], 1).view(bones, 4, 4)
        world = [local[0]]
        for b in range(1, bones):
            world.append(world[parents[b]] @ local[b])
        moved = (torch.stack(world) @ rest)[:, :3]
        posed = ((moved @ skin) * weight).sum(0).t()
        return seen - posed[point]

    def run():
        speeds = []
        with forward_ad.dual_level():
            for d in directions:
                value, speed = forward_ad.unpack_dual(far(forward_ad.make_dual(pose, d)))
                speeds.append(speed)
        return value, torch.stack(speeds)

    return Workload(run)


def lstm_small(dtype, steps=1024, cells=14, layers=2):
    x, label = values(90, (steps, cells)).to(dtype), labels(91, steps, cells)
    state = values(92, (layers, 2, cells)).to(dtype)
    first, out, bias = params(dtype, *(values(seed, (cells,)) for seed in (93, 94, 95)))
    weights = params(dtype, *(values(96 + i, (4, cells)) for i in range(2 * layers)))

    def loss():
        h, c = list(state[:, 0]), list(state[:, 1])
        shown = []
        for now in x * first:
            for layer in range(layers):
                w, b = weights[2 * layer], weights[2 * layer + 1]
                forget, let = torch.sigmoid(now * w[0] + b[0]), torch.sigmoid(h[layer] * w[1] + b[1])
                show, change = torch.sigmoid(now * w[2] + b[2]), torch.tanh(h[layer] * w[3] + b[3])
                c[layer] = c[layer] * forget + let * change
                now = h[layer] = show * torch.tanh(c[layer])
            shown.append(now)
        return F.cross_entropy(torch.stack(shown) * out + bias, label)

    return Workload(loss, [first, out, bias, *weights], 1.0)


def mixture(dtype, n=10_000, d=32, k=100):
    x = values(110, (n, d)).to(dtype)
    alpha, mean, logs, packed = params(dtype, values(111, (k,)), values(112, (k, d)), values(113, (k, d), 0.5),
                                       values(114, (k, d * (d - 1) // 2), 0.1))
    rows, columns = torch.tril_indices(d, d, -1)

    def loss():
        factor = torch.diag_embed(logs.exp()).index_put((torch.arange(k)[:, None], rows, columns), packed)
        z = (x - mean[:, None]) @ factor.transpose(1, 2)  # [k i d]: an einsum over [i k d] takes twice as long
        exponent = (alpha + logs.sum(1))[:, None] - 0.5 * z.square().sum(2)
        return -(torch.logsumexp(exponent, 0) - torch.logsumexp(alpha, 0)).mean()

    return Workload(loss, [alpha, mean, logs, packed], 0.01)


def logreg(dtype, n=16_384, d=256):
    x, y = values(120, (n, d)).to(dtype), labels(121, n, 2).to(dtype)
    w, b = params(dtype, values(122, (d,), 0.1), torch.zeros(()))

    def loss():
        return F.binary_cross_entropy_with_logits(x @ w + b, y) + 0.005 * w.square().sum()

    return Workload(loss, [w, b], 0.5)


def embedding(dtype, words=1_000_000, width=64, bags=4096, length=8, classes=10):
    word, label = labels(130, bags * length, words).view(bags, length), labels(131, bags, classes)
    table, w, b = params(dtype, values(132, (words, width)), values(133, (width, classes), math.sqrt(6 / width)), torch.zeros(classes))

    def loss():
        bag = F.embedding(word, table, sparse=True).mean(1)
        return F.cross_entropy(torch.addmm(b, bag, w), label)

    return Workload(loss, [table, w, b], 1.0)


def softmax_short(dtype, n=100_000, classes=5):
    x, label = values(140, (n, 4)).to(dtype), labels(141, n, classes)
    w, b, u, c = params(dtype, values(142, (4, 8), math.sqrt(6 / 4)), torch.zeros(8),
                        values(143, (8, classes), math.sqrt(60 / 8)), torch.zeros(classes))

    def loss():
        return F.cross_entropy(torch.addmm(c, torch.softmax(torch.addmm(b, x, w), 1), u), label)

    return Workload(loss, [w, b, u, c], 1.0)


def triangular(dtype, n=2000, d=16):
    x, target = values(150, (n, d)).to(dtype), values(151, (n, d)).to(dtype)
    (packed,) = params(dtype, values(152, (n, d * (d + 1) // 2)))
    rows, columns = torch.tril_indices(d, d)
    zeros = torch.zeros(n, d, d, dtype=dtype)

    def loss():
        lower = zeros.index_put((torch.arange(n)[:, None], rows, columns), packed)
        return (torch.bmm(lower, x[:, :, None])[:, :, 0] - target).square().mean()

    return Workload(loss, [packed], float(n))


def net_params(dtype, seed, shapes, layout=torch.contiguous_format):
    """Parameters of a net: of a shape as many as its seed says, True a gain, False a bias."""
    out = []
    for i, shape in enumerate(shapes):
        if len(shape) == 2 and isinstance(shape[1], bool):
            start = (torch.ones if shape[1] else torch.zeros)(shape[0])
        elif len(shape) == 4:  # drawn for [kh kw c o]
            start = values(seed + i, shape, math.sqrt(6 / math.prod(shape[:3]))).permute(3, 2, 0, 1)
        else:
            start = values(seed + i, shape, 0.02 * math.sqrt(3))
        out.append(start.to(dtype).contiguous(memory_format=layout if start.dim() == 4 else torch.contiguous_format).requires_grad_())
    return out


def resnet18(dtype, side=224, classes=1000, images=4, channels_last=False):
    layout = torch.channels_last if channels_last else torch.contiguous_format
    x = values(60, (images, side, side, 3)).permute(0, 3, 1, 2).to(dtype).contiguous(memory_format=layout)
    y = labels(61, images, classes)
    norm = lambda c: [(c, True), (c, False)]
    shapes, blocks, c = [(7, 7, 3, 64), *norm(64)], [], 64
    for b in range(8):
        wide = 2 * c if b and b % 2 == 0 else c
        shapes += [(3, 3, c, wide), *norm(wide), (3, 3, wide, wide), *norm(wide)]
        if wide > c:
            shapes.append((1, 1, c, wide))
        blocks.append((wide // c, wide))
        c = wide
    shapes += [(c, classes), (classes, False)]
    ps = net_params(dtype, 200, shapes, layout)
    running = [(torch.zeros(c, dtype=dtype), torch.ones(c, dtype=dtype)) for c in [64] + [w for _, w in blocks for _ in (0, 1)]]

    def loss():
        given, stats = iter(ps), iter(running)
        normed = lambda h: F.batch_norm(h, *next(stats), next(given), next(given), training=True)
        h = torch.relu(normed(F.conv2d(x, next(given), stride=2, padding=3)))
        h = F.max_pool2d(h, 3, 2, 1)
        for stride, _ in blocks:
            f = torch.relu(normed(F.conv2d(h, next(given), stride=stride, padding=1)))
            f = normed(F.conv2d(f, next(given), padding=1))
            if stride > 1:
                h = F.conv2d(h, next(given), stride=stride)
            h = torch.relu(h + f)
        w, b = given
        return F.cross_entropy(torch.addmm(b, h.mean((2, 3)), w), y)

    return Workload(loss, ps, 0.001)


def gpt2(dtype, length=256, tokens=50257, width=768, blocks=12, heads=12):
    x, y = labels(62, length, tokens), labels(63, length, tokens)
    norm = [(width, True), (width, False)]
    block = [(width, width)] * 4 + [(width, False)] * 4 + [(width, 4 * width), (4 * width, False), (4 * width, width), (width, False)]
    ps = net_params(dtype, 300, [(tokens, width), (length, width), *(block + norm + norm) * blocks, *norm])
    unseen = torch.ones(length, length).triu(1).bool()
    split = lambda z: z.view(length, heads, width // heads).transpose(0, 1)

    def loss():
        h = F.embedding(x, ps[0]) + ps[1]
        for i in range(2, len(ps) - 2, 16):
            wq, wk, wv, wo, bq, bk, bv, bo, up, b1, down, b2, *norms = ps[i:i + 16]
            n = F.layer_norm(h, (width,), *norms[:2])
            q, k, v = (split(torch.addmm(b, n, w)) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
            scores = (q @ k.transpose(1, 2) * (width // heads) ** -0.5).masked_fill(unseen, -math.inf)
            h = h + torch.addmm(bo, (torch.softmax(scores, 2) @ v).transpose(0, 1).reshape(length, width), wo)
            n = F.layer_norm(h, (width,), *norms[2:])
            h = h + torch.addmm(b2, F.gelu(torch.addmm(b1, n, up), approximate="tanh"), down)
        return F.cross_entropy(F.layer_norm(h, (width,), *ps[-2:]) @ ps[0].t(), y)

    return Workload(loss, ps, 0.1)


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
    "reprojection": reprojection,
    "chain": chain,
    "lstm-small": lstm_small,
    "mixture": mixture,
    "logreg": logreg,
    "embedding": embedding,
    "softmax-short": softmax_short,
    "triangular": triangular,
    "resnet18": resnet18,
    "resnet18_channels_last": lambda dtype: resnet18(dtype, channels_last=True),
    "gpt2-small": gpt2,
}

NAMES = [name for name in WORKLOADS if not name.endswith("_channels_last")]

# What is large, at sizes that a test can afford.
TINY = {
    "mixture": lambda dtype: mixture(dtype, 50, 8, 5),
    "embedding": lambda dtype: embedding(dtype, 1000, 8, 32, 4),
    "resnet18": lambda dtype: resnet18(dtype, 64, 10, 2),
    "gpt2-small": lambda dtype: gpt2(dtype, 8, 50, 16, 2, 2),
}

# The element types that workloads are timed in, float32 unless they stand here.
DTYPES = {
    **dict.fromkeys(["kmeans_softmax", "kmeans_goofy", "kmeans_large", "logreg", "softmax-short"], ["float32", "float64"]),
    **dict.fromkeys(["reprojection", "chain", "lstm-small", "mixture", "triangular"], ["float64"]),
}

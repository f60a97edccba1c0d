"""Arrays of which an axis, drawn at random, has size 0."""
import numpy as np
import torch
import torch.nn.functional as F

from make import case, rng, shape


def hollow(r, rank_from=1):
    """Returns a random shape with an axis of size 0, and another axis or the same."""
    s = list(shape(r, rank_from, 3, 4))
    s[int(r.integers(len(s)))] = 0
    return s, int(r.integers(len(s)))


ALONG = {
    "Sum": lambda x, a: x.sum(a),
    "Prod": lambda x, a: x.prod(a),
    "Mean": lambda x, a: x.mean(a),
    "LogSumExp": lambda x, a: x.logsumexp(a),
    "Softmax": lambda x, a: x.softmax(a),
    "CumSum": lambda x, a: x.cumsum(a),
    "Sort": lambda x, a: x.sort(a).values,
}


def cases():
    for op, f in ALONG.items():
        for i in range(20):
            r = rng("empty " + op, i)
            s, a = hollow(r)
            yield case(op, lambda x: f(x, a), {"x": r.normal(size=s)}, attrs={"axis": a})
    for i in range(20):
        r = rng("empty Max", i)
        s, a = hollow(r, 2)
        s[a] = int(r.integers(1, 4))
        s[a - 1] = 0
        yield case("Max", lambda x: x.max(a).values, {"x": r.normal(size=s)}, attrs={"axis": a})
    for i in range(20):
        r = rng("empty Sub", i)
        s, _ = hollow(r)
        t = [int(r.choice([1, n])) for n in s[int(r.integers(len(s))) :]]
        yield case("Sub", lambda x, y: x - y, {"x": r.normal(size=s), "y": r.normal(size=t)})
    for i in range(20):
        r = rng("empty MatMul", i)
        b, m, k, n = (int(v) for v in r.integers(1, 5, 4) * (np.arange(4) != r.integers(4)))
        yield case("MatMul", torch.matmul, {"a": r.normal(size=[b, m, k]), "b": r.normal(size=[b, k, n])})
    for i in range(20):
        r = rng("empty Concat", i)
        s = list(shape(r, 1, 3, 4))
        a = int(r.integers(len(s)))
        t = list(s)
        t[a] = 0
        yield case("Concat", lambda x, y: torch.cat([x, y, y], a), {"x": r.normal(size=s), "y": r.normal(size=t)}, attrs={"axis": a})
    for i in range(20):
        r = rng("empty Gather", i)
        n, d = (int(v) for v in r.integers(0, 4, 2))
        yield case("Gather", lambda x, k: x[k], {"x": r.normal(size=[n, d])}, ints={"k": np.zeros(0, int)})
    for i in range(20):
        r = rng("empty AddAt", i)
        n, d = (int(v) for v in r.integers(0, 4, 2))
        arrays = {"x": r.normal(size=[n, d]), "v": r.normal(size=[0, d])}
        yield case("AddAt", lambda x, v, k: x.index_add(0, k, v), arrays, ints={"k": np.zeros(0, int)})
    for i in range(20):
        r = rng("empty Det", i)
        s = [int(r.integers(0, 4)), 0, 0]
        yield case("Det", torch.linalg.det, {"a": r.normal(size=s)})
    for i in range(20):
        r = rng("empty Conv1D", i)
        b, t, c, o = 0, int(r.integers(3, 7)), int(r.integers(1, 4)), int(r.integers(1, 4))
        arrays = {"x": r.normal(size=[b, t, c]), "w": r.normal(size=[3, c, o])}
        yield case("Conv1D", lambda x, w: F.conv1d(x.movedim(-1, 1).contiguous(), w.permute(2, 1, 0).contiguous()).movedim(1, -1), arrays)

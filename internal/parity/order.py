"""Indices along an axis."""
import numpy as np
import torch

from make import case, rng, shape


def along(name, i, size):
    """Returns an array's shape, an axis, and indices along it of so many places."""
    r = rng(name, i)
    s = shape(r)
    axis = int(r.integers(len(s)))
    of = list(s)
    of[axis] = int(r.integers(1, 6))
    return r, s, axis, r.integers(0, size or s[axis], of)


def cases():
    for i in range(20):
        r, s, axis, index = along("TakeAlong", i, None)
        yield case("TakeAlong", lambda x, ix: torch.gather(x, axis, ix) ** 2, {"x": r.normal(size=s)}, {"index": index}, {"axis": axis})
    for i in range(20):
        r, s, axis, index = along("AddAlong", i, 4)
        to = list(index.shape)
        to[axis] = 4
        yield case("AddAlong", lambda v, ix: torch.zeros(to).scatter_add(axis, ix, v) ** 2, {"values": r.normal(size=index.shape)}, {"index": index}, {"axis": axis})
    for i in range(20):
        r = rng("At", i)
        s = shape(r)
        axis = int(r.integers(len(s)))
        j = int(r.integers(-s[axis], s[axis]))
        yield case("At", lambda x: x.select(axis, j) ** 2, {"x": r.normal(size=s)}, attrs={"axis": axis, "j": j})
    for i in range(20):
        r = rng("Sort", i)
        s = shape(r)
        axis, down = int(r.integers(len(s))), bool(i % 2)

        def sort(x):
            y = torch.sort(x, dim=axis, descending=down, stable=True)
            return y.values**2, y.indices

        yield case("Sort", sort, {"x": r.normal(size=s)}, attrs={"axis": axis, "down": down})
    for i in range(20):
        r = rng("SortTies", i)
        s = shape(r)
        axis, down = int(r.integers(len(s))), bool(i % 2)
        x = r.choice([-1.0, -0.0, 0.0, 1.0, np.inf, -np.inf, np.nan], size=s)
        yield case("ArgSort", lambda x: torch.sort(x, dim=axis, descending=down, stable=True).indices, {"x": x}, attrs={"axis": axis, "down": down}, order=0)
    for i in range(20):
        r = rng("TopK", i)
        s = shape(r)
        axis = int(r.integers(len(s)))
        k = int(r.integers(1, s[axis] + 1))

        def top(x):
            y = torch.topk(x, k, dim=axis)
            return y.values**2, y.indices

        yield case("TopK", top, {"x": r.normal(size=s)}, attrs={"axis": axis, "k": k})
    for i in range(20):
        r = rng("SearchSorted", i)
        s = shape(r)
        axis, right = int(r.integers(len(s))), bool(i % 2)
        to = list(s)
        to[axis] = int(r.integers(1, 6))
        rows, x = (r.choice([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, np.inf, -np.inf, np.nan], size=n) for n in (s, to))
        rows = np.sort(rows, axis)
        places = np.empty(to, dtype=np.int64)
        for ix in np.ndindex(*s[:axis], *s[axis + 1 :]):
            row = (*ix[:axis], slice(None), *ix[axis:])
            places[row] = np.searchsorted(rows[row], x[row], "right" if right else "left")
        yield case("SearchSorted", lambda rows, x: torch.tensor(places), {"rows": rows, "x": x}, attrs={"axis": axis, "right": right}, order=0)
    for i in range(20):
        r = rng("Whole", i)
        s = shape(r)
        axis, down = int(r.integers(len(s))), bool(i % 2)
        for name, x in {"Whole": r.integers(-3, 4, size=s), "Truth": r.integers(0, 2, size=s).astype(bool)}.items():

            def whole(x):
                y = torch.sort(x, dim=axis, descending=down, stable=True)
                most, least = torch.cummax(x, axis), torch.cummin(x, axis)
                return y.values, y.indices, most.values, least.values, torch.cumsum(x, axis), torch.cumprod(x, axis), torch.sum(x, axis)

            def truth(x):
                return *whole(x), torch.any(x, axis), torch.all(x, axis)

            yield case(name, truth if name == "Truth" else whole, {}, {"x": x}, {"axis": axis, "down": down}, order=0)
    for i in range(20):
        r = rng("Dynamic", i)
        s = shape(r)
        axis = int(r.integers(len(s)))
        size = int(r.integers(1, s[axis] + 1))
        start = int(r.integers(s[axis] - size + 1))
        of = list(s)
        of[axis] = size
        attrs = {"axis": axis, "size": size}
        yield case("DynamicSlice", lambda x, at: x.narrow(axis, int(at), size) ** 2, {"x": r.normal(size=s)}, {"at": np.array(start)}, attrs)

        def update(x, part, at):
            y = x**2
            return torch.cat([y.narrow(axis, 0, start), part**3, y.narrow(axis, start + size, s[axis] - start - size)], axis)

        yield case("DynamicUpdate", update, {"x": r.normal(size=s), "part": r.normal(size=of)}, {"at": np.array(start)}, attrs)
    for i in range(20):
        r = rng("Sparsemax", i)
        s = shape(r, size_to=9)
        axis = int(r.integers(len(s)))

        def sparsemax(x):
            z = torch.sort(x, dim=axis, descending=True).values.transpose(axis, -1)
            sums, k = torch.cumsum(z, -1), torch.arange(1, z.shape[-1] + 1)
            size = (1 + k * z > sums).sum(-1, keepdim=True)
            tau = ((torch.gather(sums, -1, size - 1) - 1) / size).transpose(axis, -1)
            return torch.clamp(x - tau, min=0) ** 2

        yield case("Sparsemax", sparsemax, {"x": r.normal(size=s) * r.choice([0.1, 0.5, 2])}, attrs={"axis": axis})
    cumulative = {
        "CumSum": torch.cumsum,
        "CumProd": torch.cumprod,
        "CumMax": lambda x, axis: torch.cummax(x, axis).values,
        "CumMin": lambda x, axis: torch.cummin(x, axis).values,
        "LogCumSumExp": torch.logcumsumexp,
    }
    for name, f in cumulative.items():
        for i in range(20):
            r = rng(name, i)
            s = shape(r, size_to=7)
            axis = int(r.integers(len(s)))
            yield case(name, lambda x: f(x, axis) ** 2, {"x": 3 * r.normal(size=s)}, attrs={"axis": axis})
    for i in range(20):
        r = rng("CumProdZeros", i)
        s = shape(r, size_to=6)
        axis = int(r.integers(len(s)))
        x = r.normal(size=s) * r.integers(0, 2, size=s)
        yield case("CumProdZeros", lambda x: running(x, torch.ones(s), axis, False) ** 2, {"x": x}, attrs={"axis": axis})
    for i in range(20):
        r = rng("LinearRecurrence", i)
        s = shape(r, size_to=6)
        axis = int(r.integers(len(s)))
        yield case("LinearRecurrence", lambda a, b: running(a, b, axis) ** 2, {"a": r.normal(size=s), "b": r.normal(size=s)}, attrs={"axis": axis})


def running(a, b, axis, add=True):
    """Returns a_t·h_{t−1} + b_t along an axis, step by step; without add the running product of a."""
    h, out = None, []
    for at, bt in zip(a.unbind(axis), b.unbind(axis)):
        h = (bt if add else at) if h is None else at * h + bt if add else at * h
        out.append(h)
    return torch.stack(out, axis)

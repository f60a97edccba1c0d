"""Slices that are set, added or compared at indices, and reductions by segment."""
import torch

from make import case, rng, shape


def reduced(how):
    def f(x, v, ix):
        wide = ix.reshape([-1] + [1] * (v.dim() - 1)).expand_as(v)
        return x.scatter_reduce(0, wide, v, how, include_self=True)

    return f


def cases():
    for i in range(20):
        r = rng("SetAt", i)
        s = shape(r)
        index = r.permutation(s[0])[: r.integers(1, s[0] + 1)]  # PyTorch does not say which of equal indices counts
        yield case("SetAt", lambda x, v, ix: x.index_copy(0, ix, v) ** 2, {"x": r.normal(size=s), "v": r.normal(size=(len(index), *s[1:]))}, {"index": index})
    for i in range(20):
        r = rng("AddAt", i)
        s = shape(r)
        index = r.integers(0, s[0], 6)
        yield case("AddAt", lambda x, v, ix: x.index_add(0, ix, v) ** 2, {"x": r.normal(size=s), "v": r.normal(size=(6, *s[1:]))}, {"index": index})
    for op, how in (("MaxAt", "amax"), ("MinAt", "amin")):
        for i in range(20):
            r = rng(op, i)
            s = shape(r)
            index = r.integers(0, s[0], 6)
            # Small whole numbers, so that there are equal ones.
            yield case(op, reduced(how), {"x": r.integers(0, 3, s), "v": r.integers(0, 3, (6, *s[1:]))}, {"index": index}, order=1)
    for op, how in (("SegmentSum", "sum"), ("SegmentMean", "mean"), ("SegmentMax", "amax"), ("SegmentMin", "amin")):
        for i in range(20):
            r = rng(op, i)
            s = shape(r)
            index = r.permutation(list(range(4)) + list(r.integers(0, 4, 5)))  # no segment is empty
            f = reduced(how)

            def segment(x, ix, f=f, how=how):
                start = torch.zeros(4, *x.shape[1:]) if how in ("sum", "mean") else torch.full((4, *x.shape[1:]), float("-inf" if how == "amax" else "inf"))
                wide = ix.reshape([-1] + [1] * (x.dim() - 1)).expand_as(x)
                return start.scatter_reduce(0, wide, x, how, include_self=False) ** 2

            yield case(op, segment, {"x": r.normal(size=(9, *s[1:]))}, {"index": index}, order=1)

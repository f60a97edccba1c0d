#!/usr/bin/python3
"""Writes testdata/FAMILY.json.gz: what PyTorch computes, for the operations of Tapestry to be compared with.

usage: make.py [FAMILY...]

Needs Python 3.11 with PyTorch 1.13, NumPy and SciPy; of Debian 12, apt-get install python3-torch python3-scipy. A family is
a file FAMILY.py beside this one with a function cases(), which yields the results of case(). Without arguments all families are
written. The same versions write the same bytes.

A case holds the operands and the results of one call in float64, the first derivatives of

    loss = Σ_k Σ_i y_k[i] · cos(i + k)

over all elements i, in row-major order, of all float results y_k, with respect to each float operand, and the
derivatives of

    second = Σ_j Σ_i (∂loss/∂x_j)[i] · sin(1 + i + j)

over all float operands x_j, in the order in which they are named.
"""
import gzip
import importlib
import json
import pathlib
import sys
import zlib

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
HERE = pathlib.Path(__file__).parent


def rng(name, i):
    """Returns the generator of random numbers of case i of an operation."""
    return np.random.default_rng([zlib.crc32(name.encode()), i])


def shape(r, rank_from=1, rank_to=3, size_to=5):
    """Returns a random shape."""
    return tuple(int(n) for n in r.integers(1, size_to + 1, r.integers(rank_from, rank_to + 1)))


def record(v, name=""):
    v = torch.as_tensor(v).detach()
    data = v.reshape(-1).tolist()
    data = [float(x) if np.isfinite(x) else str(float(x)) for x in data] if v.dtype.is_floating_point else [int(x) for x in data]
    return {"name": name, "shape": list(v.shape), "data": data}


def weighted(tensors, wave, offset):
    total = torch.zeros(())
    for k, t in enumerate(tensors):
        w = wave(torch.arange(t.numel(), dtype=torch.float64) + offset + k).reshape(t.shape)
        total = total + (t * w).sum()
    return total


def case(op, f, arrays, ints=None, attrs=None, order=2):
    """Returns the case of a call f(*arrays, *ints).

    arrays and ints map the names of operands to NumPy arrays of floats and of integers or booleans; attrs are
    numbers, booleans, strings and lists that the caller needs for the same call. f returns a tensor or a tuple of
    them; its float results are differentiated up to the order: 0, 1 or 2.
    """
    ints, attrs = ints or {}, attrs or {}
    xs = [torch.tensor(np.asarray(a, dtype=np.float64), requires_grad=order > 0) for a in arrays.values()]
    ys = f(*xs, *(torch.tensor(np.asarray(a)) for a in ints.values()))
    ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
    c = {
        "op": op,
        "attrs": attrs,
        "arrays": [record(x, k) for k, x in zip(arrays, xs)],
        "ints": [record(np.asarray(a), k) for k, a in ints.items()],
        "results": [record(y) for y in ys],
    }
    if order > 0:
        floats = [y for y in ys if y.dtype.is_floating_point]
        first = torch.autograd.grad(weighted(floats, torch.cos, 0), xs, create_graph=order > 1, allow_unused=True)
        first = [torch.zeros_like(x) if d is None else d for x, d in zip(xs, first)]
        c["first"] = [record(d, k) for k, d in zip(arrays, first)]
    if order > 1:
        second = weighted(first, torch.sin, 1)
        twice = [None] * len(xs)
        if second.requires_grad:
            twice = torch.autograd.grad(second, xs, allow_unused=True)
        c["second"] = [record(torch.zeros_like(x) if d is None else d, k) for k, x, d in zip(arrays, xs, twice)]
    return c


def write(family):
    cases = list(importlib.import_module(family).cases())
    text = "[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n"
    path = HERE / "testdata" / (family + ".json.gz")
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path.name}: {len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.modules["make"] = sys.modules["__main__"]
    for name in sys.argv[1:] or sorted(p.stem for p in HERE.glob("*.py") if p.stem != "make"):
        write(name)

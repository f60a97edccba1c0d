"""Operations that every framework has: the harness is held to them."""
import torch

from make import case, rng, shape


def cases():
    for i in range(20):
        r = rng("Asinh", i)
        yield case("Asinh", torch.asinh, {"x": r.uniform(-3, 3, shape(r, 0))})
    for i in range(20):
        r = rng("MatMul", i)
        b, m, k, n = (int(v) for v in r.integers(1, 5, 4))
        yield case("MatMul", torch.matmul, {"a": r.normal(size=(b, m, k)), "b": r.normal(size=(b, k, n))})
    for i in range(20):
        r = rng("Gather", i)
        s = shape(r, 2)
        index = r.integers(0, s[0], 4)
        yield case("Gather", lambda x, ix: x[ix] ** 2, {"x": r.normal(size=s)}, {"index": index})

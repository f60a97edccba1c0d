"""Functions of one number and of two, element by element."""
import numpy as np
import scipy.special
import torch

from make import case, rng, shape


class Polygamma(torch.autograd.Function):
    """SciPy's polygamma, whose derivatives are of the same kind: PyTorch 1.13's own has nine digits where n is 1."""

    @staticmethod
    def forward(ctx, n, x):
        ctx.n = n
        ctx.save_for_backward(x)
        return torch.as_tensor(scipy.special.polygamma(n, x.detach().numpy()))

    @staticmethod
    def backward(ctx, dy):
        return None, dy * Polygamma.apply(ctx.n + 1, *ctx.saved_tensors)


class Lgamma(torch.autograd.Function):
    """SciPy's gammaln, whose derivatives are polygamma."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.as_tensor(scipy.special.gammaln(x.detach().numpy()))

    @staticmethod
    def backward(ctx, dy):
        return dy * Polygamma.apply(0, *ctx.saved_tensors)


ONE = {
    "Floor": (torch.floor, -4, 4),
    "Ceil": (torch.ceil, -4, 4),
    "Round": (torch.round, -4, 4),
    "Trunc": (torch.trunc, -4, 4),
    "Tan": (torch.tan, -1.3, 1.3),
    "Atan": (torch.atan, -5, 5),
    "Asin": (torch.asin, -0.95, 0.95),
    "Acos": (torch.acos, -0.95, 0.95),
    "Sinh": (torch.sinh, -4, 4),
    "Cosh": (torch.cosh, -4, 4),
    "Acosh": (torch.acosh, 1.1, 9),
    "Atanh": (torch.atanh, -0.95, 0.95),
    "Log2": (torch.log2, 0.1, 9),
    "Log10": (torch.log10, 0.1, 9),
    "Exp2": (torch.exp2, -5, 5),
    "Cube": (lambda x: x ** 3, -3, 3),
    "Erfc": (torch.erfc, -4, 4),
    "Erfinv": (torch.erfinv, -0.95, 0.95),
    "Lgamma": (Lgamma.apply, -4, 9),
    "Digamma": (lambda x: Polygamma.apply(0, x), -4, 9),
}

TWO = {
    "Atan2": torch.atan2,
    "Xlogy": torch.xlogy,
    "Remainder": torch.remainder,
    "FloorDiv": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}


def cases():
    for name, (f, low, high) in ONE.items():
        for i in range(20):
            r = rng(name, i)
            yield case(name, f, {"x": r.uniform(low, high, shape(r, 0))})
    for i in range(24):
        r = rng("Polygamma", i)
        n = i % 4
        yield case("Polygamma", lambda x: Polygamma.apply(n, x), {"x": r.uniform(-4 if n == 0 else 0.2, 9, shape(r, 0))}, attrs={"n": n})
    for name, f in TWO.items():
        for i in range(20):
            r = rng(name, i)
            s = shape(r)
            a, b = r.uniform(-4, 4, s), r.uniform(0.3, 3, s[1:])
            if name == "Xlogy":
                a[r.random(s) < 0.2] = 0
            elif i % 2:
                b *= np.where(r.random(s[1:]) < 0.5, 1, -1)
            yield case(name, f, {"a": a, "b": b})
    for name, f in {"Remainder": torch.remainder, "FloorDiv": TWO["FloorDiv"]}.items():
        for i in range(20):
            r = rng("whole" + name, i)
            s = shape(r)
            b = r.integers(1, 6, s) * np.where(r.random(s) < 0.5, 1, -1)
            yield case(name + " of integers", f, {}, {"a": r.integers(-20, 20, s), "b": b}, order=0)
    special = np.array([0, -0.0, 1.5, np.inf, -np.inf, np.nan])
    for name, f in {"IsNaN": torch.isnan, "IsInf": torch.isinf, "IsFinite": torch.isfinite}.items():
        for i in range(20):
            r = rng(name, i)
            yield case(name, f, {"x": r.choice(special, shape(r, 0))}, order=0)

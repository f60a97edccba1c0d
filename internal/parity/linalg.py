"""Linear algebra: matrices in the last two axes, and batches of them."""
import torch

from make import case, rng


def square(r, extra=0.0):
    """Returns random well-conditioned square matrices, in half of the cases a batch."""
    n = int(r.integers(1, 6))
    batch = tuple(int(v) for v in r.integers(1, 4, r.integers(0, 3)))
    a = r.normal(size=batch + (n, n))
    for i in range(n):
        a[..., i, i] += (n + 1 + extra) * (1 if i % 3 else -1)
    return a


def tall(r):
    """Returns random matrices of full column rank, with at least as many rows as columns."""
    m = int(r.integers(1, 6))
    n = int(r.integers(1, m + 1))
    a = r.normal(size=tuple(int(v) for v in r.integers(1, 4, r.integers(0, 3))) + (m, n))
    for i in range(n):
        a[..., i, i] += 4
    return a


def positive_qr(a):
    """Returns the QR factors with a positive diagonal of R."""
    q, r = torch.linalg.qr(a)
    sign = torch.sign(torch.diagonal(r, dim1=-2, dim2=-1)).detach()
    return q * sign.unsqueeze(-2), r * sign.unsqueeze(-1)


def positive(v):
    """Returns the signs that make the component of largest magnitude of each column positive."""
    at = v.abs().argmax(-2, keepdim=True)
    return torch.sign(torch.gather(v, -2, at)).detach()


def positive_eigh(a):
    """Returns the eigenvalues and eigenvectors with positive largest components."""
    values, v = torch.linalg.eigh((a + a.transpose(-1, -2)) / 2)
    return values, v * positive(v)


def positive_svd(a):
    """Returns the singular value decomposition with positive largest components of V."""
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    v = vh.transpose(-1, -2)
    return u * positive(v), s, v * positive(v)


def cases():
    for i in range(20):
        r = rng("MatrixExp", i)
        yield case("MatrixExp", torch.matrix_exp, {"a": square(r) / (1 + i % 4)})
    for i in range(20):
        r = rng("SVD", i)
        a = tall(r)
        yield case("SVD", positive_svd, {"a": a.swapaxes(-1, -2).copy() if i % 2 else a})
    for i in range(20):
        yield case("SingularValues", torch.linalg.svdvals, {"a": tall(rng("SingularValues", i))})
    for i in range(20):
        yield case("Eigh", positive_eigh, {"a": square(rng("Eigh", i), 1)})
    for i in range(20):
        yield case("QR", positive_qr, {"a": tall(rng("QR", i))})
    for i in range(20):
        r = rng("LeastSquares", i)
        a = tall(r)
        b = r.normal(size=a.shape[:-1] + (int(r.integers(1, 4)),))
        yield case("LeastSquares", lambda x, y: torch.linalg.lstsq(x, y)[0], {"a": a, "b": b})
    for i in range(20):
        r = rng("Cholesky", i)
        a = square(r)
        yield case("Cholesky", lambda x: torch.linalg.cholesky(x @ x.transpose(-1, -2)), {"a": a})
    for i in range(20):
        r = rng("SolveTriangular", i)
        a = square(r)
        b = r.normal(size=a.shape[:-1] + (int(r.integers(1, 4)),))
        upper, transposed, unit = (bool(v) for v in r.integers(0, 2, 3))
        yield case("SolveTriangular", lambda x, y: torch.triangular_solve(y, x, upper, transposed, unit)[0], {"a": a, "b": b},
                   attrs={"upper": upper, "transposed": transposed, "unit": unit})
    for i in range(20):
        r = rng("Solve", i)
        a = square(r)
        yield case("Solve", torch.linalg.solve, {"a": a, "b": r.normal(size=a.shape[:-1] + (int(r.integers(1, 4)),))})
    for i in range(20):
        yield case("Inv", torch.linalg.inv, {"a": square(rng("Inv", i))})
    for i in range(20):
        yield case("SlogDet", lambda x: tuple(torch.linalg.slogdet(x)), {"a": square(rng("SlogDet", i))})
    for i in range(20):
        yield case("Det", torch.linalg.det, {"a": square(rng("Det", i))})
    for i in range(20):
        r = rng("MatrixPower", i)
        p = int(r.integers(-3, 6))
        yield case("MatrixPower", lambda x: torch.linalg.matrix_power(x, p), {"a": square(r) / 4}, attrs={"p": p})
    for name, f in (("Tril", torch.tril), ("Triu", torch.triu)):
        for i in range(20):
            r = rng(name, i)
            k = int(r.integers(-2, 3))
            yield case(name, lambda x: f(x, k) ** 3, {"a": r.normal(size=tuple(r.integers(1, 5, 3)))}, attrs={"k": k})
    for i in range(20):
        a = rng("Diagonal", i).normal(size=tuple(rng("Diagonal shape", i).integers(1, 5, 3)))
        yield case("Diagonal", lambda x: torch.diagonal(x, dim1=-2, dim2=-1) ** 3, {"a": a})
    for i in range(20):
        yield case("Trace", lambda x: torch.diagonal(x, dim1=-2, dim2=-1).sum(-1) ** 3, {"a": square(rng("Trace", i))})
    for i in range(20):
        r = rng("DiagonalMatrix", i)
        yield case("DiagonalMatrix", lambda x: torch.diag_embed(x ** 3), {"a": r.normal(size=tuple(r.integers(1, 5, 2)))})

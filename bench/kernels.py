"""The kernels of `tapestry bench --gemm` and `--vec`, in PyTorch.

Each row has the keys of the command's JSON, without the peak: PyTorch has no loop
to measure that with, and the command's own stands beside it.
"""
import time

import torch

BURST = 1e-3  # seconds between two readings of the clock

PRODUCTS = [  # batch, m, n, k, and which operands lie transposed in memory
    (1, 64, 64, 64, "NN"), (1, 128, 128, 128, "NN"), (1, 256, 256, 256, "NN"), (1, 1024, 1024, 1024, "NN"),
    (1, 256, 256, 256, "TN"), (1, 256, 256, 256, "NT"),
    (1, 4096, 64, 64, "NN"), (1, 64, 64, 4096, "TN"), (8, 512, 64, 64, "NN"),
    (1, 128, 512, 784, "NN"), (1, 784, 512, 128, "TN"), (1, 128, 512, 256, "NT"),
    (1, 512, 128, 128, "NN"), (1, 512, 512, 128, "NN"), (32, 64, 64, 32, "NT"),
    (1, 32, 1024, 256, "NN"), (1, 32, 256, 1024, "NT"),
    (1, 8, 64, 64, "NN"), (1, 1, 512, 784, "NN"), (1, 1, 512, 784, "NT"),
]

ROW = 64  # the length of rows that are reduced or normalised

FUNCTIONS = [  # name, function with out=, operands, their range
    ("exp", torch.exp, 1, -8, 8), ("log", torch.log, 1, 0.1, 8), ("log1p", torch.log1p, 1, -0.9, 8),
    ("expm1", torch.expm1, 1, -8, 8), ("tanh", torch.tanh, 1, -4, 4), ("sigmoid", torch.sigmoid, 1, -8, 8),
    ("softplus", lambda x, out: torch._C._nn.softplus(x, out=out), 1, -8, 8),
    ("erf", torch.erf, 1, -3, 3), ("sqrt", torch.sqrt, 1, 0, 8),
    ("relu", lambda x, out: torch.clamp_min(x, 0, out=out), 1, -1, 1),
    ("add", torch.add, 2, -1, 1), ("mul", torch.mul, 2, -1, 1), ("div", torch.div, 2, 1, 2),
    ("maximum", torch.maximum, 2, -1, 1),
    ("softmax", lambda x, out: torch._softmax(x, 1, False, out=out), 1, -8, 8),
    ("sum", lambda x, out: torch.sum(x, 1, out=out), 1, -1, 1),
    ("max", lambda x, out: torch.amax(x, 1, out=out), 1, -1, 1),
]


def per_call(run, seconds):
    """Seconds of a call in a burst of calls that a quarter of the bursts surpass."""
    repeats, spent = 1, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        spent = time.perf_counter() - start
        if spent >= BURST:
            break
        repeats *= 2
    repeats = max(1, int(repeats * BURST / spent))
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        for _ in range(repeats):
            run()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 4] / repeats


def uniform(dtype, low, high, *shape):
    return torch.rand(*shape, dtype=dtype) * (high - low) + low


def products(dtype, seconds):
    for batch, m, n, k, form in PRODUCTS:
        a = uniform(dtype, -1, 1, batch, m, k) if form[0] == "N" else uniform(dtype, -1, 1, batch, k, m).transpose(1, 2)
        b = uniform(dtype, -1, 1, batch, k, n) if form[1] == "N" else uniform(dtype, -1, 1, batch, n, k).transpose(1, 2)
        if batch == 1:
            a, b = a[0], b[0]
        out = torch.matmul(a, b)
        t = per_call(lambda: torch.matmul(a, b, out=out), seconds)
        yield {"kernel": "gemm", "batch": batch, "m": m, "n": n, "k": k, "form": form,
               "gflops": round(2 * batch * m * n * k / t / 1e9, 3)}


def functions(dtype, seconds):
    for elements in (1 << 12, 1 << 16, 1 << 20):
        for name, f, count, low, high in FUNCTIONS:
            operands = [uniform(dtype, low, high, elements // ROW, ROW) for _ in range(count)]
            out = torch.empty((elements // ROW,) + ((ROW,) if name not in ("sum", "max") else ()), dtype=dtype)
            t = per_call(lambda: f(*operands, out=out), seconds)
            yield {"kernel": name, "elements": elements, "ns_per_element": round(t / elements * 1e9, 3)}

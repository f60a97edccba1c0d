"""Fourier transforms, where complex numbers are pairs of arrays, changes of resolution, and losses of sequences."""
import numpy as np
import torch
import torch.nn.functional as F

from make import case, rng, shape

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 23, 30, 31, 32, 37, 41, 74]


def spectrum(z):
    return z.real, z.imag, z.real**2 + z.imag * z.real


def cases():
    for op, f in [("FFT", torch.fft.fft), ("IFFT", torch.fft.ifft)]:
        for i, n in enumerate(LENGTHS):
            r = rng(op, i)
            s = list(shape(r, 1, 3, 3))
            a = int(r.integers(len(s)))
            s[a] = n
            arrays = {"re": r.normal(size=s), "im": r.normal(size=s)}
            yield case(op, lambda re, im: spectrum(f(torch.complex(re, im), dim=a)), arrays, attrs={"axis": a})
    for i, n in enumerate(LENGTHS):
        r = rng("RFFT", i)
        s = list(shape(r, 1, 3, 3))
        a = int(r.integers(len(s)))
        s[a] = n
        yield case("RFFT", lambda x: spectrum(torch.fft.rfft(x, dim=a)), {"x": r.normal(size=s)}, attrs={"axis": a})
    for i, n in enumerate(LENGTHS):
        r = rng("IRFFT", i)
        s = list(shape(r, 1, 3, 3))
        a = int(r.integers(len(s)))
        s[a] = n // 2 + 1
        arrays = {"re": r.normal(size=s), "im": r.normal(size=s)}
        yield case("IRFFT", lambda re, im: torch.fft.irfft(torch.complex(re, im), n, dim=a) ** 2, arrays, attrs={"axis": a, "n": n})
    for i in range(24):
        r = rng("Upsample", i)
        spatial = 1 + i % 2
        mode = [["linear", "bilinear"][spatial - 1], "nearest"][i % 3 == 0]
        attrs = {"linear": mode != "nearest", "align": bool(mode != "nearest" and r.integers(2))}
        s = [int(v) for v in r.integers(1, 6, spatial)]
        if r.integers(2):
            attrs["factors"] = [int(v) for v in r.integers(1, 4, spatial)]
            how = {"scale_factor": [float(v) for v in attrs["factors"]]}
        else:
            attrs["sizes"] = [int(v) for v in r.integers(1, 9, spatial)]
            how = {"size": attrs["sizes"]}
        align = attrs["align"] if attrs["linear"] else None

        def f(x):
            y = F.interpolate(x.movedim(-1, 1), mode=mode, align_corners=align, **how)
            return y.movedim(1, -1) ** 2

        yield case("Upsample", f, {"x": r.normal(size=[2, *s, 3])}, attrs=attrs)
    for i in range(24):
        r = rng("CTC", i)
        b, c, s = int(r.integers(1, 4)), int(r.integers(2, 6)), int(r.integers(2, 5))
        t = int(r.integers(2 * s, 2 * s + 5))
        blank = int(r.integers(c))
        possible = i >= 4
        labels = r.integers(0, c - 1, (b, s))
        labels += labels >= blank
        target = r.integers(0, s + 1, b)
        lengths = r.integers(np.maximum(1, 2 * target), t + 1)
        if not possible:
            target[0], lengths[0] = s, s - 1

        def g(z, labels, lengths, target):
            return F.ctc_loss(z.log_softmax(-1), labels, lengths, target, blank=blank, reduction="none")

        ints = {"labels": labels, "lengths": lengths, "target": target}
        yield case("CTC", g, {"z": r.normal(size=(t, b, c))}, ints, {"blank": blank}, order=1 if possible else 0)

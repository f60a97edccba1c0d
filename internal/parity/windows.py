"""Convolution and pooling along one axis, two and three, with every option of a window."""
import torch
import torch.nn.functional as F

from make import case, rng

CONV = [F.conv1d, F.conv2d, F.conv3d]
BACK = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d]
MOST = [F.max_pool1d, F.max_pool2d, F.max_pool3d]
MEAN = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]


def first(x):
    return x.movedim(-1, 1)


def last(y):
    return y.movedim(1, -1)


def cases():
    for i in range(21):
        n = 1 + i % 3
        for op, f in [("Conv", CONV[n - 1]), ("ConvTranspose", BACK[n - 1])]:
            r = rng(op, i)
            groups = 1 + int(r.integers(2))
            size = [int(v) for v in r.integers(1, 4, n)]
            a = {name: [int(v) for v in r.integers(low, high, n)] for name, low, high in [("stride", 1, 3), ("padding", 1, 2), ("dilation", 1, 3)]}
            same = op == "Conv" and i % 4 == 3
            if same:
                a["stride"] = [1] * n
            x = r.normal(size=[2, *(int(v) for v in r.integers(4, 6, n)), 2 * groups])
            w = r.normal(size=[*size, 2, 2 * groups] if op == "Conv" else [*size, 2 * groups, 2])

            def call(x, w):
                k = w.movedim(-1, 0).movedim(-1, 1) if op == "Conv" else w.movedim(-1, 0).movedim(-1, 0)
                padding = "same" if same else a["padding"]
                return last(f(first(x), k, stride=a["stride"], padding=padding, dilation=a["dilation"], groups=groups)) ** 2

            yield case(op, call, {"x": x, "w": w}, attrs={"axes": n, "groups": groups, "same": same, **a})
    for i in range(21):
        n = 1 + i % 3
        r = rng("MaxPool", i)
        size = [int(v) for v in r.integers(1, 4, n)]
        a = {"size": size, "stride": [int(v) for v in r.integers(1, 4, n)], "padding": [int(r.integers(v // 2 + 1)) for v in size]}
        x = r.normal(size=[2, *(int(v) for v in r.integers(4, 7, n)), 2])
        dilation = [1 + int(r.integers(2)) if p == 0 else 1 for p in a["padding"]]

        def most(x):
            return last(MOST[n - 1](first(x), size, a["stride"], a["padding"], dilation)) ** 2

        yield case("MaxPool", most, {"x": x}, attrs={"axes": n, "dilation": dilation, **a})
        exclude = bool(r.integers(2))

        def mean(x):
            return last(MEAN[n - 1](first(x), size, a["stride"], a["padding"], count_include_pad=not exclude)) ** 2

        yield case("AvgPool", mean, {"x": x}, attrs={"axes": n, "exclude": exclude, **a})

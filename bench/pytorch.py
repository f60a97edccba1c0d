#!/usr/bin/env python3
"""Times the training steps of workloads.py in PyTorch on the CPU, or its kernels.

Prints one JSON line a workload and element type, with the keys of `tapestry bench
--json`: after 5 warm-up steps single steps are timed until --seconds have passed;
loss_first and loss_last are the losses of steps 1 and 20, each before its update.
As there, float64 is timed for the workloads kmeans* only, and --gemm and --vec
time single kernels instead.
"""
import argparse
import json
import os
import statistics
import time

WARM_UP, LAST = 5, 20

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--workloads", default="kmeans_softmax,kmeans_goofy,mlp,attention,small,lstm,conv,kmeans_large")
parser.add_argument("--dtypes", default="float32,float64")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=3.0)
parser.add_argument("--label", default="", help="added to the name of the peer")
parser.add_argument("--gemm", action="store_true", help="time matrix products instead")
parser.add_argument("--vec", action="store_true", help="time functions of arrays instead")
parser.add_argument("--channels-last", action="store_true", help="conv in PyTorch's channels_last memory format")
args = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read once, when the libraries load
    os.environ[name] = str(args.threads)

import torch  # noqa: E402
import kernels  # noqa: E402
import workloads  # noqa: E402

torch.set_num_threads(args.threads)


def measure(w):
    """The losses of steps 1 and LAST, and the seconds of every step after the warm-up."""

    def step():
        loss = w.loss()
        loss.backward()
        with torch.no_grad():
            for p in w.params:
                p.add_(p.grad, alpha=-w.rate)
                p.grad = None
        return loss.detach()

    losses, times = [], []
    while len(losses) < LAST or sum(times) < args.seconds:
        start = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - start)
        losses.append(loss)
        if len(losses) == WARM_UP:
            times.clear()
    return losses[0].item(), losses[LAST - 1].item(), times


def steps(name, dtype):
    build = workloads.WORKLOADS["conv_channels_last" if name == "conv" and args.channels_last else name]
    first, last, times = measure(build(dtype))
    return {"workload": name, "ms_per_step_median": round(statistics.median(times) * 1e3, 5),
            "ms_min": round(min(times) * 1e3, 5), "loss_first": first, "loss_last": last, "steps_timed": len(times)}


def rows():
    for dtype in args.dtypes.split(","):
        of_type = getattr(torch, dtype)
        if args.gemm:
            yield from ((dtype, r) for r in kernels.products(of_type, args.seconds))
        if args.vec:
            yield from ((dtype, r) for r in kernels.functions(of_type, args.seconds))
    if args.gemm or args.vec:
        return
    for name in args.workloads.split(","):
        for dtype in args.dtypes.split(","):
            if dtype == "float32" or name.startswith("kmeans"):
                yield dtype, steps(name, getattr(torch, dtype))


for dtype, row in rows():
    print(json.dumps({"peer": "-".join(filter(None, ["torch", args.label])), "dtype": dtype, "threads": args.threads, **row}),
          flush=True)

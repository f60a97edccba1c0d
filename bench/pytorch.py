#!/usr/bin/env python3
"""Times the training steps of workloads.py in PyTorch on the CPU, or its kernels.

Prints one JSON line a workload and element type, with the keys of `tapestry bench
--json`: after 5 warm-up steps single steps are timed until --seconds have passed;
loss_first and loss_last are the losses of steps 1 and 20, each before its update,
and checksum is that of what 20 steps have added to the parameters. Of an evaluation
all three are the checksum of its arrays. As there, each workload has element types of
its own unless --dtypes are given, and --gemm and --vec time single kernels instead.
"""
import argparse
import json
import os
import statistics
import time

WARM_UP, LAST = 5, 20

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--workloads", help="all, one after the other, unless given")
parser.add_argument("--dtypes", help="those of each workload unless given")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--seconds", type=float, default=3.0)
parser.add_argument("--label", default="", help="added to the name of the peer")
parser.add_argument("--gemm", action="store_true", help="time matrix products instead")
parser.add_argument("--vec", action="store_true", help="time functions of arrays instead")
parser.add_argument("--channels-last", action="store_true", help="conv and resnet18 in PyTorch's channels_last memory format")
parser.add_argument("--tiny", action="store_true", help="what is large at the sizes of Tapestry's tests")
args = parser.parse_args()
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read once, when the libraries load
    os.environ[name] = str(args.threads)

import torch  # noqa: E402
import kernels  # noqa: E402
import workloads  # noqa: E402

torch.set_num_threads(args.threads)


def measure(w):
    """The losses of steps 1 and LAST, the checksum, and the seconds of every step after the warm-up."""
    start = [p.detach().clone() for p in w.params]

    def step():
        loss = w.loss()
        if not w.params:
            return loss
        loss.backward()
        with torch.no_grad():
            for p in w.params:
                p.add_(p.grad, alpha=-w.rate)
                p.grad = None
        return loss.detach()

    losses, times, sums = [], [], {}
    n = 0
    while n < LAST or sum(times) < args.seconds:
        begin = time.perf_counter()
        loss = step()
        times.append(time.perf_counter() - begin)
        n += 1
        if n == WARM_UP:
            times.clear()
        if n in (1, LAST):
            sums[n] = workloads.checksum([p.detach() - s for p, s in zip(w.params, start)] if w.params else loss)
            losses.append(loss.item() if w.params else sums[n])
    return losses, sums[LAST], times


def steps(name, dtype):
    build = workloads.TINY[name] if args.tiny else workloads.WORKLOADS[name + "_channels_last" * args.channels_last]
    (first, last), sum_of, times = measure(build(dtype))
    return {"workload": name, "ms_per_step_median": round(statistics.median(times) * 1e3, 5),
            "ms_min": round(min(times) * 1e3, 5), "loss_first": first, "loss_last": last, "checksum": sum_of,
            "steps_timed": len(times)}


def rows():
    for dtype in (args.dtypes or "float32,float64").split(","):
        of_type = getattr(torch, dtype)
        if args.gemm:
            yield from ((dtype, r) for r in kernels.products(of_type, args.seconds))
        if args.vec:
            yield from ((dtype, r) for r in kernels.functions(of_type, args.seconds))
    if args.gemm or args.vec:
        return
    for name in args.workloads.split(",") if args.workloads else workloads.NAMES:
        for dtype in args.dtypes.split(",") if args.dtypes else workloads.DTYPES.get(name, ["float32"]):
            yield dtype, steps(name, getattr(torch, dtype))


for dtype, row in rows():
    print(json.dumps({"peer": "-".join(filter(None, ["torch", args.label])), "dtype": dtype, "threads": args.threads, **row}),
          flush=True)

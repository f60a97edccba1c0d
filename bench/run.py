#!/usr/bin/env python3
"""Times Tapestry and PyTorch in interleaved rounds and appends JSON lines to a file.

Every figure is a process of its own, pinned to the given cores, and the peers take
turns on each workload, so that what else the machine does meets all alike. A line
is what the program printed, with the round and cpu_share: the CPU time over wall
time and threads. A share well under 1 says that something else had the cores.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = "kmeans_softmax,kmeans_goofy,mlp,attention,small,lstm,conv,kmeans_large"
# OpenBLAS and PyTorch choose AVX2 on many processors that have AVX-512.
AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX", "ATEN_CPU_CAPABILITY": "avx512"}
PEERS = {  # name: label, environment, further arguments, workloads (none: all)
    "tapestry": ("", {}, [], None),
    "tapestry-avx2": ("avx2", {"TAPESTRY_ISA": "avx2"}, [], None),
    "torch": ("", {}, [], None),
    "torch-avx512": ("avx512", AVX512, [], None),
    "torch-channels-last": ("channels-last", {}, ["--channels-last"], ["conv"]),
    "torch-avx512-channels-last": ("avx512-channels-last", AVX512, ["--channels-last"], ["conv"]),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", help="file that lines are appended to")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--cores", help="for taskset; as many as threads, from core 0, unless given")
parser.add_argument("--workloads", default=WORKLOADS)
parser.add_argument("--dtypes", default="float32,float64")
parser.add_argument("--peers", default="tapestry,torch,torch-avx512,torch-avx512-channels-last")
parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
parser.add_argument("--tapestry", help="the program; built from this tree unless given")
args = parser.parse_args()
cores = args.cores or ",".join(map(str, range(args.threads)))


def build(directory):
    path = os.path.join(directory, "tapestry")
    subprocess.run(["go", "build", "-o", path, "./cmd/tapestry"], cwd=os.path.dirname(HERE), check=True,
                   env=dict(os.environ, CGO_ENABLED="0"))
    return path


def figures(command, environment):
    """What a program printed, and its share of the cores."""
    start = time.monotonic()
    process = subprocess.Popen(["taskset", "-c", cores] + command, stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **environment))
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    wall = time.monotonic() - start
    return [json.loads(line) for line in printed.splitlines()], (used.ru_utime + used.ru_stime) / (wall * args.threads)


with tempfile.TemporaryDirectory() as directory, open(args.out, "a") as out:
    tapestry = [args.tapestry or build(directory), "bench", "--json"]
    torch = [args.python, os.path.join(HERE, "pytorch.py")]
    for number in range(args.rounds):
        for workload in args.workloads.split(","):
            for dtype in args.dtypes.split(","):
                if dtype == "float64" and not workload.startswith("kmeans"):
                    continue
                for peer in args.peers.split(","):
                    label, environment, further, only = PEERS[peer]
                    if only and workload not in only:
                        continue
                    command = (tapestry if peer.startswith("tapestry") else torch) + further + [
                        "--workloads", workload, "--dtypes", dtype, "--threads", str(args.threads),
                        "--seconds", str(args.seconds), "--label", label]
                    rows, share = figures(command, environment)
                    for row in rows:
                        out.write(json.dumps({**row, "round": number, "cpu_share": round(share, 3)}) + "\n")
                    out.flush()

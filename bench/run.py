#!/usr/bin/env python3
"""Times Tapestry, PyTorch and C++ in interleaved rounds and appends JSON lines to a file.

Every figure is a process of its own, pinned to the given cores, and the peers take
turns on each workload, so that what else the machine does meets all alike. A line
is what the program printed, with the round, cpu_share, the CPU time over wall time
and threads, and others_share: what other programs had of the time of the cores.

With --vec a process times all functions of arrays instead of one workload. With
--old PROGRAM another build of Tapestry is the peer tapestry-old.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORKLOADS = ("kmeans_softmax,kmeans_goofy,mlp,attention,small,lstm,conv,kmeans_large,"
             "reprojection,chain,lstm-small,mixture,logreg,embedding,softmax-short,triangular,resnet18,gpt2-small")
# OpenBLAS and PyTorch choose AVX2 on many processors that have AVX-512.
AVX512 = {"OPENBLAS_CORETYPE": "SkylakeX", "ATEN_CPU_CAPABILITY": "avx512"}
PEERS = {  # name: label, environment, further arguments, workloads (none: all)
    "tapestry": ("", {}, [], None),
    "tapestry-avx2": ("avx2", {"TAPESTRY_ISA": "avx2"}, [], None),
    "tapestry-fast": ("fast", {}, ["--fast-math"], ["kmeans_softmax", "kmeans_goofy", "kmeans_large"]),
    "tapestry-old": ("old", {}, [], None),
    "cpp": ("", {}, [], ["reprojection", "chain", "lstm-small", "mixture"]),  # in float64, on one core
    "torch": ("", {}, [], None),
    "torch-avx512": ("avx512", AVX512, [], None),
    "torch-channels-last": ("channels-last", {}, ["--channels-last"], ["conv", "resnet18"]),
    "torch-avx512-channels-last": ("avx512-channels-last", AVX512, ["--channels-last"], ["conv", "resnet18"]),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", help="file that lines are appended to")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--cores", help="for taskset; as many as threads, from core 0, unless given")
parser.add_argument("--workloads", default=WORKLOADS)
parser.add_argument("--vec", action="store_true", help="time functions of arrays instead")
parser.add_argument("--dtypes", help="those of each workload unless given")
parser.add_argument("--peers", default="tapestry,tapestry-fast,cpp,torch,torch-avx512,torch-avx512-channels-last")
parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
parser.add_argument("--tapestry", help="the program; built from this tree unless given")
parser.add_argument("--old", help="another build of the program, for the peer tapestry-old")
args = parser.parse_args()
if "tapestry-old" in args.peers.split(",") and not args.old:
    parser.error("the peer tapestry-old wants --old PROGRAM")
cores = args.cores or ",".join(map(str, range(args.threads)))
names = {f"cpu{n}" for part in cores.split(",") for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}


def build(directory):
    """The program, compiled."""
    path = os.path.join(directory, "tapestry")
    subprocess.run(["go", "build", "-o", path, "./cmd/tapestry"], cwd=os.path.dirname(HERE), check=True,
                   env=dict(os.environ, CGO_ENABLED="0"))
    return path


def compiled(directory, workload):
    """The program of a workload in C++, compiled the first time."""
    path = os.path.join(directory, workload)
    if not os.path.exists(path):
        subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-o", path, os.path.join(HERE, "cpp", workload + ".cpp")],
                       check=True)
    return path


def command_of(peer, workload, dtype):
    """What to run for a peer's figures of a workload and its environment, or None if it has none."""
    label, environment, further, only = PEERS[peer]
    if only and workload not in only or peer == "cpp" and (dtype == "float32" or args.threads > 1):
        return None
    if peer == "cpp":
        return [compiled(directory, workload), str(args.seconds)], environment
    program = [args.old, "bench", "--json"] if peer == "tapestry-old" else tapestry if peer.startswith("tapestry") else torch
    return program + further + [
        *(["--vec"] if args.vec else ["--workloads", workload]), *(["--dtypes", dtype] if dtype else []),
        "--threads", str(args.threads), "--seconds", str(args.seconds), "--label", label], environment


def busy():
    """Seconds that the cores have worked since the machine started, for whomever; None where nobody counts."""
    try:
        with open("/proc/stat") as stat:
            counts = [line.split()[1:9] for line in stat if line.split()[0] in names]
    except OSError:
        return None
    # user, nice, system, idle, iowait, irq, softirq, steal
    ticks = sum(int(n) for count in counts for i, n in enumerate(count) if i not in (3, 4))
    return ticks / os.sysconf("SC_CLK_TCK") or None


def figures(command, environment):
    """What a program printed, its share of the cores and that of others."""
    start, before = time.monotonic(), busy()
    process = subprocess.Popen(["taskset", "-c", cores] + command, stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **environment))
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    wall, own, after = time.monotonic() - start, used.ru_utime + used.ru_stime, busy()
    worked = wall * len(names) if after is None else after - before
    return [json.loads(line) for line in printed.splitlines()], {
        "cpu_share": round(own / (wall * args.threads), 3),
        "others_share": round(max(0, worked - own) / (wall * len(names)), 3)}


if busy() is None:
    print("run.py: /proc/stat does not count the time of the cores; what a run leaves idle passes for others'", file=sys.stderr)
with tempfile.TemporaryDirectory() as directory, open(args.out, "a") as out:
    tapestry = [args.tapestry or build(directory), "bench", "--json"]
    torch = [args.python, os.path.join(HERE, "pytorch.py")]
    for number in range(args.rounds):
        for workload in ["--vec"] if args.vec else args.workloads.split(","):
            for dtype in args.dtypes.split(",") if args.dtypes else [None]:
                for peer in args.peers.split(","):
                    run = command_of(peer, workload, dtype)
                    if run is None:
                        continue
                    rows, shares = figures(*run)
                    for row in rows:
                        out.write(json.dumps({**row, "round": number, **shares}) + "\n")
                    out.flush()

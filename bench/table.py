#!/usr/bin/env python3
"""The lines of run.py as a Markdown table, one row a workload and element type.

A cell is the median over the rounds of each round's median, and in brackets the
fastest step of all, both in milliseconds. The last column is Tapestry's median
over that of the fastest PyTorch. Losses that differ by more than 1e-4 end the
program.
"""
import argparse
import collections
import json
import statistics
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file")
parser.add_argument("--min-share", type=float, default=0.9, help="leave out runs that had less of their cores")
args = parser.parse_args()

cells = collections.defaultdict(list)  # (workload, dtype, threads), peer
left_out = total = 0
losses = {}
for line in open(args.file):
    r = json.loads(line)
    total += 1
    step = (r["workload"], r["dtype"], r["threads"])
    for key in ("loss_first", "loss_last"):
        expected = losses.setdefault((step, key), r[key])
        if r[key] is None or abs(r[key] - expected) > 1e-4 * abs(expected):
            sys.exit(f"{key} of {r['peer']} in {step} is {r[key]}, others have {expected}")
    if r["cpu_share"] < args.min_share:
        left_out += 1
        continue
    cells[step, r["peer"]].append(r)


def number(ms):
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


steps = list(dict.fromkeys(step for step, _ in cells))
peers = list(dict.fromkeys(peer for _, peer in cells))
print("| step | threads | " + " | ".join(peers) + " | ratio |\n|---|---:|" + "---:|" * (len(peers) + 1))
for step in steps:
    median, row = {}, []
    for peer in peers:
        runs = cells.get((step, peer))
        if not runs:
            row.append("–")
            continue
        median[peer] = statistics.median(r["ms_per_step_median"] for r in runs)
        row.append(f"{number(median[peer])} ({number(min(r['ms_min'] for r in runs))})")
    others = [m for peer, m in median.items() if peer.startswith("torch")]
    ratio = f"{median['tapestry'] / min(others):.2f}" if others and "tapestry" in median else "–"
    workload, dtype, threads = step
    print(f"| {workload} {dtype} | {threads} | " + " | ".join(row) + f" | {ratio} |")
print(f"\n{total} runs, {left_out} of them left out because they had less than {args.min_share:.0%} of their cores.")

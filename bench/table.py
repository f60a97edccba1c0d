#!/usr/bin/env python3
"""The lines of run.py as a Markdown table, one row a workload and element type.

A cell is the median over the rounds of each round's median, and in brackets the
fastest step of all, both in milliseconds. The last columns are Tapestry's median
over that of the fastest PyTorch, of C++ and of the older build, where there are any.
Losses of float32 that differ by more than 1e-4 end the program, and losses and
checksums of float64 that differ by more than 1e-10, all in proportion. Tapestry with
fast math (tapestry-fast) has a column and is in no ratio.

The lines of run.py --vec make a table of their own, one row a function and element
type: nanoseconds per element in the fastest round. Its last column is Tapestry's
over those of PyTorch as it comes.
"""
import argparse
import collections
import json
import math
import statistics
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file")
parser.add_argument("--max-others", type=float, default=0.1, help="leave out runs during which others had more of the cores")
parser.add_argument("--elements", type=int, default=1 << 16, help="the size of arrays that functions are shown for")
args = parser.parse_args()

cells = collections.defaultdict(list)  # (workload, dtype, threads), peer
functions = collections.defaultdict(dict)  # (name, dtype), peer
left_out = total = 0
losses = {}
for line in open(args.file):
    r = json.loads(line)
    total += 1
    taken = r["others_share"] > args.max_others
    left_out += taken
    if "ns_per_element" in r:
        if r["elements"] == args.elements and not taken:
            row = functions[r["kernel"], r["dtype"]]
            row[r["peer"]] = min(r["ns_per_element"], row.get(r["peer"], math.inf))
        continue
    step = (r["workload"], r["dtype"], r["threads"])
    for key in ("loss_first", "loss_last", "checksum"):
        tolerance = 1e-10 if r["dtype"] == "float64" else 1e-4 if key != "checksum" else math.inf
        if key not in r or tolerance == math.inf:
            continue
        expected = losses.setdefault((step, key), r[key])
        if r[key] is None or not abs(r[key] - expected) <= tolerance * abs(expected):
            sys.exit(f"{key} of {r['peer']} in {step} is {r[key]}, others have {expected}")
    if not taken:
        cells[step, r["peer"]].append(r)


def number(ms):
    return f"{ms:.4f}" if ms < 0.1 else f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


def heading(first, peers, ratios):
    columns = [*peers, *ratios]
    print(f"| {first} | " + " | ".join(columns) + " |\n|---|" + "---:|" * (first.count("|") + len(columns)))


RATIOS = {"ratio": "torch", "to C++": "cpp", "to the older build": "tapestry-old"}  # the beginning of the peers' names
steps = list(dict.fromkeys(step for step, _ in cells))
peers = list(dict.fromkeys(peer for _, peer in cells))
ratios = {name: start for name, start in RATIOS.items() if any(peer.startswith(start) for peer in peers)}
if steps:
    heading("step | threads", peers, ratios)
for step in steps:
    median, row = {}, []
    for peer in peers:
        runs = cells.get((step, peer))
        if not runs:
            row.append("–")
            continue
        median[peer] = statistics.median(r["ms_per_step_median"] for r in runs)
        row.append(f"{number(median[peer])} ({number(min(r['ms_min'] for r in runs))})")
    for start in ratios.values():
        others = [m for peer, m in median.items() if peer.startswith(start)]
        row.append(f"{median['tapestry'] / min(others):.2f}" if others and "tapestry" in median else "–")
    workload, dtype, threads = step
    print(f"| {workload} {dtype} | {threads} | " + " | ".join(row) + " |")
peers = list(dict.fromkeys(peer for row in functions.values() for peer in row))
if functions:
    print()
    heading("function", peers, ["ratio"])
for (name, dtype), row in functions.items():
    ratio = f"{row['tapestry'] / row['torch']:.2f}" if "torch" in row and "tapestry" in row else "–"
    print(f"| {name} {dtype} | " + " | ".join(f"{row[p]:.3f}" if p in row else "–" for p in peers) + f" | {ratio} |")
print(f"\n{total} lines, {left_out} of them left out because others had more than {args.max_others:.0%} of the cores.")

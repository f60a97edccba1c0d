#!/usr/bin/env python3
"""Writes the .npy and .npz files beside it, which NumPy 1.24 made. usage: make.py"""
import os
import numpy as np
from numpy.lib import format

os.chdir(os.path.dirname(os.path.abspath(__file__)))
for t in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "b1"]:
    x = np.arange(6).reshape(2, 3)
    x = x % 2 == 1 if t == "b1" else x - 2 if t[0] in "if" else x + 250
    np.save(f"{t}.npy", x.astype("<" + t))
    if t not in ("f2", "i1", "u1", "b1"):
        np.save(f"{t}_big.npy", x.astype(">" + t))
np.save("u8.npy", np.array([0, 2**63 - 1], "<u8"))
np.save("u8_large.npy", np.array([0, 2**63], "<u8"))
np.save("scalar.npy", np.float32(1.5))
np.save("vector.npy", np.arange(3, dtype="<i4"))
np.save("fortran.npy", np.asfortranarray(np.arange(24, dtype="<f4").reshape(2, 3, 4)))
np.save("empty.npy", np.zeros((0, 3), "<f4"))
np.save("object.npy", np.array([None, {}], object), allow_pickle=True)
np.save("string.npy", np.array(["a", "bc"]))
halves = np.arange(0, 1 << 16, 111).astype("<u2")  # among them subnormal numbers and NaN
halves = np.append(halves, [0x8000, 1, 0x3ff, 0x400, 0x7bff, 0x7c00, 0xfc00, 0x7e00]).astype("<u2").view("<f2")
np.save("half.npy", halves)
np.save("half_big.npy", halves.astype(">f2"))
np.save("half_as_f4.npy", halves.astype("<f4"))
np.savez_compressed("half.npz", x=halves)
np.save("complex.npy", np.zeros(2, "<c8"))
np.save("record.npy", np.zeros(2, [("a", "<i4"), ("b", "<f4")]))
for v in [(2, 0), (3, 0)]:
    with open(f"version{v[0]}.npy", "wb") as f:
        format.write_array(f, np.arange(3, dtype="<f8"), version=v)
arrays = dict(x=np.arange(6, dtype="<f4").reshape(2, 3), y=np.array([1, 0], "<i8"))
np.savez("plain.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)

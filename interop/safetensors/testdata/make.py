"""Writes the golden files beside it, from the format's specification alone.

python3 make.py; needs nothing beyond Python's own library.
"""

import hashlib
import json
import pathlib
import struct

ORDER = ["U64", "I64", "F64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "I8", "U8", "BOOL"]
CODE = dict(zip(ORDER, ["Q", "q", "d", "f", "I", "i", "H", "e", "H", "h", "b", "B", "?"]))
KEY, WORDS = "tapestry.checksum", "SHA-256 of this file with zeros for these digits: "


def build(tensors, metadata=None):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = dict(sorted(metadata.items()))
    for name in sorted(tensors, key=lambda n: (ORDER.index(tensors[n][0]), n.encode())):
        dtype, shape, values = tensors[name]
        begin = len(data)
        data += struct.pack("<%d%s" % (len(values), CODE[dtype]), *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def summed(tensors, metadata):
    zeros = "0" * 64
    file = build(tensors, {**metadata, KEY: WORDS + zeros})
    return file.replace(zeros.encode(), hashlib.sha256(file).hexdigest().encode(), 1)


written = {
    "w": ("F32", [2, 3], [0, -0.0, 1.5, float("inf"), 1e-45, -3.25]),
    "a/b": ("F32", [1], [7]),
    "double": ("F64", [2], [0.1, float("-inf")]),
    "step": ("I64", [], [-(2**63)]),
    "index": ("I32", [3, 1], [1, -2, 2147483647]),
    "mask": ("BOOL", [2, 2], [True, False, False, True]),
    "none": ("F32", [0, 4], []),
    'γ "q" \\ \t\x01\x7f</script>\u2028': ("F32", [], [0.5]),
}
read = {
    "u64": ("U64", [2], [0, 2**63 - 1]),
    "u32": ("U32", [2], [0, 2**32 - 1]),
    "bf16": ("BF16", [3], [0x3F80, 0xC000, 0x0001]),
    "f16": ("F16", [5], [1, -2, 6e-8, 65504, float("-inf")]),
    "u16": ("U16", [1], [65535]),
    "i16": ("I16", [2], [-32768, 32767]),
    "i8": ("I8", [3], [-128, 127, 0]),
    "u8": ("U8", [1], [255]),
}
files = {
    "empty": build({}),
    "metadata": build({}, {"format": "pt"}),
    "written": build(written, {"format": "pt"}),
    "summed": summed({k: written[k] for k in ("w", "mask")}, {"model": "line\nfit"}),
    "read": build(read),
}
for name, file in files.items():
    pathlib.Path(__file__).with_name(name + ".safetensors").write_bytes(file)

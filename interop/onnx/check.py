"""Holds ONNX files to the checker of the package onnx: python3 check.py FILE...

Each file gets a line: ok, or what is wrong. The exit status is 1 if anything is."""

import sys

import onnx
import onnx.checker
import onnx.shape_inference

bad = 0
for name in sys.argv[1:]:
    try:
        onnx.checker.check_model(name, full_check=True)
        model = onnx.load(name)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        print("ok", name)
    except Exception as e:
        bad = 1
        print("bad", name, " ".join(str(e).split()))
sys.exit(bad)

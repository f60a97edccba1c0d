#!/usr/bin/env python3
"""Writes the models of the tests: needs onnx."""
import os
import numpy as np
from onnx import TensorProto as T, helper as h, numpy_helper, save, checker

os.chdir(os.path.dirname(os.path.abspath(__file__)))
if os.path.exists("external.bin"):
    os.remove("external.bin")  # it would be added to


def model(name, nodes, inputs, outputs, init=(), **kw):
    m = h.make_model(h.make_graph(nodes, name, inputs, outputs, list(init)), opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    h.set_model_props(m, {"about": name, "empty": ""})
    if not kw:
        checker.check_model(m)
    save(m, name + ".onnx", **kw)


def value(name, shape, t=T.FLOAT):
    return h.make_tensor_value_info(name, t, shape)


# y = x·w + b, where b has a default and w is part of the model.
w = numpy_helper.from_array(np.array([[1, 2], [3, 4], [5, 6]], np.float32), "w")
b = numpy_helper.from_array(np.array([0.5, -0.5], np.float32), "b")
linear = [h.make_node("MatMul", ["x", "w"], ["p"]), h.make_node("Add", ["p", "b"], ["y"])]
model("linear", linear, [value("x", ["N", 3]), value("b", [2])], [value("y", ["N", 2]), value("p", ["N", 2])], [w, b])
model("external", linear, [value("x", ["N", 3]), value("b", [2])], [value("y", ["N", 2])], [w, b],
      save_as_external_data=True, location="external.bin", size_threshold=0)

# Every type of elements.
types = [T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16, T.INT8, T.INT16, T.INT32, T.INT64, T.UINT8, T.UINT16, T.UINT32, T.UINT64, T.BOOL]
model("types", [h.make_node("Identity", [f"x{t}"], [f"y{t}"]) for t in types],
      [value(f"x{t}", [None], t) for t in types], [value(f"y{t}", [None], t) for t in types])

# A loop that goes on as long as the condition that it is given: for ever.
body = h.make_graph([h.make_node("Identity", ["c"], ["d"]), h.make_node("Sin", ["v"], ["u"])], "body",
                    [value("i", [], T.INT64), value("c", [], T.BOOL), value("v", [])], [value("d", [], T.BOOL), value("u", [])])
model("endless", [h.make_node("Loop", ["", "go", "x"], ["y"], body=body)], [value("go", [], T.BOOL), value("x", [])], [value("y", [])])

# An output that is no array.
model("sequence", [h.make_node("SequenceConstruct", ["x", "x"], ["s"])], [value("x", [2])],
      [h.make_tensor_sequence_value_info("s", T.FLOAT, [2])])

# A mistake that shows in a run alone.
model("reshaped", [h.make_node("Reshape", ["x", "shape"], ["y"], name="net/Reshape")], [value("x", [6]), value("shape", [2], T.INT64)],
      [value("y", ["a", "b"])])

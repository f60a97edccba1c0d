# Prints what the package onnx of Python reads in a model, and writes a model with every field of
# elements for Go to read: reader.py MODEL OWN
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

model = onnx.load(sys.argv[1])
g = model.graph
print(model.ir_version, model.producer_name, model.producer_version, model.domain, model.model_version, model.doc_string)
print([(o.domain, o.version) for o in model.opset_import], [(p.key, p.value) for p in model.metadata_props])


def elements(t):
    if t.data_type == TensorProto.BFLOAT16:
        return (np.frombuffer(t.raw_data, "<u2").astype(np.uint32) << 16).view(np.float32).tolist()
    return numpy_helper.to_array(t).tolist()


for t in g.initializer:
    print("init", t.name, TensorProto.DataType.Name(t.data_type), list(t.dims), elements(t), t.doc_string)
for t in g.sparse_initializer:
    print("sparse", t.values.name, list(t.dims), elements(t.values), elements(t.indices))
for v in list(g.input) + list(g.output) + list(g.value_info):
    print("value", v.name, v.doc_string, str(v.type).split())


def nodes(list_, indent):
    for n in list_:
        print(indent + "node", n.op_type, n.domain, n.name, n.doc_string, list(n.input), list(n.output))
        for a in n.attribute:
            if a.type == a.GRAPH:
                print(indent + "  graph", a.name, a.g.name)
                nodes(a.g.node, indent + "    ")
            elif a.ref_attr_name:
                print(indent + "  ref", a.name, a.ref_attr_name)
            elif a.type == a.TENSOR:
                print(indent + "  tensor", a.name, elements(a.t))
            elif a.type == a.TENSORS:
                print(indent + "  tensors", a.name, [elements(t) for t in a.tensors])
            elif a.type in (a.FLOAT, a.INT, a.STRING, a.FLOATS, a.INTS, a.STRINGS):
                value = helper.get_attribute_value(a)
                print(indent + "  attr", a.name, a.type, value if isinstance(value, (int, float, bytes)) else list(value))
            else:
                print(indent + "  other", a.name, a.type)


nodes(g.node, "")
for f in model.functions:
    print("function", f.domain, f.name, list(f.input), list(f.output), list(f.attribute))
    nodes(f.node, "  ")

# A model whose tensors have their elements in the fields of their types, and in external data.
kinds = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16,
         TensorProto.INT32, TensorProto.INT64, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL, TensorProto.BFLOAT16]
tensors = []
for k in kinds:
    values = [0, 1, 1, 0, 1, 1] if k == TensorProto.BOOL else [0, 1, 2, 100, 64, 7]
    if k not in (TensorProto.BOOL, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64):
        values[3] = -100
    tensors.append(helper.make_tensor(TensorProto.DataType.Name(k), k, [2, 3], values))
tensors.append(helper.make_tensor("STRING", TensorProto.STRING, [2], [b"a", b"\xff"]))
tensors.append(numpy_helper.from_array(np.arange(2000, dtype=np.float32), "large"))
own = helper.make_model(helper.make_graph([helper.make_node("Identity", ["FLOAT"], ["y"])], "own", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])], tensors))
onnx.save_model(own, sys.argv[2], save_as_external_data=True, all_tensors_to_one_file=True, location="own.bin", size_threshold=1024)

package format

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// python is an interpreter that may have the package onnx.
const python = "/usr/bin/python3"

const readerText = `8 tapestry 1.0 org.example 3 a model
[('', 17), ('com.example', 1)] [('a key', 'a value'), ('empty', '')]
init w FLOAT [3] [1.0, 2.0, 3.0] 
init n INT64 [] -5 
init none DOUBLE [0, 3] [] 
init words STRING [2] ['a', ''] of strings
init half FLOAT16 [2] [1.0, -2.5] 
init brain BFLOAT16 [2] [1.0, -2.5] 
init yes BOOL [2] [True, False] 
init v FLOAT [4] [1.0, 2.0, 3.0, 4.0] 
sparse sparse [4] [9.0] [2]
value x the input ['tensor_type', '{', 'elem_type:', '1', 'shape', '{', 'dim', '{', 'dim_param:', '"N"', 'denotation:', '"DATA_BATCH"', '}', 'dim', '{', 'dim_value:', '2', '}', '}', '}', 'denotation:', '"TENSOR"']
value s  ['sequence_type', '{', 'elem_type', '{', 'tensor_type', '{', 'elem_type:', '7', 'shape', '{', 'dim', '{', 'dim_value:', '3', '}', 'dim', '{', '}', 'dim', '{', 'dim_param:', '"T"', 'denotation:', '"time"', '}', '}', '}', '}', '}']
value o  ['optional_type', '{', 'elem_type', '{', 'sequence_type', '{', 'elem_type', '{', 'tensor_type', '{', 'elem_type:', '7', 'shape', '{', 'dim', '{', 'dim_value:', '3', '}', 'dim', '{', '}', 'dim', '{', 'dim_param:', '"T"', 'denotation:', '"time"', '}', '}', '}', '}', '}', '}', '}']
value m  ['map_type', '{', 'key_type:', '8', 'value_type', '{', 'tensor_type', '{', 'elem_type:', '1', 'shape', '{', '}', '}', '}', '}']
value p  ['sparse_tensor_type', '{', 'elem_type:', '1', 'shape', '{', 'dim', '{', 'dim_value:', '0', '}', '}', '}']
value unknown  []
value y  ['tensor_type', '{', 'elem_type:', '10', 'shape', '{', '}', '}']
value z  ['tensor_type', '{', 'elem_type:', '16', 'shape', '{', 'dim', '{', 'dim_value:', '1', '}', '}', '}']
node If  scope/if a branch ['cond', ''] ['y', '']
  graph then_branch body
    node Add    ['x', 'c'] ['b']
  other more 10
node Odd com.example   [] ['z']
  attr f 1 -0.5
  attr i 2 -7
  attr s 3 b'\xff bytes'
  tensor t [4.0]
  attr fs 6 [1.0, 2.0]
  attr is 7 [1, -2]
  attr ss 8 [b'', b'b']
  tensors ts [[5.0], [6]]
  attr none 7 []
  other tp 13
  attr zero 1 0.0
  other sp 11
function com.example Twice ['x'] ['y'] ['alpha']
  node Elu    ['x'] ['y']
    ref alpha alpha
`

const ownText = `init FLOAT float32[2 3][0 1 2 -100 64 7]
init DOUBLE float64[2 3][0 1 2 -100 64 7]
init FLOAT16 float16[2 3][0 1 2 -100 64 7]
init INT8 int8[2 3][0 1 2 -100 64 7]
init UINT8 uint8[2 3][0 1 2 100 64 7]
init INT16 int16[2 3][0 1 2 -100 64 7]
init UINT16 uint16[2 3][0 1 2 100 64 7]
init INT32 int32[2 3][0 1 2 -100 64 7]
init INT64 int64[2 3][0 1 2 -100 64 7]
init UINT32 uint32[2 3][0 1 2 100 64 7]
init UINT64 uint64[2 3][0 1 2 100 64 7]
init BOOL bool[2 3][0 1 1 0 1 1]
init BFLOAT16 bfloat16[2 3][0 1 2 -100 64 7]
init STRING string[2]["a" "\xff"]
init large float32[2000]
y = Identity FLOAT
output y float32[N 3]
`

// ONNX's own reader finds in a file what was written, external data included, and what its writer
// writes is read.
func TestPython(t *testing.T) {
	if err := exec.Command(python, "-c", "import onnx, numpy").Run(); err != nil {
		t.Skipf("%s has no package onnx (Debian: python3-onnx): %v", python, err)
	}
	m := everything()
	m.Graph.Init = append(m.Graph.Init,
		&Tensor{Name: "half", Type: Float16, Dims: []int64{2}, Raw: Bytes([]byte(little([]uint16{0x3c00, 0xc100})))},
		&Tensor{Name: "brain", Type: BFloat16, Dims: []int64{2}, Raw: Bytes([]byte(little([]uint16{0x3f80, 0xc020})))},
		&Tensor{Name: "yes", Type: Bool, Dims: []int64{2}, Raw: Bytes([]byte{1, 0})},
		floatsOf("v", 1, 2, 3, 4))
	dir := t.TempDir()
	var model, data bytes.Buffer
	if err := m.WriteExternal(&model, External{File: &data, Name: "w.bin", Over: 8}); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"model.onnx": model.Bytes(), "w.bin": data.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "testdata/reader.py", filepath.Join(dir, "model.onnx"), filepath.Join(dir, "own.onnx"))
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	if string(out) != readerText {
		t.Errorf("Python reads\n%swant\n%s", out, readerText)
	}

	b, err := os.ReadFile(filepath.Join(dir, "own.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := read(b, Limits{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("opset %d, ir %d, producer \"\"\n", own.Opsets[""], own.IR) // as the package's version has them
	if got := own.String(); got != head+ownText {
		t.Errorf("got\n%swant\n%s", got, ownText)
	}
	v, err := own.Graph.Init[14].Float32s()
	if err != nil || len(v) != 2000 || v[1999] != 1999 {
		t.Errorf("external data: %d elements, %v", len(v), err)
	}
}

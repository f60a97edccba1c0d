package format

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The functions below write fields as a writer could that follows no rule of ONNX.

func num(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func fixed32(n protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, n, protowire.Fixed32Type), v)
}

func fixed64(n protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), v)
}

func str(n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), s)
}

func msg(n protowire.Number, fields ...[]byte) []byte {
	return str(n, string(bytes.Join(fields, nil)))
}

// varints returns integers one after the other, as packed fields have them.
func varints(v ...uint64) string {
	var b []byte
	for _, x := range v {
		b = protowire.AppendVarint(b, x)
	}
	return string(b)
}

// node returns the field of a graph with a node that has attributes.
func node(op string, fields ...[]byte) []byte {
	return msg(1, append([][]byte{str(2, "y"), str(4, op)}, fields...)...)
}

// attribute returns the field of a node with an attribute.
func attribute(fields ...[]byte) []byte { return msg(5, append([][]byte{str(1, "a")}, fields...)...) }

// weight returns the field of a graph with an initialiser w.
func weight(fields ...[]byte) []byte { return msg(5, append(fields, str(8, "w"))...) }

// inGraph returns a model with a graph of the fields.
func inGraph(fields ...[]byte) []byte { return msg(7, fields...) }

func read(b []byte, limits Limits) (*Model, error) {
	return Read(bytes.NewReader(b), int64(len(b)), limits)
}

func mustRead(t *testing.T, b []byte) *Model {
	t.Helper()
	m, err := read(b, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

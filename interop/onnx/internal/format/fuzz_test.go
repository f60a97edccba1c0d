package format

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead reads any bytes. A model that is read is written, and what is written is read as the same
// model.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := everything().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	for _, file := range hostile(100) {
		f.Add(file)
	}
	f.Add(inGraph(sparseWeight(floats(7, 8, 9), ints("\x03\x02", 0, 1, 1, 0, 1, 2), "\x02\x03")))
	f.Add(inGraph(outside("location", "../w.bin", "offset", "4")))
	f.Add(inGraph(weight(num(2, uint64(Int16)), num(1, 2), num(5, 1), str(5, "\x02"))))
	for _, name := range []string{"node/test_if", "node/test_scan9_sum", "node/test_constant", "node/test_sequence_map_identity_1_sequence"} {
		if b, err := os.ReadFile(filepath.Join(suite, name, "model.onnx")); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b, Limits{})
		if err != nil {
			return
		}
		for _, x := range m.Graph.Init {
			x.Floats()
			x.Ints()
		}
		first := written(t, m)
		back := mustRead(t, first)
		if back.String() != m.String() {
			t.Errorf("comes back as\n%s\nwas\n%s", back, m)
		}
		if !bytes.Equal(written(t, back), first) {
			t.Error("is written as other bytes when it comes back")
		}
	})
}

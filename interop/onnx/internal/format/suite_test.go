package format

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// suite is where Debian's package libonnx-testdata has the test models of ONNX.
const suite = "/usr/share/libonnx-testdata/data"

// Every model of ONNX's own test suite is read, and comes back from what is written of it.
func TestSuite(t *testing.T) {
	files, _ := filepath.Glob(suite + "/*/*/model.onnx")
	if len(files) == 0 {
		t.Skip("the test models of ONNX are not here (Debian: libonnx-testdata)")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(bytes.NewReader(b), int64(len(b)), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var again bytes.Buffer
		if err := m.Write(&again); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := Read(bytes.NewReader(again.Bytes()), int64(again.Len()), Limits{})
		if err != nil {
			t.Errorf("%s: written: %v", name, err)
		} else if back.String() != m.String() {
			t.Errorf("%s comes back as another model:\n%s\nwas\n%s", name, back, m)
		}
	}
}

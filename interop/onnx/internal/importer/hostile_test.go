package importer

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// TestHostile: whatever a file says, it is imported or refused, without a panic. The files are those of
// ONNX's tests with some bytes changed.
func TestHostile(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(suite, "*", "*", "model.onnx"))
	if len(files) == 0 {
		t.Skip("the tests of ONNX are not here (Debian: libonnx-testdata)")
	}
	each := 4
	if testing.Short() {
		each = 1
	}
	read := 0
	for i, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) > 1<<15 {
			continue
		}
		for k := range each {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(k)))
			b := slices.Clone(whole)
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(b))
				switch rng.IntN(3) {
				case 0:
					b[at] = byte(rng.IntN(256))
				case 1:
					b[at] ^= 1 << rng.IntN(8)
				default:
					b[at] = []byte{0, 1, 2, 0x7f, 0x80, 0xff}[rng.IntN(6)]
				}
			}
			m, err := format.Read(bytes.NewReader(b), int64(len(b)), format.Limits{})
			if err != nil {
				continue
			}
			read++
			sizes := map[string]int{}
			if m.Graph != nil {
				for _, s := range Symbols(m.Graph) {
					sizes[s.Name] = 2
				}
			}
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s, %d: panic: %v", name, k, p)
					}
				}()
				_, _ = Import(graph.New("hostile"), m, Options{Float: graph.F32, Sizes: sizes, Names: k == 0})
			}()
		}
	}
	t.Logf("%d files were read", read)
	if read < 100 {
		t.Errorf("%d files were read: is the test broken?", read)
	}
}

package tape_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestCopyFrom: values below a folder go where they are wanted, all or none.
func TestCopyFrom(t *testing.T) {
	g := graph.New("source")
	fill := func(g *graph.Graph, v float64, dt graph.DType, paths ...string) {
		for _, p := range paths {
			g.State(p, dt, graph.Ax("i", 2)).Init(initial.Fill(v))
		}
	}
	fill(g, 1, graph.F64, "enc/fc/w", "enc/fc/b", "encoder", "head/w")
	h := graph.New("sink")
	fill(h, 7, graph.F64, "features/fc/w", "features/fc/b", "head/w", "w")
	fill(h, 7, graph.F32, "narrow/fc/w", "narrow/fc/b")
	from := tape.NewStore(g)
	for _, c := range []struct{ under, to, written, err string }{
		{"enc", "features", "features/fc/b features/fc/w", ""},
		{"enc/fc/w", "w", "w", ""},
		{"head", "", "w", ""},
		{"head", "head", "head/w", ""},
		{"enc", "nowhere", "", `store: nothing under "nowhere/fc/b" to take enc/fc/b: it has`},
		{"enc", "narrow", "", "store: narrow/fc/b has type f32[i=2], enc/fc/b has f64[i=2]"},
		{"absent", "", "", `store: nothing below "absent": it has ["enc/fc/b" "enc/fc/w" "encoder" "head/w"]`},
		{"", "", "", `store: nothing under "enc/fc/b"`},
	} {
		s := tape.NewStore(h)
		paths, err := s.CopyFrom(from, c.under, c.to)
		if strings.Join(paths, " ") != c.written || (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s to %s: %q, %v", c.under, c.to, paths, err)
		}
		for _, p := range []string{"features/fc/w", "features/fc/b", "head/w", "w"} {
			want := 7.0
			if slices.Contains(paths, p) {
				want = 1
			}
			if d, _ := s.Get(p); d.Float64s()[0] != want || d.Float64s()[1] != want {
				t.Errorf("%s to %s: %s is %v, want %v", c.under, c.to, p, d, want)
			}
		}
	}
	s := tape.NewStore(h)
	if paths, err := s.CopyFrom(s, "", ""); err != nil || len(paths) != 6 {
		t.Errorf("%q, %v", paths, err)
	}
}

package importer

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// TestSpoiledSamples: models of one node whose attributes, operands and sizes are drawn without sense
// are imported or refused, and neither end the program nor take its memory.
func TestSpoiledSamples(t *testing.T) {
	samples := 20
	if os.Getenv("TAPESTRY_LONG") == "1" {
		samples = 1000
	}
	for _, op := range slices.Sorted(maps.Keys(generators)) {
		for seed := range samples {
			s := &sample{Rand: rand.New(rand.NewPCG(uint64(seed), 3)), node: &format.Node{Op: op}, plain: true}
			s.version = one(s, versions...)
			generators[op](s)
			s.spoil()
			model, _ := s.model()
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("seed %d: %v\n%s", seed, r, describe(s))
					}
				}()
				g := graph.New("test")
				_, _ = Import(g, model, Options{Float: graph.F32})
			}()
		}
	}
}

// strange draws an integer that files seldom have.
func (s *sample) strange() int64 {
	return one[int64](s, -2, -1, 0, 1, 3, 9, 100, 1<<20, 1<<31-1, 1<<31, 1<<40, 1<<62, math.MaxInt64, math.MinInt64, -1<<31)
}

// spoil changes some of what was drawn.
func (s *sample) spoil() {
	for _, a := range s.node.Attrs {
		if !s.sometimes(2) {
			continue
		}
		switch a.Type {
		case format.AttrInt:
			a.Int = s.strange()
		case format.AttrFloat:
			a.Float = float32(one(s, math.NaN(), math.Inf(1), 0, -1, 1e38, 1e-40))
		case format.AttrString:
			a.String = one(s, "", "x", "\x00")
		case format.AttrInts:
			if s.sometimes(3) {
				a.Ints = a.Ints[:s.IntN(len(a.Ints)+1)]
			}
			for i := range a.Ints {
				if s.sometimes(2) {
					a.Ints[i] = s.strange()
				}
			}
		}
	}
	for i, x := range s.in {
		switch {
		case x == nil:
		case s.sometimes(8):
			s.in[i], s.fixed[i] = nil, true
		case s.fixed[i] && x.Type == format.Int64:
			n := x.Len()
			if s.sometimes(4) {
				n = s.IntN(9)
			}
			v := make([]int64, n)
			for j := range v {
				v[j] = s.strange()
			}
			s.in[i] = format.IntsOf("", []int64{int64(n)}, v...)
		case !s.fixed[i] && len(x.Dims) > 0 && s.sometimes(2):
			x.Dims[s.IntN(len(x.Dims))] = one(s, int64(0), 1, 7, 1<<10, 1<<20, 1<<36)
			if s.sometimes(4) {
				x.Dims = x.Dims[1:]
			}
		}
	}
}

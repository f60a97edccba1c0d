package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
)

// gateByHand is one gate's affine maps of x and of h: columns from·n to from·n+n of the arrays in
// which the gates stand side by side.
type gateByHand struct {
	w, u, b, c []float64 // c is nil for none
	from, n, g int
}

func (l gateByHand) of(weights, bias, x []float64) []float64 {
	out := make([]float64, l.n)
	for k := range out {
		at := l.from*l.n + k
		if bias != nil {
			out[k] = bias[at]
		}
		for i, v := range x {
			out[k] += weights[i*l.g+at] * v
		}
	}
	return out
}

func (l gateByHand) ofX(x []float64) []float64 { return l.of(l.w, l.b, x) }
func (l gateByHand) ofH(h []float64) []float64 { return l.of(l.u, l.c, h) }

// TestGatesHaveTheirOwnWeights: the models' scores are those of the formulas that the registry
// prints, in which every gate has weights of its own.
func TestGatesHaveTheirOwnWeights(t *testing.T) {
	σ := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for name, gates := range map[string]int{"rnn-lstm": 4, "rnn-gru": 3} {
		m := layertest.Build(t, name, builders.Settings{"b": 2, "t": 4, "m": 3, "h": 2})
		g := m.Graph
		feed := layertest.Filled(g, rand.New(rand.NewPCG(6, 1)))
		for in, v := range m.Examples(rand.New(rand.NewPCG(6, 2))) {
			feed[in] = v
		}
		data := func(path string) []float64 {
			if n := g.Lookup(path); n != nil {
				return feed[n].Data
			}
			return nil
		}
		const width, steps, features = 2, 4, 3
		gate := func(k int) gateByHand {
			return gateByHand{data("recurrent/in/w"), data("recurrent/hidden/w"), data("recurrent/in/b"), data("recurrent/hidden/b"), k, width, gates * width}
		}
		var want []float64
		for text := range 2 {
			h, c := make([]float64, width), make([]float64, width)
			for step := range steps {
				token := int(data("tokens")[text*steps+step])
				x, next := data("embedding/table")[token*features:][:features], make([]float64, width)
				for k := range width {
					sum := func(gate gateByHand) float64 { return gate.ofX(x)[k] + gate.ofH(h)[k] }
					if name == "rnn-lstm" {
						i, f, o := σ(sum(gate(0))), σ(sum(gate(1))), σ(sum(gate(3)))
						c[k] = f*c[k] + i*math.Tanh(sum(gate(2)))
						next[k] = o * math.Tanh(c[k])
						continue
					}
					r, z := σ(sum(gate(0))), σ(sum(gate(1)))
					n := math.Tanh(gate(2).ofX(x)[k] + r*gate(2).ofH(h)[k])
					next[k] = (1-z)*n + z*h[k]
				}
				h = next
			}
			V, d := data("output/w"), data("output/b")
			for w := range d {
				sum := d[w]
				for k, v := range h {
					sum += v * V[k*len(d)+w]
				}
				want = append(want, sum)
			}
		}
		layertest.Same(t, name, layertest.Values(t, feed, g.Lookup("logits"))[0].Data, want)
		if g.Lookup("recurrent/in/w").Shape().Axis(1) != graph.Ax("g", gates*width) {
			t.Errorf("%s has weights %v, want those of %d gates", name, g.Lookup("recurrent/in/w"), gates)
		}
	}
}

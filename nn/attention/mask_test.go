package attention_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestMaskedWeights(t *testing.T) {
	const b, n = 3, 4
	g := graph.New("masks")
	e := g.Input("e", graph.F64, graph.Ax("b", b), graph.Ax("t", n), graph.Ax("u", n))
	lengths := g.Input("length", graph.I64, graph.Ax("b", b))
	feed := graph.Values{lengths: layertest.ValueOf(lengths, 4, 2, 0)}
	causal, padding := attention.Causal(g, graph.Ax("t", n), graph.Ax("u", n)), attention.Padding(lengths, graph.Ax("u", n))
	for _, c := range []struct {
		name string
		mask *graph.Node
		sees func(i, t, u int) bool
	}{
		{"none", nil, func(_, _, _ int) bool { return true }},
		{"causal", causal, func(_, t, u int) bool { return u <= t }},
		{"padding", padding, func(i, _, u int) bool { return u < []int{4, 2, 0}[i] }},
		{"both", ops.And(causal, padding), func(i, t, u int) bool { return u <= t && u < []int{4, 2, 0}[i] }},
	} {
		α := nn.MaskedSoftmax(e, c.mask)
		first := grad.Of(layertest.Wavy(ops.Square(α)), e)[0]
		second := grad.Of(layertest.Wavy(first), e)[0]
		out := layertest.BothWays(t, feed, e, α, first, second)
		for r := range b * n {
			i, at := r/n, r%n
			total, seen := 0.0, 0.0
			for u := range n {
				if c.sees(i, at, u) {
					total += math.Exp(out[0].Data[r*n+u])
				}
			}
			for u := range n {
				want := 0.0
				if c.sees(i, at, u) {
					want = math.Exp(out[0].Data[r*n+u]) / total
				}
				got := out[1].Data[r*n+u]
				if seen += got; math.Abs(got-want) > 1e-12 || want == 0 && got != 0 {
					t.Errorf("%s: α[%d %d %d] = %v, want %v", c.name, i, at, u, got, want)
				}
				for order, d := range out[2:] {
					if x := d.Data[r*n+u]; math.IsNaN(x) || math.IsInf(x, 0) || !c.sees(i, at, u) && x != 0 {
						t.Errorf("%s: derivative %d by e[%d %d %d] is %v", c.name, order+1, i, at, u, x)
					}
				}
			}
			if some := c.sees(i, at, 0); some && math.Abs(seen-1) > 1e-12 || !some && seen != 0 {
				t.Errorf("%s: row %d %d sums to %v", c.name, i, at, seen)
			}
		}
	}
}

// TestPaddingIsNothing: places behind a sequence's end have no weight, and what
// stands there changes neither the loss nor any derivative.
func TestPaddingIsNothing(t *testing.T) {
	for _, name := range []string{"attention-self", "attention-multihead", "attention-query-norm", "transformer-encoder"} {
		m := layertest.Build(t, name, builders.Settings{"b": 2, "t": 4, "mask": 2})
		x, lengths := m.Graph.Lookup("x"), m.Graph.Lookup("mask/length")
		nodes := append(grad.Of(m.Loss, append(m.Params(), x)...), m.Loss)
		feed := graph.Values{lengths: layertest.ValueOf(lengths, 2, 3)}
		one := layertest.BothWays(t, feed, append(nodes, x, m.Graph.Lookup("α"))...)
		dx, values, α := one[len(nodes)-2], one[len(nodes)], one[len(nodes)+1]
		d := x.Dim(2)
		other := graph.Value{Type: x.Type(), Data: append([]float64(nil), values.Data...)}
		for p := range other.Data {
			if padded := p/d%4 >= []int{2, 3}[p/d/4]; padded {
				other.Data[p] = 100
				if dx.Data[p] != 0 {
					t.Errorf("%s: the derivative by x at place %d of sequence %d is %v", name, p/d%4, p/d/4, dx.Data[p])
				}
			} else if dx.Data[p] == 0 {
				t.Errorf("%s: no derivative by x at place %d of sequence %d", name, p/d%4, p/d/4)
			}
		}
		for p, w := range α.Data {
			if i := p / (len(α.Data) / 2); p%4 >= []int{2, 3}[i] && w != 0 {
				t.Errorf("%s: a padded key has weight %v", name, w)
			}
		}
		feed[x] = other
		two := layertest.BothWays(t, feed, nodes...)
		for i := range nodes {
			if i != len(nodes)-2 {
				layertest.Same(t, name+" with other padding", two[i].Data, one[i].Data)
			}
		}
	}
}

// TestMaskMistakes: what is no mask of the scores is said as such, at the user's line.
func TestMaskMistakes(t *testing.T) {
	n, u := graph.Ax("t", 5), graph.Ax("u", 4)
	for want, mask := range map[string]func(g *graph.Graph) *graph.Node{
		`mask: axis "u" meets axis "t′": causal[t=5 u=4], ê[b=2 h=2 t=5 t′=5], in heads/attend (want an axis of the queries and one of the keys, called as those of the scores, or without names)`: func(g *graph.Graph) *graph.Node {
			return attention.Causal(g, n, u)
		},
		`mask: elements of type f32: want bool: seen[t=5 5], ê[b=2 h=2 t=5 t′=5], in heads/attend (true where a query may see a key, as ops.Greater gives it)`: func(g *graph.Graph) *graph.Node {
			return g.Input("seen", graph.F32, n, graph.Ax("", 5))
		},
		`mask: it has more places than the scores: %N[a=3 b=2 1 t=5 t′=5], ê[b=2 h=2 t=5 t′=5], in heads/attend`: func(g *graph.Graph) *graph.Node {
			return g.Input("seen", graph.Bool, graph.Ax("a", 3), graph.Ax("b", 2), n, graph.Ax("t′", 5))
		},
		"": func(g *graph.Graph) *graph.Node { return attention.Causal(g, n, n) },
	} {
		g := graph.New("masks")
		x := g.Input("x", graph.F32, graph.Ax("b", 2), n, graph.Ax("m", 8))
		y := attention.NewMultiHead(g, "heads", graph.F32, graph.Ax("m", 8), graph.Ax("m", 8), 2).Of(x, x, mask(g))
		got := ""
		if err := g.Err(); err != nil {
			_, got, _ = strings.Cut(err.Error(), ": ")
			if !strings.HasPrefix(err.Error(), "nn/attention/mask_test.go:") {
				t.Errorf("at %v", err)
			}
		}
		got = regexp.MustCompile(`%\d+`).ReplaceAllString(got, "%N")
		if got != want || y.IsValid() != (want == "") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestPresentMistakes: a mask in the place of lengths is refused; as numbers it would be
// lengths of 0 and 1.
func TestPresentMistakes(t *testing.T) {
	g := graph.New("lengths")
	attention.Padding(g.Input("m", graph.Bool, graph.Ax("b", 2)), graph.Ax("u", 3))
	if err := g.Err(); err == nil || !strings.HasSuffix(err.Error(), "Present: want lengths, which are numbers: m[b=2] (what is a mask already needs no Present)") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

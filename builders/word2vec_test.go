package builders_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/train"
)

// TestNegativesFollowTheCounts: words are drawn as often as counts^0.75 has it, and what
// never occurs is never drawn, also at the ends.
func TestNegativesFollowTheCounts(t *testing.T) {
	counts := []float64{0, 16, 1, 0, 81, 0}
	weights := []float64{0, 8, 1, 0, 27, 0}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("negatives")
		const draws = 20000
		n := builders.Negatives(g, dt, graph.Ax("w", len(counts)), counts, graph.Ax("i", draws/4), graph.Ax("k", 4))
		out := layertest.BothWays(t, nil, n)[0]
		drawn := make([]float64, len(counts))
		for _, w := range out.Data {
			drawn[int(w)]++
		}
		for w, got := range drawn {
			p := weights[w] / 36
			if want, std := draws*p, math.Sqrt(draws*p*(1-p)); math.Abs(got-want) > 4*std {
				t.Errorf("%v: word %d is drawn %v times of %d, want about %.0f", dt, w, got, draws, want)
			}
		}
	}
}

// TestNegativeSamplingStaysFinite on the tape where a sigmoid is 0.
func TestNegativeSamplingStaysFinite(t *testing.T) {
	g := graph.New("far")
	c := g.Constant(graph.I64, []float64{0}, graph.Ax("i", 1))
	n := g.Constant(graph.I64, []float64{1}, graph.Ax("i", 1), graph.Ax("k", 1))
	l := builders.NewSkipGram(g, graph.F32, graph.Ax("w", 2), graph.Ax("m", 1))
	loss := l.NegativeSampling(c, c, n)
	du := grad.Of(loss, l.U)[0]
	out, err := reftest.Tape(0, graph.Values{l.V: layertest.ValueOf(l.V, 200, 0), l.U: layertest.ValueOf(l.U, -1, 1)}, []*graph.Node{loss, du})
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].Data[0]; math.Abs(got-400) > 1e-3 { // −log σ(−200) twice
		t.Errorf("loss %v, want 400", got)
	}
	if got := out[1].Data; math.Abs(got[0]+200) > 1e-3 || math.Abs(got[1]-200) > 1e-3 {
		t.Errorf("derivative %v, want [-200 200]", got)
	}
}

// TestWordsOfAGroupMeet: the even and the odd words of the small text keep different
// company, and after training each word's vector is nearer, by angle, to its own group
// than to the other.
func TestWordsOfAGroupMeet(t *testing.T) {
	for _, name := range []string{"word2vec", "word2vec-negative", "word2vec-bag"} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		table := m.Graph.Lookup("v")
		taught := layertest.NewTrainer(t, m, train.Adam(0.01), 1)
		taught.Learn(400)
		vectors := taught.Read("v")
		words, width := table.Dim(0), table.Dim(1)
		cos := func(a, b int) float64 {
			var ab, aa, bb float64
			for j := range width {
				x, y := vectors[a*width+j], vectors[b*width+j]
				ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
			}
			return ab / math.Sqrt(aa*bb)
		}
		for a := range words {
			var own, other []float64
			for b := range words {
				switch {
				case a == b:
				case a%2 == b%2:
					own = append(own, cos(a, b))
				default:
					other = append(other, cos(a, b))
				}
			}
			if layertest.Average(own) < layertest.Average(other)+0.2 {
				t.Errorf("%s: word %d has cosine %.2f with its group and %.2f with the other", name, a, layertest.Average(own), layertest.Average(other))
			}
		}
	}
}

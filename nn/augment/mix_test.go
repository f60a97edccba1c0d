package augment_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn/augment"
)

// TestRandomBeta: moments against those of Beta(α, α), for α on both sides of 1, and
// α = 1 against the uniform distribution; extremes stay between 0 and 1.
func TestRandomBeta(t *testing.T) {
	const n = 40000
	for _, α := range []float64{0.01, 0.3, 0.5, 1, 2, 7, 1000} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			g := graph.New("beta")
			y := augment.RandomBeta(g, "λ", g.Constant(dt, []float64{α}), graph.Ax("n", n))
			out, err := reftest.Tape(3, nil, []*graph.Node{y})
			if err != nil {
				t.Fatal(err)
			}
			v := out[0].Data
			var mean, square, fourth float64
			for _, λ := range v {
				if !(λ >= 0 && λ <= 1) {
					t.Fatalf("α = %v: λ = %v", α, λ)
				}
				d := λ - 0.5
				mean += d / n
				square += d * d / n
				fourth += d * d * d * d / n
			}
			variance := 1 / (4 * (2*α + 1))
			kurtosis := 3 - 6/(2*α+3)
			if math.Abs(mean) > 4*math.Sqrt(variance/n) || math.Abs(square/variance-1) > 0.04 || math.Abs(fourth/variance/variance/kurtosis-1) > 0.08 {
				t.Errorf("α = %v: mean ½ + %.3g, variance %v, want %v, kurtosis %v, want %v", α, mean, square, variance, fourth/variance/variance, kurtosis)
			}
			if α == 1 {
				slices.Sort(v)
				for i, λ := range v {
					if math.Abs(λ-float64(i)/n) > 2/math.Sqrt(n) {
						t.Fatalf("%v of all are below %v", float64(i)/n, λ)
					}
				}
			}
		}
	}
}

// labelled is labels as probabilities, for the album.
func (a album) labelled() *graph.Node {
	y := a.Input("y", graph.F64, graph.Ax("n", a.n), graph.Ax("k", 3))
	a.feed[y] = layertest.Computed(y.Type(), func(i int) float64 { return float64(1 - min(1, (i/3+i)%3)) })
	return y
}

// TestMixup: every example and its label are blended by the same share with the next
// ones.
func TestMixup(t *testing.T) {
	a := newAlbum(50, 3, 4, 2)
	y := a.labelled()
	m := augment.Mixup(a.x, y, a.scalar(0.4), a.scalar(0.5))
	out := a.values(t, m.X, m.Y, m.Share)
	λ := out[2].Data
	layertest.Same(t, "mixed images", out[0].Data, a.each(func(n, i, j, c int) float64 {
		return λ[n]*a.pixel(n, i, j, c) + (1-λ[n])*a.pixel((n+1)%50, i, j, c)
	}))
	mixedLabels(t, out[1].Data, a.feed[y].Data, λ)
	whole := 0
	for _, l := range λ {
		if l == 1 {
			whole++
		}
	}
	if whole < 12 || whole > 38 {
		t.Errorf("%d of 50 examples are not mixed, with probability ½", whole)
	}
}

func mixedLabels(t *testing.T, got, y, λ []float64) {
	t.Helper()
	for n, l := range λ {
		sum := 0.0
		for k := range 3 {
			v := got[3*n+k]
			sum += v
			if want := l*y[3*n+k] + (1-l)*y[3*((n+1)%len(λ))+k]; math.Abs(v-want) > 1e-12 {
				t.Fatalf("label %d: %v, want %v", n, v, want)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("label %d sums to %v", n, sum)
		}
	}
}

// TestCutMix: what is pasted is a rectangle of the next image, and the share is the
// area that is left, also of rectangles that stand out of the image.
func TestCutMix(t *testing.T) {
	a := newAlbum(60, 6, 8, 2)
	y := a.labelled()
	m := augment.CutMix(a.x, y, a.scalar(1), a.scalar(0.8))
	out := a.values(t, m.X, m.Y, m.Share)
	shares := map[float64]bool{}
	for n, λ := range out[2].Data {
		shares[λ] = true
		top, bottom, left, right, count := 99, -1, 99, -1, 0
		for p := range 48 {
			i, j := p/8, p%8
			own, other := true, true
			for c := range 2 {
				v := out[0].Data[(n*48+p)*2+c]
				own, other = own && v == a.pixel(n, i, j, c), other && v == a.pixel((n+1)%60, i, j, c)
			}
			if own == other {
				t.Fatalf("pixel %d %d of image %d is of neither", i, j, n)
			}
			if other {
				top, bottom, left, right, count = min(top, i), max(bottom, i), min(left, j), max(right, j), count+1
			}
		}
		if count > 0 && count != (bottom-top+1)*(right-left+1) {
			t.Errorf("image %d: %d pixels of rows %d to %d and columns %d to %d", n, count, top, bottom, left, right)
		}
		if want := 1 - float64(count)/48; math.Abs(λ-want) > 1e-12 {
			t.Errorf("image %d: λ = %v, but %v is left", n, λ, want)
		}
	}
	if len(shares) < 10 {
		t.Errorf("only the shares %v", shares)
	}
	mixedLabels(t, out[1].Data, a.feed[y].Data, out[2].Data)
}

// TestPixMix: the rounds by hand, from their factors and coins; no image leaves the
// range, and each number of rounds occurs.
func TestPixMix(t *testing.T) {
	const n = 90
	a := newAlbum(n, 2, 3, 1)
	z := a.Input("z", graph.F64, a.x.Shape().Axes()...)
	a.feed[z] = layertest.Random(rand.New(rand.NewPCG(2, 2)), z.Type(), 0)
	for i := range a.feed[z].Data {
		a.feed[z].Data[i] = math.Mod(float64(i)*0.37, 1)
	}
	y := augment.PixMix(a.x, z, a.scalar(2), a.scalar(1), 1)
	nodes := []*graph.Node{y, a.Lookup("a"), a.Lookup("b"), a.Lookup("add"), a.Lookup("rounds"), a.Lookup("past")}
	out := a.values(t, nodes...)
	counts := map[bool]int{}
	layertest.Same(t, "one round", out[0].Data, a.each(func(e, i, j, c int) float64 {
		m, with := a.pixel(e, i, j, c), a.feed[z].Data[e*6+i*3+j]
		p, q := out[1].Data[e], out[2].Data[e]
		past := out[5].Data[e] < 0.5
		if past && !(p >= 1 && p <= 2 && q <= 0 && q >= -1) || !past && !(p >= 0 && p <= 1 && q >= 0 && q <= 1) {
			t.Fatalf("factors %v and %v", p, q)
		}
		happens := out[4].Data[e] >= 0.5
		counts[happens]++
		if !happens {
			return m
		}
		v := (p*(2*m-1) + q*(2*with-1) + 1) / 2
		if out[3].Data[e] >= 0.5 {
			v = math.Pow(max(2*m, 1e-6), p) * math.Pow(max(2*with, 1e-6), q) / 2
		}
		return min(1, max(0, v))
	}))
	if counts[true] < 6*25 || counts[false] < 6*25 {
		t.Errorf("%v pixels with and without a round", counts)
	}
	layertest.Same(t, "no rounds", a.values(t, augment.PixMix(a.x, z, a.scalar(2), a.scalar(1), 0))[0].Data, a.feed[a.x].Data)
	for _, v := range a.values(t, augment.PixMix(a.x, z, a.scalar(0.2), a.scalar(1), 4))[0].Data {
		if !(v >= 0 && v <= 1) {
			t.Fatalf("an intensity of %v", v)
		}
	}
}

// TestMixedLabelsAreLearnt: where labels are mixed, the loss is the cross-entropy with
// what they are mixed to.
func TestMixedLabelsAreLearnt(t *testing.T) {
	for _, name := range []string{"augment-mixup", "augment-cutmix"} {
		m := layertest.Build(t, name, builders.Settings{"p": 1})
		rng := rand.New(rand.NewPCG(1, 1))
		feed := layertest.Filled(m.Graph, rng)
		for in, v := range m.Examples(rng) {
			feed[in] = v
		}
		out := layertest.At(t, 0, feed, m.Loss, m.Output, m.Graph.Lookup("ŷ"))
		scores, y := out[1].Data, out[2].Data
		want, soft := 0.0, 0
		for i := 0; i < len(y); i += 3 {
			sum := math.Exp(scores[i]) + math.Exp(scores[i+1]) + math.Exp(scores[i+2])
			for k := i; k < i+3; k++ {
				want -= y[k] * (scores[k] - math.Log(sum)) * 3 / float64(len(y))
				if y[k] > 0 && y[k] < 1 {
					soft++
				}
			}
		}
		layertest.Same(t, name, out[0].Data, []float64{want})
		if soft == 0 {
			t.Errorf("%s: labels %v", name, y)
		}
	}
}

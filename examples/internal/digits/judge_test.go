package digits

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// TestJudge: an image that was learnt from is at distance 0, another as far as its pixels differ; every image
// is read as one digit.
func TestJudge(t *testing.T) {
	learnt := tensor.New(tensor.WithShape(2, 64), tensor.WithBacking(make([]float32, 128)))
	darker := tensor.New(tensor.WithShape(3, 64), tensor.WithBacking(make([]float32, 192)))
	for i := range darker.Float32s() {
		darker.Float32s()[i] = 1
	}
	verdicts, err := Judge(t.Context(), tape.NewStore(Reader(1, train.Evaluating).Output.Graph()), learnt, learnt, darker)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, 8} { // √64
		read, v := 0, verdicts[i]
		for _, n := range v.Digits {
			read += n
		}
		if v.Nearest != want || read != 2+i || !(v.Sure >= 0.1 && v.Sure <= 1) {
			t.Errorf("group %d: %v, want nearest at %v", i, v, want)
		}
	}
	v := Verdict{Sure: 0.25, Nearest: 1.26, Digits: [10]int{3: 2}}
	if got, want := v.String(), "sure by 0.250, nearest at 1.3, digits [0 0 0 2 0 0 0 0 0 0]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNormal: images of a normal distribution have the mean of those that it is like.
func TestNormal(t *testing.T) {
	fit, _, err := Split()
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := Normal(t.Context(), 4000, fit.Column("x"))
	if err != nil {
		t.Fatal(err)
	}
	const pixel = 3
	mean := func(of *tensor.Dense) (m float64) {
		images := of.Float32s()
		for i := pixel; i < len(images); i += 64 {
			m += float64(images[i]) / float64(len(images)/64)
		}
		return m
	}
	if a, b := mean(fit.Column("x")), mean(drawn); math.Abs(a-b) > 0.5 { // clipping takes a little off
		t.Errorf("mean %v, want %v", b, a)
	}
}

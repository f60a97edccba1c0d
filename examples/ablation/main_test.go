package main

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// A net with noise and running statistics is the same function of an image whenever it is
// evaluated, and whatever other images are in the batch.
func TestEvaluation(t *testing.T) {
	fit, test, err := digits.Split()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	three := variants()[4]
	trainer := &train.Trainer{Build: three.net, Optimiser: train.Adam(1e-3)}
	defer trainer.Close()
	curve := &digits.Curve{}
	if err := trainer.Fit(ctx, train.Plan{Data: data.Shuffled(fit, 32, 0), Epochs: 2, Observers: []train.Observer{curve}}); err != nil {
		t.Fatal(err)
	}
	if curve.Loss[1] >= curve.Loss[0] {
		t.Errorf("losses %v do not fall", curve.Loss)
	}
	scores := func(rows int) float64 {
		s, err := trainer.Evaluate(ctx, data.InOrder(test, rows), metric.Accuracy("y"))
		if err != nil {
			t.Fatal(err)
		}
		loss, _ := s.Get("loss")
		return loss
	}
	whole := scores(0)
	if again := scores(0); again != whole {
		t.Errorf("evaluated twice: loss %v, then %v", whole, again)
	}
	if parts := scores(7); math.Abs(parts-whole) > 1e-5 {
		t.Errorf("evaluated in batches of 7: loss %v, in one %v", parts, whole)
	}
}

func TestTable(t *testing.T) {
	all := []variant{
		{name: "nothing", wrong: []float64{7, 8, 9}, loss: []float64{.2, .3, .4}},
		{name: "something", wrong: []float64{6, 7, 8}, loss: []float64{.3, .2, .4}},
	}
	var b strings.Builder
	if err := table(&b, all); err != nil {
		t.Fatal(err)
	}
	const want = `read wrongly, %   mean ± deviation   difference   chance
nothing           8.00 ± 1.00
something         7.00 ± 1.00   -1.00   0 *

loss, nats   mean ± deviation   difference   chance
nothing      0.300 ± 0.100
something    0.300 ± 0.100   +0.000   1

`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

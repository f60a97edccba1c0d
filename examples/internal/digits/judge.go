package digits

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// Reader builds a net that reads digits, to judge images that another net makes.
func Reader(rows int, _ train.Mode) *train.Net {
	g := graph.New("reader")
	ink, y := Inputs(g, rows)
	h := ops.ReLU(nn.NewLinear(g, "fc1", graph.F32, graph.Ax("p", 64), graph.Ax("h", 128)).Of(ink))
	scores := nn.NewLinear(g, "fc2", graph.F32, graph.Ax("h", 128), graph.Ax("k", 10)).Of(h)
	return &train.Net{Loss: nn.CrossEntropy(scores, y), Output: ops.Softmax(scores, "k").As("probability")}
}

// Verdict is what there is to say of images without looking at them.
type Verdict struct {
	Sure    float64 // how sure the reader is of what it reads, on average
	Nearest float64 // root of the mean square distance to the nearest image that was learnt from
	Digits  [10]int // how often it reads each
}

// String says it in one line.
func (v Verdict) String() string {
	return fmt.Sprintf("sure by %.3f, nearest at %.1f, digits %v", v.Sure, v.Nearest, v.Digits)
}

// Judge has a trained [Reader] read some groups of images[n 64], and compares them with the images that
// were learnt from; all have ink from 0 to 16.
func Judge(ctx context.Context, reader *tape.Store, learnt *tensor.Dense, groups ...*tensor.Dense) ([]Verdict, error) {
	verdicts := make([]Verdict, len(groups))
	for i, images := range groups {
		out := Reader(images.Shape()[0], train.Evaluating).Output
		g := out.Graph()
		x, seen := g.Lookup("x"), g.Input("seen", graph.F32, graph.Ax("m", learnt.Shape()[0]), graph.Ax("p", 64))
		sure, read := ops.Mean(ops.Max(out, "k")), ops.ArgMax(out, "k")
		nearest := ops.Sqrt(ops.Mean(ops.Min(ops.SqDist(x, seen), "m")))
		values, err := reader.Eval(ctx, tape.Feed{x: images, seen: learnt}, sure, read, nearest)
		if err != nil {
			return nil, err
		}
		v := &verdicts[i]
		v.Sure, v.Nearest = values[sure].Item(), values[nearest].Item()
		for _, k := range values[read].Data {
			v.Digits[int(k)]++
		}
	}
	return verdicts, nil
}

// Normal draws n images of a normal distribution with mean and covariance of some images.
func Normal(ctx context.Context, n int, of *tensor.Dense) (*tensor.Dense, error) {
	g := graph.New("normal")
	p, other := graph.Ax("p", 64), graph.Ax("p′", 64)
	x := g.Input("x", graph.F32, graph.Ax("m", of.Shape()[0]), p)
	mean := ops.Mean(x, "m")
	centred := ops.Sub(x, mean)
	covariance := ops.Scale(ops.MatMul(ops.Transpose(centred), centred), 1/float64(of.Shape()[0]))
	little := ops.Scale(ops.Eye(g, graph.F32, p, other), 0.01) // for pixels that never have ink
	ε := ops.RandomNormal(g, "ε", graph.F32, graph.Ax("n", n), other)
	drawn := ops.Add(ops.MatMul(ε, ops.Transpose(ops.Cholesky(ops.Add(covariance, little)))), mean)
	ink := ops.Clip(drawn, ops.Lit(drawn, 0), ops.Lit(drawn, 16))
	values, err := tape.Eval(ctx, tape.Feed{x: of}, ink)
	if err != nil {
		return nil, err
	}
	return tape.Tensor(values[ink]), nil
}

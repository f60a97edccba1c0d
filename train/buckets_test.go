package train_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

const longestSequence = 16

// sequences are rows of random lengths, padded to the longest, with the mask of what is no padding.
func sequences(t *testing.T, n int) (set *data.Set, lengths []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	x, mask, y := make([]float64, n*longestSequence*3), make([]float64, n*longestSequence), make([]float64, n)
	for i := range n {
		lengths = append(lengths, 1+rng.IntN(longestSequence))
		for k := range lengths[i] {
			mask[i*longestSequence+k] = 1
			for d := range 3 {
				x[(i*longestSequence+k)*3+d] = rng.NormFloat64()
			}
		}
		y[i] = rng.NormFloat64()
	}
	set, err := data.NewSet(map[string]*tensor.Dense{
		"x":    tensor.New(tensor.WithShape(n, longestSequence, 3), tensor.WithBacking(x)),
		"mask": tensor.New(tensor.WithShape(n, longestSequence), tensor.WithBacking(mask)),
		"y":    tensor.New(tensor.WithShape(n), tensor.WithBacking(y)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, lengths
}

// reader averages over the places that the mask has.
func reader(rows int, sizes attr.Ints, _ train.Mode) *train.Net {
	places := longestSequence
	if sizes.Len() > 0 {
		places = sizes.At(0)
	}
	g := graph.New("reader")
	n, s := graph.Ax("n", rows), graph.Ax("t", places)
	x, mask, y := g.Input("x", graph.F64, n, s, graph.Ax("d", 3)), g.Input("mask", graph.F64, n, s), g.Input("y", graph.F64, n)
	w := g.Param("w", graph.F64, graph.Ax("d", 3), graph.Ax("h", 8)).Init(initial.Glorot())
	v := g.Param("v", graph.F64, graph.Ax("h", 8)).Init(initial.Normal(0, 1))
	h := ops.Mul(ops.Tanh(ops.MatMul(x, w)), ops.Expand(mask, -1, ""))
	mean := ops.Div(ops.Sum(h, "t"), ops.Expand(ops.Sum(mask, "t"), -1, ""))
	out := ops.Einsum("n h, h -> n", mean, v).As("out")
	return &train.Net{Loss: nn.SquaredError(out, y), Output: out}
}

// padded gives the batches of a source padded to the longest.
type padded struct{ data.Source }

func (p padded) Next(ctx context.Context) (data.Batch, error) {
	b, err := p.Source.Next(ctx)
	if err != nil {
		return b, err
	}
	out := data.Batch{Rows: b.Rows, Values: map[string]*tensor.Dense{"y": b.Values["y"]}}
	for name, shape := range map[string][]int{"x": {b.Rows, longestSequence, 3}, "mask": {b.Rows, longestSequence}} {
		from := b.Values[name].Float64s()
		to := tensor.New(tensor.WithShape(shape...), tensor.Of(tensor.Float64))
		short, long := len(from)/b.Rows, len(to.Float64s())/b.Rows
		for i := range b.Rows {
			copy(to.Float64s()[i*long:], from[i*short:(i+1)*short])
		}
		out.Values[name] = to
	}
	return out, nil
}

// TestBuckets: training, evaluating and predicting in buckets is that of the same batches padded to
// the longest, with fewer operations.
func TestBuckets(t *testing.T) {
	set, lengths := sequences(t, 50)
	b := data.Buckets{Lengths: lengths, Sizes: []int{4, 8, longestSequence}, Columns: []string{"x", "mask"}}
	type result struct {
		losses, outputs, params []float64
		loss                    float64
		flops                   int64
	}
	run := func(wrap func(data.Source) data.Source) (r result) {
		shuffled, err := b.Shuffled(set, 8, 3)
		if err != nil {
			t.Fatal(err)
		}
		inOrder, err := b.InOrder(set, 8)
		if err != nil {
			t.Fatal(err)
		}
		trainer := &train.Trainer{BuildSizes: reader, Optimiser: train.Adam(0.01), Seed: 1}
		defer trainer.Close()
		source := wrap(shuffled)
		step := train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				r.losses = append(r.losses, e.Loss)
			}
			return nil
		})
		if err := trainer.Fit(t.Context(), train.Plan{Data: source, Epochs: 3, Observers: []train.Observer{step}}); err != nil {
			t.Fatal(err)
		}
		for range shuffled.Batches() { // of the next epoch
			batch, err := source.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p, err := trainer.Program(t.Context(), batch.Rows, train.Training, batch.Sizes.List()...)
			if err != nil {
				t.Fatal(err)
			}
			r.flops += p.FLOPs()
		}
		scores, err := trainer.Evaluate(t.Context(), wrap(inOrder))
		if err != nil {
			t.Fatal(err)
		}
		r.loss = scores[0].Value
		r.outputs = make([]float64, len(lengths))
		if err := trainer.Predict(t.Context(), inOrder, func(batch data.Batch, out *tensor.Dense) error {
			for i, v := range out.Float64s() {
				row, ok := batch.Row(i)
				if !ok {
					t.Error("the rows are not known")
				}
				r.outputs[row] = v
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"w", "v"} {
			p, err := trainer.Store().Get(path)
			if err != nil {
				t.Fatal(err)
			}
			r.params = append(r.params, p.Float64s()...)
		}
		return r
	}
	short := run(func(s data.Source) data.Source { return s })
	long := run(func(s data.Source) data.Source { return padded{s} })
	near := func(what string, a, b []float64) {
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%s: %d and %d numbers", what, len(a), len(b))
		}
		for i := range a {
			if !(math.Abs(a[i]-b[i]) <= 1e-12*(1+math.Abs(b[i]))) {
				t.Fatalf("%s %d: %v in buckets, %v padded", what, i, a[i], b[i])
			}
		}
	}
	near("loss", short.losses, long.losses)
	near("parameter", short.params, long.params)
	near("output", short.outputs, long.outputs)
	near("evaluation", []float64{short.loss}, []float64{long.loss})
	if 4*short.flops > 3*long.flops {
		t.Errorf("%d operations an epoch in buckets, %d padded", short.flops, long.flops)
	}
}

// TestBucketsResume: a training in buckets goes on from a checkpoint bit for bit.
func TestBucketsResume(t *testing.T) {
	set, lengths := sequences(t, 30)
	b := data.Buckets{Lengths: lengths, Sizes: []int{8, longestSequence}, Columns: []string{"x", "mask"}}
	fit := func(plan train.Plan) *train.Trainer {
		source, err := b.Shuffled(set, 4, 3)
		if err != nil {
			t.Fatal(err)
		}
		plan.Data = data.Prefetch(source, 2)
		trainer := &train.Trainer{BuildSizes: reader, Optimiser: train.Adam(0.01), Seed: 1}
		t.Cleanup(trainer.Close)
		if err := trainer.Fit(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		return trainer
	}
	dir := t.TempDir()
	whole := fit(train.Plan{Steps: 15}).Store()
	fit(train.Plan{Steps: 7, Checkpoints: train.Checkpoints{Dir: dir}})
	rest := fit(train.Plan{Steps: 15, Resume: dir, Checkpoints: train.Checkpoints{Dir: dir}})
	for _, path := range whole.Paths() {
		a, errA := whole.Get(path)
		b, errB := rest.Store().Get(path)
		if errA != nil || errB != nil || !a.Eq(b) {
			t.Errorf("%s differs: %v, %v", path, errA, errB)
		}
	}
	other := &train.Trainer{BuildSizes: reader, Optimiser: train.Adam(0.01)}
	defer other.Close()
	if s, err := other.Load(dir); err != nil || s.Model.Sizes.Len() != 1 {
		t.Errorf("%v", err)
	}
}

// TestBuildSizes: which of the two builds a net is clear.
func TestBuildSizes(t *testing.T) {
	set, lengths := sequences(t, 4)
	source, err := data.Buckets{Lengths: lengths, Sizes: []int{longestSequence}, Columns: []string{"x", "mask"}}.InOrder(set, 4)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(rows int, mode train.Mode) *train.Net { return reader(rows, attr.Ints{}, mode) }
	for _, c := range []struct {
		trainer train.Trainer
		want    string
	}{
		{train.Trainer{}, "train: no model: Build is nil"},
		{train.Trainer{Build: rows, BuildSizes: reader}, "train: two models: set either Build or BuildSizes"},
		{train.Trainer{Build: rows}, "train: batches of 4 rows and sizes [16]: a net that depends on sizes is built by BuildSizes"},
		{train.Trainer{BuildSizes: func(int, attr.Ints, train.Mode) *train.Net { return nil }}, "train: the net for 4 rows and sizes [16] has neither a loss nor an output"},
	} {
		if _, err := c.trainer.Evaluate(t.Context(), source); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

package train_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// failing is a source that fails at a batch.
type failing struct {
	data.Source
	at  int
	err error
}

func (f *failing) Next(ctx context.Context) (data.Batch, error) {
	if f.Position().Batch == f.at {
		return data.Batch{}, f.err
	}
	return f.Source.Next(ctx)
}

// TestEvaluate: the loss is the mean over rows, whatever the sizes of batches, and the position of
// the source does not change.
func TestEvaluate(t *testing.T) {
	tr, set := noisyTrainer(t), iris(t)
	ctx := context.Background()
	if err := tr.Fit(ctx, train.Plan{Data: data.Shuffled(set, 64, 3), Epochs: 2}); err != nil {
		t.Fatal(err)
	}
	before := bits(t, tr.Store())
	whole, err := tr.Evaluate(ctx, data.InOrder(set, 0), metric.Accuracy("y"))
	if err != nil || len(whole) != 2 || whole[0].Name != "loss" || !(whole[1].Value > 0.5) {
		t.Fatalf("%v, %v", whole, err)
	}
	source := data.InOrder(set, 64)
	if err := source.Seek(data.Position{Epoch: 5, Batch: 1}); err != nil {
		t.Fatal(err)
	}
	parts, err := tr.Evaluate(ctx, source, metric.Accuracy("y"))
	if err != nil || math.Abs(parts[0].Value-whole[0].Value) > 1e-6 || parts[1] != whole[1] {
		t.Errorf("in batches %v, %v: want %v", parts, err, whole)
	}
	if at := (data.Position{Epoch: 5, Batch: 1}); source.Position() != at {
		t.Errorf("the source stands at %v", source.Position())
	}
	rows := 0
	err = tr.Predict(ctx, source, func(b data.Batch, output *tensor.Dense) error {
		if output.Shape()[0] != b.Rows {
			t.Errorf("an output of shape %v for %d rows", output.Shape(), b.Rows)
		}
		rows += b.Rows
		return nil
	})
	if err != nil || rows != set.Rows() {
		t.Errorf("%d rows, %v", rows, err)
	}
	if bits(t, tr.Store()) != before {
		t.Error("evaluating changed the store")
	}
}

func TestEvaluateMistakes(t *testing.T) {
	var none context.Context
	ctx, set := context.Background(), iris(t)
	broken := errors.New("line 7: broken")
	tr := noisyTrainer(t)
	lossOnly := &train.Trainer{Build: func(rows int, m train.Mode) *train.Net { return &train.Net{Loss: noisy(rows, m).Loss} }}
	defer lossOnly.Close()
	for what, c := range map[string]struct {
		do   func() error
		want string
	}{
		"no data":    {func() error { _, err := tr.Evaluate(ctx, nil); return err }, "evaluate: no data"},
		"no data 2":  {func() error { return tr.Predict(ctx, nil, nil) }, "predict: no data"},
		"nil metric": {func() error { _, err := tr.Evaluate(ctx, data.InOrder(set, 64), nil); return err }, "evaluate: a metric is nil"},
		"no output": {func() error {
			_, err := lossOnly.Evaluate(ctx, data.InOrder(set, 64), metric.Accuracy("y"))
			return err
		}, "evaluate: the model has no output to measure"},
		"no output 2":          {func() error { return lossOnly.Predict(ctx, data.InOrder(set, 64), nil) }, "predict: the model has no output"},
		"nobody takes it":      {func() error { return tr.Predict(ctx, data.InOrder(set, 64), nil) }, "predict: no function takes the output"},
		"no context":           {func() error { _, err := tr.Evaluate(none, data.InOrder(set, 64)); return err }, "evaluate: the context is nil"},
		"a label that is none": {func() error { _, err := tr.Evaluate(ctx, data.InOrder(set, 64), metric.Accuracy("z")); return err }, `accuracy: the batch has no column "z"`},
	} {
		if err := c.do(); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
	source := &failing{data.InOrder(set, 64), 1, broken}
	if err := source.Seek(data.Position{Epoch: 2}); err != nil {
		t.Fatal(err)
	}
	_, err := tr.Evaluate(ctx, source)
	if !errors.Is(err, broken) || err.Error() != "evaluate: line 7: broken" || source.Position() != (data.Position{Epoch: 2}) {
		t.Errorf("%v, at %v", err, source.Position())
	}
	if err := tr.Fit(ctx, train.Plan{Data: source, Steps: 100}); err != broken || source.Position() != (data.Position{Batch: 1}) {
		t.Errorf("%v, at %v", err, source.Position())
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tr.Evaluate(ended, data.InOrder(set, 64)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestClosedTrainer: the store stays, and the trainer can be used again.
func TestClosedTrainer(t *testing.T) {
	ctx, set := context.Background(), iris(t)
	tr := noisyTrainer(t)
	tr.Close() // before anything was done
	first, err := tr.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		t.Fatal(err)
	}
	tr.Close()
	tr.Close()
	second, err := tr.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil || second[0] != first[0] {
		t.Errorf("%v, %v: want %v", second, err, first)
	}
}

// repeated gives one batch again and again.
type repeated struct {
	data.Source
	batch data.Batch
}

func (r *repeated) Next(context.Context) (data.Batch, error) { return r.batch, nil }

// TestStepAllocates: a step of Fit in the steady state allocates nothing.
func TestStepAllocates(t *testing.T) {
	tr := &train.Trainer{Build: wild, Optimiser: train.SGD(1e-9), Workers: 1}
	defer tr.Close()
	source := data.InOrder(iris(t), 0)
	b, err := source.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	source = &repeated{source, b}
	steps := 0
	fit := func(more int) {
		steps += more
		plan := train.Plan{Data: source, Steps: steps, Rate: train.Constant(1e-9), Observers: []train.Observer{train.ObserverFunc(func(train.Event) error { return nil })}}
		if err := tr.Fit(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
	}
	fit(10)
	few := testing.AllocsPerRun(5, func() { fit(10) })
	many := testing.AllocsPerRun(5, func() { fit(1010) })
	if many > few+1 {
		t.Errorf("1000 steps more allocate %v times more", many-few)
	}
}

// TestPrepare: the store has all entries before the first step, with the values that training
// begins with.
func TestPrepare(t *testing.T) {
	tr := noisyTrainer(t)
	s, err := tr.Prepare(t.Context(), 64)
	if err != nil || s != tr.Store() || s.Step() != 0 || !strings.Contains(strings.Join(s.Paths(), " "), "fc1/w") {
		t.Fatalf("%v, %v", s.Paths(), err)
	}
	g := graph.New("broken")
	bad := &train.Trainer{Build: func(int, train.Mode) *train.Net {
		return &train.Net{Loss: ops.MatMul(g.Param("a", graph.F32), nil)}
	}, Optimiser: train.SGD(1)}
	if _, err := bad.Prepare(t.Context(), 1); err == nil {
		t.Error("a broken model is prepared")
	}
}

// TestLabels: a label that is no class is an error that names it, where once it counted as a row
// without a label; one that the loss ignores is not.
func TestLabels(t *testing.T) {
	net := func(options ...nn.CrossEntropyOption) train.Build {
		return func(rows int, _ train.Mode) *train.Net {
			g := graph.New("three classes")
			x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4))
			y := g.Input("y", graph.I32, graph.Ax("n", rows))
			z := nn.NewLinear(g, "fc", graph.F32, graph.Ax("d", 4), graph.Ax("k", 3)).Of(x)
			return &train.Net{Loss: nn.CrossEntropy(z, y, options...), Output: z}
		}
	}
	set := iris(t)
	column := func(y int32) *data.Set {
		c := set.Column("y").Clone().(*tensor.Dense)
		c.Int32s()[117] = y
		s, err := set.With("y", c)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ctx := context.Background()
	for _, c := range []struct {
		build train.Build
		y     int32
		want  string
	}{
		{net(), 2, ""},
		{net(), 3, `label 3 in column "y", row 117: the model has 3 classes`},
		{net(), -1, `label -1 in column "y", row 117: the model has 3 classes`},
		{net(nn.Ignoring(-1)), -1, ""},
		{net(nn.Ignoring(-1)), 7, `label 7 in column "y", row 117: the model has 3 classes`},
	} {
		tr := &train.Trainer{Build: c.build, Optimiser: train.SGD(0.1), Seed: 1}
		defer tr.Close()
		prefetched := data.Prefetch(data.Map(data.Shuffled(column(c.y), 64, 1), 1), 2)
		defer prefetched.Close()
		_, evaluated := tr.Evaluate(ctx, data.InOrder(column(c.y), 100))
		if err := tr.Predict(ctx, data.InOrder(column(c.y), 100), func(data.Batch, *tensor.Dense) error { return nil }); err != nil {
			t.Errorf("label %d: %v: to predict takes no labels", c.y, err)
		}
		for what, err := range map[string]error{"train": tr.Fit(ctx, train.Plan{Data: prefetched, Epochs: 1}), "evaluate": evaluated} {
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != what+": "+c.want) {
				t.Errorf("label %d: %v, want %s: %s", c.y, err, what, c.want)
			}
		}
	}
}

// TestFed: data that the model cannot read are refused in terms of its inputs, and a value that is
// not finite is found in the data.
func TestFed(t *testing.T) {
	set, ctx := iris(t), context.Background()
	x := set.Column("x").Clone().(*tensor.Dense)
	x.Float32s()[4*117+2] = float32(math.NaN())
	wild, err := set.With("x", x)
	if err != nil {
		t.Fatal(err)
	}
	tr := noisyTrainer(t)
	err = tr.Fit(ctx, train.Plan{Data: data.InOrder(wild, 0), Steps: 1})
	if want := "step 1: a value that is not finite was fed: x[n=117 d=2] = NaN, row 117: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	misnamed, err := data.NewSet(map[string]*tensor.Dense{"X": set.Column("x"), "y": set.Column("y")})
	if err != nil {
		t.Fatal(err)
	}
	err = tr.Fit(ctx, train.Plan{Data: data.InOrder(misnamed, 0), Steps: 1})
	if want := "train: input x of type f32[n=150 d=4] is not fed; the data have X, y"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestWildSchedule: a rate that is not finite is refused before it spoils the parameters.
func TestWildSchedule(t *testing.T) {
	tr := noisyTrainer(t)
	plan := train.Plan{Data: data.InOrder(iris(t), 50), Steps: 5}
	for _, c := range []struct {
		rate      train.Schedule
		scheduled map[string]train.Schedule
		want      string
	}{
		{train.InverseTime(1, 0), nil, "train: 1/t(1,0) gives NaN for adam/rate in step 1"},
		{train.Schedule{}, map[string]train.Schedule{"adam/clip-norm": train.Constant(math.Inf(1))}, "train: +Inf gives +Inf for adam/clip-norm in step 1"},
	} {
		plan.Rate, plan.Scheduled = c.rate, c.scheduled
		if err := tr.Fit(context.Background(), plan); err == nil || err.Error() != c.want || tr.Store().Step() != 0 {
			t.Errorf("%v after %d steps, want %s", err, tr.Store().Step(), c.want)
		}
	}
}

// TestSharedSource: a second training on the same source begins where the first began; otherwise it
// would find the epochs done, and train nothing.
func TestSharedSource(t *testing.T) {
	source := data.Shuffled(iris(t), 64, 1)
	var trained []string
	for range 2 {
		tr := noisyTrainer(t)
		if err := tr.Fit(context.Background(), train.Plan{Data: source, Epochs: 2}); err != nil {
			t.Fatal(err)
		}
		trained = append(trained, bits(t, tr.Store()))
	}
	if trained[0] != trained[1] || !strings.Contains(trained[0], "step 6 runs 0\n") {
		t.Errorf("%.20s… and %.20s…: want two equal trainings of 6 steps", trained[0], trained[1])
	}
}

// TestBuildAnew: a graph that Build returns twice has a step already, and the error says so.
func TestBuildAnew(t *testing.T) {
	net := noisy(100, train.Training)
	tr := &train.Trainer{Build: func(int, train.Mode) *train.Net { return net }, Optimiser: train.SGD(0.1)}
	defer tr.Close()
	err := tr.Fit(context.Background(), train.Plan{Data: data.InOrder(iris(t), 100), Steps: 2})
	if want := "train: noisy has a step already: want a new graph, without Minimize, from each call of Build"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	tr.Build = func(rows int, mode train.Mode) *train.Net {
		return &train.Net{Loss: noisy(rows, mode).Loss, Output: noisy(rows, mode).Output}
	}
	_, err = tr.Evaluate(context.Background(), data.InOrder(iris(t), 0))
	if want := "train: the net for 150 rows has its loss in one graph and its output in another"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTokenOutside: a token that the embedding does not have is found in the data, whatever layout
// operations are between.
func TestTokenOutside(t *testing.T) {
	x := make([]int32, 40)
	x[11] = 99
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(20, 2), tensor.WithBacking(x))})
	if err != nil {
		t.Fatal(err)
	}
	build := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("tokens")
		x := g.Input("x", graph.I32, graph.Ax("n", rows), graph.Ax("t", 2))
		e := nn.NewEmbedding(g, "embedding", graph.F32, graph.Ax("v", 10), graph.Ax("m", 4))
		return &train.Net{Loss: ops.Mean(ops.Square(e.Of(ops.Merge(x, "b", "n", "t"))))}
	}
	tr := &train.Trainer{Build: build, Optimiser: train.SGD(0.1)}
	defer tr.Close()
	err = tr.Fit(context.Background(), train.Plan{Data: data.InOrder(set, 0), Steps: 1})
	const where = `train: 99 in column "x", row 5: train/trainer_test.go:`
	if want := ": Embedding: %2[b=11] is 99: want an index from 0 to 9, in embedding"; err == nil || !strings.HasPrefix(err.Error(), where) || !strings.HasSuffix(err.Error(), want) || tr.Store().Step() != 0 {
		t.Errorf("%v, want %s…%s", err, where, want)
	}
}

// TestPrepareIsStopped: Prepare returns its context's error while it compiles.
func TestPrepareIsStopped(t *testing.T) {
	tr := noisyTrainer(t)
	if _, err := tr.Prepare(tapetest.Uncompiled(t.Context()), 64); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := tr.Prepare(t.Context(), 64); err != nil {
		t.Errorf("after it was stopped: %v", err)
	}
}

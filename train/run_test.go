package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// nothing feeds a model that has no inputs.
func nothing() data.Source { return data.Generated("nothing", 1, nil) }

// losses notes the losses of a run.
func losses(to *[]float64) train.Observer {
	return train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Stepped {
			*to = append(*to, e.Loss)
		}
		return nil
	})
}

// TestRunStops: an observer ends a run early, without an error, and the run continues when it is
// called again.
func TestRunStops(t *testing.T) {
	var seen []float64
	low := train.ObserverFunc(func(e train.Event) error {
		if e.Loss < 1e-3 {
			return train.ErrStop
		}
		return nil
	})
	run := train.Run{Trainer: quadraticTrainer(t, train.SGD(0.1)), Data: nothing(), Steps: 50, Rate: train.Geometric(0.2, 0.01), Observers: []train.Observer{losses(&seen), low}}
	if err := run.Do(context.Background()); err != nil || len(seen) == 50 || seen[len(seen)-1] >= 1e-3 {
		t.Fatalf("%d steps, losses %v, %v", len(seen), seen, err)
	}
	at := len(seen)
	if err := run.Do(context.Background()); err != nil || len(seen) != at+1 {
		t.Errorf("again: %d steps more, %v", len(seen)-at, err)
	}
}

// TestRunIsFit: a run takes the same steps as Fit, at once or step by step.
func TestRunIsFit(t *testing.T) {
	ctx := context.Background()
	var whole, single, fit []float64
	rate := train.Cosine(0.2, 20)
	run := train.Run{Trainer: quadraticTrainer(t, train.Adam(0.1)), Data: nothing(), Steps: 20, Rate: rate, Observers: []train.Observer{losses(&whole)}}
	if err := run.Do(ctx); err != nil {
		t.Fatal(err)
	}
	run = train.Run{Trainer: quadraticTrainer(t, train.Adam(0.1)), Data: nothing(), Steps: 20, Rate: rate, Observers: []train.Observer{losses(&single)}}
	for range 20 {
		if err := run.Step(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := quadraticTrainer(t, train.Adam(0.1)).Fit(ctx, train.Plan{Data: nothing(), Steps: 20, Rate: rate, Observers: []train.Observer{losses(&fit)}}); err != nil {
		t.Fatal(err)
	}
	if len(whole) != 20 || !slices.Equal(whole, single) || !slices.Equal(whole, fit) {
		t.Errorf("losses differ:\n%v\n%v\n%v", whole, single, fit)
	}
}

// counting is an engine that counts.
type counting struct {
	train.Engine
	runs, closed int
}

func (c *counting) Run(ctx context.Context, feed tape.Feed) error {
	c.runs++
	return c.Engine.Run(ctx, feed)
}

func (c *counting) Close() { c.closed++; c.Engine.Close() }

// TestEngineRunsSteps: training steps run on the engine, with the losses of the tape.
func TestEngineRunsSteps(t *testing.T) {
	var tapes, own []float64
	plan := func(to *[]float64) train.Plan {
		return train.Plan{Data: nothing(), Steps: 5, Observers: []train.Observer{losses(to)}}
	}
	if err := quadraticTrainer(t, train.Adam(0.1)).Fit(context.Background(), plan(&tapes)); err != nil {
		t.Fatal(err)
	}
	engine := &counting{}
	trainer := quadraticTrainer(t, train.Adam(0.1))
	trainer.Engine = func(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
		prog, err := tape.CompileContext(ctx, g, tape.Fetch(loss), tape.Do(step))
		if err != nil {
			return nil, err
		}
		engine.Engine, err = prog.NewVM(store)
		return engine, err
	}
	if err := trainer.Fit(context.Background(), plan(&own)); err != nil {
		t.Fatal(err)
	}
	trainer.Close()
	if engine.runs != 5 || engine.closed != 1 || !slices.Equal(tapes, own) {
		t.Errorf("%d runs, closed %d times, losses %v, want %v", engine.runs, engine.closed, own, tapes)
	}
}

// TestOwnStepAlone: a net with empty Params trains by its own step, without an optimiser.
func TestOwnStepAlone(t *testing.T) {
	build := func(params []*graph.Node) train.Build {
		return func(int, train.Mode) *train.Net {
			loss := quadraticLoss()
			w := loss.Graph().Lookup("w")
			return &train.Net{Loss: loss, Params: params, Step: graph.Step{loss.Graph().Assign(w, ops.Shift(w, 0.5))}}
		}
	}
	trainer := &train.Trainer{Build: build([]*graph.Node{})}
	defer trainer.Close()
	run := train.Run{Trainer: trainer, Data: nothing(), Steps: 2, Rate: train.Constant(1)}
	if err := run.Do(context.Background()); err != nil {
		t.Fatal(err)
	}
	w, err := trainer.Store().Get("w")
	if err != nil || !slices.Equal(w.Float64s(), []float64{1, 1, 1}) {
		t.Errorf("w = %v, %v", w, err)
	}
	idle := &train.Trainer{Build: func(int, train.Mode) *train.Net {
		return &train.Net{Loss: quadraticLoss(), Params: []*graph.Node{}}
	}}
	defer idle.Close()
	if err := (&train.Run{Trainer: idle, Data: nothing(), Steps: 1}).Do(context.Background()); err == nil || !strings.Contains(err.Error(), "nothing to train") {
		t.Errorf("a net with nothing to train: %v", err)
	}
}

func TestRunMistakes(t *testing.T) {
	trainer := quadraticTrainer(t, train.SGD(0.1))
	broken := errors.New("broken")
	for _, c := range []struct {
		run  train.Run
		want string
	}{
		{train.Run{Data: nothing(), Steps: 1}, "train: the trainer is nil"},
		{train.Run{Trainer: trainer, Steps: 1}, "train: no data"},
		{train.Run{Trainer: trainer, Data: nothing()}, "train: 0 epochs and 0 steps: want at least one of them above 0, and none below"},
		{train.Run{Trainer: trainer, Data: nothing(), Steps: -1}, "train: 0 epochs and -1 steps: want neither below 0"},
		{train.Run{Trainer: trainer, Data: nothing(), Steps: 1, Observers: []train.Observer{nil}}, "train: an observer is nil"},
		{train.Run{Trainer: trainer, Data: nothing(), Steps: 1, Rate: train.Constant(math.NaN())}, "gives NaN for sgd/rate in step 1"},
		{train.Run{Trainer: trainer, Data: nothing(), Steps: 1, Scheduled: map[string]train.Schedule{"w": train.Constant(1)}}, `train: the schedule of "w": want the path of a float scalar, and a schedule`},
		{train.Run{Trainer: trainer, Data: nothing(), Steps: 1, Scheduled: map[string]train.Schedule{"sgd/rate": {}}}, `train: the schedule of "sgd/rate": want the path of a float scalar, and a schedule`},
		{train.Run{Trainer: trainer, Steps: 1, Data: data.Generated("", 1, func(int) (map[string]*tensor.Dense, error) { return nil, broken })}, "broken"},
	} {
		if err := c.run.Do(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) || trainer.Store().Step() != 0 {
			t.Errorf("%v after %d steps: want %s", err, trainer.Store().Step(), c.want)
		}
	}
}

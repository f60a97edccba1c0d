package chars

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Model predicts the token after each of many tokens, and, reading one per run, after the last:
// builders.LanguageModel and builders.RecurrentLanguageModel.
type Model interface {
	Of(tokens *graph.Node) *graph.Node
	Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step)
	Window() int
}

// Study is a model and its training.
type Study struct {
	Name string
	Net  func(g *graph.Graph, vocabulary graph.Axis) Model
	Rate float64 // of AdamW
}

// Build makes the net for training and measuring: the mean loss in nats over all characters of x[b
// t], whose next characters are y[b t].
func (s Study) Build(characters int) train.Build {
	return func(rows int, _ train.Mode) *train.Net {
		g := graph.New("characters: " + s.Name)
		b, t := graph.Ax("b", rows), graph.Ax("t", Window)
		x, y := g.Input("x", graph.I32, b, t), g.Input("y", graph.I32, b, t)
		logits := s.Net(g, graph.Ax("w", characters)).Of(x)
		return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
	}
}

// Generator makes the net that reads one character per run.
func (s Study) Generator(characters int) infer.Model {
	g := graph.New("generator: " + s.Name)
	net := s.Net(g, graph.Ax("w", characters))
	token, fresh := g.Input("token", graph.I32, graph.Ax("b", 1)), g.Scalar("fresh", 0)
	logits, step := net.Next(token, fresh)
	return infer.Model{Token: token, Fresh: fresh, Logits: logits, Step: step, Window: net.Window()}
}

// Trained is a model after its training.
type Trained struct {
	Study   Study
	Trainer *train.Trainer
	Loss    float64 // in nats per character, on what is held out
	Text    *Text

	Fit, Held chart.Series // the loss by step, on the batches and on what is held out
}

// Train trains for the given number of steps of 16 windows. Checkpoints also hold the generator,
// for infer.LoadGenerator.
func (s Study) Train(ctx context.Context, l *lesson.Lesson, text *Text, steps int) (*Trained, error) {
	characters := text.Vocabulary.Len()
	t := &Trained{
		Study: s, Text: text, Fit: chart.Series{Name: s.Name + ", batches"}, Held: chart.Series{Name: s.Name},
		Trainer: &train.Trainer{Build: s.Build(characters), Optimiser: train.AdamW(s.Rate), Seed: l.Seed, Workers: l.Workers},
	}
	windows, err := text.Windows(16, l.Seed)
	if err != nil {
		return nil, err
	}
	held, err := data.Consecutive(text.held, Window)
	if err != nil {
		return nil, err
	}
	generator, err := infer.GeneratorMeta(s.Generator(characters), text.Vocabulary)
	if err != nil {
		return nil, err
	}
	measure := func(ctx context.Context) (metric.Scores, error) {
		return t.Trainer.Evaluate(ctx, data.InOrder(held, 0))
	}
	if err := t.Trainer.Fit(ctx, l.Plan(s.Name, train.Plan{
		Data: windows, Steps: steps, Validate: measure, Every: 100, Observers: []train.Observer{t.curves(20)},
		Checkpoints: train.Checkpoints{Every: 100, Meta: generator},
	})); err != nil {
		return nil, err
	}
	scores, err := measure(ctx)
	if err != nil {
		return nil, err
	}
	var ok bool
	if t.Loss, ok = scores.Get("loss"); !ok {
		return nil, errors.New("there is no loss")
	}
	fmt.Printf("%s: %.3f nats per character held out\n", s.Name, t.Loss)
	return t, nil
}

// curves notes the loss: of the batches as the mean of so many steps.
func (t *Trained) curves(every int) train.Observer {
	sum := 0.0
	return train.ObserverFunc(func(e train.Event) error {
		switch e.Kind {
		case train.Stepped:
			if sum += e.Loss; e.Step%every == 0 {
				t.Fit.X, t.Fit.Y = append(t.Fit.X, float64(e.Step)), append(t.Fit.Y, sum/float64(every))
				sum = 0
			}
		case train.Validated:
			loss, _ := e.Scores.Get("loss")
			t.Held.X, t.Held.Y = append(t.Held.X, float64(e.Step)), append(t.Held.Y, loss)
		}
		return nil
	})
}

// Say writes a text to w that begins with a prompt and goes on for n characters.
func (t *Trained) Say(ctx context.Context, w io.Writer, prompt string, n int, s infer.Sampling) error {
	codes, err := t.Text.Vocabulary.Encode(prompt)
	if err != nil {
		return err
	}
	generator, err := infer.NewGenerator(ctx, t.Study.Generator(t.Text.Vocabulary.Len()), t.Trainer.Store().Clone(), s)
	if err != nil {
		return err
	}
	defer generator.Close()
	said := codes
	if err := generator.Generate(ctx, codes, n, func(code int32) bool { said = append(said, code); return true }); err != nil {
		return err
	}
	text, err := t.Text.Vocabulary.Decode(said)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n\n", text)
	return err
}

// Curves is a picture of the losses of models by step.
func Curves(trained ...*Trained) chart.Lines {
	c := chart.Lines{Frame: chart.Frame{ID: "learning", Title: "Loss on what is held out (faint: on the batches)", Width: 640}, X: "step", Y: "nats per character"}
	for i, t := range trained {
		t.Fit.Group, t.Fit.Faint, t.Held.Group = i, true, i
		c.Series = append(c.Series, t.Fit, t.Held)
	}
	return c
}

// Classifier trains a net with one hidden layer on a table whose last column has classes: the
// wines that are built in, or with -data a CSV file. Training ends when the validation loss has
// stopped falling; the best parameters are kept, and predict the held-out rows. With
// -out DIR checkpoints and a drawing of the net go into DIR. The program is complete: copy it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

// mlp returns a function that builds the net for d features, h hidden units and k classes, for
// batches of any number of rows. Noise, such as dropout, belongs in train.Training only.
func mlp(d, h, k int) train.Build {
	return func(rows int, mode train.Mode) *train.Net {
		g := graph.New("classifier")
		row, feature, unit, class := graph.Ax("i", rows), graph.Ax("d", d), graph.Ax("h", h), graph.Ax("k", k)
		x, y := g.Input("x", graph.F64, row, feature), g.Input("y", graph.I32, row)
		hidden := ops.ReLU(nn.NewLinear(g, "fc", graph.F64, feature, unit).Of(x)).As("hidden")
		if mode == train.Training {
			hidden = nn.Dropout(hidden, ops.Lit(hidden, 0.2))
		}
		logits := nn.NewLinear(g, "out", graph.F64, unit, class).Of(hidden).As("logits")
		return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
	}
}

func main() {
	file := flag.String("data", "", "CSV `file`, classes in its last column (default: the wines that are built in)")
	out := flag.String("out", "", "`directory` for checkpoints and a drawing (default: none is kept)")
	quick := flag.Bool("quick", false, "train for a moment only, to see that it works")
	flag.Parse()
	if err := run(context.Background(), *file, *out, *quick); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file, out string, quick bool) (err error) {
	table := data.Wine()
	if file != "" {
		if table, err = data.Open(file); err != nil {
			return err
		}
	}
	classes := table.Classes()
	if len(classes) < 2 {
		return fmt.Errorf("%s: want at least two classes in the last column", file)
	}
	set, err := table.Set("x", "y", tensor.Float64)
	if err != nil {
		return err
	}
	parts, err := set.StratifiedSplit("y", 1, 0.6, 0.2, 0.2) // to fit, to know when to stop, to judge
	if err != nil {
		return err
	}
	z, err := data.FitStandardiser(ctx, parts[0], "x")
	if err != nil {
		return err
	}
	for i := range parts {
		if parts[i], err = z.Apply(parts[i]); err != nil {
			return err
		}
	}
	fit, valid, test := parts[0], parts[1], parts[2]

	kept := filepath.Join(out, "checkpoints")
	if out == "" {
		if kept, err = os.MkdirTemp("", "classifier"); err != nil {
			return err
		}
		defer os.RemoveAll(kept)
	}
	scaling, err := json.Marshal(z)
	if err != nil {
		return err
	}
	build := mlp(len(table.Columns), 16, len(classes))
	t := &train.Trainer{Build: build, Optimiser: train.Adam(0.01, train.ClipNorm(1)), Seed: 1}
	defer t.Close()
	plan := train.Plan{
		Data:   data.Shuffled(fit, 32, 1),
		Epochs: 200,
		Validate: func(ctx context.Context) (metric.Scores, error) {
			return t.Evaluate(ctx, data.InOrder(valid, 0), metric.Accuracy("y"))
		},
		Patience: 20,
		Checkpoints: train.Checkpoints{Dir: kept, Every: 100, Meta: map[string]string{
			infer.MetaClasses: infer.NamesMeta(classes), "standardiser": string(scaling),
		}},
	}
	if quick {
		plan.Epochs = 3
	}
	if err := t.Fit(ctx, plan); err != nil {
		return err
	}
	best, _ := t.Best()
	fmt.Printf("best validation loss %.4f, after step %d\n", best.Score, best.Step)

	// From here on the file is enough: the program that trained is not needed.
	state, err := checkpoint.Load(filepath.Join(kept, "best.safetensors"))
	if err != nil {
		return err
	}
	p, err := infer.LoadPredictor(ctx, state, 0)
	if err != nil {
		return err
	}
	defer p.Close()
	logits, err := p.Predict(ctx, test)
	if err != nil {
		return err
	}
	right, labels := 0, test.Column("y").Int32s()
	for i, y := range labels {
		row := logits.Float64s()[i*len(classes) : (i+1)*len(classes)]
		if likeliest(row) == int(y) {
			right++
		}
	}
	fmt.Printf("%d of %d held-out rows right\n", right, len(labels))
	if quick {
		fmt.Println("a quick run is not judged")
	}
	if out == "" {
		return nil
	}
	return draw(filepath.Join(out, "classifier.svg"), build(fit.Rows(), train.Evaluating).Loss)
}

// likeliest returns the class of the largest logit.
func likeliest(logits []float64) (class int) {
	for k, v := range logits {
		if v > logits[class] {
			class = k
		}
	}
	return class
}

// draw draws the graph of a node into a file.
func draw(path string, n *graph.Node) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(viz.SVG(f, []*graph.Node{n}), f.Close())
}

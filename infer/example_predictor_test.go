package infer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// A net is trained, with the names of its classes in the checkpoint, which is then all that
// it takes to predict.
func ExampleLoadPredictor() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "iris")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	table := data.Iris()
	set, err := table.Set("x", "y", tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	_, classes := data.Codes(table.Labels)
	t := &train.Trainer{Optimiser: train.Adam(0.05), Build: func(rows int, _ train.Mode) *train.Net {
		g := graph.New("iris")
		n, d, k := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("k", 3)
		x, y := g.Input("x", graph.F32, n, d), g.Input("y", graph.I32, n)
		logits := nn.NewLinear(g, "fc", graph.F32, d, k).Of(x).As("logits")
		return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
	}}
	defer t.Close()
	err = t.Fit(ctx, train.Plan{Data: data.Shuffled(set, 16, 1), Epochs: 20, Checkpoints: train.Checkpoints{
		Dir: dir, Meta: map[string]string{infer.MetaClasses: infer.NamesMeta(classes)},
	}})
	if err != nil {
		log.Fatal(err)
	}

	s, err := checkpoint.Load(filepath.Join(dir, "step-00000200.safetensors"))
	if err != nil {
		log.Fatal(err)
	}
	p, err := infer.LoadPredictor(ctx, s, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	names, err := infer.Classes(s)
	if err != nil {
		log.Fatal(err)
	}
	flower, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(1, 4), tensor.WithBacking([]float32{5, 3.4, 1.5, 0.2}))})
	if err != nil {
		log.Fatal(err)
	}
	output, err := p.Predict(ctx, flower)
	if err != nil {
		log.Fatal(err)
	}
	scores, best := output.Data().([]float32), 0
	for k, score := range scores {
		if score > scores[best] {
			best = k
		}
	}
	fmt.Println(p.Inputs(), "→", p.Output(), names[best])
	// Output: [x f32[d=4]] → logits f32[k=3] setosa
}

package train_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// A net that tells irises apart is trained for 20 epochs, and by another trainer, as another
// process would have it, from its checkpoint to the 60th.
func Example() {
	iris := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("iris")
		n, d, h, k := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("h", 16), graph.Ax("k", 3)
		x, y := g.Input("x", graph.F32, n, d), g.Input("y", graph.I32, n)
		hidden := ops.ReLU(nn.NewLinear(g, "fc", graph.F32, d, h).Of(x))
		logits := nn.NewLinear(g, "out", graph.F32, h, k).Of(hidden)
		return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
	}
	all, err := data.Iris().Set("x", "y", tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	fit, test, err := all.Split(func(i int) bool { return i%5 == 4 })
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "iris")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	for _, epochs := range []int{20, 60} {
		t := &train.Trainer{Build: iris, Optimiser: train.Adam(0.01), Seed: 1}
		defer t.Close()
		err := t.Fit(ctx, train.Plan{
			Data: data.Shuffled(fit, 16, 1), Epochs: epochs,
			Checkpoints: train.Checkpoints{Dir: dir}, Resume: dir,
		})
		if err != nil {
			log.Fatal(err)
		}
		scores, err := t.Evaluate(ctx, data.InOrder(test, 0), metric.Accuracy("y"))
		if err != nil {
			log.Fatal(err)
		}
		accuracy, _ := scores.Get("accuracy")
		fmt.Printf("%d steps: accuracy %.2f\n", t.Store().Step(), accuracy)
	}
	// Output:
	// 160 steps: accuracy 1.00
	// 480 steps: accuracy 1.00
}

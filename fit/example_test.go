package fit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// A model of the registry learns the wines, and is measured on those held out.
func Example() {
	model, err := builders.Lookup("loss-cross-entropy")
	if err != nil {
		log.Fatal(err)
	}
	wine, err := columns.Builtin("wine")
	if err != nil {
		log.Fatal(err)
	}
	f, err := fit.To(model, nil, graph.F64, wine, fit.Options{Validation: 0.25, Standardise: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(f)
	rows, err := f.Source(1)
	if err != nil {
		log.Fatal(err)
	}
	held, err := f.Held()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	t := &train.Trainer{Build: f.Build, Optimiser: train.Adam(0.05), Seed: 1}
	defer t.Close()
	if err := t.Fit(ctx, train.Plan{Data: rows, Epochs: 100}); err != nil {
		log.Fatal(err)
	}
	scores, err := t.Evaluate(ctx, held, metric.Accuracy("label"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.2f\n", scores[1].Value)
	// Output:
	// wine.csv: 178 rows, 133 to train on, 45 held out
	//   x[i=133 d=13]  reads  alcohol, malic_acid, ash, alcalinity_of_ash, magnesium, total_phenols, flavanoids, … (13 columns), standardised
	//   label[i=133]   reads  cultivar (3 classes)
	// accuracy 0.96
}

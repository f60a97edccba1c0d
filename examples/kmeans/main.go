// Kmeans clusters iris flowers in four ways, from Lloyd's algorithm to gradient descent on
// objectives that are differentiable throughout, and shows where these differ, and why.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
)

// low is a temperature γ at which a flower belongs to several centres at once.
const low = 0.5

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		config := lab.Config{
			Table: data.Iris(), K: 3, Seed: l.Seed, Seeds: l.Few(20, 2), Steps: l.Few(1000, 40),
			SweepGamma: []float64{0.5, 1, 2, 5, 10, 20, 50}, SweepK: []int{3}, SweepSeeds: 5,
		}
		res, err := lab.Cluster(ctx, config)
		if err != nil {
			return err
		}
		family := append(slices.Clone(res.Baselines), res.Variants...)
		report(family)
		sweep(res.Gamma)
		config.Scheduled = map[string]train.Schedule{"γ": train.Constant(low)}
		var blurred []lab.Clustering
		for _, m := range res.Variants {
			b, err := config.Train(ctx, m.Name)
			if err != nil {
				return err
			}
			blurred = append(blurred, b)
		}
		return errors.Join(
			l.Picture("centres.svg", centres(res, family)),
			l.Picture("temperature.svg", temperature(res, blurred)),
			l.AtMost("least inertia by Lloyd's algorithm", family[0].Best().Inertia(), 78.86),
			l.AtMost("by descent on the nearest centre", family[1].Best().Inertia(), 79),
			l.AtMost("by the softmax idea", family[2].Best().Inertia(), 78.86),
			l.AtMost("by the goofy alternative", family[3].Best().Inertia(), 79.5),
		)
	})
}

// report prints what each method minimises, and where its runs end.
func report(family []lab.Clustering) {
	for _, m := range family {
		fmt.Printf("%s\n", m.Name)
		for _, e := range viz.Equations(m.Model.Loss) {
			fmt.Printf("    %s\n", viz.Formula(e.Node))
		}
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\ninertia: least\tmedian\tlargest\tadjusted Rand index\truns\t")
	for _, m := range family {
		ends := inertias(m.Runs)
		fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t%.3f\t%d\t %s\n", ends[0], lab.Median(ends), ends[len(ends)-1], m.Best().ARI, len(ends), m.Name)
	}
	t.Flush()
}

// inertias returns the final inertias of the runs, sorted.
func inertias(runs []lab.ClusterRun) (ends []float64) {
	for _, r := range runs {
		ends = append(ends, r.Inertia())
	}
	slices.Sort(ends)
	return ends
}

// sweep prints the effect of a constant temperature: soft = goofy + spread.
func sweep(points []lab.SweepPoint) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nγ\tinertia\tspread\t")
	for _, p := range points {
		fmt.Fprintf(t, "%g\t%.2f\t%.4f\t %s\n", p.Value, p.Inertia, p.Spread, p.Objective)
	}
	t.Flush()
	fmt.Println()
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/lab"
)

// chooseK trains with each number of clusters in the range from..to, and keeps the one with the
// best silhouette (Rousseeuw, 1987).
func chooseK(ctx context.Context, c lab.Config, model, text string) (lab.Choice, error) {
	var from, to int
	if n, err := fmt.Sscanf(text+"\n", "%d..%d\n", &from, &to); n != 2 || err != nil {
		return lab.Choice{}, usagef("--choose-k %q: want two numbers, as in 2..8", text)
	}
	if c.Start == lab.StartGiven {
		return lab.Choice{}, usagef("--choose-k: given start centres have their own number")
	}
	if from < 2 || to < from {
		return lab.Choice{}, usagef("--choose-k %s: want 2 or more, in order", text)
	}
	return c.ChooseK(ctx, model, from, to)
}

// printTrials prints the results of each number of clusters, if several were tried.
func printTrials(w io.Writer, o *options, tried []lab.Trial) error {
	if len(tried) == 0 {
		return nil
	}
	if o.json {
		type row struct {
			K          int        `json:"k"`
			Inertia    jsonNumber `json:"inertia"`
			Silhouette jsonNumber `json:"silhouette"`
		}
		var rows []row
		for _, t := range tried {
			rows = append(rows, row{t.K, jsonNumber(t.Inertia), jsonNumber(t.Silhouette)})
		}
		return printJSON(w, map[string]any{"tried": rows})
	}
	fmt.Fprintf(w, "%4s %14s %12s\n", "k", "inertia", "silhouette")
	for _, t := range tried {
		fmt.Fprintf(w, "%4d %14.8g %12.4f\n", t.K, t.Inertia, t.Silhouette)
	}
	_, err := fmt.Fprintln(w)
	return err
}

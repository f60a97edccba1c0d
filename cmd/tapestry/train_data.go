package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// scoresJSON maps the names of metrics to their scores.
type scoresJSON map[string]jsonNumber

func newScoresJSON(s metric.Scores) scoresJSON {
	out := scoresJSON{}
	for _, x := range s {
		out[x.Name] = jsonNumber(x.Value)
	}
	return out
}

// scoresText returns the names and values of scores in one line.
func scoresText(scores metric.Scores) string {
	var said []string
	for _, s := range scores {
		said = append(said, s.Name+" "+chart.Format(s.Value))
	}
	return strings.Join(said, "  ")
}

// on describes the examples that the model is trained on.
func (j *job) on() string {
	rows, _ := j.fitted.Rows()
	text := fmt.Sprintf("%s of %s", plural.Count(rows, "row"), j.fitted.Name())
	if j.fitted.Batch() < rows {
		text += fmt.Sprintf(" in batches of %d", j.fitted.Batch())
	}
	return text
}

// printMeasured prints each run's scores on the rows held out.
func (j *job) printMeasured(w io.Writer, learned *lab.Learned) {
	_, held := j.fitted.Rows()
	fmt.Fprintf(w, "\non the %s held out:\n", plural.Count(held, "row"))
	for i, scores := range j.measured {
		fmt.Fprintf(w, "%6d  %s", learned.Runs[i].Seed, scoresText(scores))
		printStopped(w, j.stopped[i], len(learned.Runs[i].Loss))
		fmt.Fprintln(w)
	}
}

// printStopped says where patience ended a training, if it did.
func printStopped(w io.Writer, best train.Best, done int) {
	if best != (train.Best{}) {
		fmt.Fprintf(w, "  (stopped after %s; set back to step %d, where the loss was lowest)", plural.Count(done, "step"), best.Step)
	}
}

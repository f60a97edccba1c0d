package page

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
)

// blame checks the derivative rule of every operation, each by itself, at the values that the model
// computes in a state.
func blame(ctx context.Context, d *document, v *variant, step int, _ [][]*graph.Node) (layer, error) {
	if v != d.asWritten {
		return layer{scale: "the rules are checked of the model as written: choose another level"}, nil
	}
	found, err := d.blamed.get(v, step, func() ([]check.Blamed, error) {
		feed, store, err := d.session.at(ctx, step, d.model.Graph)
		if err != nil {
			return nil, err
		}
		return check.Blame(ctx, v.result, check.Feed(feed), check.From(store), check.Seed(d.asked.Seed))
	})
	if err != nil {
		return layer{}, err
	}
	count := map[check.BlameState]int{}
	for _, f := range found {
		count[f.State]++
	}
	return layer{marks: marks.Blame(found), scale: fmt.Sprintf("derivative rules against difference quotients at step %d: %d right, %d wrong, %d undecided; %s",
		step, count[check.RuleRight], count[check.RuleWrong], count[check.Undecided], marks.BlameColours)}, nil
}

// checked returns the result of checking a node's derivative rule, or "" if it was not checked in
// this state.
func (d *document) checked(v *variant, n *graph.Node, step int) string {
	found, _ := d.blamed.find(v, step)
	return marks.Blame(found)[n].Note
}

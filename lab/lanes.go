package lab

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// Divisible returns an error that says why the batches of a model cannot be cut into lanes (see
// package train/parallel), or nil if they can. nets makes the model's nets for other numbers of
// rows, as fit.Nets does. In every lane the net has fewer rows: each input must have them along its
// first axis and along no other, and parameters must not have them at all. It is not asked whether
// the loss is a mean over the rows, which is what lanes take it for.
func Divisible(m *builders.Model, nets train.Build) error {
	switch {
	case m == nil || m.Graph == nil:
		return errNilModel
	case m.Loss == nil:
		return ErrNoLoss
	case m.OwnStep():
		return errors.New("it moves by a step of its own, which needs all rows at once, and is not cut into lanes")
	case nets == nil:
		return errors.New("its nets for the rows of a lane are missing: lanes want Config.Build")
	}
	rows := RowsOf(m)
	fewer := max(1, rows/2)
	if rows == 1 {
		fewer = 2 // any other number shows which axes have the rows
	}
	net := nets(fewer, train.Training)
	if net == nil || net.Loss == nil {
		return fmt.Errorf("it has no net for %s, which a lane may have", plural.Count(fewer, "row"))
	}
	g := net.Loss.Graph()
	if err := g.Err(); err != nil {
		return fmt.Errorf("with %s, which a lane may have: %w", plural.Count(fewer, "row"), err)
	}
	for _, in := range m.Inputs() {
		part := g.Lookup(in.Path())
		if !part.IsValid() || part.Rank() != in.Rank() {
			return fmt.Errorf("with %s, which a lane may have, it has no input like %v", plural.Count(fewer, "row"), in)
		}
		switch {
		case (m.Output == nil || m.Output.Rank() == 0) && (in.Rank() == 0 || in.Dim(0) != rows):
			return errors.New("its batches are not cut into lanes: it has no output whose first axis tells their rows: want one, in a file by a line as output z")
		case in.Rank() == 0 || in.Dim(0) != rows:
			return fmt.Errorf("its batches are not cut into lanes: the first axis of %v is not that of their %s", in, plural.Count(rows, "row"))
		case part.Dim(0) == rows:
			return fmt.Errorf("its batches are not cut into lanes: %v takes %s, and no other number", in, plural.Count(rows, "row"))
		}
		for i := 1; i < in.Rank(); i++ {
			if in.Dim(i) != part.Dim(i) {
				return fmt.Errorf("its batches are not cut into lanes: %v has their rows along two axes", in)
			}
		}
	}
	for _, p := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		if part := g.Lookup(p.Path()); part.IsValid() && !part.Shape().SameSizes(p.Shape()) {
			return fmt.Errorf("its batches are not cut into lanes: the shape of %v depends on the rows of a batch", p)
		}
	}
	return nil
}

// inLanes returns an error if a model cannot be trained in lanes.
func inLanes(m *builders.Model, nets train.Build, engine train.NewEngine, ranks *parallel.Ranks) error {
	switch {
	case engine != nil:
		return errors.New("an engine of its own runs a batch as a whole: lanes are for the tape")
	case ranks.Lanes() == 1 && nets != nil && !m.OwnStep():
		return nil // nothing is cut
	}
	return Divisible(m, nets)
}

// nets returns the nets of a clustering with k centres for evaluation and for other numbers of rows:
// with Ranks also those to train on the rows of a lane.
func (c Config) nets(name string, k int) train.Build {
	if c.Ranks == nil {
		return c.Build
	}
	return func(rows int, mode train.Mode) *train.Net {
		if mode == train.Evaluating {
			if c.Build == nil {
				return nil
			}
			return c.Build(rows, mode)
		}
		c := c
		c.Batch = rows
		m, err := c.build(name, k, c.DType)
		if err != nil {
			return &train.Net{Loss: graph.New(name).Fail(name, err)}
		}
		return &train.Net{Loss: m.Loss, Step: m.Step, Params: Trained(m)}
	}
}

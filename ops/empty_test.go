package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// emptied returns, for each way to take all elements of some axes of a case's operands, what the
// operands' shapes become: one axis of one operand, or all of a name, or all of a size.
func emptied(types []graph.Type) map[string][]graph.Shape {
	all, seen := map[string][]graph.Shape{}, map[string]bool{}
	try := func(name string, empty func(operand, axis int, a graph.Axis) bool) {
		shapes, found := make([]graph.Shape, len(types)), false
		for i, t := range types {
			axes := t.Shape.Axes()
			for k := range axes {
				if empty(i, k, axes[k]) {
					axes[k].Size, found = 0, true
				}
			}
			shapes[i], _ = graph.NewShape(axes...)
		}
		if text := fmt.Sprint(shapes); found && !seen[text] {
			all[name], seen[text] = shapes, true
		}
	}
	for i, t := range types {
		for k, a := range t.Shape.Axes() {
			try(fmt.Sprintf("axis %d of %d", k, i), func(operand, axis int, _ graph.Axis) bool { return operand == i && axis == k })
			try(fmt.Sprintf("size %d", a.Size), func(_, _ int, b graph.Axis) bool { return b.Size == a.Size })
			if a.Name != "" {
				try("all "+a.Name, func(_, _ int, b graph.Axis) bool { return b.Name == a.Name })
			}
		}
	}
	return all
}

// TestWithoutElements: every operation takes operands without elements along each of their axes, or
// refuses them by a recorded mistake. What it takes has the value of the definition on the tape, as
// written and rewritten, and derivatives, tangents and batches of the right types.
func TestWithoutElements(t *testing.T) {
	for _, op := range ops.List() {
		t.Run(op.Name(), func(t *testing.T) {
			taken := 0
			for k, c := range op.Cases() {
				var types []graph.Type
				for _, o := range c.Operands {
					types = append(types, operandType(t, o.Type, graph.F64, nil))
				}
				for name, shapes := range emptied(types) {
					if emptyCase(t, fmt.Sprintf("case %d, %s empty", k, name), c, types, shapes) {
						taken++
					}
				}
			}
			switch op.Name() {
			case "Broadcast", "Place", "SumUnpool", "Random", "RandomInt", "Iota":
				return // their cases have fixed sizes, or no operands
			}
			if taken == 0 {
				t.Error("no operand without elements is taken")
			}
		})
	}
}

// emptyCase tries a case on operands of other shapes, and reports whether they are taken.
func emptyCase(t *testing.T, what string, c ops.Case, types []graph.Type, shapes []graph.Shape) bool {
	g := graph.New("empty")
	feed := graph.Values{}
	var in, floats []*graph.Node
	for i, s := range shapes {
		x := g.Input(string(rune('a'+i)), types[i].DType, s.Axes()...)
		v := graph.NewValue(x.Type())
		d := c.Operands[i].Domain
		for p := range v.Data {
			if v.Data[p] = d.Lo + (d.Hi-d.Lo)*(float64(p)+0.5)/float64(len(v.Data)); !x.DType().IsFloat() {
				v.Data[p] = x.DType().Round(v.Data[p])
			}
		}
		feed[x], in = v, append(in, x)
		if x.DType().IsFloat() {
			floats = append(floats, x)
		}
	}
	y := c.Make(in)
	if g.Err() != nil {
		return false
	}
	wanted := []*graph.Node{y}
	if y.DType().IsFloat() && len(floats) > 0 {
		loss := ops.Sum(ops.Sin(y))
		first := grad.OrZero(loss, floats...)
		for i, d := range first {
			if d.IsValid() && d.Type() != floats[i].Type() {
				t.Errorf("%s: the derivative is %v, of %v", what, d.Type(), floats[i].Type())
			}
		}
		norm := ops.Sum(ops.Sin(first[0]))
		second := grad.OrZero(norm, floats...)
		wanted = append(append(wanted, first...), second...)
		wanted = append(wanted, grad.JVP([]*graph.Node{y}, floats, floats)...)
	}
	if y.Rank() < graph.MaxRank && len(in) > 0 {
		for _, n := range []int{0, 2} {
			var over []vmap.Over
			room := true
			for _, x := range in {
				room = room && x.Rank() < graph.MaxRank
				s, _ := graph.NewShape(append([]graph.Axis{graph.Ax("batch", n)}, x.Shape().Axes()...)...)
				batch := ops.BroadcastTo(x, s)
				over = append(over, vmap.Over{X: x, Batch: batch})
			}
			if room {
				wanted = append(wanted, vmap.MapSameDraws([]*graph.Node{y}, over...)...)
			}
		}
	}
	if err := g.Err(); err != nil {
		t.Errorf("%s %v: the value is taken, but what is made of it is not: %v\n%v", what, shapes, err, g)
		return true
	}
	roundTrip(t, g)
	want, err := ref.Eval(trait.Env{Seed: 7}, feed, wanted...)
	if wrong := (*trait.IndexError)(nil); errors.As(err, &wrong) {
		return false // a place in an axis that has none
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return true
	}
	for _, options := range [][]tape.Option{{tape.Passes(), tape.Debug(nil)}, {tape.Fine(), tape.Debug(nil)}} {
		got, err := reftest.Tape(7, feed, wanted, options...)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for i, n := range wanted {
			tol := 1e-12 * max(1, reftest.Largest(want[i].Data))
			if err := reftest.Near(got[i].Data, want[i].Data, tol); err != nil {
				t.Errorf("%s %v: %v: %v", what, shapes, n, err)
			}
		}
	}
	return true
}

// TestTangentOfNothing: a function whose results do not move has a tangent of zeros, with no loop over
// no operands for it.
func TestTangentOfNothing(t *testing.T) {
	g := graph.New("still")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	y := ops.Call("still", func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.StopGradient(ops.Sin(x[0]))} }, x)
	d := grad.JVP(y, []*graph.Node{x}, []*graph.Node{x})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	agree(t, graph.Values{x: {Type: x.Type(), Data: []float64{1, 2, 3}}}, d...)
}

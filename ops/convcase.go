package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// convCase is an example of the three operations: shapes of x, w and y, and the
// options.
type convCase struct {
	x, w, y string
	spatial int
	options []Window
}

var convExamples = []convCase{
	{"[b=2 h=5 w=4 c=2]", "[kh=3 kw=2 c=2 o=3]", "[b=2 h=3 w=3 o=3]", 2, nil},
	{"[h=5 w=6 c=2]", "[3 3 c=2 o=2]", "[h=3 w=3 o=2]", 2, []Window{Stride(2), Padding(1)}},
	{"[b=1 h=5 w=5 c=1]", "[3 3 1 o=2]", "[b=1 h=5 w=5 o=2]", 2, []Window{Dilation(2), Padding(2)}},
	{"[h=5 w=4 1]", "[2 2 1 o=2]", "[h=2 w=4 o=2]", 2, []Window{Stride(2, 1), Padding(0, 1), Dilation(1, 2)}},
	{"[b=2 h=3 w=3 c=4]", "[2 2 2 o=6]", "[b=2 h=2 w=2 o=6]", 2, []Window{Groups(2)}},
	{"[h=3 w=4 c=3]", "[3 3 1 o=3]", "[h=3 w=4 o=3]", 2, []Window{Groups(3), Padding(1)}},
	{"[b=2 t=7 c=2]", "[k=3 c=2 o=3]", "[b=2 t=4 o=3]", 1, []Window{Stride(2), Padding(1)}},
	{"[h=4 w=5 c=2]", "[2 4 2 o=2]", "[h=4 w=3 o=2]", 2, []Window{Stride(1, 2), Same()}},
	{"[b=2 t=5 c=1]", "[k=2 c=1 o=2]", "[b=2 t=5 o=2]", 1, []Window{Same()}},
	{"[a=2 b=1 t=4 c=1]", "[k=2 c=1 o=1]", "[a=2 b=1 t=3 o=1]", 1, nil},
}

// convCases makes a case of each example, with operands of the shapes given.
func convCases(op func(convolution) graph.Op, shapes func(x, w, y graph.Shape) (first, second, to graph.Shape)) []Case {
	var out []Case
	for _, e := range convExamples {
		var s [3]graph.Type
		var err error
		for i, text := range []string{e.x, e.w, e.y} {
			if err == nil {
				err = s[i].UnmarshalText([]byte("f32" + text))
			}
		}
		if err != nil {
			panic(err) // the table is wrong
		}
		o, err := windowsOf(e.options, "Groups")
		if err != nil {
			panic(err)
		}
		c, err := o.convolution(attr.IntsOf(s[1].Shape.Sizes()[:e.spatial]...))
		if err != nil {
			panic(err)
		}
		first, second, to := shapes(s[0].Shape, s[1].Shape, s[2].Shape)
		c.To = to
		operands := []Operand{{"float" + first.String(), Reals}, {"float" + second.String(), Reals}}
		out = append(out, Case{operands, func(in []*graph.Node) *graph.Node { return graph.Apply(op(c), in...) }})
	}
	return out
}

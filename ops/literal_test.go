package ops_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLiterals: a number that the type of an array does not hold is a mistake that names
// it, wherever a number is given; one that it holds is taken.
func TestLiterals(t *testing.T) {
	axes := graph.Dims(2)
	takers := map[string]func(x node, v float64) node{
		"Lit":         ops.Lit,
		"Scale":       ops.Scale,
		"Shift":       ops.Shift,
		"Pad":         func(x node, v float64) node { return ops.Pad(x, 0, 1, 1, v) },
		"LeakyReLU":   ops.LeakyReLU,
		"Linspace":    func(x node, v float64) node { return ops.Linspace(x.Graph(), x.DType(), v, v, axes[0]) },
		"FullLike":    ops.FullLike,
		"Full":        func(x node, v float64) node { return ops.Full(x.Graph(), x.DType(), v, axes...) },
		"Rstd":        func(x node, v float64) node { return ops.Rstd(x, v) },
		"Standardise": func(x node, v float64) node { return ops.Standardise(x, v) },
		"constant":    func(x node, v float64) node { return x.Graph().Constant(x.DType(), []float64{0, v}, axes...) },
		"constant ": func(x node, v float64) node {
			return x.Graph().ConstantValue(graph.Value{Type: graph.Type{DType: x.DType()}, Data: []float64{v}})
		},
		"input": func(x node, v float64) node { return x.Graph().Scalar("v", v, x.DType()) },
		"Init": func(x node, v float64) node {
			s := x.Graph().State("s", x.DType(), axes...).Init(initial.Fill(v))
			if x.Graph().Err() != nil {
				return nil // Init gives the leaf as it was
			}
			return s
		},
	}
	bounds := map[string]bool{"RandomTruncatedNormal": true} // which no element has to equal
	functions, _ := declared(t)
	for _, f := range functions {
		for _, p := range f.Type.Params.List {
			if fmt.Sprint(p.Type) == "float64" && f.Name.IsExported() && takers[f.Name.Name] == nil && !bounds[f.Name.Name] {
				t.Errorf("%s takes a number, and is not in the table", f.Name.Name)
			}
		}
	}
	for name, f := range takers {
		for _, c := range []struct {
			dt  graph.DType
			v   float64
			bad bool
		}{
			{graph.I32, 3, false}, {graph.I32, -1 << 31, false}, {graph.I32, math.Copysign(0, -1), false},
			{graph.I32, .5, true}, {graph.I32, 1.9, true}, {graph.I32, 1 << 31, true}, {graph.I32, -1<<31 - 1, true}, {graph.I32, math.NaN(), true}, {graph.I32, math.Inf(1), true},
			{graph.I64, 1 << 53, false}, {graph.I64, math.MinInt64, false}, {graph.I64, math.MaxInt64, false},
			{graph.I64, -.5, true}, {graph.I64, 1e19, true}, {graph.I64, math.Inf(-1), true},
			{graph.F32, .5, false}, {graph.F32, 3.4e38, false}, {graph.F32, -1e39, true}, {graph.F32, 1e300, true}, {graph.F32, 1e-300, false},
			{graph.F32, math.Inf(1), false}, {graph.F32, math.Inf(-1), false}, {graph.F32, math.NaN(), false},
			{graph.F64, 1e300, false}, {graph.F64, math.Inf(-1), false}, {graph.F64, math.NaN(), false},
			{graph.Bool, 2, true}, {graph.Bool, .5, true}, {graph.Bool, math.NaN(), true},
		} {
			variance := name == "Rstd" || name == "Standardise"
			if (name == "Init" || variance) && c.v-c.v != 0 || variance && (c.v < 0 || !c.dt.IsFloat()) {
				continue // no initialiser or variance is NaN, and no variance negative
			}
			g := graph.New("literals")
			y := f(g.Input("x", c.dt, axes...), c.v)
			errs, _ := g.Err().(graph.Errors)
			if y.IsValid() == c.bad || c.bad != (len(errs) == 1) {
				t.Errorf("%s of %v and %v gives %v: %v", name, c.dt, c.v, y, errs)
				continue
			}
			text := fmt.Sprintf("%s is no value of type %v", strconv.FormatFloat(c.v, 'g', -1, 64), c.dt)
			if c.bad && (!strings.Contains(errs[0].Error(), text) || errs[0].Op != strings.TrimSpace(name) || errs[0].Fix == "") {
				t.Errorf("%s of %v and %v: %v", name, c.dt, c.v, errs[0])
			}
		}
	}
}

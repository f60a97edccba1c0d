package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestFunctions(t *testing.T) {
	of1 := func(f func(*graph.Node) *graph.Node) func(*call) []*graph.Node {
		return func(c *call) []*graph.Node { return one(f(c.x("x"))) }
	}
	of2 := func(f func(a, b *graph.Node) *graph.Node) func(*call) []*graph.Node {
		return func(c *call) []*graph.Node { return one(f(c.x("a"), c.x("b"))) }
	}
	compare(t, "functions", family{
		"Floor": of1(ops.Floor), "Ceil": of1(ops.Ceil), "Round": of1(ops.Round), "Trunc": of1(ops.Trunc),
		"Tan": of1(ops.Tan), "Atan": of1(ops.Atan), "Asin": of1(ops.Asin), "Acos": of1(ops.Acos),
		"Sinh": of1(ops.Sinh), "Cosh": of1(ops.Cosh), "Acosh": of1(ops.Acosh), "Atanh": of1(ops.Atanh),
		"Log2": of1(ops.Log2), "Log10": of1(ops.Log10), "Exp2": of1(ops.Exp2), "Cube": of1(ops.Cube),
		"Erfc": of1(ops.Erfc), "Erfinv": of1(ops.Erfinv),
		"Lgamma": of1(ops.Lgamma), "Digamma": of1(ops.Digamma),
		"Polygamma": func(c *call) []*graph.Node { return one(ops.Polygamma(c.int("n"), c.x("x"))) },
		"IsNaN":     of1(ops.IsNaN), "IsInf": of1(ops.IsInf), "IsFinite": of1(ops.IsFinite),
		"Atan2": of2(ops.Atan2), "Xlogy": of2(ops.Xlogy), "Remainder": of2(ops.Remainder), "FloorDiv": of2(ops.FloorDiv),
		"Remainder of integers": of2(ops.Remainder), "FloorDiv of integers": of2(ops.FloorDiv),
	})
}

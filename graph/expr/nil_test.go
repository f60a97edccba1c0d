package expr_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/niltest"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"Array": expr.Array, "Big": expr.Big, "Call": expr.Call, "Cases": expr.Cases, "Element": expr.Element, "Norm2": expr.Norm2, "OverLanes": expr.OverLanes, "Num": expr.Num, "Product": expr.Product, "Sym": expr.Sym,
		},
		Types: []any{expr.Expr{}},
		Samples: func() []any {
			return []any{expr.Sym("a", "i"), expr.Num(2), []string{"i"}, []string{"j"}, "k", 2.}
		},
	})
}

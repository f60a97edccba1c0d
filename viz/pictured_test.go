package viz

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func TestPictured(t *testing.T) {
	sub, sup := figure.Sub, figure.Sup
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{expr.Sym("x", "i", "d"), "x" + sub("id")},
		{expr.Sym("w", "m", "he"), "w" + sub("m,he")},
		{expr.Sym("x₀", "n", "c"), "x" + sub("0,nc")},
		{expr.Sym("v_c", "m"), "v" + sub("c,m")},
		{expr.Sym("running_mean", "c"), "running_mean" + sub("c")},
		{expr.Sym("∂loss/∂v_c"), "∂loss/∂v" + sub("c")},
		{expr.Sym("e").Pow(expr.Sym("x", "i").Neg()), "e" + sup("−x"+sub("i"))},
		{expr.Sym("x").Pow(expr.Num(2)), "x²"},
		{expr.Expr{Kind: expr.KindCall, Text: "softmax", Subs: []string{"j"}, Args: []expr.Expr{expr.Sym("e", "i", "j")}}, "softmax" + sub("j") + "(e" + sub("ij") + ")"},
		{expr.Call("√", expr.Num(64)), "√64"},
		{expr.Big("Σ", []string{"d"}, expr.Sym("x", "d")), "Σ" + sub("d") + " x" + sub("d")},
	} {
		if got := pictured(c.e); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestNoRawSubscripts: in no text of a picture of any model stands a subscript as TeX has it.
func TestNoRawSubscripts(t *testing.T) {
	raw := regexp.MustCompile(`[_^][{(\pL\pN]`)
	word := regexp.MustCompile(`[\pL\pN]{2,}_[\pL\pN]+`) // a name that the user wrote so
	for _, b := range builders.All() {
		var svg strings.Builder
		if err := SVG(&svg, modelRoots(t, b)); err != nil {
			t.Fatal(err)
		}
		for _, text := range regexp.MustCompile(`<text[^>]*>(.*?)</text>`).FindAllStringSubmatch(svg.String(), -1) {
			if s := word.ReplaceAllString(text[1], ""); raw.MatchString(s) {
				t.Errorf("%s: %s", b.Name, text[1])
			}
		}
	}
}

// A box says each axis once, with its size; edges do not repeat them. The element type is said once
// where all have one.
func TestAxesOnce(t *testing.T) {
	g := graph.New("axes")
	x := g.Input("x", graph.F32, graph.Ax("b", 8), graph.Ax("t", 5), graph.Axis{Size: 3})
	k := g.Input("k", graph.I64, graph.Dims(2, 3)...)
	y := ops.Scale(ops.Cast(k, graph.F32), 2).As("y")
	f := draw(t, []*graph.Node{ops.Tanh(x).As("h"), y}, At(Notes))
	for main, want := range map[string]string{"x": "b=8 t=5 3", "k": "i64 2×3", "y = 2·k": "2×3"} {
		if got := box1(t, f, main).Sub; got != want {
			t.Errorf("under %s stands %q, want %q", main, got, want)
		}
	}
	for _, e := range f.Edges {
		if e.Label != "" {
			t.Errorf("an edge says %q", e.Label)
		}
	}
	if want := []string{"elements are f32 where a box does not say otherwise"}; !slices.Equal(f.Signs, want) {
		t.Errorf("the legend says %q, want %q", f.Signs, want)
	}
}

// The legend says what the texts leave out, and nothing that no text needs.
func TestSigns(t *testing.T) {
	o := goofy(t)
	short := "∂v in a formula stands for ∂loss/∂v"
	if got, want := draw(t, o.roots()).Signs, []string{short, "elements are f32"}; !slices.Equal(got, want) {
		t.Errorf("with the gradient: %q, want %q", got, want)
	}
	if got, want := draw(t, []*graph.Node{o.loss}).Signs, []string{"elements are f32"}; !slices.Equal(got, want) {
		t.Errorf("without: %q, want %q", got, want)
	}
	if got, want := diff(t, soft(t).roots(), o.roots()).Figure().Signs, []string{short, "elements are f32"}; !slices.Equal(got, want) {
		t.Errorf("compared: %q, want %q", got, want)
	}
	g := graph.New("gelu")
	x := g.Param("x", graph.F64, graph.Ax("i", 3))
	loss := ops.Sum(ops.GELU(ops.Scale(x, math.Pi))).As("loss")
	if got := draw(t, []*graph.Node{loss, grad.Of(loss, x)[0]}).Signs; !slices.Contains(got, "f′ is the derivative of a function f") {
		t.Errorf("of a derivative by name: %q", got)
	}
}

package viz

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

func TestMathML(t *testing.T) {
	for _, c := range []struct {
		e    expr.Expr
		want string
	}{
		{expr.Sym("α", "i", "j"), "<msub><mi>α</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"},
		{expr.Sym("r\u0302"), `<mover accent="true"><mi>r</mi><mo stretchy="false">^</mo></mover>`},
		{expr.Sym("∂loss/∂D", "i"), "<mfrac><mrow><mo>∂</mo><mi>loss</mi></mrow><mrow><mo>∂</mo><msub><mi>D</mi><mrow><mi>i</mi></mrow></msub></mrow></mfrac>"},
		{expr.Num(1).Over(expr.Num(3)), "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>3</mn></mrow></mfrac>"},
		{expr.Sym("a").Plus(expr.Sym("b")).Times(expr.Sym("c")), "<mrow><mo>(</mo><mi>a</mi> <mo>+</mo> <mi>b</mi><mo>)</mo></mrow><mo>\u2062</mo><mspace width=\"0.15em\"/><mi>c</mi>"},
		{expr.Sym("x", subscript.Shifted("t", 1)), "<msub><mi>x</mi><mrow><mi>t+1</mi></mrow></msub>"},
		{expr.Cases(expr.Sym("m"), expr.Sym("a"), expr.Sym("b")), "<mrow><mo>{</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mtext>if </mtext><mi>m</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>"},
		{expr.Call("√", expr.Norm2(expr.Sym("a"))), "<mrow><mo>‖</mo><mi>a</mi><mo>‖</mo></mrow>"},
		{expr.OverLanes(expr.Sym("a")), "<munder><mo>∑</mo><mrow><mi>lanes</mi></mrow></munder><mi>a</mi>"},
		{expr.Sym("<script>"), "<mi>&lt;script&gt;</mi>"},
	} {
		if got := MathML(c.e); got != "<math>"+c.want+"</math>" {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// The equations of both objectives and their derivatives are well-formed.
func TestMathMLIsWellFormed(t *testing.T) {
	for _, o := range []*objective{soft(t), goofy(t)} {
		for _, e := range append(Equations(o.loss), Equations(o.dr)...) {
			d := xml.NewDecoder(strings.NewReader(e.MathML()))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", e.MathML(), err)
				}
			}
		}
	}
}

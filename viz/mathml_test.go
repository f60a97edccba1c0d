package viz

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

func TestMathML(t *testing.T) {
	for _, c := range []struct {
		e    graph.Expr
		want string
	}{
		{graph.Sym("α", "i", "j"), "<msub><mi>α</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"},
		{graph.Sym("r\u0302"), `<mover accent="true"><mi>r</mi><mo stretchy="false">^</mo></mover>`},
		{graph.Sym("∂loss/∂D", "i"), "<mfrac><mrow><mo>∂</mo><mi>loss</mi></mrow><mrow><mo>∂</mo><msub><mi>D</mi><mrow><mi>i</mi></mrow></msub></mrow></mfrac>"},
		{graph.Num(1).Over(graph.Num(3)), "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>3</mn></mrow></mfrac>"},
		{graph.Sym("a").Plus(graph.Sym("b")).Times(graph.Sym("c")), "<mrow><mo>(</mo><mi>a</mi> <mo>+</mo> <mi>b</mi><mo>)</mo></mrow><mo>\u2062</mo><mspace width=\"0.15em\"/><mi>c</mi>"},
		{graph.Sym("x", graph.Shifted("t", 1)), "<msub><mi>x</mi><mrow><mi>t+1</mi></mrow></msub>"},
		{graph.Cases(graph.Sym("m"), graph.Sym("a"), graph.Sym("b")), "<mrow><mo>{</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mtext>if </mtext><mi>m</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>"},
		{graph.Call("√", graph.Norm2(graph.Sym("a"))), "<mrow><mo>‖</mo><mi>a</mi><mo>‖</mo></mrow>"},
		{graph.Sym("<script>"), "<mi>&lt;script&gt;</mi>"},
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

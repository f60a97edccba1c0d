package tape_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/simd"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestListing(t *testing.T) {
	c := newClusters(150, 3, 4, false)
	p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step))
	file := "testdata/kmeans-" + simd.Active().String() + ".txt" // panels are as wide as the innermost loops
	if *update {
		if err := os.WriteFile(file, []byte(p.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.String(); got != string(want) {
		t.Errorf("the listing is\n%s\nwant\n%s", got, want)
	}
}

// TestListingNamesCopies: a copy shows the node that it lays out anew, with
// that node's shape, not the node that wants it.
func TestListingNamesCopies(t *testing.T) {
	g := graph.New("copies")
	x := g.Input("x", graph.F32, graph.Ax("i", 2), graph.Ax("j", 3))
	y := ops.Reshape(ops.Transpose(ops.Tanh(x)).As("yT"), 6)
	p := compile(t, g, tape.Fetch(y), tape.Passes())
	var copies []tape.Row
	for _, r := range p.Rows() {
		if r.Op == "Copy" {
			copies = append(copies, r)
		}
	}
	if len(copies) != 1 || copies[0].Result != "yT[j=3 i=2]" || strings.Join(copies[0].In, ",") != "Transpose(%1)[j=3 i=2]" {
		t.Errorf("copies %+v: want one of yT[j=3 i=2], from Transpose(%%1)[j=3 i=2]", copies)
	}
}

func TestRowsAddUp(t *testing.T) {
	c := newClusters(150, 3, 4, true)
	p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step), tape.Unfused())
	var flops, traffic int64
	end := 0
	for _, r := range p.Rows() {
		flops += r.FLOPs
		traffic += r.Traffic
		end = max(end, r.Offset+r.Bytes)
		if r.Pos.String() == "" || r.Node.Graph() != p.Graph() {
			t.Errorf("row %+v has no place in the source", r)
		}
	}
	if flops != p.FLOPs() || traffic != p.Traffic() {
		t.Errorf("the rows have %d FLOP and move %d bytes; the program says %d and %d", flops, traffic, p.FLOPs(), p.Traffic())
	}
	if end > p.Arena() || p.Arena()-end >= 64 {
		t.Errorf("the arena has %d bytes, the last result ends at %d", p.Arena(), end)
	}
}

func TestUnitsOfTheListing(t *testing.T) {
	g := graph.New("large")
	x := g.Input("x", graph.F32, graph.Ax("i", 1024), graph.Ax("j", 3000))
	for _, c := range []struct {
		want    string
		options []tape.Option
	}{
		{`program "large": 2 instructions in 2 stages, arena 11.7 MiB, scratch 0 B a worker, 6.1M FLOP, 35.2 MiB moved a run`, []tape.Option{tape.Unfused()}},
		{`program "large": 2 instructions in 1 stages, arena 128 B, scratch 16.0 KiB a worker, 6.1M FLOP, 11.7 MiB moved a run`, nil},
	} {
		p := compile(t, g, append(c.options, tape.Fetch(ops.Sum(ops.Square(x))))...)
		if head, _, _ := strings.Cut(p.String(), "\n"); head != c.want {
			t.Errorf("head %q: want %q", head, c.want)
		}
	}
}

// TestListingNamesNumbers: 1 is the derivative of a loss by itself, but where it is
// an operand it is 1.
func TestListingNamesNumbers(t *testing.T) {
	g := graph.New("numbers")
	x := g.Param("x", graph.F32, graph.Ax("i", 3))
	loss := ops.Sum(ops.Tanh(x)).As("loss")
	d := grad.Of(loss, x)[0]
	one := ops.Div(ops.Lit(loss, 1), loss).As("y")
	text := compile(t, g, tape.Fetch(one, d)).String()
	if !strings.Contains(text, "Div 1") || strings.Contains(text, "∂loss/∂loss") {
		t.Errorf("the listing is\n%s\nwant 1 divided", text)
	}
}

// TestRowsNameTheirNodes: what a row reads are nodes of the graph that is run, in the
// order of its operands, and the wanted nodes of the source are found there.
func TestRowsNameTheirNodes(t *testing.T) {
	c := newClusters(150, 3, 4, false)
	p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step))
	for i, r := range p.Rows() {
		if len(r.Of) != len(r.In) {
			t.Fatalf("row %d: %d nodes for %d operands", i, len(r.Of), len(r.In))
		}
		for k, n := range r.Of {
			_, isView := n.Op().(tape.Viewed)
			own := isView || n.Role() == graph.RoleConstant || strings.HasPrefix(r.In[k], "panels(")
			if n.Graph() != p.Graph() || !own && n.String() != r.In[k] || n.Rank() > 0 && !strings.HasSuffix(r.In[k], n.Shape().String()) {
				t.Errorf("row %d reads %v, the listing says %s", i, n, r.In[k])
			}
		}
	}
	for _, n := range []*graph.Node{c.loss, c.step[0].Target, c.step[0].Value} {
		if m := p.Node(n); m == nil || m.Graph() != p.Graph() || m.Type() != n.Type() || m.Path() != n.Path() {
			t.Errorf("%v is %v in the program", n, m)
		}
	}
	if m := p.Node(c.x); m != nil {
		t.Errorf("%v was not wanted, but is %v in the program", c.x, m)
	}
}

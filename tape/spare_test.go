package tape_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestSpared: of short rows, a cross product joins nothing, a scalar product is one instruction,
// and what is looked up is not turned by another; watched values are there all the same, with the
// same bits everywhere, sums over the rows among them.
func TestSpared(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("spared")
		p, c := graph.Ax("p", 1000), graph.Ax("c", 3)
		table, n, w := g.Input("table", dt, graph.Ax("t", 9), c), g.Input("n", graph.I64, p), g.Input("w", dt, p, c)
		a := ops.Sin(ops.Gather(table, n, 0).As("picked")).As("a")
		turned := circle(a, 1).As("circle")
		cross := ops.Sub(ops.Mul(turned, circle(w, 2)), ops.Mul(circle(a, 2), circle(w, 1))).As("cross")
		product := ops.Mul(cross, ops.Cos(w)).As("products")
		outs := []*graph.Node{ops.Sum(product, "c").As("scalar"), ops.Sum(ops.Sin(cross), "p").As("total")}
		prog := compile(t, g, tape.Fetch(outs...), tape.Debug(nil))
		var names []string
		for _, r := range prog.Rows() {
			names = append(names, r.Op)
			if r.Op == "Turn" && strings.Contains(r.In[0], "picked") {
				t.Errorf("what is looked up is turned:\n%v", prog)
			}
			if r.Op == "MulSum" && (r.In[0] != "cross[p=1000 c=3]" || r.Node.Name() != "scalar") {
				t.Errorf("%s adds up products of %v", r.Result, r.In)
			}
		}
		if slices.Contains(names, "Concat") || !slices.Contains(names, "MulSum") {
			t.Errorf("the instructions are %v\n%v", names, prog)
		}
		if want := "Mul Concat(Slice{start=[0 1] step=[1 1] size=[1000 2]}(a), Slice{start=[0 0] step=[1 1] size=[1000 1]}(a))[p=1000 c=3]"; !strings.Contains(prog.String(), want) {
			t.Errorf("the listing is\n%v\nwant %s", prog, want)
		}
		feed := tape.Feed{}
		for _, x := range []*graph.Node{table, n, w} {
			v := graph.NewValue(x.Type())
			for i := range v.Data {
				if v.Data[i] = float64(float32(math.Sin(float64(i * i)))); x == n {
					v.Data[i] = float64(i * i % 9)
				}
			}
			feed[x] = tape.Tensor(v)
		}
		results := func(prog *tape.Program) (all [][]float64) {
			vm := tapetest.VM(t, prog, tape.NewStore(g))
			defer vm.Close()
			run(t, vm, feed)
			for _, y := range outs {
				all = append(all, value(t, vm, y))
			}
			return all
		}
		want := results(prog)
		for _, watched := range []*graph.Node{turned, product, a} {
			seen := compile(t, g, tape.Fetch(outs...), tape.Watch(watched), tape.Debug(nil))
			if !slices.ContainsFunc(seen.Rows(), func(r tape.Row) bool { return r.Node.Name() == watched.Name() }) {
				t.Errorf("%v is watched and not made:\n%v", watched, seen)
			}
			if got := results(seen); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("watching %v changes bits", watched)
			}
		}
	}
}

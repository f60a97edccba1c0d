package tape

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// swept is a group of many instructions on so many short rows, which reads x and weight as it goes
// on, and writes a large result at its end.
func swept(rows int) (g *graph.Graph, x, late, weight, y *graph.Node) {
	g = graph.New("swept")
	i := graph.Ax("i", rows)
	x, late = g.Input("x", graph.F64, i, graph.Ax("v", 3)), g.Input("late", graph.F64, i, graph.Ax("v", 3))
	weight = g.Input("weight", graph.F64, i)
	z, parts := x, []*graph.Node{}
	for k := range 4 {
		z = ops.Sub(ops.Mul(z, ops.Sum(ops.Square(z), "v", ops.Keep)), x)
		parts = append(parts, ops.Neg(z), ops.Exp(ops.Neg(z)))
		if k == 3 {
			parts = append(parts, ops.Mul(ops.Add(z, late), ops.Expand(weight, 1, "")))
		}
	}
	return g, x, late, weight, ops.Concat(1, parts...)
}

// TestFetchAhead: what a tile reads late, and what it writes at its end, is fetched once, each byte
// of it, by calls that come before, and no byte that is not of its rows. What it reads early is
// fetched by the tile before.
func TestFetchAhead(t *testing.T) {
	if !kernel.Fetches() {
		t.Skip("nothing is fetched without assembly")
	}
	const rows = 50_001
	g, _, _, _, y := swept(rows)
	p, err := Compile(g, Fetch(y))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, in := range p.inputs {
		want[fmt.Sprint(in.buf, false)] = true
	}
	fetched := map[string]bool{}
	for i := range p.stages {
		s := &p.stages[i]
		for _, tl := range s.tilings {
			for n := range s.calls[tl.from].bound {
				next := map[int]int{} // by buffer: the byte that is fetched next
				ofTile := s.calls[tl.from].bound[n].rows
				for k := tl.from; k < tl.to; k++ {
					for _, a := range s.calls[k].bound[n].ahead {
						tiles := 1
						if early := p.inputs[0].buf == a.buf; early {
							tiles = 2
							a.from -= ofTile * a.stride
						}
						if a.rows != tiles*ofTile {
							t.Errorf("call %d fetches of buffer %d what needs %d rows: want %d", k, a.buf, a.rows, tiles*ofTile)
						}
						if a.from != next[a.buf] || a.n <= 0 {
							t.Errorf("call %d fetches %d bytes from %d on: want them from %d on", k, a.n, a.from, next[a.buf])
						}
						next[a.buf] += a.n
						if !a.toWrite {
							fetched[fmt.Sprint(a.buf, false)] = true
							continue
						}
						fetched["result"] = true
						if made := slices.IndexFunc(s.steps, func(st step) bool { return st.out.buf == a.buf }); made <= k {
							t.Errorf("call %d fetches what call %d writes", k, made)
						}
					}
				}
				for buf, bytes := range next {
					if all := ofTile * p.buffers[buf].bytes / rows; bytes != all {
						t.Errorf("%d bytes of buffer %d are fetched: want all %d of the rows", bytes, buf, all)
					}
				}
			}
		}
	}
	want["result"] = true
	for what := range want {
		if !fetched[what] {
			t.Errorf("nothing fetches %q; fetched are %v", what, fetched)
		}
	}
	if len(fetched) != len(want) {
		t.Errorf("fetched are %v: want %v", fetched, want)
	}
}

// TestFetchAheadChangesNothing: a program whose rows are fetched gives the bits of one whose rows
// are not, for any number of rows.
func TestFetchAheadChangesNothing(t *testing.T) {
	for _, rows := range []int{11_000, 12_345} {
		g, x, late, weight, y := swept(rows)
		p, err := Compile(g, Fetch(y))
		if err != nil {
			t.Fatal(err)
		}
		feed := Feed{}
		for _, in := range []*graph.Node{x, late, weight} {
			v := graph.NewValue(in.Type())
			for i := range v.Data {
				v.Data[i] = math.Sin(float64(i + len(feed)))
			}
			feed[in] = Tensor(v)
		}
		bits := func() (out []uint64) {
			vm, err := p.NewVM(NewStore(g), Workers(2))
			if err != nil {
				t.Fatal(err)
			}
			defer vm.Close()
			if err := vm.Run(context.Background(), feed); err != nil {
				t.Fatal(err)
			}
			v, err := vm.Floats(y)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v {
				out = append(out, math.Float64bits(x))
			}
			return out
		}
		got, fetches := bits(), 0
		for i := range p.stages {
			for k := range p.stages[i].calls {
				for n := range p.stages[i].calls[k].bound {
					b := &p.stages[i].calls[k].bound[n]
					fetches, b.ahead = fetches+len(b.ahead), nil
				}
			}
		}
		if kernel.Fetches() && fetches == 0 {
			t.Errorf("nothing is fetched of %d rows", rows)
		}
		if !slices.Equal(got, bits()) {
			t.Errorf("%d rows: the result is another without fetching", rows)
		}
	}
}

package tape_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// rowPairs are random rows x[b i d] and r[b j d] around an offset, the first of both alike, weights
// w[b i j] and factors u[b i d].
type rowPairs struct {
	x, r, w, u *graph.Node
	feed       tape.Feed
	values     graph.Values
}

func newRowPairs(dt graph.DType, offset float64, b, i, j, d int) *rowPairs {
	g := graph.New("pairs")
	p := &rowPairs{feed: tape.Feed{}, values: graph.Values{}}
	rnd := rand.New(rand.NewPCG(uint64(i), uint64(d)))
	in := func(name string, offset float64, dims ...int) *graph.Node {
		if b > 1 {
			dims = append([]int{b}, dims...)
		}
		n := g.Input(name, dt, graph.Dims(dims...)...)
		v := graph.NewValue(n.Type())
		for k := range v.Data {
			v.Data[k] = dt.Round(offset + rnd.NormFloat64())
		}
		p.values[n] = v
		return n
	}
	p.x, p.r = in("x", offset, i, d), in("r", offset, j, d)
	p.w, p.u = in("w", 0, i, j), in("u", 0, i, d)
	copy(p.values[p.r].Data[:d], p.values[p.x].Data)
	for n, v := range p.values {
		p.feed[n] = tape.Tensor(v)
	}
	return p
}

// rows of a value, as their last axis cuts them.
func rowsOf(v graph.Value) [][]float64 {
	return slices.Collect(slices.Chunk(v.Data, v.Type.Shape.Dim(v.Type.Shape.Rank()-1)))
}

func norm2(row []float64) (s float64) {
	for _, v := range row {
		s += v * v
	}
	return s
}

// results computes wanted nodes on the tape.
func results(t *testing.T, feed tape.Feed, wanted []*graph.Node, options ...tape.Option) (p *tape.Program, out [][]float64) {
	t.Helper()
	g := wanted[0].Graph()
	p = compile(t, g, append(options, tape.Fetch(wanted...))...)
	vm := tapetest.VM(t, p, tape.NewStore(g))
	defer vm.Close()
	run(t, vm, feed)
	for _, n := range wanted {
		out = append(out, value(t, vm, n))
	}
	return p, out
}

// instructions counts the rows of the listing by operation.
func instructions(p *tape.Program) map[string]int {
	count := map[string]int{}
	for _, r := range p.Rows() {
		count[r.Op]++
	}
	return count
}

// TestFastMathStaysWithinItsBound: also far from the origin the pairwise operations are off by no
// more than a few ε of the terms that they are computed of. There digits are lost that the default
// form keeps, and that is the whole difference.
func TestFastMathStaysWithinItsBound(t *testing.T) {
	const few = 8
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		ε := 0x1p-23
		if dt == graph.F64 {
			ε = 0x1p-52
		}
		for _, offset := range []float64{0, 1000} {
			for _, s := range [][4]int{{1, 300, 40, 48}, {1, 40, 300, 48}, {3, 70, 30, 33}} {
				b, i, j, d := s[0], s[1], s[2], s[3]
				pairs := newRowPairs(dt, offset, b, i, j, d)
				wanted := []*graph.Node{ops.SqDist(pairs.x, pairs.r),
					ops.WeightedDiff(pairs.w, pairs.x, pairs.r), ops.DiffDot(pairs.u, pairs.x, pairs.r)}
				want, err := ref.Eval(trait.Env{}, pairs.values, wanted...)
				if err != nil {
					t.Fatal(err)
				}
				direct, usual := results(t, pairs.feed, wanted)
				fast, got := results(t, pairs.feed, wanted, tape.FastMath())
				for op, n := range map[string]int{"SqDist": 1, "WeightedDiff": 1, "DiffDot": 1, "MatMul": 0} {
					if has := instructions(direct)[op]; has != n {
						t.Fatalf("by default there are %d instructions %s\n%v", has, op, direct)
					}
					if has := instructions(fast)[op]; (has > 0) == (n > 0) {
						t.Fatalf("with fast math there are %d instructions %s\n%v", has, op, fast)
					}
				}
				what := fmt.Sprint(dt, s, " around ", offset)
				x, r := rowsOf(pairs.values[pairs.x]), rowsOf(pairs.values[pairs.r])
				w, u := rowsOf(pairs.values[pairs.w]), rowsOf(pairs.values[pairs.u])
				within := func(op, at int, bound float64) {
					if v := got[op][at]; !(math.Abs(v-want[op].Data[at]) <= few*ε*bound) {
						t.Errorf("%s: element %d of %v is %v: want %v to within %v",
							what, at, wanted[op], v, want[op].Data[at], few*ε*bound)
					}
				}
				lost, kept := 0.0, 0.0
				for row := range b * i {
					for c := range j {
						at, other := row*j+c, row/i*j+c
						bound, dot := norm2(x[row])+norm2(r[other]), 0.0
						for k := range d {
							dot += math.Abs(u[row][k]) * (math.Abs(x[row][k]) + math.Abs(r[other][k]))
						}
						within(0, at, bound)
						within(2, at, dot)
						if got[0][at] < 0 {
							t.Errorf("%s: distance %d is %v", what, at, got[0][at])
						}
						if v := want[0].Data[at]; v > 0 {
							lost, kept = max(lost, math.Abs(got[0][at]-v)/v), max(kept, math.Abs(usual[0][at]-v)/v)
						}
					}
					for k := range d {
						bound := 0.0
						for c := range j {
							bound += math.Abs(w[row][c]) * (math.Abs(x[row][k]) + math.Abs(r[row/i*j+c][k]))
						}
						within(1, row*d+k, bound)
					}
				}
				if kept > 40*ε || offset > 0 && lost < 1e4*ε {
					t.Errorf("%s: distances are off by a part of %v, by default %v", what, lost, kept)
				}
			}
		}
	}
}

// TestFastMathGradients: near the origin losses and their gradients are those of the default form.
func TestFastMathGradients(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		tol := 1e-4
		if dt == graph.F64 {
			tol = 1e-12
		}
		p := newRowPairs(dt, 0, 1, 90, 40, 50)
		loss := ops.Sum(ops.Mul(ops.Softmax(ops.Scale(ops.SqDist(p.x, p.r), -0.05), -1), ops.SqDist(p.x, p.r)))
		first := grad.Of(loss, p.x, p.r)
		second := grad.Of(ops.Sum(ops.Mul(first[0], p.u)), p.x, p.r)
		wanted := slices.Concat([]*graph.Node{loss}, first, second)
		_, want := results(t, p.feed, wanted)
		fast, got := results(t, p.feed, wanted, tape.FastMath())
		if n := instructions(fast); n["SqDist"]+n["WeightedDiff"]+n["DiffDot"] > 0 {
			t.Errorf("there are differences left\n%v", fast)
		}
		for i, n := range wanted {
			size := 0.0
			for _, v := range want[i] {
				size = max(size, math.Abs(v))
			}
			for k, v := range want[i] {
				if !(math.Abs(got[i][k]-v) <= tol*size) {
					t.Fatalf("element %d of %v is %v: want %v", k, n, got[i][k], v)
				}
			}
		}
	}
}

// TestFastMathWorkersChangeNoBit, on whole blocks and on small ones.
func TestFastMathWorkersChangeNoBit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, goofy := range []bool{false, true} {
		c := newClusters(2000, 40, 48, goofy)
		for _, options := range [][]tape.Option{{}, {tape.Small()}} {
			p := compile(t, c.g, append(options, tape.FastMath(), tape.Fetch(c.loss), tape.Do(c.step))...)
			after := func(workers int) []float64 {
				store := tape.NewStore(c.g)
				vm := tapetest.VM(t, p, store, tape.Workers(workers))
				defer vm.Close()
				for range 3 {
					run(t, vm, tape.Feed{c.x: points(2000, 48)})
				}
				return append(stored(t, store, "r"), tapetest.Float(t, vm, c.loss))
			}
			want := after(1)
			for _, workers := range []int{2, 8} {
				if !slices.Equal(after(workers), want) {
					t.Errorf("goofy: %v: %d workers give other bits than one", goofy, workers)
				}
			}
		}
	}
}

// TestFastMathWithoutNumbers: NaN and infinities spoil the distances of their rows, and those
// alone.
func TestFastMathWithoutNumbers(t *testing.T) {
	const i, j, d = 100, 40, 50
	p := newRowPairs(graph.F32, 0, 1, i, j, d)
	x := p.feed[p.x].Float32s()
	x[3*d+7], x[5*d+9] = float32(math.NaN()), float32(math.Inf(1))
	_, got := results(t, p.feed, []*graph.Node{ops.SqDist(p.x, p.r)}, tape.FastMath())
	for row := range i {
		for _, v := range got[0][row*j : (row+1)*j] {
			nan, inf := math.IsNaN(v), math.IsInf(v, 1)
			if row == 3 && !nan || row == 5 && !nan && !inf || row != 3 && row != 5 && (nan || inf) {
				t.Fatalf("row %d has a distance %v", row, v)
			}
		}
	}
}

// TestFastMathOrPasses: of the two, the later counts.
func TestFastMathOrPasses(t *testing.T) {
	p := newRowPairs(graph.F32, 0, 1, 100, 40, 50)
	D := ops.SqDist(p.x, p.r)
	for _, c := range []struct {
		options []tape.Option
		fast    bool
	}{
		{nil, false},
		{[]tape.Option{tape.FastMath()}, true},
		{[]tape.Option{tape.FastMath(), tape.Passes()}, false},
		{[]tape.Option{tape.FastMath(), tape.Passes(rewrite.Passes()...)}, false},
		{[]tape.Option{tape.Passes(), tape.FastMath()}, true},
	} {
		prog := compile(t, D.Graph(), append(c.options, tape.Fetch(D))...)
		logged := slices.ContainsFunc(prog.Log(), func(e rewrite.Entry) bool { return e.Rule == "distance by a product" })
		if logged != c.fast || (instructions(prog)["SqDist"] == 0) != c.fast {
			t.Errorf("%d options: want fast math: %v\n%v", len(c.options), c.fast, prog)
		}
	}
}

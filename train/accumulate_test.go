package train_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// fitting returns a line with a bent loss, mean((tanh(x·w + b) − y)²), for batches of rows.
func fitting(t *testing.T, rows int, dt graph.DType, o train.Optimiser) (prog *tape.Program, feed func(first int) tape.Feed) {
	t.Helper()
	g := graph.New("fitting")
	x, y := g.Input("x", dt, graph.Ax("n", rows), graph.Ax("d", 2)), g.Input("y", dt, graph.Ax("n", rows))
	w, b := g.Param("w", dt, graph.Ax("d", 2), graph.Ax("h", 1)).Init(initial.Fill(0.5)), g.Param("b", dt)
	loss := ops.Mean(ops.Square(ops.Sub(ops.Tanh(ops.Add(ops.Sum(ops.MatMul(x, w), "h"), b)), y)))
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(o.Minimize(loss)), tape.CheckFinite(loss))
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	return prog, func(first int) tape.Feed {
		a, z := graph.NewValue(x.Type()), graph.NewValue(y.Type())
		for i := range rows {
			at := float64(first + i)
			a.Data[2*i], a.Data[2*i+1], z.Data[i] = math.Sin(at), math.Cos(3*at), math.Sin(at/2)
		}
		return tape.Feed{x: tape.Tensor(a), y: tape.Tensor(z)}
	}
}

// runs does runs of so many rows each, one after the other, and returns the store.
func runs(t *testing.T, n, rows int, o train.Optimiser, store *tape.Store, first int) *tape.Store {
	t.Helper()
	prog, feed := fitting(t, rows, graph.F64, o)
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	for i := range n {
		if err := vm.Run(context.Background(), feed(first+i*rows)); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// gathering returns the names of the optimisers that take Accumulate, which are all but lbfgs.
func gathering() []string {
	return slices.DeleteFunc(train.Names(), func(name string) bool { return name == "lbfgs" })
}

// TestAccumulate: runs on parts of a batch end where runs on the whole batch end, with every
// optimiser and option, and between updates no bit that the optimiser keeps changes.
func TestAccumulate(t *testing.T) {
	const parts, rows, moves = 3, 4, 5
	options := [][]train.Option{
		nil,
		{train.ClipNorm(0.05), train.WeightDecay(0.1), train.EMA(0.75)},
		{train.ClipValue(0.02)},
	}
	for _, name := range gathering() {
		for i, with := range options {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				make := func(more ...train.Option) train.Optimiser {
					o, err := train.Named(name, 0.05, append(slices.Clone(with), more...)...)
					if err != nil {
						t.Fatal(err)
					}
					return o
				}
				whole := runs(t, moves, parts*rows, make(), tape.NewStore(nil), 0)
				prog, feed := fitting(t, rows, graph.F64, make(train.Accumulate(parts)))
				store := tape.NewStore(nil)
				vm := tapetest.VM(t, prog, store)
				defer vm.Close()
				paths := whole.Paths()
				before := read(t, store, "b") // what a run of zero moves leaves
				for run := range parts * moves {
					if err := vm.Run(context.Background(), feed(run*rows)); err != nil {
						t.Fatal(err)
					}
					now := read(t, store, paths...)
					if run == 0 {
						before = now
						if w := read(t, store, "w", "b"); !slices.Equal(w, []float64{0.5, 0.5, 0}) {
							t.Fatalf("the first run moves to %v", w)
						}
					}
					if moved := !slices.Equal(now, before); moved != ((run+1)%parts == 0) {
						t.Fatalf("run %d: moved is %v", run, moved)
					}
					before = now
				}
				near(t, "the end", read(t, store, paths...), read(t, whole, paths...), 1e-13)
			})
		}
	}
}

// TestAccumulateResumes: a store that was copied between two updates continues to the same bits.
func TestAccumulateResumes(t *testing.T) {
	o := train.Adam(0.1, train.Accumulate(4), train.ClipNorm(0.1), train.EMA(0.9))
	through := runs(t, 22, 3, o, tape.NewStore(nil, tape.Seed(1)), 0)
	half := runs(t, 10, 3, o, tape.NewStore(nil, tape.Seed(1)), 0)
	copied := runs(t, 12, 3, o, half.Clone(), 30)
	for _, p := range through.Paths() {
		a, _ := through.Get(p)
		b, err := copied.Get(p)
		if err != nil || fmt.Sprint(a.Data()) != fmt.Sprint(b.Data()) {
			t.Errorf("%s: %v, %v after a resumption (%v)", p, a, b, err)
		}
	}
	want := []string{"adam/gathered-runs", "adam/gathered/b", "adam/gathered/w"}
	if got := slices.DeleteFunc(through.Paths(), func(p string) bool { return !strings.Contains(p, "gathered") }); !slices.Equal(got, want) {
		t.Errorf("kept are %q, want %q", got, want)
	}
	if d, err := through.Get("adam/gathered-runs"); err != nil || d.Data() != any(int32(2)) {
		t.Errorf("after 22 runs %v are gathered (%v)", d, err)
	}
}

// TestAccumulatePassesOver: arrays are written in place, and runs without an update skip all that
// only an update needs, the norm for clipping included.
func TestAccumulatePassesOver(t *testing.T) {
	for _, name := range gathering() {
		always, n := map[bool]int{}, 0
		for _, parts := range []int{1, 3} {
			o, err := train.Named(name, 0.05, train.ClipNorm(0.05), train.EMA(0.75), train.Accumulate(parts))
			if err != nil {
				t.Fatal(err)
			}
			prog, _ := fitting(t, 4, graph.F64, o)
			if strings.Contains(prog.String(), "w, copied at the end") {
				t.Errorf("%v copies arrays\n%v", o, prog)
			}
			stages := prog.Stages()
			for _, r := range prog.Rows() {
				switch only := stages[r.Stage].Only; {
				case only == "full[]":
					n++
				case only != "":
					t.Errorf("%s only if %s", r.Result, only)
				case strings.Contains(r.Result, "‖g‖"), strings.Contains(r.Result, "shrink"):
					always[parts > 1]++
				}
			}
		}
		if always[false] != 2 || always[true] != 0 || n < 15 {
			t.Errorf("%s: the norm of gradients runs always: %v; %d instructions are conditional", name, always, n)
		}
	}
}

// TestAccumulateNotFinite: a run whose loss is not finite leaves the gathered gradients as they
// were, and the next run continues from them.
func TestAccumulateNotFinite(t *testing.T) {
	prog, feed := fitting(t, 2, graph.F64, train.SGD(0.1, train.Accumulate(2)))
	store := tape.NewStore(nil)
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	if err := vm.Run(context.Background(), feed(0)); err != nil {
		t.Fatal(err)
	}
	bad := feed(2)
	for n, v := range bad {
		if n.Path() == "x" {
			v.Float64s()[0] = math.NaN()
		}
	}
	if err := vm.Run(context.Background(), bad); err == nil {
		t.Fatal("NaN is taken")
	}
	if err := vm.Run(context.Background(), feed(2)); err != nil {
		t.Fatal(err)
	}
	undisturbed := runs(t, 2, 2, train.SGD(0.1, train.Accumulate(2)), tape.NewStore(nil), 0)
	for _, p := range undisturbed.Paths() {
		got, err := store.Get(p)
		want, _ := undisturbed.Get(p)
		if err != nil || fmt.Sprint(got.Data()) != fmt.Sprint(want.Data()) {
			t.Errorf("%s is %v (%v), without the run %v", p, got, err, want)
		}
	}
}

func TestAccumulateMistakes(t *testing.T) {
	for _, n := range []int{0, -3, 1<<20 + 1} {
		g := graph.New("mistake")
		if step := train.SGD(1, train.Accumulate(n)).Minimize(ops.Square(g.Param("w", graph.F32))); len(step) != 0 {
			t.Errorf("%d: %d updates", n, len(step))
		}
		if err, want := g.Err(), fmt.Sprintf("accumulate %d: want a number of runs from 1 to 1048576", n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var text []string // with one run a move there is nothing to gather
	for _, o := range []train.Optimiser{train.SGD(1, train.Accumulate(1)), train.SGD(1)} {
		g := graph.New("one")
		o.Minimize(ops.Square(g.Param("w", graph.F32)))
		text = append(text, g.String())
	}
	if text[0] != text[1] {
		t.Errorf("got\n%s\nwant\n%s", text[0], text[1])
	}
	if o := train.Adam(1, train.Accumulate(4)); o.String() != "adam(1, accumulate 4)" {
		t.Error(o)
	}
}

// BenchmarkAccumulate measures a run of Adam on weights of 512×512 if every run updates them, and
// if none does.
func BenchmarkAccumulate(b *testing.B) {
	const d = 512
	for _, rows := range []int{16, 256} {
		for _, runs := range []int{0, 1 << 20} {
			b.Run(fmt.Sprintf("rows %d, runs %d", rows, runs), func(b *testing.B) {
				g := graph.New("wide")
				x, w := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", d)), g.Param("w", graph.F32, graph.Ax("d", d), graph.Ax("h", d))
				o := train.Adam(1e-3)
				if runs > 0 {
					o = train.Adam(1e-3, train.Accumulate(runs))
				}
				loss := ops.Mean(ops.Square(ops.MatMul(x, w)))
				prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(o.Minimize(loss)), tape.CheckFinite(loss))
				if err != nil {
					b.Fatal(err)
				}
				vm := tapetest.VM(b, prog, tape.NewStore(nil), tape.Workers(1))
				defer vm.Close()
				feed := tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))}
				for b.Loop() {
					if err := vm.Run(context.Background(), feed); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

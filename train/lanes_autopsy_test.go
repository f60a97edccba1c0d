package train_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// rowsWith returns iris with one number in some rows.
func rowsWith(t *testing.T, v float32, rows ...int) *data.Set {
	t.Helper()
	set := iris(t)
	x := set.Column("x").Clone().(*tensor.Dense)
	for _, row := range rows {
		for d := range 4 {
			x.Float32s()[4*row+d] = v
		}
	}
	set, err := set.With("x", x)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// lossOf is a net with a parameter w of 1, whose loss is the mean of a value for each row, and m the
// rows' means of x.
func lossOf(each func(m, w *graph.Node) *graph.Node, step ...func(m *graph.Node) graph.Update) train.Build {
	return func(rows int, _ train.Mode) *train.Net {
		g := graph.New("each")
		m := ops.Mean(g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", 4)), "d")
		net := &train.Net{Loss: ops.Mean(each(m, g.Param("w", graph.F32).Init(initial.Fill(1))), "n").As("loss")}
		for _, s := range step {
			net.Step = append(net.Step, s(m))
		}
		return net
	}
}

// digits are those of a number that instruction sets may round otherwise.
var digits = regexp.MustCompile(`(\d\.\d{3})\d+`)

// TestDivergedInLanes: the error says in which lane, or in which part of the step, something was not
// finite first, and why. It is the same on any number of ranks, but for their numbers, and nothing was
// committed.
func TestDivergedInLanes(t *testing.T) {
	nan := float32(math.NaN())
	times := func(m, w *graph.Node) *graph.Node { return ops.Mul(m, w) }
	centred := func(m *graph.Node) *graph.Node { // of the mean of all lanes
		return ops.Sub(m, ops.CopyRanks(ops.Scale(ops.SumRanks(ops.Mean(m, "n")), 1./lanes)))
	}
	for _, c := range []struct {
		name  string
		net   train.Build
		set   *data.Set
		rate  float64
		check bool
		step  int
		want  string
	}{
		{"rows of two lanes", lossOf(times), rowsWith(t, nan, 130, 149), 0.1, false, 2,
			"step 3: lane 3RANK, rows 26–33 of the batch, and lane 5: a value that is not finite was fed: x[n=4 d=0] = NaN, row 130: loss[] is NaN: nothing was committed"},
		{"a parameter", lossOf(func(m, w *graph.Node) *graph.Node { return ops.Mul(m, ops.Log(w)) }), iris(t), 0.1, false, 3,
			"step 4: lane 0RANK, rows 0–8 of the batch, and lanes 1–5: log of a negative: log(−1.332): w = −1.332 after step 3: loss[] is NaN: nothing was committed"},
		{"a gradient", lossOf(func(m, w *graph.Node) *graph.Node { return ops.Sqrt(ops.Mul(m, ops.Square(w))) }), rowsWith(t, 0, 130), 0.1, true, 2,
			"step 3: the gradient of w in lane 3RANK, rows 26–33 of the batch: division by zero: 0.02/0: x[n=4 d=0] = 0, row 130: the new w is NaN: nothing was committed"},
		{"a gradient that nobody checks", lossOf(func(m, w *graph.Node) *graph.Node { return ops.Sqrt(ops.Mul(m, ops.Square(w))) }), rowsWith(t, 0, 130), 0.1, false, 3,
			"step 4: lane 0RANK, rows 0–8 of the batch, and lanes 1–5: the parameter is not finite: an earlier step or the caller made it so: w = NaN after step 3: loss[] is NaN: nothing was committed"},
		{"the update", lossOf(func(m, w *graph.Node) *graph.Node { return ops.Scale(ops.Mul(m, w), 10) }), iris(t), 1e38, true, 0,
			"step 1: in the update, after the sums over lanes: overflow: Mul gives 2.535e+39, beyond float32's 3.4e38: sgd/rate = 9.999e+37: the new w is -Inf: nothing was committed"},
		{"a sum", lossOf(times, func(m *graph.Node) graph.Update {
			return m.Graph().Assign(m.Graph().State("s", graph.F32), ops.SumRanks(ops.Scale(ops.Mean(m, "n"), 5e37)))
		}), iris(t), 0.1, true, 0,
			"step 1: what each lane adds to the sums over lanes is finite, and a sum is not: the new s is +Inf: nothing was committed"},
		{"as the tape runs it", lossOf(func(m, w *graph.Node) *graph.Node {
			return ops.Scale(ops.Div(ops.Mul(ops.Scale(w, 1e-10), m), m.Graph().Scalar("d", 1e-39, graph.F32)), 1e-30)
		}), iris(t), 0.1, false, 0,
			"step 1: lane 0RANK, rows 0–8 of the batch, and lanes 1–5: overflow: Div gives 9.999e+38, beyond float32's 3.4e38: the divisor is tiny: d = 1.000e−39: loss[] is +Inf: nothing was committed"},
		{"rows of lanes that meet", lossOf(func(m, w *graph.Node) *graph.Node { return ops.Mul(ops.Square(centred(m)), w) }), rowsWith(t, nan, 130, 149), 0.1, false, 2,
			"step 3: lane 3RANK, rows 26–33 of the batch, from where sums over lanes inside of the loss carry it to lanes 0–5: a value that is not finite was fed: x[n=4 d=0] = NaN, row 130: loss[] is NaN: nothing was committed"},
		{"a second sum", lossOf(func(m, w *graph.Node) *graph.Node {
			return ops.Mul(ops.Square(centred(ops.Log(ops.Shift(centred(m), 0.5)))), w)
		}), iris(t), 0.1, false, 1,
			"step 2: lane 0RANK, rows 0–8 of the batch, from where sums over lanes inside of the loss carry it to lanes 0–5: log of a negative: log(−0.172): loss[] is NaN: nothing was committed"},
		{"after the last sum", lossOf(func(m, w *graph.Node) *graph.Node {
			return ops.Mul(ops.Log(ops.Shift(centred(m), 0.5)), w)
		}), iris(t), 0.1, false, 1,
			"step 2: lane 0RANK, rows 0–8 of the batch, and lanes 1, 5, after sums over lanes inside of the loss that are finite: log of a negative: log(−0.172): loss[] is NaN: nothing was committed"},
		{"after the last sum, and in derivatives before", lossOf(func(m, w *graph.Node) *graph.Node {
			return ops.Sqrt(ops.Shift(centred(ops.Mul(m, w)), 0.5))
		}), iris(t), 0.1, false, 1,
			"step 2: lane 0RANK, rows 0–8 of the batch, and lanes 1, 5, after sums over lanes inside of the loss that are finite: square root of a negative: sqrt(−0.174): loss[] is NaN: nothing was committed"},
		{"a gradient of lanes that meet", lossOf(func(m, w *graph.Node) *graph.Node {
			return ops.Mul(ops.Sqrt(ops.Mul(m, ops.Square(w))), ops.Shift(ops.Square(centred(m)), 1))
		}), rowsWith(t, 0, 130), 0.1, true, 2,
			"step 3: the gradient of w in lane 3RANK, rows 26–33 of the batch, after sums over lanes inside of the loss that are finite: division by zero: 18.553/0: x[n=4 d=0] = 0, row 130: the new w is NaN: nothing was committed"},
	} {
		for _, n := range []int{1, 3} {
			for _, shard := range []bool{false, true} {
				if shard && c.check {
					continue
				}
				trainers := make([]*train.Trainer, n)
				errs := onRanks(t, n, parallel.Config{Lanes: lanes, Shard: shard}, func(r *parallel.Ranks) error {
					tr := &train.Trainer{Build: c.net, Optimiser: train.SGD(c.rate), Ranks: r, CheckUpdates: c.check, LaneLosses: true}
					t.Cleanup(tr.Close)
					trainers[r.Rank()] = tr
					return tr.Fit(t.Context(), train.Plan{Data: data.InOrder(c.set, 50), Steps: 9})
				})
				for rank, err := range errs {
					d := new(train.Diverged)
					if !errors.As(err, &d) || d.Step != c.step || trainers[rank].Store().Step() != uint64(c.step) {
						t.Errorf("%s, rank %d of %d, after step %d: %v", c.name, rank, n, trainers[rank].Store().Step(), err)
						continue
					}
					want := c.want
					for lane := range lanes {
						on := ""
						if n > 1 {
							on = fmt.Sprintf(" on rank %d", lane/2)
						}
						want = strings.ReplaceAll(want, fmt.Sprintf("lane %dRANK", lane), fmt.Sprintf("lane %d%s", lane, on))
					}
					if digits.ReplaceAllString(err.Error(), "$1") != want {
						t.Errorf("%s, rank %d of %d:\n%v, want\n%s", c.name, rank, n, err, want)
					}
				}
			}
		}
	}
}

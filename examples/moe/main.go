// Moe learns a function of the plane by a mixture of experts, of which each point is sent to two.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// capacity is how many rows an expert takes, of those that it would have if all had equally many.
const capacity = 1.25

// size is how many experts there are, to how many of them each row is sent, and how many units each has.
type size struct{ experts, chosen, hidden int }

// mixture is a layer of experts, nets with one hidden layer each, on rows x[n d]: the sparsely gated mixture
// of Shazeer et al. (2017). It returns y[n o] and the balance, which is 1 if the experts are chosen equally
// often, more if not. An expert has a fixed number of slots, so that all experts together are products of
// matrices, and rows that find no slot are left out (Lepikhin et al., 2021, Algorithm 1).
func (s size) mixture(x *graph.Node, training bool) (y, balance *graph.Node) {
	g, n, d := x.Graph(), x.Shape().Axis(0), x.Shape().Axis(1)
	k, e, h, o := graph.Ax("k", s.chosen), graph.Ax("e", s.experts), graph.Ax("h", s.hidden), graph.Ax("o", 1)
	logits := nn.NewLinear(g, "gate", graph.F32, d, e, initial.Zeros()).Of(x)
	noise := ops.Softplus(nn.NewLinear(g, "noise", graph.F32, d, e, initial.Zeros()).Of(x))
	if training { // which lets other experts have a try (eq. 4)
		logits = ops.Add(logits, ops.Mul(ops.RandomNormal(g, "ε", graph.F32, n, e), noise))
	}
	top, choice := ops.TopK(logits.As("logits"), s.chosen, "e")
	weight := ops.Transpose(ops.Rename(ops.Softmax(top, "e"), "e", "k")).As("weight")
	choice = ops.Transpose(ops.Rename(choice, "e", "k")).As("choice")

	all := ops.Merge(choice, "a", "k", "n") // the first choices of all rows, then the second ones
	one := ops.OneHot(all, 1, e, graph.F32)
	queued := ops.Shift(ops.Pick(ops.CumSum(one, "a"), all, "e"), -1)
	place := ops.Split(queued, "a", k, n).As("place") // in the queue of its expert
	room := min(n.Size, int(math.Ceil(capacity*float64(s.chosen*n.Size)/float64(s.experts))))
	taken := ops.Cast(ops.Less(place, ops.Lit(place, float64(room))), graph.F32).As("taken")
	slots := graph.Ax("c", room+1) // the last is for those that are left out
	within := ops.Cast(ops.Minimum(place, ops.Lit(place, float64(room))), graph.I64)
	slot := ops.Add(ops.Scale(choice, float64(slots.Size)), within).As("slot")
	empty := ops.Zeros(g, graph.F32, graph.Ax("slot", s.experts*slots.Size), d)
	in := ops.Split(ops.SetAt(empty, slot, x, "slot"), "slot", e, slots).As("in")

	wide := initial.Uniform(-2, 2)
	w, b := g.Param("w", graph.F32, e, d, h).Init(wide), g.Param("b", graph.F32, e, h).Init(wide)
	v, c := g.Param("v", graph.F32, e, h, o).Init(initial.Normal(0, 0.2)), g.Param("c", graph.F32, e, o)
	hidden := ops.Tanh(ops.Add(ops.MatMul(in, w), ops.Expand(b, 1, "c"))).As("h")
	out := ops.Merge(ops.Add(ops.MatMul(hidden, v), ops.Expand(c, 1, "c")), "slot", "e", "c").As("out")
	says := ops.Mul(ops.Expand(ops.Mul(weight, taken), 2, "o"), ops.Gather(out, slot, "slot"))

	share := ops.Mul(ops.Mean(one, "a"), ops.Mean(ops.Softmax(logits, "e"), "n"))
	return ops.Sum(says, "k").As("ŷ"), ops.Scale(ops.Sum(share), float64(s.experts)).As("balance")
}

// net is a mixture on points x[n d], whose loss is the squared error and a twentieth of the balance.
func (s size) net(rows int, mode train.Mode) *train.Net {
	g, n := graph.New("moe"), graph.Ax("n", rows)
	x, y := g.Input("x", graph.F32, n, graph.Ax("d", 2)), g.Input("y", graph.F32, n)
	predicted, balance := s.mixture(x, mode == train.Training)
	wrong := ops.Mean(ops.Square(ops.Sub(ops.Squeeze(predicted, "o"), y))).As("error")
	return &train.Net{Loss: ops.Add(wrong, ops.Scale(balance, 0.05)).As("loss"), Output: predicted}
}

// f is made of eight pieces, of which each is a wave in a direction of its own.
func f(x, y float64) float64 {
	nearest, piece := math.Inf(1), 0.
	for k := 0.; k < 8; k++ {
		r, φ := math.Sqrt((k+0.5)/8), 2.4*k // radians: the golden angle
		if d := math.Hypot(x-r*math.Cos(φ), y-r*math.Sin(φ)); d < nearest {
			nearest, piece = d, k
		}
	}
	φ := math.Pi * piece / 8 * 3
	return math.Sin(8*(x*math.Cos(φ)+y*math.Sin(φ)) + piece)
}

// points returns n points of the plane with the value of f there.
func points(n int, at func(i int) (x, y float64)) (*data.Set, error) {
	var x, y []float32
	for i := range n {
		a, b := at(i)
		x, y = append(x, float32(a), float32(b)), append(y, float32(f(a, b)))
	}
	return data.NewSet(map[string]*tensor.Dense{"x": lesson.Array(x, n, 2), "y": lesson.Array(y, n)})
}

// result is what a mixture makes of points that it was not trained on.
type result struct {
	y, choice    []float64 // choice has the first choices, then the second
	wrong, taken float64
}

func (s size) measure(ctx context.Context, store *tape.Store, test *data.Set) (result, error) {
	g := s.net(test.Rows(), train.Evaluating).Loss.Graph()
	y, choice, wrong, taken := g.Lookup("ŷ"), g.Lookup("choice"), g.Lookup("error"), ops.Mean(g.Lookup("taken"))
	feed := tape.Feed{g.Lookup("x"): test.Column("x"), g.Lookup("y"): test.Column("y")}
	values, err := store.Eval(ctx, feed, y, choice, wrong, taken)
	return result{values[y].Data, values[choice].Data, values[wrong].Item(), values[taken].Item()}, err
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		rng := rand.New(rand.NewPCG(l.Seed, 0))
		fit, err := points(20_000, func(int) (x, y float64) { return 2*rng.Float64() - 1, 2*rng.Float64() - 1 })
		test, wrong := points(side*side, func(i int) (x, y float64) { return grid(i % side), grid(i / side) })
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		var found []result
		for _, s := range []size{{8, 2, 32}, {1, 1, 90}, {1, 1, 256}} {
			t := &train.Trainer{Build: s.net, Optimiser: train.Adam(1e-2), Seed: l.Seed, Workers: l.Workers}
			defer t.Close()
			plan := train.Plan{Data: data.Shuffled(fit, 400, l.Seed), Steps: l.Few(10_000, 20), Rate: train.Geometric(1e-2, 1e-4)}
			if err := t.Fit(ctx, l.Plan(fmt.Sprintf("%d-experts-%d-units", s.experts, s.hidden), plan)); err != nil {
				return err
			}
			r, err := s.measure(ctx, t.Store(), test)
			if err != nil {
				return err
			}
			fmt.Printf("%d of %d experts of %3d units: error %.3f\n", s.chosen, s.experts, s.hidden, r.wrong)
			found = append(found, r)
		}
		load := make([]int, 8)
		for _, e := range found[0].choice {
			load[int(e)]++
		}
		fmt.Printf("points of each expert: %v\n", load)
		return errors.Join(
			l.AtMost("error of the mixture over that of one net of as much work", found[0].wrong/found[1].wrong, 0.8),
			l.AtMost("most points of an expert, over the mean", float64(slices.Max(load))*8/(2*side*side), 1.5),
			l.AtLeast("share of the choices that find a slot", found[0].taken, 0.97),
			picture(l, test, found[0], found[1]),
			l.Draw("moe.svg", size{4, 2, 8}.net(8, train.Training).Loss),
		)
	})
}

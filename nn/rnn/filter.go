package rnn

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// FIR is a filter with a finite impulse response, a generalised moving average over the last k
// inputs (the notes on filters):
//
//	y_t = Σ_k w_k·x_{t−k}
//
// where x is 0 before its beginning. It is a convolution along time.
type FIR struct {
	Taps *graph.Node // w[k]
}

// NewFIR adds the parameter taps[k], which starts near 0.
func NewFIR(g *graph.Graph, dt graph.DType, k graph.Axis) FIR {
	return FIR{g.Param("taps", dt, k).Init(initial.Normal(0, 0.1))}
}

// Of returns the filtered signals y[b t] of floats x[b t].
func (f FIR) Of(x *graph.Node) *graph.Node {
	g := graph.Of(x, f.Taps)
	switch {
	case !x.IsValid() || !f.Taps.IsValid():
		return g.Fail("FIR", build.ErrNoOperand, x, f.Taps)
	case x.Rank() < 2 || f.Taps.Rank() != 1:
		return g.Fail("FIR", errors.New("want signals x[b t] and taps w[k]"), x, f.Taps)
	}
	// A convolution has its window the other way round, and wide ones go on behind the end.
	w := ops.Expand(ops.Expand(ops.Reverse(f.Taps, 0), -1, ""), -1, "")
	y := nn.Conv{W: w, Window: ops.Wide()}.Of(ops.Expand(x, -1, ""))
	return ops.Rename(ops.Slice(ops.Squeeze(y, -1), -1, 0, build.Last(x).Size), -1, build.Last(x).Name).As("ŷ")
}

// IIR is a filter with an infinite impulse response: n hidden states, each of which forgets a
// little at every step (the notes on filters; momentum is such a filter),
//
//	h_t = a ⊙ h_{t−1} + b·x_t,  y_t = ⟨c, h_t⟩ + d·x_t
//
// with h₀ = 0. Only a, b ⊙ c and d matter for its output.
type IIR struct {
	A, B, C *graph.Node // a[n], b[n], c[n]
	D       *graph.Node // d[]
	Unroll  bool        // all steps written out
}

// NewIIR adds the parameters a[n], b[n] and c[n] of n states, and d. The rates a of forgetting
// start between 0 and 1, and c at 0: from b and c both away from 0, a gain of the opposite sign is
// reached only through a point where both derivatives are 0.
func NewIIR(g *graph.Graph, dt graph.DType, n graph.Axis) IIR {
	return IIR{
		A: g.Param("a", dt, n).Init(initial.Uniform(0, 1)), B: g.Param("b", dt, n).Init(initial.Fill(1)),
		C: g.Param("c", dt, n), D: g.Param("d", dt),
	}
}

// Of returns the filtered signals y[b t] of floats x[b t].
func (f IIR) Of(x *graph.Node) *graph.Node {
	for _, n := range []*graph.Node{x, f.A, f.B, f.C, f.D} {
		if !n.IsValid() {
			return graph.Of(x, f.A, f.B, f.C, f.D).Fail("IIR", build.ErrNoOperand, x)
		}
	}
	u := ops.Mul(build.EveryPair(x, f.B)).As("bx") // [b t n]
	h := Recur{Cell: memory{f.A}, Unroll: f.Unroll}.Of(u)
	return ops.Add(ops.Sum(ops.Mul(h, f.C), -1), ops.Mul(x, f.D)).As("ŷ")
}

// memory is the linear cell h_t = a ⊙ h_{t−1} + x_t.
type memory struct{ A *graph.Node }

func (m memory) Start(batch ...graph.Axis) []*graph.Node {
	return []*graph.Node{build.Zeros(m.A, append(batch[:len(batch):len(batch)], build.Last(m.A))...)}
}

func (m memory) Step(x *graph.Node, state []*graph.Node) []*graph.Node {
	return []*graph.Node{ops.Add(ops.Mul(state[0], m.A), x).As("h")}
}

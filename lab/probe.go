package lab

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// Measure holds what centres r_j measure on the rows x_i at one γ: α_ij is the softmax
// over j of −γ‖x_i − r_j‖², and r̂_i = Σ_j α_ij r_j.
type Measure struct {
	Inertia float64 // Σ_i min_j ‖x_i − r_j‖²
	Soft    float64 // mean_i Σ_j α_ij ‖x_i − r_j‖²
	Goofy   float64 // mean_i ‖r̂_i − x_i‖²
	Spread  float64 // mean_i Σ_j α_ij ‖r_j − r̂_i‖² = Soft − Goofy
	Angle   float64 // between the gradients of Soft and Goofy, in degrees; NaN if one of them is 0
}

// probe measures centres on one table by one program.
type probe struct {
	vm                                  *tape.VM
	feed                                tape.Feed
	r, γ                                *tensor.Dense
	inertia, soft, goofy, spread        *graph.Node
	dot, normSoft, normGoofy, assigning *graph.Node
}

// newProbe compiles the probe for n rows x of d features and k centres.
func newProbe(ctx context.Context, x *tensor.Dense, n, d, k int) (*probe, error) {
	g := graph.New("probe")
	xs := g.Input("x", graph.F64, graph.Ax("i", n), graph.Ax("d", d))
	r := g.Input("r", graph.F64, graph.Ax("j", k), graph.Ax("d", d))
	γ := g.Scalar("γ", 1, graph.F64)
	p := &probe{r: tensor.New(tensor.WithShape(k, d), tensor.Of(tensor.Float64)), γ: tape.Scalar(graph.F64, 1)}
	p.feed = tape.Feed{xs: x, r: p.r, γ: p.γ}
	soft, goofy := builders.SoftKMeans(xs, r, γ), builders.GoofyKMeans(xs, r, γ)
	p.inertia = ops.Sum(ops.Min(soft.SqDist, "j"), "i").As("inertia")
	p.assigning = ops.ArgMin(soft.SqDist, "j").As("a")
	p.soft, p.goofy = soft.Loss, goofy.Loss
	p.spread = builders.Spread(soft.Alpha, r)
	ds, dg := grad.Of(soft.Loss, r)[0], grad.Of(goofy.Loss, r)[0]
	p.dot = ops.Sum(ops.Mul(ds, dg))
	p.normSoft, p.normGoofy = ops.Sum(ops.Square(ds)), ops.Sum(ops.Square(dg))
	prog, err := tape.CompileContext(ctx, g, tape.Fetch(p.inertia, p.soft, p.goofy, p.spread, p.dot, p.normSoft, p.normGoofy, p.assigning))
	if err != nil {
		return nil, err
	}
	p.vm, err = prog.NewVM(tape.NewStore(g))
	return p, err
}

// at measures centres, row-major [k d].
func (p *probe) at(ctx context.Context, centres []float64, γ float64) (Measure, error) {
	copy(p.r.Float64s(), centres)
	p.γ.Float64s()[0] = γ
	if err := p.vm.Run(ctx, p.feed); err != nil {
		return Measure{}, err
	}
	var err error
	f := func(n *graph.Node) float64 {
		v, failed := p.vm.Float(n)
		err = errors.Join(err, failed)
		return v
	}
	cos := f(p.dot) / math.Sqrt(f(p.normSoft)*f(p.normGoofy))
	return Measure{f(p.inertia), f(p.soft), f(p.goofy), f(p.spread), math.Acos(min(1, max(-1, cos))) * 180 / math.Pi}, err
}

// assigned returns the nearest centre of each row, for the centres last measured.
func (p *probe) assigned() ([]int, error) {
	t, err := p.vm.Value(p.assigning)
	if err != nil {
		return nil, err
	}
	out := make([]int, 0, t.Len())
	for _, v := range t.Int64s() {
		out = append(out, int(v))
	}
	return out, nil
}

// Assign returns, for each row of x (row-major [n d]), the index of the nearest of the centres
// (row-major [k d]), and the sum of the squared distances to them. Numbers that are no whole rows
// of d features, and no rows, are errors. It compiles a program; see [NewAssigner] for centres after
// centres.
func Assign(ctx context.Context, x []float64, centres []float64, d int) (nearest []int, inertia float64, err error) {
	if d < 1 || len(x) < d || len(centres) < d || len(x)%d != 0 || len(centres)%d != 0 {
		return nil, 0, fmt.Errorf("%d numbers and %d of centres are no rows of %d features", len(x), len(centres), d)
	}
	a, err := NewAssigner(ctx, x, len(centres)/d, d)
	if err != nil {
		return nil, 0, err
	}
	defer a.Close()
	return a.Assign(ctx, centres)
}

// An Assigner assigns the rows of one table to centres, again and again by one program. It must not
// be used by several goroutines at once, and be closed when it is no longer needed.
type Assigner struct {
	probe   *probe
	centres int // numbers of them
}

// NewAssigner compiles the assignment of the rows of x (row-major [n d]) to k centres of d features.
// Numbers that are no whole rows, and no rows or centres, are errors.
func NewAssigner(ctx context.Context, x []float64, k, d int) (*Assigner, error) {
	if d < 1 || k < 1 || len(x) < d || len(x)%d != 0 {
		return nil, fmt.Errorf("%d numbers are no rows of %d features for %d centres", len(x), d, k)
	}
	n := len(x) / d
	p, err := newProbe(ctx, tensor.New(tensor.WithShape(n, d), tensor.WithBacking(x)), n, d, k)
	if err != nil {
		return nil, err
	}
	return &Assigner{p, k * d}, nil
}

// Assign is the function Assign for the table of a and so many centres as it is made for.
func (a *Assigner) Assign(ctx context.Context, centres []float64) (nearest []int, inertia float64, err error) {
	if a == nil || a.probe == nil {
		return nil, 0, errors.New("lab: NewAssigner did not make this assigner")
	}
	if len(centres) != a.centres {
		return nil, 0, fmt.Errorf("%d numbers of centres, want %d", len(centres), a.centres)
	}
	m, err := a.probe.at(ctx, centres, 1)
	if err != nil {
		return nil, 0, err
	}
	nearest, err = a.probe.assigned()
	return nearest, m.Inertia, err
}

// Close frees the memory of the program.
func (a *Assigner) Close() {
	if a != nil && a.probe != nil {
		a.probe.vm.Close()
	}
}

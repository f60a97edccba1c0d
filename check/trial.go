package check

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// trial is a case of an operation in a graph of its own.
type trial struct {
	op     graph.Op
	beside []graph.Op // from outside package ops too, that it may use
	cas    ops.Case
	dt     graph.DType
	rng    *rand.Rand
	in     []*graph.Node
	values graph.Values
	y      *graph.Node
	node   *graph.Node // the operation's own, y or below
}

// generic reports whether a case stands for both float types.
func generic(c ops.Case) bool {
	for _, o := range c.Operands {
		if strings.HasPrefix(o.Type, "float[") {
			return true
		}
	}
	return false
}

// build makes the operands, their values, and the call.
func (t *trial) build() error {
	g := graph.New("case")
	t.values = graph.Values{}
	apart := 0 // elements whose values must differ from each other
	for i, o := range t.cas.Operands {
		var typ graph.Type
		if err := typ.UnmarshalText([]byte(strings.Replace(o.Type, "float[", t.dt.String()+"[", 1))); err != nil {
			return fmt.Errorf("operand %d: %w", i, err)
		}
		x := g.Input(fmt.Sprintf("x%d", i), typ.DType, typ.Shape.Axes()...)
		t.in = append(t.in, x)
		if o.Domain.Distinct {
			apart += typ.Shape.Len()
		}
	}
	places := t.rng.Perm(apart)
	for i, o := range t.cas.Operands {
		if o.Domain.Distinct {
			n := t.in[i].Shape().Len()
			t.values[t.in[i]] = t.draw(t.in[i].Type(), o.Domain, places[:n], apart)
			places = places[n:]
		} else {
			t.values[t.in[i]] = t.draw(t.in[i].Type(), o.Domain, nil, 0)
		}
	}
	if t.y = t.cas.Make(t.in); t.y == nil {
		return errors.New("the case makes nothing")
	}
	if err := t.y.Graph().Err(); err != nil {
		return err
	}
	for _, n := range graph.Reachable(t.y) {
		if reflect.TypeOf(n.Op()) == reflect.TypeOf(t.op) { // whatever its attributes
			t.node = n
		}
	}
	if t.node == nil {
		return errors.New("the case does not use the operation")
	}
	return nil
}

// draw gives values in a domain: at places out of so many, or anywhere.
func (t *trial) draw(typ graph.Type, d ops.Domain, places []int, of int) graph.Value {
	v := graph.NewValue(typ)
	for p := range v.Data {
		at := t.rng.Float64()
		if places != nil {
			at = (float64(places[p]) + 0.3) / float64(of) // never in the middle, where the kink is
		}
		x := d.Lo + (d.Hi-d.Lo)*at
		if !typ.DType.IsFloat() {
			x = math.Round(x)
		}
		v.Data[p] = typ.DType.Round(x)
	}
	return v
}

// awkward are lengths at which vector loops go wrong.
var awkward = []int{1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 129}

// lengths runs an elementwise operation on arrays of awkward lengths.
func (t *trial) lengths() error {
	if _, ok := t.node.Op().(trait.Elementwise); !ok || t.node.NumIn() != len(t.in) || len(t.in) == 0 {
		return nil
	}
	g := graph.New("lengths")
	var nodes []*graph.Node
	feed := graph.Values{}
	for _, n := range awkward {
		var in []*graph.Node
		for i := range t.in {
			x := g.Input(fmt.Sprintf("x%d_%d", i, n), t.node.In(i).DType(), graph.Ax("i", n))
			feed[x] = t.draw(x.Type(), t.cas.Operands[i].Domain, nil, 0)
			in = append(in, x)
		}
		nodes = append(nodes, g.Apply(t.node.Op(), in...))
	}
	if g.Err() != nil {
		return nil // not for such operands: it changes the layout too
	}
	want, err := ref.Eval(trait.Env{}, feed, nodes...)
	if err != nil {
		return err
	}
	got, err := reftest.Tape(0, feed, nodes, tape.Passes())
	if err != nil {
		return err
	}
	if v := compared("lengths", nodes, got, want, nearTape); v.Err != nil {
		return fmt.Errorf("at other lengths: %w", v.Err)
	}
	return nil
}

// estimates compares Grad with the derivatives of the function that it is said to
// be of, to second order.
func (t *trial) estimates() error {
	e, ok := t.node.Op().(Estimator)
	if !ok {
		return nil
	}
	s := e.Surrogate(t.node.Inputs())
	if err := t.node.Graph().Err(); err != nil {
		return err
	}
	if s == nil || s.Type() != t.node.Type() {
		return fmt.Errorf("its Surrogate gives %v, want type %v", s, t.node.Type())
	}
	var wrt []*graph.Node
	for _, x := range t.in {
		if x.DType().IsFloat() {
			wrt = append(wrt, x)
		}
	}
	if len(wrt) == 0 {
		return errors.New("its Surrogate is of no use: no operand is a float")
	}
	c := &checker{graph: t.node.Graph(), rng: t.rng}
	w := c.weights(t.node)
	losses := [2]*graph.Node{ops.Sum(ops.Mul(t.node, w)), ops.Sum(ops.Mul(s, w))}
	for order := 1; order <= 2; order++ {
		var d [2][]*graph.Node
		for k, loss := range losses {
			d[k] = grad.OrZero(loss, wrt...)
		}
		if err := c.graph.Err(); err != nil {
			return err
		}
		got, err1 := ref.Eval(trait.Env{}, t.values, d[0]...)
		want, err2 := ref.Eval(trait.Env{}, t.values, d[1]...)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if v := compared("", wrt, got, want, nearEngine); v.Err != nil {
			return fmt.Errorf("derivative %d is not that of the surrogate: %w", order, v.Err)
		}
		for i, x := range wrt {
			v := c.weights(x)
			for k := range losses {
				if i == 0 {
					losses[k] = ops.Lit(losses[k], 0)
				}
				losses[k] = ops.Add(losses[k], ops.Sum(ops.Mul(d[k][i], v)))
			}
		}
	}
	return nil
}

package gorgonia

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// builder translates nodes, each once and after its operands.
type builder struct {
	to     *G.ExprGraph
	salt   uint64 // in every name and hash
	made   uint64 // nodes so far
	at     *graph.Node
	rules  map[match.Kind]entry
	nodes  map[key]*G.Node
	leaves []leaf
	run    *run
	errs   []error
}

// key distinguishes the translations of a mask by the float type that represents it.
type key struct {
	n  *graph.Node
	dt graph.DType
}

// leaf is an input, parameter or state of the translated graph.
type leaf struct {
	n  *graph.Node
	dt graph.DType
	to *G.Node
}

// stop is the panic that leaves a rule; node turns it into an error.
type stop struct{ err error }

func newBuilder(salt uint64) *builder {
	return &builder{to: G.NewGraph(), salt: salt << 32, rules: rules(), nodes: map[key]*G.Node{}, run: &run{}}
}

// node returns the translation of n, for a mask in the float type dt; nil if there is none, which
// is then recorded.
func (b *builder) node(n *graph.Node, dt graph.DType) *G.Node {
	y, ok := b.nodes[key{n, dt}]
	if !ok {
		y = b.translate(n, dt)
		b.nodes[key{n, dt}] = y
	}
	return y
}

func (b *builder) translate(n *graph.Node, dt graph.DType) (y *G.Node) {
	e, known := b.rules[match.KindOf(n)]
	reason := ""
	switch {
	case n.Role() == graph.RoleOp && !known:
		reason = "no translation is known"
	case n.Shape().Len() == 0:
		reason = "it has no arrays without elements"
	case e.refused != "":
		reason = e.refused
	case n.DType().IsInt() || n.DType().IsHalf():
		reason = fmt.Sprintf("it does not compute with elements of type %v", n.DType())
	}
	if reason != "" {
		b.errs = append(b.errs, unsupported(n, reason))
		return nil
	}
	switch n.Role() {
	case graph.RoleInput, graph.RoleParam, graph.RoleState:
		y = b.variable(n.Path(), dt, n.Shape().Sizes())
		b.leaves = append(b.leaves, leaf{n, dt, y})
		return y
	case graph.RoleConstant:
		v, _ := n.Constant()
		v.Type.DType = dt // a mask's 0 and 1
		return b.constant(v)
	}
	s := site{b, n, dt}
	var operands []*G.Node
	if e.operands != nil {
		operands = e.operands(s)
	} else {
		for i := range n.NumIn() {
			operands = append(operands, s.in(i))
		}
	}
	for _, x := range operands {
		if x == nil {
			return nil // recorded
		}
	}
	old := b.at
	b.at = n
	defer func() {
		b.at = old
		if p := recover(); p != nil {
			y = nil
			b.errs = append(b.errs, whyStopped(n, p))
		}
	}()
	y = e.rule(s, operands)
	if !y.Shape().Eq(tensor.Shape(n.Shape().Sizes())) {
		panic(fmt.Errorf("it infers shape %v", y.Shape()))
	}
	return y
}

// whyStopped returns the error for a panic while n is translated: a refusal, an error of
// gorgonia's, or a panic of gorgonia's.
func whyStopped(n *graph.Node, p any) error {
	if s, ok := p.(stop); ok {
		var u *Unsupported
		if errors.As(s.err, &u) {
			return s.err
		}
		return failure(n, s.err)
	}
	return failure(n, fmt.Errorf("%v", p))
}

// name returns a unique name, as gorgonia merges variables of one name.
func (b *builder) name(what string) string {
	b.made++
	return fmt.Sprintf("%d %s", b.salt|b.made, what)
}

// variable adds a node whose value comes from outside.
func (b *builder) variable(what string, dt graph.DType, sizes []int) *G.Node {
	return placeholder(b.to, b.name(what), floatType(dt), sizes)
}

func placeholder(to *G.ExprGraph, name string, dt tensor.Dtype, sizes []int) *G.Node {
	if len(sizes) == 0 {
		return G.NewScalar(to, dt, G.WithName(name))
	}
	return G.NewTensor(to, dt, len(sizes), G.WithShape(sizes...), G.WithName(name))
}

// constant adds a variable that is bound once. Gorgonia's own constants merge if they print alike,
// and of large arrays it prints only a part.
func (b *builder) constant(v graph.Value) *G.Node {
	n := b.variable("constant", v.Type.DType, v.Type.Shape.Sizes())
	b.must(G.Let(n, constant(v)))
	return n
}

// number adds a scalar constant of x's element type.
func (b *builder) number(x *G.Node, v float64) *G.Node {
	return b.constant(graph.Value{Type: graph.Type{DType: elementType(x)}, Data: []float64{v}})
}

func elementType(x *G.Node) graph.DType {
	if x.Dtype() == tensor.Float32 {
		return graph.F32
	}
	return graph.F64
}

// apply adds an operation over the operands, as f makes it. f works on placeholders in a graph of
// their own, where gorgonia finds nothing to rewrite: it replaces log(1+x) and the like while
// building, and reuses the node for 1+x.
func (b *builder) apply(f func(in []*G.Node) (*G.Node, error), in ...*G.Node) *G.Node {
	aside := G.NewGraph()
	like := make([]*G.Node, len(in))
	for i, x := range in {
		like[i] = placeholder(aside, fmt.Sprint(i), x.Dtype(), x.Shape())
	}
	y, err := f(like)
	b.must(err)
	what := b.at.Op().Name()
	name := b.name(what)
	c := &call{Op: y.Op(), id: b.salt | b.made, at: b.at, shape: y.Shape(), run: b.run}
	n, err := G.ApplyOpWithName(c, name, in...)
	b.must(err)
	return n
}

func (b *builder) must(err error) {
	if err != nil {
		panic(stop{err})
	}
}

// one applies a function of one node, and two a function of two.
func (b *builder) one(f func(x *G.Node) (*G.Node, error), x *G.Node) *G.Node {
	return b.apply(func(in []*G.Node) (*G.Node, error) { return f(in[0]) }, x)
}

func (b *builder) two(f func(x, y *G.Node) (*G.Node, error), x, y *G.Node) *G.Node {
	return b.apply(func(in []*G.Node) (*G.Node, error) { return f(in[0], in[1]) }, x, y)
}

// distinct reports whether no two nodes have the same hash. The machine takes nodes of equal hash
// for equal, and the hash has only 32 bits.
func distinct(nodes G.Nodes) bool {
	seen := map[uint32]bool{}
	for _, n := range nodes {
		h := n.Hashcode()
		if seen[h] {
			return false
		}
		seen[h] = true
	}
	return true
}

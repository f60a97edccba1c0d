package graph

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/initial"
)

// Role says where a node's value comes from.
type Role uint8

// The roles of nodes.
const (
	RoleOp       Role = iota // computed from its inputs
	RoleInput                // fed each run
	RoleParam                // trained: lives in the store, changed by updates
	RoleState                // carried from step to step: moments, counters, statistics
	RoleConstant             // part of the graph
)

var roleNames = [...]string{"op", "input", "param", "state", "constant"}

// String names the role in lower case.
func (r Role) String() string { return roleNames[min(int(r), len(roleNames)-1)] }

// leaf is the operation of an input, parameter or state. Its path is unique in
// the graph, so that leaves never merge.
type leaf struct {
	role       Role
	Path       string
	Type       Type
	Init       initial.Init // parameters and states: the value of a fresh store
	Default    attr.Float   // inputs with HasDefault: the value when nothing is fed
	HasDefault bool
}

func (l leaf) Name() string { return l.role.String() }

// Infer refuses leaves that only a text form could describe.
func (l leaf) Infer(in []*Node) (Type, error) {
	switch {
	case len(in) != 0:
		return Type{}, fmt.Errorf("%d operands: want none", len(in))
	case l.HasDefault && (l.role != RoleInput || l.Type.Shape.Rank() != 0):
		return Type{}, fmt.Errorf("a default for an array of type %v: only scalar inputs have one", l.Type)
	case l.HasDefault && !l.Type.DType.holds(l.Default.Value()):
		return Type{}, l.Type.DType.Check(l.Default.Value())
	}
	return l.Type, checkInit(l.Init, l.Type.DType)
}

// Input adds an array that is fed each run, of any element type. Its path, the name after those of
// the open scopes, must be free. An empty name, a path that is taken, no element type, or axes that
// [NewShape] refuses are mistakes.
func (g *Graph) Input(name string, dt DType, axes ...Axis) *Node {
	return g.leaf(leaf{role: RoleInput, Path: name}, dt, axes)
}

// Scalar adds a scalar input with a default: a quantity to vary without compiling
// again, such as a temperature or a learning rate. Its type is the graph's ([New]) unless another is
// given, and must hold the value; mistakes are otherwise those of [Graph.Input].
func (g *Graph) Scalar(name string, value float64, dt ...DType) *Node {
	t := g.DType()
	if len(dt) > 0 {
		t = dt[0]
	}
	if t.holds(value) {
		value = t.Round(value)
	}
	return g.leaf(leaf{role: RoleInput, Path: name, Default: attr.FloatOf(value), HasDefault: true}, t, nil)
}

// Param adds an array that is trained, of a type of floats, usually f32: sums of many small steps get
// lost in f16 and bf16. A fresh store fills it by its
// initialiser: [initial.Glorot] for two axes or more, [initial.Zeros] otherwise, unless
// [Node.Init] changes it. A gain has one axis too, and wants Init(initial.Fill(1)); a table
// of embeddings has two. Mistakes are those of [Graph.Input].
func (g *Graph) Param(name string, dt DType, axes ...Axis) *Node {
	l := leaf{role: RoleParam, Path: name}
	if len(axes) >= 2 {
		l.Init = initial.Glorot()
	}
	return g.leaf(l, dt, axes)
}

// State adds an array that is carried from step to step, of any element type. The node is
// its value at the start of the step; [Graph.Assign] gives the next. It starts at zero
// unless [Node.Init] says otherwise. Mistakes are those of [Graph.Input].
func (g *Graph) State(name string, dt DType, axes ...Axis) *Node {
	return g.leaf(leaf{role: RoleState, Path: name}, dt, axes)
}

func (g *Graph) leaf(l leaf, dt DType, axes []Axis) *Node {
	if g == nil {
		return New("").fail(l, nil, errNoGraph)
	}
	name := l.Path
	l.Path = g.path(name)
	s, err := NewShape(axes...)
	switch {
	case name == "":
		err = fmt.Errorf("want a name")
	case g.open != nil || l.role != RoleInput && g.outer != nil && !g.sealed:
		err = &Mistake{fmt.Sprintf("%v %q is made inside the body of a loop", l.role, name), beforeLoop}
	case err == nil && !dt.IsValid():
		err = fmt.Errorf("%v is not an element type", dt)
	case err == nil && l.HasDefault && !dt.holds(l.Default.Value()):
		err = dt.Check(l.Default.Value())
	case err == nil && l.role == RoleParam && !dt.IsFloat():
		err = &Mistake{fmt.Sprintf("a parameter of type %v cannot be trained: want f32 or f64", dt), "make it a state"}
	case err == nil && g.byPath[l.Path] != nil:
		err = &Mistake{fmt.Sprintf("%q is taken by an earlier %v", l.Path, g.byPath[l.Path].Role()), "choose another name, or open a scope around it"}
	}
	if err != nil {
		return g.fail(l, nil, err)
	}
	l.Type = Type{dt, s}
	n := g.Apply(l)
	return n.As(name)
}

// ofAxes returns a mistake about axes with advice for axes that a call was given: those of an array
// could be renamed.
func ofAxes(err error) error {
	if m, ok := err.(*Mistake); ok && m.Fix == renameOne {
		return &Mistake{m.Problem, "give one of them another name here"}
	}
	return err
}

// Init makes a parameter or state start by the given initialiser, and returns it. It must be
// called on the leaf just made: on a leaf in use it is a mistake, as are another node, an
// initialiser with numbers that are not finite or out of order, values that the element
// type does not hold, and [initial.Rows] of an input that is not there or has rows of another shape.
func (n *Node) Init(init initial.Init) *Node {
	if !n.IsValid() {
		return n
	}
	l, ok := n.op.(leaf)
	err := checkInit(init, n.DType())
	switch {
	case !ok || l.role == RoleInput:
		err = fmt.Errorf("only parameters and states have an initialiser")
	case n.used:
		err = fmt.Errorf("%s is already in use: call Init where it is made", l.Path)
	}
	if err == nil {
		err = n.startsAt(init)
	}
	if err != nil {
		n.g.fail(initOp{}, []*Node{n}, err)
		return n
	}
	l.Init = init
	n.exchange(l)
	return n
}

// checkInit refuses an initialiser whose values the element type does not hold.
func checkInit(init initial.Init, dt DType) error {
	_, _, custom := init.Custom() // whose values are checked where they are drawn
	if _, constant := init.Constant(); !constant && !custom && !dt.IsFloat() {
		return &Mistake{fmt.Sprintf("initialiser %v draws fractions, which type %v does not hold", init, dt), "start it with initial.Zeros or initial.Fill, or use a type of floats"}
	}
	if err := dt.Check(init.Numbers()...); err != nil {
		return fmt.Errorf("initialiser %v: %w", init, err)
	}
	return init.Err()
}

// startsAt refuses rows of what is no input, and rows of another shape.
func (n *Node) startsAt(init initial.Init) error {
	path, ok := init.Input()
	if !ok {
		return nil
	}
	x := n.g.byPath[path]
	if x == nil || x.Role() != RoleInput {
		return &Mistake{fmt.Sprintf("initialiser %v: there is no input %q", init, path), "add the input first, with a first axis that counts its rows"}
	}
	if x.Rank() == 0 || n.Rank() == 0 || !slices.Equal(x.Shape().Sizes()[1:], n.Shape().Sizes()[1:]) {
		return &Mistake{fmt.Sprintf("initialiser %v: %v is no array of rows of %v", init, n.Type(), x.Type()), "the axes behind the first must have the same sizes"}
	}
	return nil
}

// initOp names the call in the errors of Init.
type initOp struct{}

func (initOp) Name() string                { return "Init" }
func (initOp) Infer([]*Node) (Type, error) { return Type{}, nil }

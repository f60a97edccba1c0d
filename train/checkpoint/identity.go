package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Identity identifies the model that is trained.
type Identity struct {
	Name   string    // of the graph, for people
	Rows   int       // of the batch that the graph is for
	Sizes  attr.Ints // of that batch besides, such as the length of its sequences
	Lanes  int       // into which that batch is cut (see package train/parallel); 0 for none
	Leaves []Leaf    // the parameters and states that it uses, by path
	// Fingerprint is the SHA-256 of what the graph computes: the operations with their attributes,
	// the paths and defaults of inputs, parameters and states, the values of constants, and the
	// keys of random draws. Names of quantities, scopes, source lines and the order in which nodes
	// were made do not count, except as far as the key of a draw depends on them.
	Fingerprint string
}

// Leaf is a parameter or a state.
type Leaf struct {
	Path string     `json:"path"`
	Role string     `json:"role"` // param or state
	Type graph.Type `json:"type"`
}

// Identify returns the identity of the graph that computes a loss, if it is not nil, the updates of
// a step, and further results, for batches of so many rows.
func Identify(rows int, loss *graph.Node, step graph.Step, results ...*graph.Node) Identity {
	step = slices.Clone(step)
	slices.SortStableFunc(step, func(a, b graph.Update) int { return cmp.Compare(a.Target.Path(), b.Target.Path()) })
	p := &fingerprint{Hash: sha256.New(), number: map[*graph.Node]int{}}
	id := Identity{Rows: rows}
	for _, n := range append([]*graph.Node{loss}, results...) {
		if n.Graph() == nil {
			continue
		}
		id.Name = n.Graph().Name()
		p.result("result", n)
	}
	for _, u := range step {
		id.Name = u.Target.Graph().Name()
		p.result("update "+u.Target.Path(), u.Target, u.Value)
	}
	slices.SortFunc(p.leaves, func(a, b Leaf) int { return cmp.Compare(a.Path, b.Path) })
	id.Leaves = p.leaves
	id.Fingerprint = hex.EncodeToString(p.Sum(nil))
	return id
}

// fingerprint walks a graph from its results to its leaves, operands first.
type fingerprint struct {
	hash.Hash
	number map[*graph.Node]int // by the order of the walk
	leaves []Leaf
}

// result adds nodes with their operands, and a line that says what the nodes are.
func (p *fingerprint) result(what string, nodes ...*graph.Node) {
	for _, n := range nodes {
		p.walk(n)
	}
	io.WriteString(p, what)
	for _, n := range nodes {
		fmt.Fprintf(p, " %%%d", p.number[n])
	}
	io.WriteString(p, "\n")
}

// walk adds n after its operands. It keeps its own stack, because a graph may be deep.
func (p *fingerprint) walk(n *graph.Node) {
	for stack := []*graph.Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		if _, seen := p.number[n]; seen {
			stack = stack[:len(stack)-1]
			continue
		}
		ready := len(stack)
		for i := n.NumIn() - 1; i >= 0; i-- {
			if _, seen := p.number[n.In(i)]; !seen {
				stack = append(stack, n.In(i))
			}
		}
		if len(stack) == ready {
			p.number[n] = len(p.number)
			p.node(n)
			stack = stack[:ready-1]
		}
	}
}

func (p *fingerprint) node(n *graph.Node) {
	if r := n.Role(); r == graph.RoleParam || r == graph.RoleState {
		p.leaves = append(p.leaves, Leaf{n.Path(), r.String(), n.Type()})
	}
	switch v, constant := n.Constant(); {
	case constant:
		io.WriteString(p, "constant")
		for _, x := range v.Data {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
			p.Write(b[:])
		}
	case n.Body() != nil: // its handle depends on the rest of the graph
		fmt.Fprintf(p, "%s\n%s", graph.OpText(n.Op().(graph.BodyOp).WithBody(0)), n.Body().Form())
	default:
		io.WriteString(p, graph.OpText(n.Op()))
	}
	for i := range n.NumIn() {
		fmt.Fprintf(p, " %%%d", p.number[n.In(i)])
	}
	fmt.Fprintf(p, " : %v\n", n.Type())
}

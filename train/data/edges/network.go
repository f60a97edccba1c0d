package edges

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// Network holds nodes and the edges between them, for graph networks to learn on. (A graph is a
// model here.)
type Network struct {
	Name     string    // the file, as errors cite it
	Nodes    int       // how many there are, numbered from 0
	Names    []string  // the name of each node; nil if they have only numbers
	From, To []int     // the nodes of each edge
	Weight   []float64 // of each edge, finite and not 0; nil means 1 each
	Directed bool      // edges lead from From to To; otherwise both ways, and each is listed once
	Lines    []int     // the line of the file that holds each edge; nil if there is no file
}

// maxDense is the largest adjacency matrix, 1 GiB of float32.
const maxDense = 1 << 28

// Adjacency returns the matrix A[Nodes Nodes], of tensor.Float32 or tensor.Float64, that
// graphnet.Adjacency takes: A[i j] is the weight of the edge from j to i, or 0, so that row i holds
// the edges into node i. Without direction it is symmetric. Weights of equal edges add up. It is an
// *Error if there are no nodes or more than 16 384 (use [Network.Arcs]), or if a weight does not
// fit dtype.
func (n *Network) Adjacency(dtype tensor.Dtype) (*tensor.Dense, error) {
	n = input.OrZero(n)
	if err := n.check(); err != nil {
		return nil, err
	}
	if n.Nodes == 0 {
		return nil, &input.Error{File: n.Name, Msg: "the network has no nodes"}
	}
	if n.Nodes > maxDense/n.Nodes {
		return nil, &input.Error{File: n.Name, Msg: fmt.Sprintf("%d nodes are too many for a dense adjacency; Arcs gives lists of edges", n.Nodes)}
	}
	switch dtype {
	case tensor.Float32:
		return adjacency[float32](n)
	case tensor.Float64:
		return adjacency[float64](n)
	}
	return nil, &input.Error{File: n.Name, Msg: fmt.Sprintf("dtype %v is neither float32 nor float64", dtype.Type)}
}

func adjacency[T float32 | float64](n *Network) (*tensor.Dense, error) {
	a := make([]T, n.Nodes*n.Nodes)
	for e, from := range n.From {
		to, w := n.To[e], 1.
		if n.Weight != nil {
			w = n.Weight[e]
		}
		a[to*n.Nodes+from] += T(w)
		if v := float64(a[to*n.Nodes+from]); v == 0 || math.IsInf(v, 0) {
			return nil, n.errorAt(e, fmt.Sprintf("the weight %g, with those of equal edges, gives %g as %T", w, v, a[0]))
		}
		if !n.Directed && from != to {
			a[from*n.Nodes+to] += T(w)
		}
	}
	return tensor.New(tensor.WithShape(n.Nodes, n.Nodes), tensor.WithBacking(a)), nil
}

// Arcs returns the list of arcs that graphnet.Edges takes, as tensors [e] of int64: arc k leads
// from source[k] to target[k]. Without direction each edge gives two arcs, one after the other, and
// a self-loop one. Weights are left out. A network without edges, which no tensor holds, is an
// *Error.
func (n *Network) Arcs() (source, target *tensor.Dense, err error) {
	n = input.OrZero(n)
	if err := n.check(); err != nil {
		return nil, nil, err
	}
	var sources, targets []int64
	for e, from := range n.From {
		sources, targets = append(sources, int64(from)), append(targets, int64(n.To[e]))
		if !n.Directed && from != n.To[e] {
			sources, targets = append(sources, int64(n.To[e])), append(targets, int64(from))
		}
	}
	if len(sources) == 0 {
		return nil, nil, &input.Error{File: n.Name, Msg: "the network has no edges"}
	}
	list := func(x []int64) *tensor.Dense {
		return tensor.New(tensor.WithShape(len(x)), tensor.WithBacking(x))
	}
	return list(sources), list(targets), nil
}

// check returns an error if a network made by hand contradicts itself.
func (n *Network) check() error {
	msg := ""
	switch {
	case len(n.From) != len(n.To):
		msg = fmt.Sprintf("edges come from %d nodes and go to %d", len(n.From), len(n.To))
	case n.Names != nil && len(n.Names) != n.Nodes:
		msg = fmt.Sprintf("%d names of %d nodes", len(n.Names), n.Nodes)
	case n.Weight != nil && len(n.Weight) != len(n.From):
		msg = fmt.Sprintf("%d weights of %d edges", len(n.Weight), len(n.From))
	case n.Lines != nil && len(n.Lines) != len(n.From):
		msg = fmt.Sprintf("%d line numbers of %d edges", len(n.Lines), len(n.From))
	}
	if msg != "" {
		return &input.Error{File: n.Name, Msg: msg}
	}
	for e := range n.From {
		for _, node := range []int{n.From[e], n.To[e]} {
			if node < 0 || node >= n.Nodes {
				return n.errorAt(e, fmt.Sprintf("node %d is outside [0, %d)", node, n.Nodes))
			}
		}
		if n.Weight != nil {
			if msg := badWeight(n.Weight[e]); msg != "" {
				return n.errorAt(e, fmt.Sprintf("weight %g: %s", n.Weight[e], msg))
			}
		}
	}
	return nil
}

// badWeight says why a number is no weight, or "".
func badWeight(w float64) string {
	if math.IsNaN(w) || math.IsInf(w, 0) {
		return "it is not finite"
	}
	if w == 0 {
		return "an edge of weight 0 is none"
	}
	return ""
}

// errorAt returns an error at edge e.
func (n *Network) errorAt(e int, msg string) error {
	err := &input.Error{File: n.Name, Msg: fmt.Sprintf("edge %d: %s", e, msg)}
	if n.Lines != nil {
		err.Line, err.Msg = n.Lines[e], msg
	}
	return err
}

// name returns the name of node i in a file.
func (n *Network) name(i int) string {
	if n.Names == nil {
		return strconv.Itoa(i)
	}
	return n.Names[i]
}

// Write writes n as comma-separated text with a header. [Read] reads it back equal in all but Name
// and Lines, given the options that say what the file does not: Directed; NodeNames if the nodes
// have names; NodeCount if some numbered nodes have no edges (named ones without edges are lost);
// and those that allow self-loops and duplicates. A network that no file can hold is an *Error
// before anything is written: one without edges, or with names that are empty, recur, or begin or
// end with white space.
func Write(w io.Writer, n *Network) error {
	if w == nil {
		return input.NoWriter()
	}
	n = input.OrZero(n)
	if err := n.check(); err != nil {
		return err
	}
	if len(n.From) == 0 {
		return &input.Error{File: n.Name, Msg: "the network has no edges"}
	}
	seen := map[string]bool{}
	for i, name := range n.Names {
		if msg := input.Unwritable(name); msg != "" {
			return &input.Error{File: n.Name, Msg: fmt.Sprintf("name of node %d: %s", i, msg)}
		}
		if seen[name] {
			return &input.Error{File: n.Name, Msg: "two nodes are named " + input.Quote(name)}
		}
		seen[name] = true
	}
	b := bufio.NewWriter(w)
	b.WriteString("source,target")
	if n.Weight != nil {
		b.WriteString(",weight")
	}
	for e := range n.From {
		b.WriteString("\n" + quoteNode(n.name(n.From[e])) + "," + quoteNode(n.name(n.To[e])))
		if n.Weight != nil {
			b.WriteString("," + strconv.FormatFloat(n.Weight[e], 'g', -1, 64))
		}
	}
	b.WriteByte('\n')
	return b.Flush() // the first error of any write above
}

// quoteNode quotes a name as QuoteCell does, and also if it would begin a comment.
func quoteNode(name string) string {
	if strings.HasPrefix(name, "#") && input.QuoteCell(name) == name {
		return `"` + name + `"`
	}
	return input.QuoteCell(name)
}

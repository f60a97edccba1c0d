package edges

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Directed makes edges lead from the first node to the second only.
func Directed() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "Directed"); c.Edges.Directed = true }
}

// NodeNames takes nodes for names even if they are numbers.
func NodeNames() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "NodeNames"); c.Edges.Names = true }
}

// NodeCount sets the number of numbered nodes, with or without edges; n is at least 1.
func NodeCount(n int) input.Option {
	return func(c *input.Config) {
		c.Only(input.Edges, "NodeCount")
		c.Refuse(n < 1, "NodeCount(%d): the number must be positive", n)
		c.Edges.Nodes = n
	}
}

// KeepSelfLoops allows edges from a node to itself.
func KeepSelfLoops() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "KeepSelfLoops"); c.Edges.Loops = input.Kept }
}

// DropSelfLoops leaves out edges from a node to itself.
func DropSelfLoops() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "DropSelfLoops"); c.Edges.Loops = input.Dropped }
}

// DropDuplicates keeps only the first of equal edges.
func DropDuplicates() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "DropDuplicates"); c.Edges.Duplicates = input.Dropped }
}

// AddDuplicates merges equal edges into one that has the sum of their weights, which are 1 if the
// file gives none.
func AddDuplicates() input.Option {
	return func(c *input.Config) { c.Only(input.Edges, "AddDuplicates"); c.Edges.Duplicates = input.Added }
}

// Open reads the file at path, as [Read] does.
func Open(path string, opts ...input.Option) (*Network, error) { return input.Open(path, Read, opts) }

// Read reads a network, one edge a line: two nodes, and a weight if there are weights. Errors call
// the file name. The format is that of data.ReadCSV, except that white space separates the cells if
// the first line has no comma, semicolon or tab, and that lines which begin with # are skipped
// (Comment sets another character).
//
//   - The first row is a header if it holds text in some column where the row below holds a number,
//     or if it begins, in capitals or not, with source and target or with from and to. Header
//     overrides this. Ignore leaves columns out; without a header they are called x1, x2, ….
//   - Nodes are numbers from 0 if those of the first edge are whole and not negative. Their count
//     is the largest plus 1, or NodeCount. Otherwise, and with NodeNames, nodes are names, numbered
//     in the order of data.Codes.
//   - An edge leads both ways; with Directed, from the first node to the second.
//   - A weight is a finite number other than 0.
//   - Edges from a node to itself are errors unless KeepSelfLoops or DropSelfLoops is given; so are
//     edges that recur, without direction also the other way round, unless DropDuplicates or
//     AddDuplicates is given.
//
// It also takes MaxLine, MaxBytes and MaxCells, which limits the number of nodes too. The result is
// a whole network of at least one edge, or nil and an *Error.
func Read(name string, r io.Reader, opts ...input.Option) (*Network, error) {
	rows, err := input.NewRows(name, r, input.NewConfig(input.Edges, opts))
	if err != nil {
		return nil, err
	}
	known, err := rows.Start()
	if err != nil {
		return nil, err
	}
	var second input.Row
	if len(known) > 1 {
		second = known[1]
	}
	b, header, err := newEdgeBuilder(rows, known[0], second)
	if err != nil {
		return nil, err
	}
	if header {
		known = known[1:]
	}
	if err := rows.Each(known, b.add); err != nil {
		return nil, err
	}
	return b.network()
}

// edgeBuilder appends edges to a network.
type edgeBuilder struct {
	n       Network
	cfg     *input.Config
	columns []int    // those of both nodes and of the weight, if there is one
	names   []string // of all columns
	named   bool
	node    map[string]int // by name, in the order in which they came
	edge    map[[2]int]int // by its nodes
}

// newEdgeBuilder finds the columns of the nodes and of the weight, given the first two rows.
func newEdgeBuilder(r *input.Rows, first, second input.Row) (b *edgeBuilder, header bool, err error) {
	b = &edgeBuilder{cfg: &r.Config, node: map[string]int{}, edge: map[[2]int]int{}}
	b.n.Name, b.n.Directed = r.File, r.Config.Edges.Directed
	if header = hasHeader(&r.Config, first, second); header {
		b.names = first.Cells
	} else {
		for j := range first.Cells {
			b.names = append(b.names, "x"+strconv.Itoa(j+1))
		}
	}
	s := input.Schema{Names: b.names, Role: make([]input.Role, len(b.names))}
	msg := s.Ignore(r.Config.Ignore)
	for j, role := range s.Role {
		if role != input.Ignored {
			b.columns = append(b.columns, j)
		}
	}
	sample := first
	if header {
		sample = second
	}
	switch {
	case msg != "":
	case len(b.columns) != 2 && len(b.columns) != 3:
		msg = fmt.Sprintf("an edge is two nodes and at most a weight, not %d cells; Ignore leaves columns out", len(b.columns))
	case sample.Cells == nil:
		msg = "no rows follow the header"
	default:
		b.named = r.Config.Edges.Names || !isNodeNumber(sample.Cells[b.columns[0]]) || !isNodeNumber(sample.Cells[b.columns[1]])
		if b.named && r.Config.Edges.Nodes > 0 {
			msg = "NodeCount is for nodes that are numbers; these have names"
		}
	}
	if msg != "" {
		return nil, false, &input.Error{File: r.File, Line: first.Line, Msg: msg}
	}
	return b, header, nil
}

// hasHeader reports whether the first row holds names of columns.
func hasHeader(c *input.Config, first, second input.Row) bool {
	if c.Header != nil {
		return *c.Header
	}
	for j := range second.Cells {
		if input.IsText(first.Cells[j]) && !input.IsText(second.Cells[j]) {
			return true
		}
	}
	if len(first.Cells) < 2 {
		return false
	}
	start := strings.ToLower(first.Cells[0] + "," + first.Cells[1])
	return start == "source,target" || start == "from,to"
}

// isNodeNumber reports whether a cell is a whole number that is not negative.
func isNodeNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (b *edgeBuilder) add(r input.Row) error {
	var ends [2]int
	fail := func(column int, msg string) error {
		e := &input.Error{File: b.n.Name, Line: r.Line, Msg: msg}
		if column >= 0 {
			e.Column = b.names[column]
		}
		return e
	}
	for k := range ends {
		cell, msg := r.Cells[b.columns[k]], ""
		if ends[k], msg = b.number(cell); msg != "" {
			return fail(b.columns[k], msg)
		}
	}
	w, weighted := 1., len(b.columns) == 3
	if weighted {
		cell := r.Cells[b.columns[2]]
		v, ok := input.Number(cell)
		msg := ""
		if !ok {
			msg = "a weight must be a number"
		} else {
			msg = badWeight(v)
		}
		if msg != "" {
			return fail(b.columns[2], input.Quote(cell)+": "+msg)
		}
		w = v
	}
	if ends[0] == ends[1] {
		switch b.cfg.Edges.Loops {
		case input.Refused:
			return fail(-1, fmt.Sprintf("an edge from node %s to itself; KeepSelfLoops() or DropSelfLoops() allows it", r.Cells[b.columns[0]]))
		case input.Dropped:
			return nil
		}
	}
	key := ends
	if !b.n.Directed && key[0] > key[1] {
		key[0], key[1] = key[1], key[0]
	}
	if e, twice := b.edge[key]; twice {
		switch b.cfg.Edges.Duplicates {
		case input.Refused:
			msg := fmt.Sprintf("the edge is there already, in line %d; DropDuplicates() or AddDuplicates() allows it", b.n.Lines[e])
			if !b.n.Directed && b.n.From[e] != ends[0] {
				msg += ", Directed() tells the two ways apart"
			}
			return fail(-1, msg)
		case input.Added:
			for b.n.Weight == nil || len(b.n.Weight) < len(b.n.From) { // nothing had a weight so far
				b.n.Weight = append(b.n.Weight, 1)
			}
			if b.n.Weight[e] += w; badWeight(b.n.Weight[e]) != "" {
				return fail(-1, fmt.Sprintf("the weights of equal edges add up to %g: %s", b.n.Weight[e], badWeight(b.n.Weight[e])))
			}
		}
		return nil
	}
	b.edge[key] = len(b.n.From)
	b.n.From, b.n.To, b.n.Lines = append(b.n.From, ends[0]), append(b.n.To, ends[1]), append(b.n.Lines, r.Line)
	if weighted || b.n.Weight != nil {
		b.n.Weight = append(b.n.Weight, w)
	}
	return nil
}

// number returns the number of a node, of named ones in the order in which they came, or what is
// wrong.
func (b *edgeBuilder) number(cell string) (int, string) {
	if cell == "" {
		return 0, "empty cell"
	}
	if b.named {
		i, known := b.node[cell]
		if !known {
			i = len(b.n.Names)
			cell = strings.Clone(cell) // not its whole line
			b.node[cell] = i
			b.n.Names = append(b.n.Names, cell)
		}
		return i, ""
	}
	if !isNodeNumber(cell) {
		return 0, input.Quote(cell) + " is not the number of a node; NodeNames() takes all nodes for names"
	}
	limit, option := b.cfg.MaxCells, "MaxCells"
	if b.cfg.Edges.Nodes > 0 {
		limit, option = b.cfg.Edges.Nodes, "NodeCount"
	}
	i, err := strconv.Atoi(cell)
	if err != nil || i >= limit {
		return 0, fmt.Sprintf("node %s is outside [0, %d); %s sets the limit", shortened(cell), limit, option)
	}
	b.n.Nodes = max(b.n.Nodes, i+1)
	return i, ""
}

// shortened keeps a number of a million digits out of an error.
func shortened(digits string) string {
	if len(digits) > 20 {
		return digits[:20] + "…"
	}
	return digits
}

// network returns the network that was read, with named nodes in the order of their names.
func (b *edgeBuilder) network() (*Network, error) {
	if len(b.n.From) == 0 {
		return nil, &input.Error{File: b.n.Name, Msg: "the file has no edges but dropped ones"}
	}
	b.n.Nodes = max(b.n.Nodes, b.cfg.Edges.Nodes)
	if b.named {
		code, names := input.Codes(b.n.Names)
		b.n.Names, b.n.Nodes = names, len(names)
		for e := range b.n.From {
			b.n.From[e], b.n.To[e] = code[b.n.From[e]], code[b.n.To[e]]
		}
	}
	return &b.n, nil
}

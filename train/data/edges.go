package data

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// edgeConfig is what the options of edge lists say.
type edgeConfig struct {
	directed   bool
	names      bool
	nodes      int // 0: as many as have edges
	loops      repeated
	duplicates repeated
}

// repeated is what to do with an edge that may be a mistake.
type repeated int

const (
	refused repeated = iota
	kept
	dropped
	added
)

// Directed, of an edge list, says that edges lead from the first node to the second.
func Directed() Option {
	return func(c *config) { c.only(edges, "Directed"); c.edges.directed = true }
}

// NodeNames, of an edge list, takes nodes for names even if they are numbers.
func NodeNames() Option {
	return func(c *config) { c.only(edges, "NodeNames"); c.edges.names = true }
}

// NodeCount, of an edge list, says how many numbered nodes there are, with or without edges.
func NodeCount(n int) Option {
	return func(c *config) {
		c.only(edges, "NodeCount")
		c.refuse(n < 1, "NodeCount(%d): the number must be positive", n)
		c.edges.nodes = n
	}
}

// KeepSelfLoops, of an edge list, allows edges from a node to itself.
func KeepSelfLoops() Option {
	return func(c *config) { c.only(edges, "KeepSelfLoops"); c.edges.loops = kept }
}

// DropSelfLoops, of an edge list, leaves out edges from a node to itself.
func DropSelfLoops() Option {
	return func(c *config) { c.only(edges, "DropSelfLoops"); c.edges.loops = dropped }
}

// DropDuplicates, of an edge list, keeps the first of equal edges alone.
func DropDuplicates() Option {
	return func(c *config) { c.only(edges, "DropDuplicates"); c.edges.duplicates = dropped }
}

// AddDuplicates, of an edge list, makes equal edges one, which has the sum of their
// weights; without weights each counts 1.
func AddDuplicates() Option {
	return func(c *config) { c.only(edges, "AddDuplicates"); c.edges.duplicates = added }
}

// OpenEdges reads the file at path as ReadEdges does.
func OpenEdges(path string, opts ...Option) (*Network, error) { return open(path, ReadEdges, opts) }

// ReadEdges reads a network from an edge to a line: two nodes and possibly a weight;
// name is what errors call it. The text is as ReadCSV has it, but where the first
// line has neither comma nor semicolon nor tab, white space separates the cells, and
// lines that begin with # are skipped (Comment sets another character).
//
//   - The first row is a header if in some column it holds no number where the row
//     below does, or if it begins, in any case, with source and target or with from
//     and to. Header decides otherwise. Ignore leaves columns out, which without
//     header are called x1, x2, ….
//   - Nodes are numbers from 0 if those of the first edge are whole numbers that are not
//     negative: there are as many as the largest says, or NodeCount. Otherwise, and with
//     NodeNames, they are names, which are numbered in the order of Codes.
//   - An edge leads both ways; with Directed, from the first node to the second.
//   - A weight is a finite number other than 0.
//   - Edges from a node to itself and edges that are there already (without
//     direction, the other way round as well) are errors, which KeepSelfLoops,
//     DropSelfLoops, DropDuplicates and AddDuplicates allow.
//
// It takes also MaxLine, MaxBytes and MaxCells, which limits the number of nodes as well.
// The result is a whole network with at least one edge, or nil and an *Error.
func ReadEdges(name string, r io.Reader, opts ...Option) (*Network, error) {
	rows, err := newRows(name, r, newConfig(edges, opts))
	if err != nil {
		return nil, err
	}
	first, err := rows.next()
	if err == io.EOF {
		return nil, &Error{File: name, Msg: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	first.cells = slices.Clone(first.cells) // the next row overwrites them
	second, err := rows.next()
	if err != nil && err != io.EOF {
		return nil, err
	}
	b, header, err := newEdgeBuilder(rows, first, second)
	if err != nil {
		return nil, err
	}
	if !header {
		if err := b.add(first); err != nil {
			return nil, err
		}
	}
	for next := second; next.cells != nil; {
		if err := b.add(next); err != nil {
			return nil, err
		}
		if next, err = rows.next(); err != nil && err != io.EOF {
			return nil, err
		}
	}
	return b.network()
}

// edgeBuilder appends edges to a network.
type edgeBuilder struct {
	n       Network
	cfg     *config
	columns []int    // those of both nodes and of the weight, if there is one
	names   []string // of all columns
	named   bool
	node    map[string]int // by name, in the order in which they came
	edge    map[[2]int]int // by its nodes
}

// newEdgeBuilder finds what the columns are, given the first two rows.
func newEdgeBuilder(r *rows, first, second row) (b *edgeBuilder, header bool, err error) {
	b = &edgeBuilder{cfg: &r.cfg, node: map[string]int{}, edge: map[[2]int]int{}}
	b.n.Name, b.n.Directed = r.file, r.cfg.edges.directed
	if header = r.cfg.hasEdgeHeader(first, second); header {
		b.names = first.cells
	} else {
		for j := range first.cells {
			b.names = append(b.names, "x"+strconv.Itoa(j+1))
		}
	}
	s := schema{names: b.names, role: make([]role, len(b.names))}
	msg := s.ignore(r.cfg.ignore)
	for j, role := range s.role {
		if role != ignored {
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
	case sample.cells == nil:
		msg = "no rows follow the header"
	default:
		b.named = r.cfg.edges.names || !isNodeNumber(sample.cells[b.columns[0]]) || !isNodeNumber(sample.cells[b.columns[1]])
		if b.named && r.cfg.edges.nodes > 0 {
			msg = "NodeCount is for nodes that are numbers; these have names"
		}
	}
	if msg != "" {
		return nil, false, &Error{File: r.file, Line: first.line, Msg: msg}
	}
	return b, header, nil
}

// hasEdgeHeader says whether the first row holds names of columns.
func (c *config) hasEdgeHeader(first, second row) bool {
	if c.header != nil {
		return *c.header
	}
	for j := range second.cells {
		if isText(first.cells[j]) && !isText(second.cells[j]) {
			return true
		}
	}
	if len(first.cells) < 2 {
		return false
	}
	start := strings.ToLower(first.cells[0] + "," + first.cells[1])
	return start == "source,target" || start == "from,to"
}

// isNodeNumber says whether a cell is a whole number that is not negative.
func isNodeNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (b *edgeBuilder) add(r row) error {
	var ends [2]int
	fail := func(column int, msg string) error {
		e := &Error{File: b.n.Name, Line: r.line, Msg: msg}
		if column >= 0 {
			e.Column = b.names[column]
		}
		return e
	}
	for k := range ends {
		cell, msg := r.cells[b.columns[k]], ""
		if ends[k], msg = b.number(cell); msg != "" {
			return fail(b.columns[k], msg)
		}
	}
	w, weighted := 1., len(b.columns) == 3
	if weighted {
		cell := r.cells[b.columns[2]]
		v, ok := number(cell)
		msg := ""
		if !ok {
			msg = "a weight must be a number"
		} else {
			msg = badWeight(v)
		}
		if msg != "" {
			return fail(b.columns[2], quote(cell)+": "+msg)
		}
		w = v
	}
	if ends[0] == ends[1] {
		switch b.cfg.edges.loops {
		case refused:
			return fail(-1, fmt.Sprintf("an edge from node %s to itself; KeepSelfLoops() or DropSelfLoops() allows it", r.cells[b.columns[0]]))
		case dropped:
			return nil
		}
	}
	key := ends
	if !b.n.Directed && key[0] > key[1] {
		key[0], key[1] = key[1], key[0]
	}
	if e, twice := b.edge[key]; twice {
		switch b.cfg.edges.duplicates {
		case refused:
			msg := fmt.Sprintf("the edge is there already, in line %d; DropDuplicates() or AddDuplicates() allows it", b.n.Lines[e])
			if !b.n.Directed && b.n.From[e] != ends[0] {
				msg += ", Directed() tells the two ways apart"
			}
			return fail(-1, msg)
		case added:
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
	b.n.From, b.n.To, b.n.Lines = append(b.n.From, ends[0]), append(b.n.To, ends[1]), append(b.n.Lines, r.line)
	if weighted || b.n.Weight != nil {
		b.n.Weight = append(b.n.Weight, w)
	}
	return nil
}

// number returns the number of a node so far, or what is wrong.
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
		return 0, quote(cell) + " is not the number of a node; NodeNames() takes all nodes for names"
	}
	limit, option := b.cfg.maxCells, "MaxCells"
	if b.cfg.edges.nodes > 0 {
		limit, option = b.cfg.edges.nodes, "NodeCount"
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

// network returns what was read, with nodes that have names in their order.
func (b *edgeBuilder) network() (*Network, error) {
	if len(b.n.From) == 0 {
		return nil, &Error{File: b.n.Name, Msg: "the file has no edges but dropped ones"}
	}
	b.n.Nodes = max(b.n.Nodes, b.cfg.edges.nodes)
	if b.named {
		code, names := Codes(b.n.Names)
		b.n.Names, b.n.Nodes = names, len(names)
		for e := range b.n.From {
			b.n.From[e], b.n.To[e] = code[b.n.From[e]], code[b.n.To[e]]
		}
	}
	return &b.n, nil
}

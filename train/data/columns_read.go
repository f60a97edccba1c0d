package data

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// OpenColumns reads the file at path by what its name ends with, which gzip may have compressed
// (.csv.gz):
//
//	.npy                an array of the name of the file, without its extension
//	.npz                the arrays of the archive
//	.idx, -ubyte        an array of the name of the file
//	.txt                text: the tokens, called text, and those that follow them, called next
//	.edges, .edgelist   an edge list: adjacency[n n], degree[n] and node, a class for each
//	any other           a table, as [ReadColumns] reads it
//
// The options are those of the reader of that kind of file.
func OpenColumns(path string, opts ...Option) (*Columns, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	extension := strings.ToLower(filepath.Ext(name))
	base := strings.TrimSuffix(name, filepath.Ext(name))
	switch {
	case extension == ".npy":
		t, err := OpenNPY(path, opts...)
		return oneArray(path, base, t, err)
	case extension == ".idx" || strings.HasSuffix(strings.ToLower(name), "-ubyte"):
		t, err := OpenIDX(path, opts...)
		return oneArray(path, base, t, err)
	case extension == ".npz":
		return openArrays(path, opts)
	case extension == ".txt":
		text, err := OpenText(path, opts...)
		if err != nil {
			return nil, err
		}
		return TextColumns(path, text)
	case extension == ".edges" || extension == ".edgelist":
		n, err := OpenEdges(path, opts...)
		if err != nil {
			return nil, err
		}
		return n.Columns()
	}
	return open(path, ReadColumns, opts)
}

// BuiltinColumns gives a built-in data set by its name: one of [Builtin], karate (the network with
// the factions as label) or constitution (the text).
func BuiltinColumns(name string) (*Columns, error) {
	switch name {
	case "karate":
		club, factions := Karate()
		c, err := club.Columns()
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(factions))
		for i, f := range factions {
			texts[i] = fmt.Sprint(f)
		}
		c, err = NewColumns(name, append(c.columns, classColumn("faction", texts, nil))...)
		if err == nil {
			c.label = "faction"
		}
		return c, err
	case "constitution":
		return TextColumns(name, Constitution())
	}
	t, err := Builtin(name)
	if err != nil {
		names := BuiltinNames()
		return nil, fmt.Errorf("no built-in data set %s%s; there are %s", quote(name), didYouMean(name, names), strings.Join(names, ", "))
	}
	return t.ByColumn()
}

// BuiltinNames lists the names that [BuiltinColumns] knows.
func BuiltinNames() []string {
	return []string{"clusters", "constitution", "digits", "iris", "karate", "wine"}
}

func oneArray(path, name string, t *tensor.Dense, err error) (*Columns, error) {
	if err != nil {
		return nil, err
	}
	return NewColumns(path, Column{Name: name, Values: t})
}

func openArrays(path string, opts []Option) (*Columns, error) {
	z, err := OpenNPZ(path, opts...)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var columns []Column
	for _, name := range z.Names() {
		t, err := z.Array(name)
		if err != nil {
			return nil, err
		}
		if t.Dims() == 0 || checkColumn(t) != "" {
			continue // a single number is no column
		}
		columns = append(columns, Column{Name: name, Values: t})
	}
	return NewColumns(path, columns...)
}

// TextColumns gives the characters of a text as column text, and those that follow them as column
// next: an input reads windows of both that follow each other without overlap.
func TextColumns(name, text string) (*Columns, error) {
	v, err := Characters(text)
	if err != nil {
		return nil, err
	}
	codes, err := v.Encode(text)
	if err != nil {
		return nil, err
	}
	if len(codes) < 2 {
		return nil, &Error{File: name, Msg: "a text of fewer than two characters"}
	}
	return NewColumns(name, Column{Name: "text", Values: vector(codes), Windowed: true, Vocabulary: v},
		Column{Name: "next", Values: vector(codes), Windowed: true, Next: true, Vocabulary: v})
}

// Windows cuts a windowed column into rows of so many tokens. It is an error if there are too few.
func (k Column) Windows(length int) (*tensor.Dense, error) {
	if !k.Windowed {
		return nil, &Error{Column: k.Name, Msg: "the column is no sequence of tokens"}
	}
	set, err := Consecutive(k.Values.Int32s(), length)
	if err != nil {
		return nil, err
	}
	if k.Next {
		return set.Column("y"), nil
	}
	return set.Column("x"), nil
}

// Columns gives a network by node: the row of the adjacency matrix (see [Network.Adjacency]),
// the number of its edges as degree, and node, of which each is a class of its own.
func (n *Network) Columns() (*Columns, error) {
	a, err := n.Adjacency(tensor.Float64)
	if err != nil {
		return nil, err
	}
	degree, codes, names := make([]float64, n.Nodes), make([]int32, n.Nodes), make([]string, n.Nodes)
	for i, w := range a.Float64s() {
		if w != 0 {
			degree[i/n.Nodes]++
		}
	}
	for i := range codes {
		codes[i], names[i] = int32(i), n.name(i)
	}
	return NewColumns(n.Name, Column{Name: "adjacency", Values: a}, Column{Name: "degree", Values: vector(degree)},
		Column{Name: "node", Values: vector(codes), Classes: names})
}

// ReadColumns reads a table as [ReadCSV] does, but that every column may be bound to an input: one
// whose first cell is text holds classes, any other one numbers, and the label, which is found or
// named as by ReadCSV, is one of them. A cell that is empty, and one that is no number in a column
// of numbers, is an *Error at its line and column, unless [Missing] says that it stands for no
// value. [Targets] has no use here.
func ReadColumns(name string, r io.Reader, opts ...Option) (*Columns, error) {
	cfg := newConfig(tables, opts)
	cfg.refuse(cfg.targets != nil, "Targets: which input reads a column is said by whoever binds it")
	rows, err := newRows(name, r, cfg)
	if err != nil {
		return nil, err
	}
	b, known, err := rows.begin()
	if err != nil {
		return nil, err
	}
	columns := newColumnsBuilder(b, known[0])
	for _, row := range known {
		if err := columns.add(row); err != nil {
			return nil, err
		}
	}
	for {
		row, err := rows.next()
		if err == io.EOF {
			return columns.done()
		}
		if err == nil {
			err = columns.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
}

// columnsBuilder collects the cells of a table by column.
type columnsBuilder struct {
	*builder
	classes []bool // of which the cells are names of classes
	numbers [][]float64
	texts   [][]string
	lines   []int
}

func newColumnsBuilder(b *builder, sample row) *columnsBuilder {
	d := len(b.names)
	c := &columnsBuilder{builder: b, classes: make([]bool, d), numbers: make([][]float64, d), texts: make([][]string, d)}
	for j, cell := range sample.cells {
		c.classes[j] = b.role[j] == label || b.cfg.isText(cell)
	}
	return c
}

func (c *columnsBuilder) add(r row) error {
	for j, cell := range r.cells {
		if c.role[j] == ignored {
			continue
		}
		v, isNumber := number(cell)
		missing := c.cfg.isMissing(cell)
		msg := ""
		switch {
		case c.classes[j] && !missing && cell != "":
			c.texts[j] = append(c.texts[j], c.intern(cell))
		case c.classes[j]:
			msg = "a class is missing"
		case missing:
			c.numbers[j] = append(c.numbers[j], math.NaN())
		case cell == "":
			msg = "empty cell"
		case !isNumber:
			msg = quote(cell) + " is not a number"
		case math.IsNaN(v) || math.IsInf(v, 0):
			msg = quote(cell) + " is not finite"
		default:
			c.numbers[j] = append(c.numbers[j], v)
		}
		if msg != "" {
			return &Error{File: c.t.Name, Line: r.line, Column: c.names[j], Msg: msg, Missing: c.cfg.missing == nil && isUsuallyMissing(cell) && !c.classes[j]}
		}
	}
	c.lines = append(c.lines, r.line)
	return nil
}

func (c *columnsBuilder) done() (*Columns, error) {
	var columns []Column
	for j, name := range c.names {
		switch {
		case c.role[j] == ignored:
		case c.classes[j]:
			columns = append(columns, classColumn(name, c.texts[j], c.lines))
		default:
			columns = append(columns, Column{Name: name, Values: vector(c.numbers[j]), lines: c.lines})
		}
	}
	out, err := NewColumns(c.t.Name, columns...)
	if err == nil {
		out.label = c.t.LabelName
	}
	return out, err
}

// Features lists the columns of numbers that are not the label.
func (c *Columns) Features() []string {
	var names []string
	for _, k := range c.Columns() {
		if k.Name != c.label && k.Classes == nil && !k.Windowed && k.Values != nil && k.Values.Dtype() != tensor.Bool {
			names = append(names, k.Name)
		}
	}
	return names
}

// Table gives the named columns as the features of a [Table], all numbers a row for those that are
// arrays, or for no names every column of numbers that is not the label; the label comes with it.
func (c *Columns) Table(names ...string) (*Table, error) {
	if c == nil {
		return nil, &Error{Msg: "there are no data"}
	}
	if len(names) == 0 {
		names = c.Features()
	}
	if len(names) == 0 {
		return nil, &Error{File: c.Name, Msg: "no column of numbers"}
	}
	t := &Table{Name: c.Name}
	var parts [][]float64
	var widths []int
	for _, name := range names {
		k, err := c.Column(name)
		if err != nil {
			return nil, err
		}
		v, err := k.Float64s()
		if err != nil {
			return nil, err
		}
		rows := k.Rows()
		if parts != nil && rows != len(parts[0])/widths[0] {
			return nil, &Error{File: c.Name, Column: name, Msg: fmt.Sprintf("%d rows, and %s has %d", rows, quote(names[0]), len(parts[0])/widths[0])}
		}
		width := len(v) / rows
		if width == 1 {
			t.Columns = append(t.Columns, name)
		} else {
			for j := range width {
				t.Columns = append(t.Columns, fmt.Sprint(name, j+1))
			}
		}
		parts, widths = append(parts, v), append(widths, width)
		if k.lines != nil {
			t.Lines = k.lines
		}
	}
	for i := range len(parts[0]) / widths[0] {
		for p, v := range parts {
			t.X = append(t.X, v[i*widths[p]:(i+1)*widths[p]]...)
		}
	}
	if c.label != "" && !slices.Contains(names, c.label) {
		k, err := c.Column(c.label)
		if err == nil && k.Classes != nil && k.Rows() == t.Rows() {
			t.LabelName = c.label
			for _, code := range k.Values.Int32s() {
				t.Labels = append(t.Labels, k.Classes[code])
			}
		}
	}
	return t, t.check()
}

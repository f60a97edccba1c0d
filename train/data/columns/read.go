package columns

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

// Open reads the file at path, which gzip may have compressed (.csv.gz). The end of its name says
// what it is:
//
//	.npy                an array, called like the file without its extension
//	.npz                the arrays of the archive
//	.idx, -ubyte        an array, called like the file
//	.txt                a text, see [OfText]
//	.edges, .edgelist   an edge list, see [OfNetwork]
//	any other           a table, see [Read]
//
// The options are those of the reader of that kind of file.
func Open(path string, opts ...data.Option) (*Columns, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	extension := strings.ToLower(filepath.Ext(name))
	base := strings.TrimSuffix(name, filepath.Ext(name))
	switch {
	case extension == ".npy":
		t, err := array.OpenNPY(path, opts...)
		return oneArray(path, base, t, err)
	case extension == ".idx" || strings.HasSuffix(strings.ToLower(name), "-ubyte"):
		t, err := array.OpenIDX(path, opts...)
		return oneArray(path, base, t, err)
	case extension == ".npz":
		return openArrays(path, opts)
	case extension == ".txt":
		all, err := text.Open(path, opts...)
		if err != nil {
			return nil, err
		}
		return OfText(path, all)
	case extension == ".edges" || extension == ".edgelist":
		n, err := edges.Open(path, opts...)
		if err != nil {
			return nil, err
		}
		return OfNetwork(n)
	}
	return input.Open(path, Read, opts)
}

// Builtin returns a built-in data set by its name: a table of [data.Builtin], karate
// ([edges.Karate], with the factions as label) or constitution ([text.Constitution]). An unknown
// name is an error.
func Builtin(name string) (*Columns, error) {
	switch name {
	case "karate":
		club, factions := edges.Karate()
		c, err := OfNetwork(club)
		if err != nil {
			return nil, err
		}
		texts := make([]string, len(factions))
		for i, f := range factions {
			texts[i] = fmt.Sprint(f)
		}
		c, err = New(name, append(c.columns, classColumn("faction", texts, nil))...)
		if err == nil {
			c.label = "faction"
		}
		return c, err
	case "constitution":
		return OfText(name, text.Constitution())
	}
	t, err := data.Builtin(name)
	if err != nil {
		names := BuiltinNames()
		return nil, fmt.Errorf("no built-in data set %s%s; there are %s", input.Quote(name), input.DidYouMean(name, names), strings.Join(names, ", "))
	}
	return OfTable(t)
}

// BuiltinNames returns the names that [Builtin] takes.
func BuiltinNames() []string {
	return []string{"clusters", "constitution", "digits", "iris", "karate", "wine"}
}

func oneArray(path, name string, t *tensor.Dense, err error) (*Columns, error) {
	if err != nil {
		return nil, err
	}
	return New(path, Column{Name: name, Values: t})
}

func openArrays(path string, opts []data.Option) (*Columns, error) {
	z, err := array.OpenNPZ(path, opts...)
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
		if t.Dims() == 0 || t.Shape().TotalSize() > 0 && tensors.CheckColumn(t) != "" {
			continue // a single number is no column, but an array without rows is to be told of
		}
		columns = append(columns, Column{Name: name, Values: t})
	}
	return New(path, columns...)
}

// OfText returns the codes of the characters of a text as column text, and those of the characters
// that follow them as column next. An input reads windows of either, one after the other without
// overlap ([Column.Windows]). A text of fewer than two characters is an *Error.
func OfText(name, all string) (*Columns, error) {
	v, err := text.Characters(all)
	if err != nil {
		return nil, err
	}
	codes, err := v.Encode(all)
	if err != nil {
		return nil, err
	}
	if len(codes) < 2 {
		return nil, &data.Error{File: name, Msg: "a text of fewer than two characters"}
	}
	return New(name, Column{Name: "text", Values: vector(codes), Windowed: true, Vocabulary: v},
		Column{Name: "next", Values: vector(codes), Windowed: true, Next: true, Vocabulary: v})
}

// Windows cuts a windowed column into an array [n length] of windows of so many tokens. Too few
// tokens for one window are an error, and so is a column that is not windowed.
func (k Column) Windows(length int) (*tensor.Dense, error) {
	if !k.Windowed {
		return nil, &data.Error{Column: k.Name, Msg: "the column is no sequence of tokens"}
	}
	set, err := data.Consecutive(k.Values.Int32s(), length)
	if err != nil {
		return nil, err
	}
	if k.Next {
		return set.Column("y"), nil
	}
	return set.Column("x"), nil
}

// OfNetwork returns columns whose rows are the nodes of a network: adjacency[n n], the rows of the
// matrix of [edges.Network.Adjacency]; degree[n], the number of edges into each node; and node[n],
// of which each is a class of its own. Errors are those of Adjacency.
func OfNetwork(n *edges.Network) (*Columns, error) {
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
		codes[i], names[i] = int32(i), strconv.Itoa(i)
		if n.Names != nil {
			names[i] = n.Names[i]
		}
	}
	return New(n.Name, Column{Name: "adjacency", Values: a}, Column{Name: "degree", Values: vector(degree)},
		Column{Name: "node", Values: vector(codes), Classes: names})
}

// Read reads a table as [data.ReadCSV] does, except that columns may hold text: a column whose
// first cell is text holds classes, and so does the label, which is found as ReadCSV finds it. All
// others hold numbers. An empty cell, and text in a column of numbers, is an *Error at its line and
// column, unless the option [data.Missing] says that it stands for no value. [data.Targets] is
// refused.
func Read(name string, r io.Reader, opts ...data.Option) (*Columns, error) {
	cfg := input.NewConfig(input.Tables, opts)
	cfg.Refuse(cfg.Targets != nil, "Targets: which input reads a column is said by whoever binds it")
	rows, err := input.NewRows(name, r, cfg)
	if err != nil {
		return nil, err
	}
	s, known, err := rows.Begin()
	if err != nil {
		return nil, err
	}
	columns := newColumnsBuilder(rows, s, known[0])
	if err := rows.Each(known, columns.add); err != nil {
		return nil, err
	}
	return columns.done()
}

// columnsBuilder collects the cells of a table by column.
type columnsBuilder struct {
	*input.Schema
	file    string
	cfg     *input.Config
	classes []bool // by column: the cells are names of classes
	numbers [][]float64
	texts   [][]string
	known   input.Interned // of classes
	lines   []int
}

func newColumnsBuilder(r *input.Rows, s *input.Schema, sample input.Row) *columnsBuilder {
	d := len(s.Names)
	c := &columnsBuilder{
		Schema: s, file: r.File, cfg: &r.Config, known: input.Interned{},
		classes: make([]bool, d), numbers: make([][]float64, d), texts: make([][]string, d),
	}
	for j, cell := range sample.Cells {
		c.classes[j] = s.Role[j] == input.Label || c.cfg.IsText(cell)
	}
	return c
}

func (c *columnsBuilder) add(r input.Row) error {
	for j, cell := range r.Cells {
		if c.Role[j] == input.Ignored {
			continue
		}
		v, isNumber := input.Number(cell)
		missing := c.cfg.IsMissing(cell)
		msg := ""
		switch {
		case c.classes[j] && !missing && cell != "":
			c.texts[j] = append(c.texts[j], c.known.Intern(cell))
		case c.classes[j]:
			msg = "a class is missing"
		case missing:
			c.numbers[j] = append(c.numbers[j], math.NaN())
		case cell == "":
			msg = "empty cell"
		case !isNumber:
			msg = input.Quote(cell) + " is not a number"
		case math.IsNaN(v) || math.IsInf(v, 0):
			msg = input.Quote(cell) + " is not finite"
		default:
			c.numbers[j] = append(c.numbers[j], v)
		}
		if msg != "" {
			return &data.Error{File: c.file, Line: r.Line, Column: c.Names[j], Msg: msg, Missing: c.cfg.Missing == nil && input.IsUsuallyMissing(cell) && !c.classes[j]}
		}
	}
	c.lines = append(c.lines, r.Line)
	return nil
}

func (c *columnsBuilder) done() (*Columns, error) {
	var columns []Column
	for j, name := range c.Names {
		switch {
		case c.Role[j] == input.Ignored:
		case c.classes[j]:
			columns = append(columns, classColumn(name, c.texts[j], c.lines))
		default:
			columns = append(columns, Column{Name: name, Values: vector(c.numbers[j]), lines: c.lines})
		}
	}
	out, err := New(c.file, columns...)
	if err == nil {
		_, out.label = c.Features()
	}
	return out, err
}

// Features returns the names of the columns of numbers, without the label.
func (c *Columns) Features() []string {
	var names []string
	for _, k := range c.Columns() {
		if k.Name != c.label && k.Classes == nil && !k.Windowed && k.Values != nil && k.Values.Dtype() != tensor.Bool {
			names = append(names, k.Name)
		}
	}
	return names
}

// Table returns a table whose features are the named columns, or those of [Columns.Features] if
// none are named, and whose labels are those of the label. A column with rows of k numbers gives k
// features. Columns that are not numbers or differ in their number of rows are *Errors.
func (c *Columns) Table(names ...string) (*data.Table, error) {
	if c == nil {
		return nil, &data.Error{Msg: "there are no data"}
	}
	if len(names) == 0 {
		names = c.Features()
	}
	if len(names) == 0 {
		return nil, &data.Error{File: c.Name, Msg: "no column of numbers"}
	}
	t := &data.Table{Name: c.Name}
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
			return nil, &data.Error{File: c.Name, Column: name, Msg: fmt.Sprintf("%d rows, and %s has %d", rows, input.Quote(names[0]), len(parts[0])/widths[0])}
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
	return t, t.Check()
}

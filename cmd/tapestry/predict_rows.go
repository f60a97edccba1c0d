package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"gorgonia.org/tensor"
)

// rows predicts for the rows of the data.
func (p *predicting) rows(cmd *cobra.Command, o *options, path string) error {
	format := strings.ToLower(filepath.Ext(p.out))
	switch {
	case toStdout(p.out):
		format = ".csv"
	case !slices.Contains([]string{".csv", ".json", ".npy"}, format):
		return usagef("--out %s: want a file .csv, .json or .npy", p.out)
	}
	if o.json {
		format = ".json"
	}
	s, err := p.load(path)
	if err != nil {
		return err
	}
	predictor, err := infer.LoadPredictor(cmd.Context(), s, 0, func(n *infer.Forward) { n.Mixed = p.mixed })
	if err != nil {
		return explained(err, s)
	}
	defer predictor.Close()
	if p.mixed && predictor.Mixed() == 0 {
		return fmt.Errorf("%s: --mixed: %w", s.Path, tape.ErrNotMixed)
	}
	classes, err := infer.Classes(s)
	if err != nil {
		return err
	}
	columns, err := infer.Columns(s)
	if err != nil {
		return err
	}
	if p.missing != "" {
		if p.filled, err = filledIn(s); err != nil {
			return err
		}
	}
	p.like = &data.Table{Name: s.Path, Columns: columns}
	bindings, err := fit.Parse(s.Meta)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	var set *data.Set
	if bindings != nil {
		set, err = p.bound(bindings, predictor.Inputs())
	} else {
		set, err = p.read(predictor.Inputs())
	}
	if err != nil {
		return err
	}
	if p.int8 {
		predictor.Close()
		if predictor, err = p.inIntegers(cmd, s, set); err != nil {
			return err
		}
		defer predictor.Close()
	}
	output, err := predictor.Predict(cmd.Context(), set)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	all, err := newPredictions(predictor.Output(), output, classes)
	if err != nil {
		return err
	}
	return writeOutput(p.out, cmd.OutOrStdout(), func(w io.Writer) error {
		switch format {
		case ".csv":
			return all.writeCSV(w)
		case ".json":
			return all.writeJSON(w)
		}
		return array.WriteNPY(w, output)
	})
}

// inIntegers returns a predictor of the checkpoint in integers of a byte, and says what that loses.
func (p *predicting) inIntegers(cmd *cobra.Command, s *checkpoint.State, set *data.Set) (*infer.Predictor, error) {
	small, q, err := infer.Int8(cmd.Context(), s, set, quantise.Options{Keep: p.keep})
	if err != nil {
		return nil, err
	}
	if p.save != "" {
		if err := checkpoint.Save(p.save, small); err != nil {
			return nil, err
		}
	}
	if _, err := fmt.Fprint(cmd.ErrOrStderr(), q); err != nil {
		return nil, err
	}
	return infer.LoadPredictor(cmd.Context(), small, 0)
}

// bound reads the columns that the inputs had in training, and prepares them as training did. Other
// columns may be missing or hold anything.
func (p *predicting) bound(bindings []fit.Binding, inputs []infer.Column) (*data.Set, error) {
	if p.filled != nil && p.missing != "" { // of a clustering
		for i := range bindings {
			bindings[i].Missing = p.filled.Values
		}
	}
	if p.missing != "" && !slices.ContainsFunc(bindings, func(b fit.Binding) bool { return b.Missing != nil }) {
		return nil, usagef("--missing %s: nothing was missing in training; train with --missing to have values for it", p.missing)
	}
	filled := slices.ContainsFunc(bindings, func(b fit.Binding) bool { return b.Missing != nil })
	if filled && !p.arrays() && !slices.Contains(columns.BuiltinNames(), p.name) { // where values may be missing
		p.missing = p.ways[0] // training's value replaces a missing one, whichever way is set
	}
	c, err := p.byColumn()
	if err != nil {
		return nil, err
	}
	columns := map[string]*tensor.Dense{}
	for _, in := range inputs {
		i := slices.IndexFunc(bindings, func(b fit.Binding) bool { return b.Input == in.Name })
		if i < 0 {
			return nil, fmt.Errorf("%s: the training does not say what %v reads", p.name, in)
		}
		s, err := bindings[i].Read(c, in.Row)
		if err != nil {
			return nil, err
		}
		columns[in.Name] = s.Column(in.Name)
	}
	return columnsOf(p.name, columns)
}

// read reads the columns that a model takes.
func (p *predicting) read(inputs []infer.Column) (*data.Set, error) {
	extension := filepath.Ext(strings.TrimSuffix(strings.ToLower(p.name), ".gz"))
	if p.asksCSV() && slices.Contains([]string{".npy", ".npz"}, extension) {
		return nil, usagef("--label, --ignore and --missing are for CSV files; %s holds arrays", p.name)
	}
	switch extension {
	case ".npy":
		if len(inputs) > 1 {
			return nil, fmt.Errorf("%s: one array, and the model reads %s: want a .npz file with an array for each", p.name, inputList(inputs))
		}
		t, err := array.OpenNPY(p.name)
		if err != nil {
			return nil, err
		}
		return columnsOf(p.name, map[string]*tensor.Dense{inputs[0].Name: t})
	case ".npz":
		z, err := array.OpenNPZ(p.name)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		columns := map[string]*tensor.Dense{}
		for _, in := range inputs {
			if !slices.Contains(z.Names(), in.Name) {
				return nil, fmt.Errorf("%s: no array %q: it has %q, and the model reads %s", p.name, in.Name, z.Names(), inputList(inputs))
			}
			if columns[in.Name], err = z.Array(in.Name); err != nil {
				return nil, err
			}
		}
		return columnsOf(p.name, columns)
	}
	table, err := p.open()
	if err != nil {
		return nil, err
	}
	return tableColumns(table, inputs)
}

func columnsOf(name string, columns map[string]*tensor.Dense) (*data.Set, error) {
	set, err := data.NewSet(columns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

// tableColumns gives the only input of a model all features of a table, in order. Each of several
// inputs takes one number a row: the feature of its name.
func tableColumns(table *data.Table, inputs []infer.Column) (*data.Set, error) {
	x, err := table.Dense(tensor.Float64)
	if err != nil {
		return nil, err
	}
	d := len(table.Columns)
	if len(inputs) == 1 {
		in := inputs[0]
		if in.Row.Shape.Len() != d {
			return nil, fmt.Errorf("%s: %s, and the model reads %v, %s a row", table.Name, plural.Count(d, "feature"), in, plural.Count(in.Row.Shape.Len(), "number"))
		}
		if err := x.Reshape(append([]int{table.Rows()}, in.Row.Shape.Sizes()...)...); err != nil {
			return nil, fmt.Errorf("%s: %w", table.Name, err)
		}
		return columnsOf(table.Name, map[string]*tensor.Dense{in.Name: x})
	}
	columns := map[string]*tensor.Dense{}
	for _, in := range inputs {
		j := slices.Index(table.Columns, in.Name)
		if in.Row.Shape.Rank() > 0 || j < 0 {
			return nil, fmt.Errorf("%s: no column for the input %v: it has %s, and the model reads %s", table.Name, in, strings.Join(table.Columns, ", "), inputList(inputs))
		}
		v := make([]float64, table.Rows())
		for i := range v {
			v[i] = table.X[i*d+j]
		}
		columns[in.Name] = tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v))
	}
	return columnsOf(table.Name, columns)
}

func inputList(inputs []infer.Column) string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = in.String()
	}
	return strings.Join(names, ", ")
}

// predictions holds a model's output for each row.
type predictions struct {
	of      infer.Column
	rows    int
	values  tape.Array
	classes []string // scored by each row; nil if the output is not a classifier's
}

func newPredictions(of infer.Column, output *tensor.Dense, classes []string) (*predictions, error) {
	rows := output.Shape()[0]
	shape, err := graph.NewShape(append([]graph.Axis{{Size: rows}}, of.Row.Shape.Axes()...)...)
	if err != nil {
		return nil, err
	}
	p := &predictions{of: of, rows: rows}
	if p.values, err = tape.ArrayOf(graph.Type{DType: of.Row.DType, Shape: shape}, output); err != nil {
		return nil, err
	}
	if of.Row.Shape.Rank() == 1 && len(classes) == of.Row.Shape.Len() {
		p.classes = classes
	}
	return p, nil
}

// row returns the numbers of row i.
func (p *predictions) row(i int) []float64 {
	v := make([]float64, p.of.Row.Shape.Len())
	for j := range v {
		v[j] = p.values.At(i*len(v) + j)
	}
	return v
}

// class returns the class of the largest number, the first of equal ones, or "" if one is NaN.
func (p *predictions) class(row []float64) string {
	best := 0
	for j, v := range row {
		if v != v {
			return ""
		}
		if v > row[best] {
			best = j
		}
	}
	return p.classes[best]
}

// writeCSV writes a line for each row: the class, if there are classes, and the numbers. The header
// names these by their classes, or by the output's name and their index.
func (p *predictions) writeCSV(w io.Writer) error {
	name := p.of.Name
	if name == "" {
		name = "output"
	}
	var header []string
	switch {
	case p.classes != nil:
		header = append([]string{"class"}, p.classes...)
	case p.of.Row.Shape.Rank() == 0:
		header = []string{name}
	case p.of.Row.Shape.Rank() == 1:
		for j := range p.of.Row.Shape.Len() {
			header = append(header, fmt.Sprint(name, j+1))
		}
	default:
		return fmt.Errorf("the output is %v a row, which no table holds: want --out FILE.npy, or --json", p.of)
	}
	out := csv.NewWriter(w)
	cells := header
	for i := -1; i < p.rows; i++ {
		if i >= 0 {
			row := p.row(i)
			if cells = cells[:0]; p.classes != nil {
				cells = append(cells, p.class(row))
			}
			for _, v := range row {
				cells = append(cells, p.number(v))
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// number returns the shortest text of a number of the output's type.
func (p *predictions) number(v float64) string {
	switch p.of.Row.DType.Wide() {
	case graph.F32:
		return strconv.FormatFloat(v, 'g', -1, 32)
	case graph.Bool:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// writeJSON writes an object for each row.
func (p *predictions) writeJSON(w io.Writer) error {
	for i := range p.rows {
		row := p.row(i)
		v := struct {
			Row    int    `json:"row"`
			Class  string `json:"class,omitempty"`
			Output any    `json:"output"`
		}{i, "", p.nested(row, p.of.Row.Shape.Sizes())}
		if p.classes != nil {
			v.Class = p.class(row)
		}
		if err := printJSON(w, v); err != nil {
			return err
		}
	}
	return nil
}

// nested arranges numbers as nested JSON lists of the given sizes.
func (p *predictions) nested(v []float64, sizes []int) any {
	if len(sizes) == 0 {
		if p.of.Row.DType == graph.Bool {
			return v[0] != 0
		}
		if p.of.Row.DType.Wide() == graph.F32 { // as short as CSV has it
			short, _ := strconv.ParseFloat(p.number(v[0]), 64)
			return jsonNumber(short)
		}
		return jsonNumber(v[0])
	}
	list := make([]any, sizes[0])
	for i := range list {
		part := len(v) / sizes[0]
		list[i] = p.nested(v[i*part:(i+1)*part], sizes[1:])
	}
	return list
}

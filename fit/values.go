package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"gorgonia.org/tensor"
)

// values holds the numbers that an input reads from all rows, before conversion to its type.
type values struct {
	rows, width int
	v           []float64 // row after row; NaN where a value is missing
	number      []bool    // by place in a row: whether it is a number rather than a class
	line        func(row int) int
	file        string
	columns     []string // by place in a row
}

// reading is a way in which an input reads a column.
type reading int

const (
	asNumbers reading = iota
	asCodes           // of classes: one number a row
	asOneHot          // of classes: one number for each class
	asWindows
)

// readAs returns how an input whose rows have a type reads a column, one of so many.
func readAs(k columns.Column, row graph.Type, columns int) (reading, error) {
	switch {
	case k.Windowed && row.DType.IsInt() && row.Shape.Rank() == 1:
		return asWindows, nil
	case k.Windowed:
		return 0, fmt.Errorf("%q holds tokens, which inputs of whole numbers with one axis beside the rows read", k.Name)
	case k.Classes == nil:
		return asNumbers, nil
	case row.DType.IsInt():
		return asCodes, nil
	case !k.Numbers():
		return asOneHot, nil
	case columns == 1 && row.Shape.Rank() > 0 && len(k.Classes) > 1:
		return asOneHot, nil
	}
	return asNumbers, nil
}

// values reads the columns of a binding, with the binding's classes where it has some, and
// otherwise with the columns' own.
func (b Binding) values(c *columns.Columns, row graph.Type) (*values, error) {
	type part struct {
		v     []float64
		width int
		as    reading
		name  string
	}
	var parts []part
	out := &values{rows: -1, file: c.Name}
	for _, name := range b.Columns {
		k, err := c.Column(name)
		if err != nil {
			return nil, err
		}
		as, err := readAs(k, row, len(b.Columns))
		if err != nil {
			return nil, fmt.Errorf("%s reads %w", b.Input, err)
		}
		p := part{as: as, name: name}
		switch known := b.Classes[name]; {
		case as == asWindows:
			t, err := k.Windows(row.Shape.Sizes()[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.Input, err)
			}
			if k, err = retold(k, name, t, known); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Input, err)
			}
			p.width = row.Shape.Sizes()[0]
			p.v, err = k.Float64s()
			if err != nil {
				return nil, err
			}
		case as == asNumbers && known == nil:
			if p.v, err = k.Float64s(); err != nil {
				return nil, fmt.Errorf("%s: %w", b.Input, err)
			}
			p.width = len(p.v) / k.Rows()
		default:
			if known == nil {
				known = k.Classes
			} else if as == asNumbers { // classes in training, such as the label, that this file has as numbers
				as = asCodes
				if row.DType.IsFloat() {
					as = asOneHot
				}
				p.as = as
			}
			if p.v, err = coded(k, known, as, b.Input, c.Name); err != nil {
				return nil, err
			}
			if p.width = 1; as == asOneHot {
				p.width = len(known)
			}
		}
		rows := len(p.v) / p.width
		if out.rows >= 0 && rows != out.rows {
			return nil, fmt.Errorf("%s: column %q has %d rows, %q has %d", b.Input, name, rows, b.Columns[0], out.rows)
		}
		out.rows, out.width = rows, out.width+p.width
		for range p.width {
			out.number, out.columns = append(out.number, p.as == asNumbers), append(out.columns, name)
		}
		if out.line == nil {
			out.line = k.Line
		}
		parts = append(parts, p)
	}
	if len(parts) == 1 {
		out.v = parts[0].v
		return out, nil
	}
	out.v = make([]float64, 0, out.rows*out.width)
	for i := range out.rows {
		for _, p := range parts {
			out.v = append(out.v, p.v[i*p.width:(i+1)*p.width]...)
		}
	}
	return out, nil
}

// retold returns windows of tokens in the codes of another vocabulary, if one is known.
func retold(k columns.Column, name string, t *tensor.Dense, known []string) (columns.Column, error) {
	if known == nil {
		return columns.Column{Name: name, Values: t}, nil
	}
	tokens := k.Vocabulary.Tokens()
	codes := slices.Clone(t.Int32s())
	for i, c := range codes {
		j := slices.Index(known, tokens[c])
		if j < 0 {
			return k, fmt.Errorf("the token %q did not occur in training", tokens[c])
		}
		codes[i] = int32(j)
	}
	return columns.Column{Name: name, Values: tensor.New(tensor.WithShape(t.Shape()...), tensor.WithBacking(codes))}, nil
}

// mostNumbers bounds the ones and zeros that classes become, at 1 GiB.
const mostNumbers = 1 << 27

// coded returns the codes of classes by the order of known, or their ones and zeros.
func coded(k columns.Column, known []string, as reading, input, file string) ([]float64, error) {
	codes := map[string]int{}
	for i, name := range known {
		codes[name] = i
	}
	name := func(i int) string { return k.Classes[k.Values.Int32s()[i]] }
	if k.Classes == nil {
		numbers, err := k.Float64s()
		if err != nil {
			return nil, err
		}
		name = func(i int) string { return strconv.FormatFloat(numbers[i], 'g', -1, 64) }
	}
	width := 1
	if as == asOneHot {
		width = len(known)
	}
	if k.Rows() > mostNumbers/max(1, width) {
		return nil, fmt.Errorf("%s: column %q has %d classes: %d ones and zeros for each of %d rows are too many", file, k.Name, width, width, k.Rows())
	}
	out := make([]float64, k.Rows()*width)
	for i := range k.Rows() {
		code, ok := codes[name(i)]
		switch {
		case !ok:
			where := fmt.Sprintf("row %d", i)
			if line := k.Line(i); line > 0 {
				where = fmt.Sprintf("line %d", line)
			}
			return nil, fmt.Errorf("%s: %s, column %q: the class %q did not occur in training, where the classes were %q", file, where, k.Name, name(i), known)
		case as == asOneHot:
			out[i*width+code] = 1
		default:
			out[i] = float64(code)
		}
	}
	return out, nil
}

// moments returns the mean and the standard deviation (with divisor n) of each number of the given
// rows. Those of classes are 0 and 1, and the deviation of a constant is 1.
func (v *values) moments(rows []int) (mean, std []float64) {
	mean, std = make([]float64, v.width), make([]float64, v.width)
	for j := range v.width {
		if std[j] = 1; !v.number[j] {
			continue
		}
		m := 0.0
		for _, i := range rows {
			m += v.v[i*v.width+j] / float64(len(rows))
		}
		s := 0.0
		for _, i := range rows {
			s += (v.v[i*v.width+j] - m) * (v.v[i*v.width+j] - m) / float64(len(rows))
		}
		mean[j] = m
		if s > 0 && !math.IsInf(s, 0) { // else it stays 1
			std[j] = math.Sqrt(s)
		}
	}
	return mean, std
}

// typical returns the substitutes for missing values: the mean or the median over the given rows.
func (v *values) typical(rows []int, median bool) ([]float64, error) {
	out := make([]float64, v.width)
	for j := range v.width {
		var there []float64
		for _, i := range rows {
			if x := v.v[i*v.width+j]; x == x {
				there = append(there, x)
			}
		}
		switch {
		case len(there) == 0:
			return nil, fmt.Errorf("%s: column %q has no value among the rows to train on", v.file, v.columns[j])
		case median:
			slices.Sort(there)
			n := len(there)
			out[j] = (there[(n-1)/2] + there[n/2]) / 2
		default:
			for _, x := range there {
				out[j] += x / float64(len(there))
			}
		}
	}
	return out, nil
}

// gaps counts the missing values.
func (v *values) gaps() int {
	n := 0
	for _, x := range v.v {
		if x != x {
			n++
		}
	}
	return n
}

// prepare fills missing values and standardises, as the binding says.
func (v *values) prepare(b Binding) error {
	for _, p := range []struct {
		what string
		v    []float64
	}{{"missing values", b.Missing}, {"means", b.Mean}, {"deviations", b.Std}} {
		if p.v != nil && len(p.v) != v.width {
			return fmt.Errorf("%s: %d numbers a row, and %s of %d", b.Input, v.width, p.what, len(p.v))
		}
	}
	if len(b.Mean) != len(b.Std) {
		return fmt.Errorf("%s: %d means and %d deviations", b.Input, len(b.Mean), len(b.Std))
	}
	own := b.Missing != nil || b.Mean != nil
	if own {
		v.v = slices.Clone(v.v)
	}
	for k := range v.v {
		j := k % v.width
		if v.v[k] != v.v[k] {
			if b.Missing == nil {
				return v.errorAt(k, "the value is missing: fill it, or leave the row out")
			}
			v.v[k] = b.Missing[j]
		}
		if b.Mean != nil {
			v.v[k] = (v.v[k] - b.Mean[j]) / b.Std[j]
		}
	}
	return nil
}

// errorAt returns an error with the place of an element.
func (v *values) errorAt(k int, msg string) error {
	e := &data.Error{File: v.file, Column: v.columns[k%v.width], Msg: msg}
	if v.line != nil {
		e.Line = v.line(k / v.width)
	}
	if e.Line == 0 {
		e.Msg = fmt.Sprintf("row %d: %s", k/v.width, msg)
	}
	return e
}

// tensor returns the values in the type that an input has for each row.
func (v *values) tensor(row graph.Type) (*tensor.Dense, error) {
	sizes := append([]int{v.rows}, row.Shape.Sizes()...)
	if row.Shape.Len() != v.width {
		return nil, fmt.Errorf("%d numbers a row for %v", v.width, row)
	}
	dt := row.DType
	for k, x := range v.v {
		switch {
		case x != x || math.IsInf(x, 0):
			return nil, v.errorAt(k, fmt.Sprintf("%g is not finite", x))
		case dt.IsInt() && dt.Round(x) != x:
			return nil, v.errorAt(k, fmt.Sprintf("%g is not a whole number, and the input reads indices", x))
		case dt.IsInt() && dt != graph.I64 && dt.Check(x) != nil:
			return nil, v.errorAt(k, fmt.Sprintf("%g does not fit %v", x, dt))
		case dt == graph.F32 && math.IsInf(float64(float32(x)), 0):
			return nil, v.errorAt(k, fmt.Sprintf("%g does not fit float32", x))
		case dt.IsHalf() && dt.Check(x) != nil:
			return nil, v.errorAt(k, fmt.Sprintf("%g does not fit %v", x, dt))
		case dt == graph.Bool && x != 0 && x != 1:
			return nil, v.errorAt(k, fmt.Sprintf("%g is neither 0 nor 1, and the input is a mask", x))
		}
	}
	switch dt {
	case graph.F32:
		return converted[float32](v.v, sizes), nil
	case graph.I32:
		return converted[int32](v.v, sizes), nil
	case graph.I64:
		return converted[int64](v.v, sizes), nil
	case graph.I8:
		return converted[int8](v.v, sizes), nil
	case graph.U8:
		return converted[uint8](v.v, sizes), nil
	case graph.F16, graph.BF16:
		bits := make([]uint16, len(v.v))
		for i, x := range v.v {
			if bits[i] = half.Bits(half.Odd(x)); dt == graph.BF16 {
				bits[i] = half.BrainBits(half.Odd(x))
			}
		}
		return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(bits)), nil
	case graph.Bool:
		b := make([]bool, len(v.v))
		for i, x := range v.v {
			b[i] = x != 0
		}
		return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(b)), nil
	}
	return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(slices.Clone(v.v))), nil
}

func converted[T float32 | int32 | int64 | int8 | uint8](v []float64, sizes []int) *tensor.Dense {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(out))
}

func setOf(input string, t *tensor.Dense) (*data.Set, error) {
	return data.NewSet(map[string]*tensor.Dense{input: t})
}

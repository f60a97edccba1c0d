package symbolic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// emit adds a node to the head of the graph and returns its output; equal ones are one. Attributes are
// whole numbers.
func (j *join) emit(op string, in []string, attrs ...*format.Attr) string {
	key := op + strings.Join(in, "\x00")
	for _, a := range attrs {
		key += fmt.Sprintf(" %s=%d", a.Name, a.Int)
	}
	if name, ok := j.computed[key]; ok {
		return name
	}
	name := j.name(op)
	j.computed[key] = name
	j.head = append(j.head, &format.Node{Op: op, Name: name, Inputs: in, Outputs: []string{name}, Attrs: attrs})
	return name
}

// ints adds a constant of int64 and returns its name; equal ones are one.
func (j *join) ints(dims []int64, v ...int64) string {
	return j.put(format.IntsOf("", dims, v...), fmt.Sprint("ints", dims, v))
}

// reals adds a constant of float64 and returns its name; equal ones are one.
func (j *join) reals(dims []int64, v ...float64) string {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return j.put(&format.Tensor{Type: format.Double, Dims: dims, Raw: format.Bytes(b)}, fmt.Sprint("reals", dims, v))
}

func (j *join) put(t *format.Tensor, key string) string {
	if name, ok := j.computed[key]; ok {
		return name
	}
	t.Name = j.name("const")
	j.inits = append(j.inits, t)
	j.computed[key] = t.Name
	return t.Name
}

// cast converts to a type, of which x need not be another.
func (j *join) cast(x string, to format.DataType) string {
	return j.emit("Cast", []string{x}, &format.Attr{Name: "to", Type: format.AttrInt, Int: int64(to)})
}

// n returns the value of the size, int64[1].
func (j *join) n() (string, error) {
	if j.size != "" {
		return j.size, nil
	}
	a := j.axis
	if a == nil {
		return "", errors.New("no input has an axis of that size")
	}
	at := func(name string, v int) *format.Attr {
		return &format.Attr{Name: name, Type: format.AttrInt, Int: int64(v)}
	}
	j.size = j.emit("Shape", []string{a.input}, at("start", a.place), at("end", a.place+1))
	if a.shift != 0 {
		j.size = j.emit("Sub", []string{j.size, j.ints([]int64{1}, a.shift)})
	}
	if a.scale != 1 {
		j.size = j.emit("Div", []string{j.size, j.ints([]int64{1}, a.scale)})
	}
	return j.size, nil
}

// inferred returns the shape for a Reshape of which one size is left to it, and reports whether that
// says all.
func (j *join) inferred(t []*format.Tensor) (string, bool, error) {
	shapes := make([][]int64, len(t))
	for k, w := range t {
		var err error
		if shapes[k], err = w.Ints(); err != nil {
			return "", false, err
		}
		if len(shapes[k]) != len(shapes[0]) || slices.Contains(shapes[k], -1) || slices.Contains(shapes[k], 0) {
			return "", false, nil
		}
	}
	out, free := slices.Clone(shapes[0]), 0
	for i := range out {
		if slices.ContainsFunc(shapes, func(s []int64) bool { return s[i] != out[i] }) {
			out[i] = -1
			free++
		}
	}
	if free != 1 {
		return "", false, nil
	}
	return j.ints([]int64{int64(len(out))}, out...), true, nil
}

// compute returns the name of a value that at every size is the constant of that size.
func (j *join) compute(t []*format.Tensor) (string, error) {
	arrays := make([]array, len(t))
	for k, w := range t {
		v, err := w.Floats()
		if err != nil {
			return "", err
		}
		arrays[k] = array{w.Dims, v}
		if len(w.Dims) != len(t[0].Dims) {
			return "", errors.New("its rank differs")
		}
	}
	elem := t[0].Type
	if sameDims(arrays) {
		if !elem.IsFloat() {
			exact := make([][]int64, len(t))
			for k, w := range t {
				var err error
				if exact[k], err = w.Ints(); err != nil {
					return "", err
				}
			}
			return j.integers(t[0].Dims, exact, elem)
		}
		return j.floats(arrays, elem)
	}
	return j.array(arrays, elem)
}

// integers computes whole numbers, each a polynomial of the size.
func (j *join) integers(dims []int64, values [][]int64, elem format.DataType) (string, error) {
	count := len(values[0])
	a, b, c, over := make([]int64, count), make([]int64, count), make([]int64, count), make([]int64, count)
	for i := range count {
		at := make([]int64, len(values))
		for k := range values {
			at[k] = values[k][i]
		}
		p, ok := whole(j.sizes, at)
		if !ok {
			return "", fmt.Errorf("it has a %d at %d, and %v at %v", at[0], j.sizes[0], at[1:], j.sizes[1:])
		}
		a[i], b[i], c[i], over[i] = p.a, p.b, p.c, p.over
	}
	all := func(v []int64, x int64) bool { return !slices.ContainsFunc(v, func(y int64) bool { return y != x }) }
	if all(a, 0) && all(b, 0) { // and over is 1
		x := j.ints(dims, c...)
		if elem != format.Int64 {
			x = j.cast(x, elem)
		}
		return x, nil
	}
	n, err := j.n()
	if err != nil {
		return "", err
	}
	shape := dims
	if len(dims) == 0 {
		shape = []int64{1}
	}
	x := n
	if count != 1 || len(shape) != 1 || b[0] != 1 {
		x = j.emit("Mul", []string{n, j.ints(shape, b...)})
	}
	if !all(a, 0) {
		squares := j.emit("Mul", []string{j.emit("Mul", []string{n, n}), j.ints(shape, a...)})
		x = j.emit("Add", []string{x, squares})
	}
	if !all(c, 0) {
		x = j.emit("Add", []string{x, j.ints(shape, c...)})
	}
	if !all(over, 1) {
		x = j.emit("Div", []string{x, j.ints(shape, over...)})
	}
	if len(dims) == 0 {
		x = j.emit("Squeeze", []string{x})
	}
	if elem != format.Int64 {
		x = j.cast(x, elem)
	}
	return x, nil
}

// floats computes real numbers of the same shape at each size, each by a law.
func (j *join) floats(arrays []array, elem format.DataType) (string, error) {
	tolerance := map[format.DataType]float64{format.Double: 1e-12, format.Float: 4e-7, format.Float16: 2e-3, format.BFloat16: 2e-2}[elem]
	var laws []law
	for i := range arrays[0].v {
		at := make([]float64, len(arrays))
		for k, a := range arrays {
			at[k] = a.v[i]
		}
		l, ok := real(j.sizes, at, tolerance)
		if !ok {
			return "", fmt.Errorf("it has a %v at %d, and %v at %v", at[0], j.sizes[0], at[1:], j.sizes[1:])
		}
		laws = append(laws, l)
	}
	x, err := j.laws(laws, arrays[0].dims)
	if err == nil && elem != format.Double {
		x = j.cast(x, elem)
	}
	return x, err
}

// laws computes the values of laws in float64.
func (j *join) laws(laws []law, dims []int64) (string, error) {
	n, err := j.n()
	if err != nil {
		return "", err
	}
	shape := dims
	if len(dims) == 0 {
		shape = []int64{1}
	}
	var factor, shift, power []float64
	kind := laws[0].kind
	for _, l := range laws {
		if l.kind != kind {
			return "", errors.New("its elements depend on the size in different ways")
		}
		factor, shift, power = append(factor, l.factor), append(shift, l.shift), append(power, l.power)
	}
	x := j.cast(n, format.Double)
	factors := j.reals(shape, factor...)
	if kind == logarithmic {
		x = j.emit("Add", []string{j.emit("Mul", []string{j.emit("Log", []string{x}), factors}), j.reals(shape, shift...)})
	} else {
		n := x
		if slices.ContainsFunc(shift, func(v float64) bool { return v != 0 }) {
			x = j.emit("Add", []string{x, j.reals(shape, shift...)})
		}
		switch one := !slices.ContainsFunc(power, func(p float64) bool { return p != power[0] }); {
		case kind == corrected:
			x = j.emit("Mul", []string{factors, j.emit("Div", []string{n, x})})
		case one && power[0] == -1:
			x = j.emit("Div", []string{factors, x})
		case one && power[0] == -0.5:
			x = j.emit("Div", []string{factors, j.emit("Sqrt", []string{x})})
		case one && power[0] == 1:
			x = j.emit("Mul", []string{factors, x})
		default:
			x = j.emit("Mul", []string{factors, j.emit("Pow", []string{x, j.reals(shape, power...)})})
		}
	}
	if len(dims) == 0 {
		x = j.emit("Squeeze", []string{x})
	}
	return x, nil
}

// array computes a constant whose shape depends on the size.
func (j *join) array(arrays []array, elem format.DataType) (string, error) {
	whole := make([][]int64, len(arrays)) // the shapes
	for k, a := range arrays {
		whole[k] = a.dims
	}
	narrow := slices.Clone(arrays)
	for axis := range arrays[0].dims {
		if !slices.ContainsFunc(narrow, func(a array) bool { return !a.equalAlong(axis) }) {
			for k := range narrow {
				narrow[k] = narrow[k].first(axis)
			}
		}
	}
	x, err := j.narrow(narrow, elem)
	if err != nil {
		return "", err
	}
	shape, err := j.integers([]int64{int64(len(arrays[0].dims))}, whole, format.Int64)
	if err != nil {
		return "", err
	}
	return j.emit("Expand", []string{x, shape}), nil
}

// narrow computes an array that has size 1 along the axes on which nothing depends.
func (j *join) narrow(arrays []array, elem format.DataType) (string, error) {
	if sameDims(arrays) {
		same := !slices.ContainsFunc(arrays, func(a array) bool { return !slices.Equal(a.v, arrays[0].v) })
		switch {
		case same:
			x := j.reals(arrays[0].dims, arrays[0].v...)
			if elem != format.Double {
				x = j.cast(x, elem)
			}
			return x, nil
		case elem.IsFloat():
			return j.floats(arrays, elem)
		}
		exact := make([][]int64, len(arrays))
		for k, a := range arrays {
			for _, v := range a.v {
				exact[k] = append(exact[k], int64(v))
			}
		}
		return j.integers(arrays[0].dims, exact, elem)
	}
	if x, ok, err := j.ramp(arrays, elem); ok || err != nil {
		return x, err
	}
	if x, ok, err := j.sides(arrays, elem); ok || err != nil {
		return x, err
	}
	return "", fmt.Errorf("it has the shapes %v and %v at %v, and its elements follow no rule that is known", arrays[0].dims, arrays[1].dims, j.sizes[:2])
}

// ramp computes an array whose elements rise by equal steps along each axis.
func (j *join) ramp(arrays []array, elem format.DataType) (string, bool, error) {
	rank := len(arrays[0].dims)
	starts, steps := make([][]int64, len(arrays)), make([][][]int64, rank)
	for i := range steps {
		steps[i] = make([][]int64, len(arrays))
	}
	for k, a := range arrays {
		step := make([]float64, rank)
		for i, stride := range a.strides() {
			if a.dims[i] > 1 {
				step[i] = a.v[stride] - a.v[0]
			}
		}
		for at, v := range a.v {
			want := a.v[0]
			for i, p := range a.place(at) {
				want += step[i] * float64(p)
			}
			if v != want || v != math.Trunc(v) {
				return "", false, nil
			}
		}
		starts[k] = []int64{int64(a.v[0])}
		for i := range step {
			steps[i][k] = []int64{int64(step[i])}
		}
	}
	one := []int64{1}
	x, err := j.integers(one, starts, format.Int64)
	if err != nil {
		return "", false, err
	}
	for i := range rank {
		if !slices.ContainsFunc(steps[i], func(s []int64) bool { return s[0] != 0 }) {
			continue
		}
		by, err := j.integers(one, steps[i], format.Int64)
		if err != nil {
			return "", false, err
		}
		r, err := j.places(arrays, i)
		if err != nil {
			return "", false, err
		}
		x = j.emit("Add", []string{x, j.emit("Mul", []string{r, by})})
	}
	if elem != format.Int64 {
		x = j.cast(x, elem)
	}
	return x, true, nil
}

// places returns 0, 1, … along an axis, with size 1 along the others.
func (j *join) places(arrays []array, axis int) (string, error) {
	sizes := make([][]int64, len(arrays))
	for k, a := range arrays {
		sizes[k] = []int64{a.dims[axis]}
	}
	end, err := j.integers(nil, sizes, format.Int64)
	if err != nil {
		return "", err
	}
	r := j.emit("Range", []string{j.ints(nil, 0), end, j.ints(nil, 1)})
	shape := slices.Repeat([]int64{1}, len(arrays[0].dims))
	shape[axis] = -1
	return j.emit("Reshape", []string{r, j.ints([]int64{int64(len(shape))}, shape...)}), nil
}

// sides computes a matrix with one value below its diagonal, one on it and one above: a triangular
// mask, an identity.
func (j *join) sides(arrays []array, elem format.DataType) (string, bool, error) {
	var axes []int
	for i := range arrays[0].dims {
		if slices.ContainsFunc(arrays, func(a array) bool { return a.dims[i] != 1 }) {
			axes = append(axes, i)
		}
	}
	if len(axes) != 2 {
		return "", false, nil
	}
	var values [3][]array // below, on and above
	for _, a := range arrays {
		var found [3]bool
		var side [3]float64
		for at, v := range a.v {
			p := a.place(at)
			s := 1
			switch row, column := p[axes[0]], p[axes[1]]; {
			case column < row:
				s = 0
			case column > row:
				s = 2
			}
			if found[s] && side[s] != v && !(math.IsNaN(side[s]) && math.IsNaN(v)) {
				return "", false, nil
			}
			found[s], side[s] = true, v
		}
		for s := range values {
			values[s] = append(values[s], array{nil, []float64{side[s]}})
		}
	}
	within := format.Int64 // ONNX Runtime has no Where of bool, nor of half floats
	if elem.IsFloat() {
		within = format.Double
	}
	var names [3]string
	for s := range values {
		var err error
		if names[s], err = j.narrow(values[s], within); err != nil {
			return "", false, err
		}
	}
	rows, err := j.places(arrays, axes[0])
	if err != nil {
		return "", false, err
	}
	columns, err := j.places(arrays, axes[1])
	if err != nil {
		return "", false, err
	}
	off := j.emit("Where", []string{j.emit("Less", []string{columns, rows}), names[0], names[2]})
	return j.cast(j.emit("Where", []string{j.emit("Equal", []string{columns, rows}), names[1], off}), elem), true, nil
}

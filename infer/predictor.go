package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/fed"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Predictor predicts for any number of rows with nets for fixed numbers of them, commonly for a
// whole batch and for one row: it runs as many whole batches as there are, and the rest row by row.
// The prediction for a row must not depend on other rows, except for random numbers. It may be used
// by one goroutine at a time.
type Predictor struct {
	nets   []*predicting // the largest batch first
	inputs []Column
	output Column
	mixed  int // instructions that round their operands
}

// Column describes a predictor's input, or its output.
type Column struct {
	Name string     // the input's path, or the output's name, which may be ""
	Row  graph.Type // the type of one row: f32[p=64]
}

// String returns the name and the type: x f32[p=64].
func (in Column) String() string { return fmt.Sprintf("%s %v", in.Name, in.Row) }

// Forward is a net that predicts for a fixed number of rows at once.
type Forward struct {
	Rows   int         // at least 1
	Output *graph.Node // the prediction, with the rows as its first axis

	// Mixed rounds the operands of large products and convolutions to bfloat16, as tape.Mixed says: a
	// net for a batch may then predict other digits for a row than one for a single row, whose
	// products are small.
	Mixed bool
}

// Columns returns the inputs of the net for each row, which are those without a default that its
// output depends on, and its output. It is an error unless the rows are the first axis of all of
// them.
func (n Forward) Columns() (inputs []Column, output Column, err error) {
	switch {
	case n.Output == nil:
		return nil, output, errors.New("predictor: the net has no output")
	case !n.Output.IsValid():
		return nil, output, n.Output.Graph().Err()
	}
	if output, err = n.column(n.Output.Name(), n.Output); err != nil {
		return nil, output, fmt.Errorf("predictor: the output %w", err)
	}
	for _, in := range n.inputs() {
		c, err := n.column(in.Path(), in)
		if err != nil {
			return nil, output, fmt.Errorf("predictor: the input %w", err)
		}
		inputs = append(inputs, c)
	}
	if inputs == nil {
		return nil, output, fmt.Errorf("predictor: the output %v depends on no input", n.Output)
	}
	return inputs, output, nil
}

// column returns one row of a node.
func (n Forward) column(name string, of *graph.Node) (Column, error) {
	if of.Rank() == 0 || of.Dim(0) != n.Rows {
		return Column{}, fmt.Errorf("%v: want %d as its first axis, that of the rows", of, n.Rows)
	}
	s, err := graph.NewShape(of.Shape().Axes()[1:]...)
	return Column{name, graph.Type{DType: of.DType(), Shape: s}}, err
}

// inputs returns the inputs without a default that the output depends on.
func (n Forward) inputs() []*graph.Node {
	return slices.DeleteFunc(graph.Reachable(n.Output), func(in *graph.Node) bool {
		_, optional := in.Default()
		return in.Role() != graph.RoleInput || optional
	})
}

// predicting is a net that is compiled.
type predicting struct {
	Forward
	vm     *tape.VM
	inputs []*graph.Node
	feed   tape.Feed
}

// NewPredictor joins nets and a store, which must have all of their parameters and states. The rows
// must be the first axis of the output and of every input without a default; the nets may differ in
// the number of rows only. It uses at most workers cores, 0 for all. When ctx ends, it stops
// compiling.
//
// What a net makes of parameters and states alone is made in the first prediction, and again in the
// next one after they have changed, as tape.Once says: by tape.Store.Set and its like, or by a
// training step on the store.
func NewPredictor(ctx context.Context, store *tape.Store, workers int, nets ...Forward) (*Predictor, error) {
	if len(nets) == 0 {
		return nil, errors.New("predictor: want at least one net")
	}
	p := &Predictor{}
	for _, n := range slices.SortedStableFunc(slices.Values(nets), func(a, b Forward) int { return b.Rows - a.Rows }) {
		if err := p.add(ctx, store, workers, n); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

func (p *Predictor) add(ctx context.Context, store *tape.Store, workers int, n Forward) error {
	inputs, output, err := n.Columns()
	if err != nil {
		return err
	}
	if err := has(store, n.Output, graph.RoleParam, graph.RoleState); err != nil {
		return fmt.Errorf("predictor: %w", err)
	}
	if len(p.nets) > 0 && (output != p.output || !slices.Equal(inputs, p.inputs)) {
		return fmt.Errorf("predictor: the net for %d rows takes %v and gives %v, that for %d takes %v and gives %v", p.nets[0].Rows, p.inputs, p.output, n.Rows, inputs, output)
	}
	r := &predicting{Forward: n, feed: tape.Feed{}, inputs: n.inputs()}
	for _, in := range r.inputs {
		r.feed[in] = tape.Tensor(graph.NewValue(in.Type()))
	}
	options := []tape.Option{tape.Fetch(n.Output), tape.Once()}
	if n.Mixed {
		options = append(options, tape.Mixed())
	}
	prog, err := tape.CompileContext(ctx, n.Output.Graph(), options...)
	if err != nil {
		return err
	}
	if r.vm, err = prog.NewVM(store, tape.Workers(workers)); err != nil {
		return fmt.Errorf("predictor: %w", err)
	}
	p.mixed += prog.Mixed()
	p.nets, p.inputs, p.output = append(p.nets, r), inputs, output
	return nil
}

// has returns an error if the store lacks leaves that a node depends on, or has them in another
// type.
func has(store *tape.Store, root *graph.Node, roles ...graph.Role) error {
	var missing []string
	for _, n := range graph.Reachable(root) {
		if !slices.Contains(roles, n.Role()) {
			continue
		}
		switch t, ok := store.Type(n.Path()); {
		case !ok:
			missing = append(missing, n.Path())
		case t.DType != n.DType() || !t.Shape.SameSizes(n.Shape()):
			return fmt.Errorf("the model has %s of type %v, the stored values are %v", n.Path(), n.Type(), t)
		}
	}
	if missing != nil {
		return fmt.Errorf("there is no value for %s", strings.Join(missing, ", "))
	}
	return nil
}

// Inputs lists the inputs for each row.
func (p *Predictor) Inputs() []Column { return slices.Clone(p.inputs) }

// Output describes the output for each row.
func (p *Predictor) Output() Column { return p.output }

// Mixed returns how many instructions of all nets round their operands, because of [Forward].Mixed.
func (p *Predictor) Mixed() int {
	if p == nil {
		return 0
	}
	return p.mixed
}

// Predict returns the output for each row of a set, as an array whose first axis is the set's rows.
// The set has a column for each input, of its name; other columns are ignored. Numbers of another
// type are converted, and one that does not fit, such as 0.5 for an integer, is an error. The
// number of rows must be a multiple of that of the smallest net.
//
// A net with dropout or other noise draws new numbers for each row and in each call. The store
// counts the runs (tape.Store.Runs), so that an equal store, seed and sequence of calls predicts
// the same.
func (p *Predictor) Predict(ctx context.Context, set *data.Set) (*tensor.Dense, error) {
	if set == nil {
		return nil, errors.New("predict: there are no data")
	}
	columns, err := arrays(p.inputs, set)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	rows, least := set.Rows(), p.nets[len(p.nets)-1].Rows
	if rows%least != 0 {
		return nil, fmt.Errorf("predict: %d rows: want a multiple of %d, as no net of the model takes fewer", rows, least)
	}
	axes := append([]graph.Axis{{Size: rows}}, p.output.Row.Shape.Axes()...)
	shape, err := graph.NewShape(axes...)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	typ := graph.Type{DType: p.output.Row.DType, Shape: shape}
	result := tape.Tensor(graph.NewValue(typ))
	out, err := tape.ArrayOf(typ, result)
	if err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	for lo := 0; lo < rows; {
		n := p.nets[slices.IndexFunc(p.nets, func(n *predicting) bool { // the smallest net can do what is left
			return n.Rows <= rows-lo && (rows-lo-n.Rows)%least == 0
		})]
		if err := n.run(ctx, columns, lo, out); err != nil {
			return nil, fmt.Errorf("predict: %w", err)
		}
		lo += n.Rows
	}
	return result, nil
}

// arrays returns the columns of a set that inputs read.
func arrays(inputs []Column, set *data.Set) ([]tape.Array, error) {
	columns := make([]tape.Array, len(inputs))
	for i, in := range inputs {
		var err error
		if columns[i], err = in.array(set); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// array returns the column of a set that the input reads.
func (in Column) array(set *data.Set) (tape.Array, error) {
	t := set.Column(in.Name)
	if t == nil {
		return tape.Array{}, fmt.Errorf("the data have no column %s of %v a row; they have %v", in.Name, in.Row, set)
	}
	sizes := t.Shape()[1:]
	if !slices.Equal(sizes, in.Row.Shape.Sizes()) {
		return tape.Array{}, fmt.Errorf("%s: want %v a row, got %v", in.Name, in.Row, []int(sizes))
	}
	shape, err := graph.NewShape(append([]graph.Axis{{Size: set.Rows()}}, in.Row.Shape.Axes()...)...)
	if err != nil {
		return tape.Array{}, err
	}
	from := map[tensor.Dtype]graph.DType{tensor.Float32: graph.F32, tensor.Float64: graph.F64, tensor.Int32: graph.I32, tensor.Int64: graph.I64, tensor.Bool: graph.Bool, tensor.Int8: graph.I8, tensor.Uint8: graph.U8}[t.Dtype()]
	if (from == graph.Bool) != (in.Row.DType == graph.Bool) {
		return tape.Array{}, fmt.Errorf("%s: want elements of type %v, got %v", in.Name, in.Row.DType, from)
	}
	return tape.ArrayOf(graph.Type{DType: from, Shape: shape}, t)
}

// run predicts for as many rows as the net has, from row lo on.
func (n *predicting) run(ctx context.Context, columns []tape.Array, lo int, out tape.Array) error {
	if err := n.fill(n.feed, n.inputs, columns, lo); err != nil {
		return err
	}
	if err := n.vm.Run(ctx, n.feed); err != nil {
		return n.located(err, columns, lo)
	}
	v, err := n.vm.Value(n.Output)
	if err != nil {
		return err
	}
	from, err := tape.ArrayOf(n.Output.Type(), v)
	if err != nil {
		return err
	}
	size := n.Output.Shape().Len()
	move(out, lo*size/n.Rows, from, 0, size)
	return nil
}

// fill copies as many rows as the net has, from row lo on, into a feed.
func (n Forward) fill(feed tape.Feed, inputs []*graph.Node, columns []tape.Array, lo int) error {
	for i, in := range inputs {
		to, err := tape.ArrayOf(in.Type(), feed[in])
		if err != nil {
			return err
		}
		size := in.Shape().Len()
		if k, ok := move(to, 0, columns[i], lo*size/n.Rows, size); !ok {
			return fmt.Errorf("%s: row %d: %v does not fit into %v", in.Path(), lo+k*n.Rows/size, columns[i].At(lo*size/n.Rows+k), in.DType())
		}
	}
	return nil
}

// located adds to the error of a refused index the column and the row of the data in which it is,
// if it is there; the rows of the run begin at lo.
func (n *predicting) located(err error, columns []tape.Array, lo int) error {
	outside := new(trait.IndexError)
	if !errors.As(err, &outside) {
		return err
	}
	in, at := fed.From(outside)
	if in == nil {
		return err
	}
	i := slices.IndexFunc(n.inputs, func(own *graph.Node) bool { return own.Path() == in.Path() }) // in may be of the graph that was run
	if i < 0 {
		return err
	}
	row := in.Shape().Len() / n.Rows
	return fmt.Errorf("%s in column %q, row %d: %w", strconv.FormatFloat(columns[i].At(lo*row+at), 'f', -1, 64), in.Path(), lo+at/row, outside)
}

// move copies n elements, and returns the place of the first that does not fit.
func move(to tape.Array, at int, from tape.Array, lo, n int) (bad int, ok bool) {
	switch {
	case to.Type.DType != from.Type.DType:
		for i := range n {
			x := from.At(lo + i)
			if to.Type.DType.IsInt() && !whole(x, to.Type.DType) {
				return i, false
			}
			to.Set(at+i, x)
		}
	case to.F32 != nil:
		copy(to.F32[at:at+n], from.F32[lo:])
	case to.F64 != nil:
		copy(to.F64[at:at+n], from.F64[lo:])
	case to.I32 != nil:
		copy(to.I32[at:at+n], from.I32[lo:])
	case to.I64 != nil:
		copy(to.I64[at:at+n], from.I64[lo:])
	case to.Bool != nil:
		copy(to.Bool[at:at+n], from.Bool[lo:])
	case to.Half != nil:
		copy(to.Half[at:at+n], from.Half[lo:])
	case to.I8 != nil:
		copy(to.I8[at:at+n], from.I8[lo:])
	default:
		copy(to.U8[at:at+n], from.U8[lo:])
	}
	return 0, true
}

// whole reports whether a number is a value of an integer type; beyond 2⁵³ float64 cannot tell.
func whole(x float64, dt graph.DType) bool {
	if dt == graph.I64 {
		return x == math.Trunc(x) && math.Abs(x) <= 1<<53
	}
	return dt.Check(x) == nil
}

// Close releases the predictor; a later Predict returns an error.
func (p *Predictor) Close() {
	for _, n := range p.nets {
		n.vm.Close()
	}
}

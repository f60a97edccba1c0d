package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/importer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// The losses that a file can be given, by their names in the setting loss.
const (
	lossNone    = "none"
	lossOwn     = "own"
	lossSquares = "squares"
	lossEntropy = "crossentropy"
	lossSum     = "sum"
)

// Build makes the model in float32 or float64, which replaces the float32 of the file; other types
// stay. See [File.Builder] for the settings.
func (f *File) Build(settings builders.Settings, dt graph.DType) (*builders.Model, error) {
	if f == nil || f.model == nil {
		return nil, errors.New("the file is nil (onnx.Open makes one)")
	}
	return f.Builder().Build(settings, dt)
}

// Builder returns the file as a builder like those of the registry, to be used wherever one of
// those is. Its settings are
//
//   - the sizes that the file leaves open, by their names there; their defaults are small ones for
//     which the model fits together,
//   - each input that is one integer, by its name: 0 if it is fed in each run, or else the value
//     that it has,
//   - output, the output that the model is for, where there are several,
//   - loss: none, own if an output is one, sum, the sum of the output's elements, squares, the mean
//     squared difference from an input target, or crossentropy, of an output of scores or
//     probabilities and an input label with the indices of the right ones.
//
// Weights are parameters, which a fresh store starts at the values in the file; running statistics
// of normalisations are states. Kernels of convolutions, matrices of Gemm and weights of recurrent
// layers have their axes in our order, [h w in out] and [in out], unless something else reads them
// too: in that of the file they would be transposed in each run. Nodes have the scopes and names of the file, and the number of the
// node in it as the line of their position. Axes are named by the denotations and symbols of the
// file, unless these contradict each other. Examples are normal numbers, and indices within the
// axis that they index.
func (f *File) Builder() builders.Builder {
	if f == nil || f.model == nil {
		return builders.Builder{}
	}
	f.once.Do(func() { f.choice = f.choose() })
	b := builders.Builder{Name: f.name, Title: f.Title(), Notes: f.name, Formula: f.formula(), Hyperparameters: slices.Clone(f.choice.settings)}
	return builders.Define(b, f.fill)
}

// formula returns what the file maps to what.
func (f *File) formula() string {
	list := func(vs []*format.Value) string {
		var out []string
		for _, v := range vs {
			out = append(out, importer.Cut(v.Name))
		}
		return strings.Join(out, ", ")
	}
	return list(f.outputs()) + " = " + f.Title() + "(" + list(f.inputs()) + ")"
}

// inputs returns what is fed: the inputs without the weights, which older files list too.
func (f *File) inputs() []*format.Value {
	weights := map[string]bool{}
	for _, t := range f.model.Graph.Init {
		weights[t.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(f.model.Graph.Inputs), func(v *format.Value) bool { return weights[v.Name] })
}

// outputs returns the outputs that are neither derivatives nor new values of what a step updates.
func (f *File) outputs() []*format.Value {
	next := map[string]bool{}
	for _, name := range f.meta.updates {
		next[name] = true
	}
	for name := range f.meta.derivatives {
		next[name] = true
	}
	var out []*format.Value
	for _, v := range f.model.Graph.Outputs {
		if !next[v.Name] {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return f.model.Graph.Outputs
	}
	return out
}

// fill defines the model; see [builders.Define].
func (f *File) fill(s builders.Settings, dt graph.DType, m *builders.Model) {
	c := &f.choice
	output := c.outputs[min(s.Int("output"), len(c.outputs)-1)]
	loss := c.losses[min(s.Int("loss"), len(c.losses)-1)]
	wanted := []string{output}
	if loss == lossOwn {
		wanted = append(wanted, c.own)
	}
	r, g, err := f.into(m.Graph.Name(), s, dt, wanted, true, false)
	if err != nil {
		// Names that contradict each other are no part of the model.
		if plain, h, again := f.into(m.Graph.Name(), s, dt, wanted, false, false); again == nil {
			r, g, err = plain, h, nil
		}
	}
	if err != nil {
		m.Graph.During(graph.Occurrence{}, graph.Origin{}, func() { m.Graph.Fail("import", err) })
		return
	}
	m.Graph, m.Output = g, r.Values[output]
	if m.Output == nil {
		m.Graph.During(graph.Occurrence{}, graph.Origin{}, func() {
			m.Graph.Fail("import", fmt.Errorf("the output %q is no tensor of numbers", importer.Cut(output)))
		})
		return
	}
	g.During(graph.Occurrence{}, graph.Origin{}, func() {
		switch loss {
		case lossOwn:
			if m.Loss = r.Values[c.own]; m.Loss == nil || m.Loss.Shape().Len() != 1 || !m.Loss.DType().IsFloat() {
				m.Loss = g.Fail("loss", fmt.Errorf("the file says that %q is one number, and it is %v", importer.Cut(c.own), m.Loss))
			} else if m.Loss.Rank() > 0 {
				m.Loss = ops.Reshape(m.Loss).As("loss")
			}
		case lossSum:
			m.Loss = ops.Sum(floats(m.Output, dt)).As("loss")
		case lossSquares:
			y := floats(m.Output, dt)
			m.Loss = nn.SquaredError(y, g.Input(free(g, "target"), y.DType(), y.Shape().Axes()...)).As("loss")
		case lossEntropy:
			m.Loss = crossEntropy(floats(m.Output, dt)).As("loss")
		}
	})
	if m.Graph.Err() == nil {
		f.finish(m, r)
	}
	m.Examples = f.examples(m)
}

// finish leaves in the graph what the output and the loss need, and assigns what the file updates.
func (f *File) finish(m *builders.Model, r *importer.Result) {
	steps, roots := f.steps(), []*graph.Node{m.Output}
	if m.Loss != nil {
		roots = append(roots, m.Loss)
	}
	first := len(roots)
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		if to, from := m.Graph.Lookup(name), r.Values[steps[name]]; to != nil && from != nil && to.Role() == graph.RoleState {
			roots = append(roots, to, from)
		}
	}
	g, copies := tidied(m.Graph, roots...)
	m.Graph, m.Output = g, copies[0]
	if m.Loss != nil {
		m.Loss = copies[1]
	}
	for i := first; i < len(copies); i += 2 {
		m.Step = append(m.Step, g.Assign(copies[i], copies[i+1]))
	}
}

// steps returns the new values of states that the file assigns by itself, such as running
// statistics. A step that trains parameters is that of an optimiser, which the one who trains the model
// chooses.
func (f *File) steps() map[string]string {
	for name := range f.meta.updates {
		if _, trained := f.meta.roles.Params[name]; trained {
			return nil
		}
	}
	return f.meta.updates
}

// free returns a name that no leaf has.
func free(g *graph.Graph, name string) string {
	for n := name; ; n += "_" {
		if g.Lookup(n) == nil {
			return n
		}
	}
}

// floats returns n as numbers that a loss is made of.
func floats(n *graph.Node, dt graph.DType) *graph.Node {
	if n.DType().IsFloat() && !n.DType().IsHalf() {
		return n
	}
	return ops.Cast(n, dt)
}

// crossEntropy returns the loss of scores, or of the logarithms of probabilities, along the last axis, of
// images [n c h w] along the second.
func crossEntropy(y *graph.Node) *graph.Node {
	if y.Rank() == 0 {
		return y.Graph().Fail("crossentropy", &graph.Mistake{Problem: "the output is one number", Fix: "want scores of classes along its last axis"}, y)
	}
	if _, _, probabilities := match.SoftmaxAxis(y); probabilities {
		y = ops.Log(y)
	}
	if y.Rank() > 3 {
		order := []any{0}
		for i := 2; i < y.Rank(); i++ {
			order = append(order, i)
		}
		y = ops.Transpose(y, append(order, 1)...)
	}
	axes := y.Shape().Axes()
	g := y.Graph()
	return nn.CrossEntropy(y, g.Input(free(g, "label"), graph.I64, axes[:len(axes)-1]...))
}

// into imports the file, as far as wanted needs it, into a graph of its own.
func (f *File) into(title string, s builders.Settings, dt graph.DType, wanted []string, names, trial bool) (*importer.Result, *graph.Graph, error) {
	g := graph.New(title, dt)
	o := importer.Options{File: f.Title() + Extension, Sizes: map[string]int{}, Float: dt, Names: names, Trial: trial, Roles: f.meta.roles, Known: map[string]*format.Tensor{}, Outputs: wanted}
	for _, next := range f.steps() {
		o.Outputs = append(o.Outputs, next)
	}
	for _, y := range f.choice.symbols {
		o.Sizes[y.Name] = s.Int(y.Name)
	}
	for setting, v := range f.choice.integers {
		if n := s[setting]; n != 0 {
			t := format.IntsOf(v.Name, nil, int64(n))
			for range v.Type.Dims {
				t.Dims = append(t.Dims, 1)
			}
			o.Known[v.Name] = t
		}
	}
	r, err := importer.Import(g, f.model, o)
	return r, g, err
}

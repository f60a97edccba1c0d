package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
)

// evaluation holds the flags of eval.
type evaluation struct {
	modelOptions
	params, feed string
	wrt          []string
}

func newEval(o *options) *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "eval MODEL",
		Short: "Evaluate a model at given values: every quantity, and the gradients",
		Long: `Evaluates a model at the values of two files, one of parameters and states and one of
inputs: JSON objects of nested lists by name, as {"r": [[0, 1], [2, 3]]}, arrays of an .npz,
a .safetensors file, or a folder of checkpoints. Sizes follow from the arrays. It prints the
loss, every named quantity, the gradients of the loss, and the values after the model's own
step if it has one. What the files do not have is as training begins with it, from the seed:
start values, and examples of the model. It says which these are.`,
		Example: "  tapestry eval kmeans-goofy --params centres.json --feed points.json --set gamma=2 --json\n  tapestry eval attention-self --set t=3 --wrt x",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.run(cmd, o, args[0])
		},
	}
	cmd.Flags().StringSliceVar(&e.set, "set", nil, "sizes and settings of the model: gamma=2")
	cmd.Flags().StringVar(&e.dtype, "dtype", "f64", trainingDType)
	e.notes.flags(cmd)
	cmd.Flags().StringVar(&e.params, "params", "", "parameters and states: .json, .npz, .safetensors, or a folder of checkpoints (default: as training begins from the seed)")
	cmd.Flags().StringVar(&e.feed, "feed", "", "inputs: .json, .npz or .safetensors (default: examples of the model, and defaults)")
	cmd.Flags().StringSliceVar(&e.wrt, "wrt", nil, "take the gradients by these parameters and inputs (default: by what training changes)")
	return cmd
}

func (e *evaluation) run(cmd *cobra.Command, o *options, name string) error {
	if err := e.notes.check(name); err != nil {
		return err
	}
	b, err := e.notes.lookup(name)
	if err != nil {
		return err
	}
	settings, dt, err := e.settings(b)
	if err != nil {
		return err
	}
	params, err := readArrays(e.params)
	if err != nil {
		return err
	}
	feed, err := readArrays(e.feed)
	if err != nil {
		return err
	}
	m, err := sizedBy(b, settings, dt, params, feed)
	if err != nil {
		return err
	}
	if err := m.Room(m.Graph.Nodes()...); err != nil {
		return err
	}
	e.notes.tell(m)
	v := &evaluated{model: m}
	store, err := v.store(params, o.seed)
	if err != nil {
		return err
	}
	fed, err := v.fed(feed, o.seed)
	if err != nil {
		return err
	}
	for _, f := range []*arraysFile{params, feed} {
		if names := f.unused(); len(names) > 0 {
			return fmt.Errorf("%s: %s has no %s: it has %s", f.name, b.Name, strings.Join(names, ", "), strings.Join(leafPaths(m, f == feed), ", "))
		}
	}
	if err := v.take(cmd.Context(), e.wrt, fed, store); err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), v.json())
	}
	return v.print(cmd.OutOrStdout())
}

// sizedBy builds a model whose leaves have the shapes of the arrays that are given for them. Settings
// that are given stay as they are.
func sizedBy(b builders.Builder, given builders.Settings, dt graph.DType, files ...*arraysFile) (*builders.Model, error) {
	m, err := b.Build(given, dt)
	if err != nil {
		return nil, usageError{err}
	}
	settings := maps.Clone(m.Settings)
	for {
		bad, axis, want, misfits := misfit(m, files)
		if misfits == 0 {
			return m, nil
		}
		file := files[0].name
		if bad.Role() == graph.RoleInput {
			file = files[1].name
		}
		if axis < 0 {
			return nil, fmt.Errorf("%s: %s has the shape %v: %s reads %v, and wants lists nested %d deep", file, bad.Path(), want, b.Name, bad, bad.Rank())
		}
		fits := false
		for _, z := range b.Hyperparameters {
			size := settings[z.Name] + float64(want[axis]-bad.Dim(axis))
			if _, fixed := given[z.Name]; fixed || z.Kind != builders.Count || size < 1 {
				continue
			}
			trial := maps.Clone(settings)
			trial[z.Name] = size
			other, err := b.Build(trial, dt)
			if err != nil {
				continue
			}
			if _, _, _, left := misfit(other, files); left < misfits {
				m, settings, fits = other, trial, true
				break
			}
		}
		if !fits {
			return nil, fmt.Errorf("%s: %s has the shape %v: %s reads %v, and no setting that --set leaves open makes it fit", file, bad.Path(), want, b.Name, bad)
		}
	}
}

// misfit returns the first leaf whose array has another shape, with the first axis that differs, or
// -1 for another number of axes, and the number of axes that differ in all.
func misfit(m *builders.Model, files []*arraysFile) (bad *graph.Node, axis int, want []int, count int) {
	for _, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		f := files[0]
		if n.Role() == graph.RoleInput {
			f = files[1]
		}
		a := f.arrays[n.Path()]
		switch {
		case a == nil:
			continue
		case len(a.shape) != n.Rank():
			return n, -1, a.shape, 1
		}
		for i, size := range a.shape {
			if size != n.Dim(i) {
				if count++; bad == nil {
					bad, axis, want = n, i, a.shape
				}
			}
		}
	}
	return bad, axis, want, count
}

// leafPaths returns the paths of the inputs, or of the parameters and states.
func leafPaths(m *builders.Model, inputs bool) []string {
	roles := []graph.Role{graph.RoleParam, graph.RoleState}
	if inputs {
		roles = []graph.Role{graph.RoleInput}
	}
	var out []string
	for _, n := range m.Graph.Leaves(roles...) {
		out = append(out, n.Path())
	}
	return out
}

// evaluated is a model with the values of its nodes.
type evaluated struct {
	model     *builders.Model
	begun     []string // leaves whose values no file has: start values and examples
	leaves    []*graph.Node
	named     []*graph.Node
	wrt       []*graph.Node
	gradients []*graph.Node // by wrt
	record    *inspect.Record
}

// store returns the parameters and states of the file, and others as training begins from the seed.
func (v *evaluated) store(f *arraysFile, seed uint64) (*tape.Store, error) {
	store, err := lab.NewStore(v.model, seed)
	if err != nil {
		return nil, err
	}
	for _, n := range v.model.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		a := f.take(n.Path())
		if a == nil {
			if _, _, own := n.Initialiser().Custom(); !own { // the weights of an ONNX file
				v.begun = append(v.begun, n.Path())
			}
			continue
		}
		if err := store.Set(n.Path(), tape.Tensor(graph.Value{Type: n.Type(), Data: a.data})); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.name, n.Path(), err)
		}
	}
	return store, nil
}

// fed returns the inputs of the file, and for others a batch of the model's examples.
func (v *evaluated) fed(f *arraysFile, seed uint64) (tape.Feed, error) {
	m := v.model
	feed, err := lab.Examples(m, seed, 0)
	if err != nil {
		return nil, err
	}
	for _, n := range m.Graph.Leaves(graph.RoleInput) {
		_, fixed := n.Default()
		switch a := f.take(n.Path()); {
		case a != nil:
			if err := n.DType().Check(a.data...); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", f.name, n.Path(), err)
			}
			feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: a.data})
		case feed[n] != nil:
			v.begun = append(v.begun, n.Path())
		case !fixed:
			return nil, usagef("%s reads %v: want it in --feed", m.Builder.Name, n)
		}
	}
	return feed, nil
}

// take runs the model and keeps all values.
func (v *evaluated) take(ctx context.Context, wrt []string, feed tape.Feed, store *tape.Store) (err error) {
	m := v.model
	v.leaves = m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState)
	roots := []*graph.Node{m.Result()}
	for _, u := range m.Step {
		roots = append(roots, u.Value)
	}
	for _, n := range graph.Reachable(roots...) {
		if n.Role() == graph.RoleOp && n.Name() != "" {
			v.named = append(v.named, n)
		}
	}
	if m.Output != nil && !slices.Contains(v.named, m.Output) && m.Output.Role() == graph.RoleOp {
		v.named = append(v.named, m.Output)
	}
	switch {
	case len(wrt) > 0 && m.Loss == nil:
		return usagef("--wrt: %s has no loss to differentiate", m.Builder.Name)
	case len(wrt) > 0:
		for _, name := range wrt {
			n := m.Graph.Lookup(greek.Symbol(name))
			if n == nil {
				n = m.Graph.Lookup(onnx.Path(name))
			}
			if n == nil || !n.DType().IsFloat() {
				return usagef("--wrt %s: %s has no such parameter, state or input of floats: it has %s", name, m.Builder.Name, strings.Join(append(leafPaths(m, false), leafPaths(m, true)...), ", "))
			}
			v.wrt = append(v.wrt, n)
		}
	default:
		v.wrt = lab.Wrt(m)
	}
	if len(v.wrt) > 0 {
		v.gradients = grad.OrZero(m.Loss, v.wrt...)
	}
	if err := m.Graph.Err(); err != nil {
		return err
	}
	roots = slices.Concat(roots, v.named, v.leaves, v.gradients)
	v.record, err = inspect.Take(ctx, feed, store, roots...)
	return err
}

// title returns a name that tells a node apart from others of its name.
func (v *evaluated) title(n *graph.Node) string {
	name := n.Label()
	if slices.ContainsFunc(v.named, func(o *graph.Node) bool { return o != n && o.Label() == name }) && n.First().Scope != "" {
		return n.First().Scope + "/" + name
	}
	return name
}

// print writes every value as a table.
func (v *evaluated) print(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", v.model.Builder.Name)
	if len(v.begun) > 0 {
		fmt.Fprintf(w, "in no file, and so as training begins from the seed: %s\n", strings.Join(v.begun, ", "))
	}
	write := func(name string, n *graph.Node) {
		fmt.Fprintf(w, "\n%s", inspect.Values(name, v.record.Value(n), inspect.Window{Digits: 6}))
	}
	for _, n := range slices.Concat(v.leaves, v.named) {
		write(v.title(n), n)
	}
	for i, d := range v.gradients {
		write("∂"+v.title(v.model.Loss)+"/∂"+v.title(v.wrt[i]), d)
	}
	for _, u := range v.model.Step {
		write(u.Target.Path()+" after the step", u.Value)
	}
	return nil
}

// valueJSON is one value: its axes, and its numbers as nested lists.
type valueJSON struct {
	Axes  []string `json:"axes"`
	Shape []int    `json:"shape"`
	Value any      `json:"value"`
}

// json returns every value for programs.
func (v *evaluated) json() any {
	out := struct {
		Model      string               `json:"model"`
		DType      string               `json:"dtype"`
		Settings   builders.Settings    `json:"settings"`
		Begun      []string             `json:"begun,omitempty"` // in no file: as training begins
		Loss       *jsonNumber          `json:"loss,omitempty"`
		Inputs     map[string]valueJSON `json:"inputs"`
		Params     map[string]valueJSON `json:"params"`
		Quantities map[string]valueJSON `json:"quantities"`
		Gradients  map[string]valueJSON `json:"gradients"`
		Next       map[string]valueJSON `json:"next,omitempty"` // after the model's own step
	}{Model: v.model.Builder.Name, DType: v.model.Result().DType().String(), Settings: v.model.Settings, Begun: v.begun,
		Inputs: map[string]valueJSON{}, Params: map[string]valueJSON{}, Quantities: map[string]valueJSON{}, Gradients: map[string]valueJSON{}, Next: map[string]valueJSON{}}
	if l := v.model.Loss; l != nil {
		loss := jsonNumber(v.record.Value(l).At(0))
		out.Loss = &loss
	}
	for _, n := range v.leaves {
		if n.Role() == graph.RoleInput {
			out.Inputs[n.Path()] = v.value(n)
		} else {
			out.Params[n.Path()] = v.value(n)
		}
	}
	for _, n := range v.named {
		out.Quantities[v.title(n)] = v.value(n)
	}
	for i, d := range v.gradients {
		out.Gradients[v.title(v.wrt[i])] = v.value(d)
	}
	for _, u := range v.model.Step {
		out.Next[u.Target.Path()] = v.value(u.Value)
	}
	return out
}

func (v *evaluated) value(n *graph.Node) valueJSON {
	out := valueJSON{Axes: []string{}, Shape: n.Shape().Sizes()}
	for _, a := range n.Shape().Axes() {
		out.Axes = append(out.Axes, a.Name)
	}
	if out.Shape == nil {
		out.Shape = []int{}
	}
	a, next := v.record.Value(n), 0
	var nest func(axis int) any
	nest = func(axis int) any {
		if axis == len(out.Shape) {
			next++
			return jsonNumber(a.At(next - 1))
		}
		list := make([]any, out.Shape[axis])
		for i := range list {
			list[i] = nest(axis + 1)
		}
		return list
	}
	out.Value = nest(0)
	return out
}

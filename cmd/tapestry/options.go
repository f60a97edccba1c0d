package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// options are shared by all commands.
type options struct {
	args []string // as typed
	json bool
	seed uint64
}

// modelOptions select and size a model.
type modelOptions struct {
	set   []string
	dtype string
	notes asNotes
	rows  *fitting // the data given to models; nil for commands without data
	seed  uint64   // assigns the rows that are held out
}

// The help of --dtype, whose default differs: float32 is what models are deployed in, float64 is
// what numbers are compared in.
const (
	showingDType  = "element type: f32 or f64, and f16 or bf16 where nothing is trained (train, compare, step, look, eval and geometry have f64 unless told otherwise)"
	trainingDType = "element type: f32 or f64 (commands other than train, compare, step, look, eval and geometry have f32 unless told otherwise)"
)

// flags adds the flags that select the sizes and the element type.
func (m *modelOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&m.set, "set", nil, "sizes and settings of the model: n=150,k=3,gamma=2; those of one model may stand behind its name, 'MODEL{k=3}'")
	cmd.Flags().StringVar(&m.dtype, "dtype", "f32", showingDType)
	m.notes.flags(cmd)
}

// dataFlags adds the flags that give the model data.
func (m *modelOptions) dataFlags(cmd *cobra.Command) {
	m.rows = new(fitting)
	m.rows.flags(cmd, "")
	m.rows.cutFlags(cmd)
}

// build returns the named model, with data if some are given. An error in the name, the sizes or
// the element type is a mistake in the command line.
func (m *modelOptions) build(name string) (*builders.Model, error) {
	if err := m.notes.check(name); err != nil {
		return nil, err
	}
	b, err := m.notes.lookup(name)
	if err != nil {
		return nil, err
	}
	s, dt, err := m.settings(b)
	if err != nil {
		return nil, err
	}
	if m.rows != nil {
		if err := m.rows.alone(); err != nil {
			return nil, err
		}
	}
	if m.rows.hasData() {
		f, err := m.rows.to(b, s, dt, m.seed)
		if err != nil {
			return nil, err
		}
		model, err := f.Model()
		if err == nil {
			m.notes.tell(model)
		}
		return model, err
	}
	model, err := b.Build(s, dt)
	if err != nil {
		return nil, usageError{err}
	}
	m.notes.tell(model)
	return model, nil
}

// settings returns the settings of a model, those of its name and those of --set, and its element
// type. A setting of both with two values is an error.
func (m *modelOptions) settings(b builders.Builder) (builders.Settings, graph.DType, error) {
	s := builders.Settings{}
	maps.Copy(s, b.Fixed)
	for _, kv := range m.set {
		key, text, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, 0, usagef("--set %q: want name=value", kv)
		}
		i := slices.IndexFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == key })
		v, err := 0.0, error(nil)
		if i >= 0 { // otherwise Build reports it
			v, err = b.Hyperparameters[i].Parse(text)
		}
		if err != nil {
			return nil, 0, usagef("--set %s: %w", kv, err)
		}
		if fixed, is := b.Fixed[key]; is && fixed != v {
			return nil, 0, usagef("--set %s: %s says %s = %s", kv, b.Name, key, b.Hyperparameters[i].Format(fixed))
		}
		s[key] = v
	}
	dt, err := shownDType(m.dtype)
	return s, dt, err
}

// runnable returns the named model after checking that there is memory for its examples and, with
// all, for the float64 values of all its nodes.
func (m *modelOptions) runnable(name string, all bool) (*builders.Model, error) {
	model, err := m.build(name)
	if err != nil {
		return nil, err
	}
	var held []*graph.Node
	if all {
		held = model.Graph.Nodes()
	}
	return model, model.Room(held...)
}

// shownDType returns the element type of a model that is shown, checked or computed, which may have
// two bytes; one that is trained may not.
func shownDType(s string) (graph.DType, error) {
	switch s {
	case "f16", "float16":
		return graph.F16, nil
	case "bf16", "bfloat16":
		return graph.BF16, nil
	}
	dt, err := parseDType(s)
	if err != nil {
		err = usagef("--dtype %q: want f32, f64, f16 or bf16", s)
	}
	return dt, err
}

// parseDType returns the element type of a model that is trained.

func parseDType(s string) (graph.DType, error) {
	switch s {
	case "f32", "float32":
		return graph.F32, nil
	case "f64", "float64":
		return graph.F64, nil
	}
	if dt, err := graph.ParseDType(s); err == nil && dt.IsHalf() {
		return 0, usagef("--dtype %s: want f32 or f64: parameters are not trained in %s (a program of its own casts them, with ops.Cast, where they are used)", s, s)
	}
	return 0, usagef("--dtype %q: want f32 or f64", s)
}

// optimiser returns the named optimiser, one of train.Names.
func optimiser(name string, rate float64, options ...train.Option) (train.Optimiser, error) {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return train.Optimiser{}, usagef("--rate %v: want a positive number", rate)
	}
	o, err := train.Named(name, rate, options...)
	if err != nil {
		return o, usagef("--optimiser %w", err)
	}
	return o, nil
}

// graphStep returns the training step of a model as nodes of its graph.
func graphStep(m *builders.Model, o train.Optimiser) (graph.Step, error) {
	switch {
	case m.Loss == nil:
		return nil, fmt.Errorf("%s has %w", m.Builder.Name, lab.ErrNoLoss)
	case o.Searches():
		return nil, usagef("--optimiser %s: it finds the length of a step by computing the loss again and again, which is no graph", o.Name())
	}
	step := lab.TrainingStep(m, o)
	if len(step) == 0 && m.Graph.Err() == nil {
		return nil, fmt.Errorf("%s has nothing to train: its loss depends on no parameter", m.Builder.Name)
	}
	return step, nil
}

// printJSON prints a value as a line of JSON. Numbers that JSON cannot express (NaN) become null
// if their type is jsonNumber.
func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escaped(text.Bytes()))
	return err
}

// escaped returns JSON with control characters and the like, which a terminal would obey, as
// \uXXXX. The values are the same to any reader.
func escaped(text []byte) []byte {
	if bytes.IndexFunc(text, func(r rune) bool { return !terminal.Shows(r) }) < 0 {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if terminal.Shows(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = fmt.Appendf(b, "\\u%04x", unit)
		}
	}
	return b
}

// jsonNumber is a float64 that prints as null if it is not finite.
type jsonNumber float64

// MarshalJSON prints the shortest decimal, or null.
func (v jsonNumber) MarshalJSON() ([]byte, error) {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

func jsonNumbers(v []float64) []jsonNumber {
	out := make([]jsonNumber, len(v))
	for i, x := range v {
		out[i] = jsonNumber(x)
	}
	return out
}

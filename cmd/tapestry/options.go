package main

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
)

// options are what all commands share.
type options struct {
	args []string // as typed
	json bool
	seed uint64
}

// modelOptions choose and size a model.
type modelOptions struct {
	set   []string
	dtype string
}

// flags adds the flags that say so.
func (m *modelOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&m.set, "set", nil, "sizes and settings of the model: n=150,k=3,gamma=2")
	cmd.Flags().StringVar(&m.dtype, "dtype", "f32", "element type: f32 or f64")
}

// build makes the model of that name. What is wrong with the name, the sizes or
// the element type is a mistake in the command line.
func (m *modelOptions) build(name string) (*builders.Model, error) {
	b, err := lookup(name)
	if err != nil {
		return nil, err
	}
	s := builders.Settings{}
	for _, kv := range m.set {
		key, text, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usagef("--set %q: want name=value", kv)
		}
		i := slices.IndexFunc(b.Sizes, func(z builders.Size) bool { return z.Name == key })
		v, err := 0.0, error(nil)
		if i >= 0 { // else Build says so
			v, err = b.Sizes[i].Parse(text)
		}
		if err != nil {
			return nil, usagef("--set %s: %w", kv, err)
		}
		s[key] = v
	}
	dt, err := parseDType(m.dtype)
	if err != nil {
		return nil, err
	}
	model, err := b.Build(s, dt)
	if err != nil {
		return nil, usageError{err}
	}
	return model, nil
}

func parseDType(s string) (graph.DType, error) {
	switch s {
	case "f32", "float32":
		return graph.F32, nil
	case "f64", "float64":
		return graph.F64, nil
	}
	return 0, usagef("--dtype %q: want f32 or f64", s)
}

// optimiser makes the optimiser called name, one of train.Names.
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

// printJSON prints a value for machines, an object a line. What JSON cannot
// hold (NaN) becomes null in jsonNumber.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// jsonNumber is a float64 whose NaN and infinities print as null.
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

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/notation"
)

// families returns the models that the commands know: the registry, and in tests a few more.
var families = builders.Families

// lookup finds a model: a known one, or a file in the notation or of ONNX, with the settings that its name has
// in braces. An unknown name is a mistake in the command line, and so are such settings; a mistake
// in a file is not.
func lookup(name string) (builders.Builder, error) {
	base, braces, given := cutSettings(name)
	b, err := lookupBase(base)
	if err != nil || !given {
		return b, err
	}
	settings, err := b.ParseSettings(braces)
	if err != nil {
		return b, usagef("%s: %w", name, err)
	}
	if b, err = b.With(settings); err != nil {
		return b, usagef("%s: %w", name, err)
	}
	b.Name = name
	return b, nil
}

// sameModel reports whether two names are of one model: that of the same name without settings, with
// the same settings in braces, in whatever order.
func sameModel(a, b builders.Builder) bool {
	base, _, _ := cutSettings(a.Name)
	other, _, _ := cutSettings(b.Name)
	return base == other && maps.Equal(a.Fixed, b.Fixed)
}

// lookupBase finds a model by its name without settings.
func lookupBase(name string) (builders.Builder, error) {
	if isONNX(name) {
		f, err := openONNX(name)
		if err != nil {
			return builders.Builder{}, err
		}
		return f.Builder(), nil
	}
	if isFile(name) {
		f, err := readObjective(name)
		if err != nil {
			return builders.Builder{}, err
		}
		return f.Builder(), nil
	}
	for _, f := range families() {
		for _, b := range f.Builders {
			if b.Name == name {
				return b, nil
			}
		}
	}
	b, err := builders.Lookup(name)
	if err == nil {
		return b, nil
	}
	for _, ending := range []string{notation.Extension, onnx.Extension} {
		if _, missing := os.Stat(name + ending); missing == nil {
			return b, usagef("%w %q: did you mean the file %s?", builders.ErrUnknown, name, name+ending)
		}
	}
	if strings.ContainsAny(name, "={}") { // what a shell makes of braces without quotes
		return b, usagef("%w %q: want settings in braces, quoted for the shell: 'MODEL{setting=value,…}'", builders.ErrUnknown, name)
	}
	return b, usageError{err}
}

// cutSettings splits a model's name, as in init{weights=he}, into the name without settings and
// what its braces hold. It reports whether there are braces.
func cutSettings(name string) (base, braces string, given bool) {
	text, closed := strings.CutSuffix(name, "}")
	i := strings.LastIndexByte(text, '{') // folders may have braces of their own
	if !closed || i <= 0 {
		return name, "", false
	}
	return text[:i], text[i+1:], true
}

// isFile reports whether a model's name is that of a file, in the notation or of ONNX.
func isFile(name string) bool {
	base, _, _ := cutSettings(name)
	return strings.HasSuffix(base, notation.Extension) || isONNX(base)
}

// isONNX reports whether a model's name is that of an ONNX file.
func isONNX(name string) bool {
	base, _, _ := cutSettings(name)
	return strings.HasSuffix(base, onnx.Extension)
}

// openONNX opens an ONNX file. It stays open: weights are read when a store starts.
func openONNX(name string) (*onnx.File, error) {
	f, err := onnx.Open(name)
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	return f, err
}

// lossHint says how to give a file a loss; it returns "" for any other model.
func lossHint(name string) string {
	switch {
	case isONNX(name):
		base, _, _ := cutSettings(name)
		return ": give it one, as in '" + base + "{loss=squares}' (or crossentropy, or sum)"
	case !isFile(name):
		return ""
	}
	return ": call the quantity to minimise loss, or name it, as in minimise L"
}

// readObjective reads a file in the notation.
func readObjective(name string) (*notation.File, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cause(err))
	}
	defer r.Close()
	return notation.Parse(name, r)
}

// derivedBy returns the nodes to differentiate a model's loss by: those named; by default the
// centres of a clustering, the trained parameters, or the inputs of a loss without parameters. A
// name that the loss cannot be differentiated by is a mistake in the command line.
func derivedBy(m *builders.Model, wrt []string) ([]*graph.Node, error) {
	switch {
	case m.Loss == nil:
		return nil, usagef("%s has no loss to differentiate%s", m.Builder.Name, lossHint(m.Builder.Name))
	case len(wrt) == 0:
		return lab.Wrt(m), nil
	}
	var out []*graph.Node
	for _, name := range wrt {
		n, err := quantity(m, name)
		if err != nil {
			return nil, err
		}
		if len(lab.Reached(m.Loss, n)) == 0 {
			return nil, usagef("the loss of %s has no derivative by %s", m.Builder.Name, name)
		}
		out = append(out, n)
	}
	return out, nil
}

// quantity finds an input, parameter or named quantity of a model. The error suggests the nearest
// name.
func quantity(m *builders.Model, name string) (*graph.Node, error) {
	// alpha is α, too, and a weight of an ONNX file is called as it is there
	for _, called := range []string{name, greek.Symbol(name), onnx.Path(name)} {
		if n := m.Graph.Lookup(called); n != nil {
			return n, nil
		}
	}
	var names []string
	for _, n := range m.Graph.Nodes() {
		s := n.Path()
		if s == "" {
			s = n.Name()
		}
		if s != "" {
			names = append(names, s)
		}
	}
	return nil, usagef("%s has no quantity %q: did you mean %q? (it has %s)", m.Builder.Name, name, spelling.Nearest(name, names), strings.Join(names, ", "))
}

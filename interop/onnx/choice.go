package onnx

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/importer"
)

// choice is what a file leaves open.
type choice struct {
	settings []builders.Hyperparameter
	symbols  []importer.Symbol
	integers map[string]*format.Value // inputs that are one integer, by setting
	outputs  []string                 // by the number of the setting output
	losses   []string                 // by that of the setting loss
	own      string                   // the output that is a loss; "" for none
}

func (f *File) choose() choice {
	c := choice{symbols: importer.Symbols(f.model.Graph), integers: map[string]*format.Value{}}
	for _, v := range f.inputs() {
		if t := v.Type; t != nil && t.Kind == format.KindTensor && t.Ranked && whole(t.Elem) && one(t.Dims) {
			name := importer.Plain(v.Name)
			if size := slices.ContainsFunc(c.symbols, func(y importer.Symbol) bool { return y.Name == name }); size || name == "output" || name == "loss" {
				name += "_value"
			}
			if name != "" && c.integers[name] == nil {
				c.integers[name] = v
			}
		}
	}
	var labels []string
	taken := map[string]bool{}
	at := 0
	for _, v := range f.outputs() {
		label := importer.Plain(v.Name)
		if r := []rune(label); len(r) > 40 {
			label = string(r[:40])
		}
		for i, plain := 2, label; label == "" || taken[label]; i++ {
			label = fmt.Sprintf("%s%d", plain, i)
		}
		taken[label] = true
		if v.Name == f.meta.output {
			at = len(labels)
		}
		labels, c.outputs = append(labels, label), append(c.outputs, v.Name)
		if scalar := v.Type != nil && v.Type.Ranked && len(v.Type.Dims) == 0 && v.Type.Elem.IsFloat(); v.Name == f.meta.loss || scalar && c.own == "" && !f.meta.own {
			c.own = v.Name
		}
	}
	c.losses = []string{lossNone, lossSum, lossSquares, lossEntropy}
	doc := "none, sum, squares against an input target, or crossentropy with an input label"
	loss := 0
	if c.own != "" {
		c.losses, doc = append([]string{lossOwn}, c.losses...), "own, the output "+importer.Cut(c.own)+", or "+doc
	}
	f.choice = c // for the attempts
	c.settings = append(c.settings, f.sizes(&c)...)
	for _, v := range f.inputs() {
		for name, w := range c.integers {
			if v == w {
				c.settings = append(c.settings, builders.Hyperparameter{Name: name, Kind: builders.Natural, Default: float64(f.compared(v.Name)), Doc: "value of the input " + importer.Cut(v.Name) + "; 0 if it is fed"})
			}
		}
	}
	if len(c.outputs) > 1 {
		c.settings = append(c.settings, builders.Hyperparameter{Name: "output", Kind: builders.Choice, Choices: labels, Default: float64(at), Doc: "the output that the model is for"})
	}
	c.settings = append(c.settings, builders.Hyperparameter{Name: "loss", Kind: builders.Choice, Choices: c.losses, Default: float64(loss), Doc: doc})
	return c
}

// compared returns the first positive number that an input is compared with: of a rate or a mode on which a
// file branches. It is 0 if there is none.
func (f *File) compared(input string) int64 {
	numbers := map[string]int64{}
	note := func(name string, t *format.Tensor) {
		if t != nil && whole(t.Type) && t.Len() == 1 {
			if v, err := t.Ints(); err == nil {
				numbers[name] = v[0]
			}
		}
	}
	for _, t := range f.model.Graph.Init {
		note(t.Name, t)
	}
	for _, n := range f.model.Graph.Nodes {
		if a := n.Attr("value"); n.Op == "Constant" && a != nil && len(n.Outputs) == 1 {
			note(n.Outputs[0], a.Tensor)
		}
		if n.Op == "Equal" && len(n.Inputs) == 2 {
			for i, name := range n.Inputs {
				if v := numbers[n.Inputs[1-i]]; name == input && v > 0 {
					return v
				}
			}
		}
	}
	return 0
}

func whole(t format.DataType) bool { return t == format.Int64 || t == format.Int32 }

// one reports whether dimensions are those of one element.
func one(dims []format.Dim) bool {
	for _, d := range dims {
		if d.Size != 1 {
			return false
		}
	}
	return len(dims) <= 1
}

// sizes returns the settings of the sizes that the file leaves open. Their defaults are the first of a few
// small ones for which the file can be imported: 1 for batches, and more for places and times.
func (f *File) sizes(c *choice) []builders.Hyperparameter {
	if len(c.symbols) == 0 {
		return nil
	}
	base := builders.Settings{}
	for name, v := range c.integers {
		base[name] = float64(f.compared(v.Name))
	}
	ranks := map[string]int{}
	for _, v := range f.inputs() {
		if v.Type != nil {
			ranks[importer.Cut(v.Name)] = len(v.Type.Dims)
		}
	}
	batch := func(y importer.Symbol) bool { return isBatch(y, c.symbols) }
	best := builders.Settings{}
	for attempt, n := range []int{0, 1, 8, 32, 48, 64, 96, 128, 160, 224, 256, 320, 400, 512, 576, 640, 1024, 1280, 4096, 16000} {
		s := maps.Clone(base)
		for _, y := range c.symbols {
			switch {
			case batch(y):
				s[y.Name] = 1
			case n > 0:
				s[y.Name] = float64(n)
			case ranks[y.Input] >= 4:
				s[y.Name] = 32
			default:
				s[y.Name] = 8
			}
		}
		if attempt == 0 {
			best = s
		}
		_, _, err := f.into(f.Title(), s, graph.F32, c.outputs[:1], false, true)
		if err == nil {
			best = s
			break
		}
		var all importer.Problems
		if errors.As(err, &all) && slices.ContainsFunc(all, func(p *importer.Problem) bool { return p.Unknown }) {
			break // it is not the sizes
		}
	}
	var out []builders.Hyperparameter
	for _, y := range c.symbols {
		doc := fmt.Sprintf("size of axis %d of %s", y.Axis, y.Input)
		out = append(out, builders.Hyperparameter{Name: y.Name, Kind: builders.Count, Default: best[y.Name], Doc: doc, Batch: batch(y)})
	}
	return out
}

// isBatch reports whether a symbol is the number of rows: the first axis of the first input that
// has a symbol there, or one that is called so.
func isBatch(y importer.Symbol, all []importer.Symbol) bool {
	if name := strings.ToLower(y.Name); strings.Contains(name, "batch") || name == "n" {
		return true
	}
	if y.Axis == 0 {
		return true
	}
	// An axis without a symbol of its own is a batch too where it is the second of a recurrent state.
	return y.Axis == 1 && strings.HasSuffix(y.Name, "_1") && strings.Contains(strings.ToLower(y.Input), "state")
}

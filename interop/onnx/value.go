package onnx

import "github.com/tapestry-ml/tapestry/interop/onnx/internal/format"

// Value is an input or an output of a file.
type Value struct {
	Name    string
	Type    string // float32[i=150 d=4], with a symbol where the size is not a number
	Default bool   // of an input: it may be left out
}

// Inputs lists the inputs of the file in order, those with a default, such as parameters that a step
// updates, among them.
func (f *File) Inputs() []Value {
	if f == nil || f.model == nil {
		return nil
	}
	has := map[string]bool{}
	for _, t := range f.model.Graph.Init {
		has[t.Name] = true
	}
	return listed(f.model.Graph.Inputs, has)
}

// Outputs lists the outputs of the file in order, derivatives and new values of what a step updates
// among them.
func (f *File) Outputs() []Value {
	if f == nil || f.model == nil {
		return nil
	}
	return listed(f.model.Graph.Outputs, nil)
}

func listed(values []*format.Value, has map[string]bool) []Value {
	var out []Value
	for _, v := range values {
		w := Value{Name: v.Name, Default: has[v.Name]}
		if v.Type != nil {
			w.Type = v.Type.String()
		}
		out = append(out, w)
	}
	return out
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data/array"
	"gorgonia.org/tensor"
)

// namedArray is an array of a file.
type namedArray struct {
	shape []int
	data  []float64
	used  bool
}

// arraysFile has the arrays of a file by the names of quantities.
type arraysFile struct {
	name   string
	arrays map[string]*namedArray
	whole  bool // a checkpoint, which has the states of the optimiser, too
}

// readArrays reads named arrays: nested lists of a JSON object, the arrays of an .npz, the tensors
// of a .safetensors, or the store of a checkpoint or of the newest one in a folder.
func readArrays(path string) (*arraysFile, error) {
	f := &arraysFile{name: path, arrays: map[string]*namedArray{}}
	if path == "" {
		return f, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case info.IsDir():
		s, _, err := checkpoint.Folder{Dir: path}.Latest()
		if err != nil {
			return nil, err
		}
		return f, f.addStore(s.Store)
	case ext == ".json":
		return f, f.readJSON()
	case ext == ".npz":
		return f, f.readNPZ()
	case ext == ".safetensors":
		if s, err := checkpoint.Load(path); err == nil {
			return f, f.addStore(s.Store)
		}
		file, err := safetensors.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, t := range file.Tensors {
			f.add(t.Name, t.Data)
		}
		return f, nil
	}
	return nil, usagef("%s: want .json, .npz, .safetensors or a folder of checkpoints", path)
}

func (f *arraysFile) addStore(s *tape.Store) error {
	f.whole = true
	for _, path := range s.Paths() {
		t, err := s.Get(path)
		if err != nil {
			return err
		}
		f.add(path, t)
	}
	return nil
}

func (f *arraysFile) add(name string, t *tensor.Dense) {
	v := &namedArray{shape: slices.Clone([]int(t.Shape()))}
	switch d := t.Data().(type) {
	case []float64:
		v.data = slices.Clone(d)
	case []float32:
		v.data = widened(d)
	case []int64:
		v.data = widened(d)
	case []int32:
		v.data = widened(d)
	case []bool:
		for _, x := range d {
			v.data = append(v.data, map[bool]float64{true: 1}[x])
		}
	case float64:
		v.data = []float64{d}
	case float32:
		v.data = []float64{float64(d)}
	case int64:
		v.data = []float64{float64(d)}
	case int32:
		v.data = []float64{float64(d)}
	case bool:
		v.data = []float64{map[bool]float64{true: 1}[d]}
	}
	f.arrays[greek.Symbol(name)] = v
}

func widened[T float32 | int32 | int64](d []T) []float64 {
	out := make([]float64, len(d))
	for i, x := range d {
		out[i] = float64(x)
	}
	return out
}

func (f *arraysFile) readNPZ() error {
	z, err := array.OpenNPZ(f.name)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, name := range z.Names() {
		t, err := z.Array(name)
		if err != nil {
			return err
		}
		f.add(name, t)
	}
	return nil
}

func (f *arraysFile) readJSON() error {
	text, err := os.ReadFile(f.name)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, cause(err))
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("%s: want an object of numbers and nested lists by name, as {\"x\": [[1, 2], [3, 4]]}: %w", f.name, err)
	}
	for name, v := range object {
		a := &namedArray{}
		if err := a.nested(v, 0); err != nil {
			return fmt.Errorf("%s: %s: %w", f.name, name, err)
		}
		f.arrays[greek.Symbol(name)] = a
	}
	return nil
}

// nested appends the numbers of a nested list, whose depth so far is the number of axes above it.
func (a *namedArray) nested(v any, depth int) error {
	switch v := v.(type) {
	case float64:
		if depth != len(a.shape) {
			return errors.New("a number where other rows have lists")
		}
		a.data = append(a.data, v)
	case bool:
		return a.nested(map[bool]float64{true: 1}[v], depth)
	case nil: // as JSON has no NaN
		return a.nested(math.NaN(), depth)
	case []any:
		switch {
		case depth == len(a.shape) && len(a.data) == 0:
			a.shape = append(a.shape, len(v))
		case depth >= len(a.shape):
			return errors.New("a list where other rows have numbers")
		case a.shape[depth] != len(v):
			return fmt.Errorf("a list of %d among lists of %d", len(v), a.shape[depth])
		}
		for _, x := range v {
			if err := a.nested(x, depth+1); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%v is no number", v)
	}
	return nil
}

// take returns the array for a quantity, and notes that it was used; nil if there is none.
func (f *arraysFile) take(path string) *namedArray {
	a := f.arrays[path]
	if a != nil {
		a.used = true
	}
	return a
}

// unused returns the names of the arrays that no quantity took, in order. Of a checkpoint they are the
// states of its optimiser, and none is returned.
func (f *arraysFile) unused() []string {
	var out []string
	for name, a := range f.arrays {
		if !a.used && !f.whole {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

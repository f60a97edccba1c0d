package onnxruntime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Options are how a model is run.
type Options struct {
	// Threads is how many threads an operator may use; 0 leaves it to ONNX Runtime, which takes a
	// thread for each core.
	Threads int
	// AsWritten runs the nodes of the model as they are. Otherwise ONNX Runtime folds constants and
	// fuses nodes first.
	AsWritten bool
}

// ValueInfo describes an input or a result of a model.
type ValueInfo struct {
	Name string
	// Type is that of the elements, 0 for a value that is no array, such as a sequence.
	Type ElementType
	Dims []Dim
	// Optional reports that an input has a default, an initialiser of the same name.
	Optional bool
}

// String returns the name with type and sizes: x float32[N 3], where ? is a size without a name that
// is not known.
func (v ValueInfo) String() string {
	if v.Type == 0 {
		return v.Name + " (no array)"
	}
	var b strings.Builder
	for i, d := range v.Dims {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch {
		case d.Size >= 0:
			fmt.Fprint(&b, d.Size)
		case d.Symbol != "":
			b.WriteString(d.Symbol)
		default:
			b.WriteByte('?')
		}
	}
	return fmt.Sprintf("%s %v[%s]", v.Name, v.Type, b.String())
}

// Dim is the size of an axis.
type Dim struct {
	Size   int    // −1 if it is only known during a run
	Symbol string // the name of such a size, "" if it has none
}

// Session is a model made ready to run. It may be run by several goroutines at a time.
type Session struct {
	mu              sync.RWMutex // held for reading while the model runs
	native          *native      // nil once closed
	inputs, outputs []ValueInfo
}

// Load makes a model ready that is the content of a file. External data are not found from there: see
// [Runtime.LoadFile].
func (r *Runtime) Load(model []byte, o Options) (*Session, error) {
	if r == nil || r.lib == nil {
		return nil, errNoRuntime
	}
	if len(model) == 0 {
		return nil, errors.New("onnxruntime: the model is empty")
	}
	return r.session(model, "", o)
}

// LoadFile makes a model ready that is a file, with external data in the same folder.
func (r *Runtime) LoadFile(path string, o Options) (*Session, error) {
	if r == nil || r.lib == nil {
		return nil, errNoRuntime
	}
	if strings.ContainsRune(path, 0) || path == "" {
		return nil, fmt.Errorf("onnxruntime: %q is no name of a file", path)
	}
	return r.session(nil, path, o)
}

func (r *Runtime) session(model []byte, path string, o Options) (*Session, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("onnxruntime: %d threads: want 1 or more, or 0 for a thread a core", o.Threads)
	}
	n, err := r.lib.session(model, path, o)
	if err != nil {
		return nil, err
	}
	s := &Session{native: n}
	if s.inputs, s.outputs, err = n.values(); err != nil {
		n.close()
		return nil, err
	}
	return s, nil
}

// Inputs returns the inputs of the model in its order, those with a default last.
func (s *Session) Inputs() []ValueInfo {
	if s == nil {
		return nil
	}
	return slices.Clone(s.inputs)
}

// Outputs returns the results of the model in its order.
func (s *Session) Outputs() []ValueInfo {
	if s == nil {
		return nil
	}
	return slices.Clone(s.outputs)
}

// Metadata returns an entry of the model's metadata, "" if there is none of that key.
func (s *Session) Metadata(key string) (string, error) {
	if s == nil {
		return "", errClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.native == nil {
		return "", errClosed
	}
	return s.native.metadata(key)
}

var errClosed = errors.New("onnxruntime: the session is closed")

// Run runs the model on inputs by name, and returns the outputs that are named, all if none is. Every
// input without a default is needed. When ctx ends, the run stops after the operator that it is at, and
// returns the context's error.
func (s *Session) Run(ctx context.Context, inputs map[string]Array, outputs ...string) (map[string]Array, error) {
	if s == nil {
		return nil, errClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.native == nil {
		return nil, errClosed
	}
	in, err := s.arrange(inputs)
	if err != nil {
		return nil, err
	}
	out, err := s.places(outputs)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := s.native.call(in, out, nil)
	if err != nil {
		return nil, err
	}
	defer c.release()
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	arrays, err := c.results()
	if err != nil {
		return nil, err
	}
	results := make(map[string]Array, len(out))
	for i, k := range out {
		results[s.outputs[k].Name] = arrays[i]
	}
	return results, nil
}

// given is an array for an input or an output: its place among them.
type given struct {
	place int
	array Array
}

// arrange returns the inputs in the model's order. It checks what ONNX Runtime's own messages do not
// locate.
func (s *Session) arrange(inputs map[string]Array) ([]given, error) {
	var out []given
	for i, v := range s.inputs {
		a, ok := inputs[v.Name]
		if !ok {
			if v.Optional {
				continue
			}
			return nil, fmt.Errorf("onnxruntime: input %v is not given", v)
		}
		if err := fits("input", v, a); err != nil {
			return nil, err
		}
		out = append(out, given{i, a})
	}
	if len(out) < len(inputs) {
		for name := range inputs {
			if place(s.inputs, name) < 0 {
				return nil, unknown("input", name, s.inputs)
			}
		}
	}
	return out, nil
}

// fits returns why an array is none for an input or output, as far as its sizes do not matter.
func fits(kind string, v ValueInfo, a Array) error {
	if err := a.check(); err != nil {
		return fmt.Errorf("onnxruntime: %s %s: %w", kind, v.Name, err)
	}
	if a.Type != v.Type {
		return fmt.Errorf("onnxruntime: %s %v: got elements of %v", kind, v, a.Type)
	}
	return nil
}

// places returns where the named outputs are among all.
func (s *Session) places(names []string) ([]int, error) {
	var out []int
	for _, name := range names {
		k := place(s.outputs, name)
		if k < 0 {
			return nil, unknown("output", name, s.outputs)
		}
		out = append(out, k)
	}
	if len(names) == 0 {
		for k := range s.outputs {
			out = append(out, k)
		}
	}
	return out, nil
}

func place(list []ValueInfo, name string) int {
	return slices.IndexFunc(list, func(v ValueInfo) bool { return v.Name == name })
}

func unknown(kind, name string, list []ValueInfo) error {
	var names []string
	for _, v := range list {
		names = append(names, v.Name)
	}
	if near := spelling.Near(name, names); near != "" {
		return fmt.Errorf("onnxruntime: the model has no %s %q: did you mean %q?", kind, name, near)
	}
	return fmt.Errorf("onnxruntime: the model has no %s %q: want one of %q", kind, name, names)
}

// Close frees the model, once no run uses it any more. A later Run is an error.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.native != nil {
		s.native.close()
		s.native = nil
	}
	return nil
}

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"gorgonia.org/tensor"
)

// transfer holds the flags of a training that begins with what another one has learnt.
type transfer struct {
	from  string
	parts []string
}

func (b *transfer) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.from, "from", "", "checkpoint, or folder of checkpoints, of another training: arrays of the model that it has, too, begin with its values")
	cmd.Flags().StringArrayVar(&b.parts, "part", nil, "which of them, as features or encoder/W₁; may be given several times (default: all)")
}

// check returns an error for flags that contradict each other.
func (b *transfer) check(clustering, resume bool) error {
	switch {
	case b.from == "" && len(b.parts) > 0:
		return usagef("--part %s: want --from, too", b.parts[0])
	case b.from != "" && clustering:
		return usagef("--from: a clustering begins with centres: --start given --centres FILE")
	case b.from != "" && resume:
		return usagef("--from and --resume exclude each other: what is resumed has begun already")
	}
	return nil
}

// values returns the values that arrays of the model begin with, by path, and the file that they
// come from.
func (b *transfer) values(m *builders.Model) (values map[string]*tensor.Dense, file string, err error) {
	s, err := b.state()
	if s == nil || err != nil {
		return nil, "", err
	}
	values, found := map[string]*tensor.Dense{}, map[string]bool{}
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		path := n.Path()
		part, wanted := b.part(path)
		has, ok := s.Store.Type(path)
		if !wanted || !ok {
			continue
		}
		if has.DType != n.DType() && !(isReal(has.DType) && isReal(n.DType())) || !has.Shape.SameSizes(n.Shape()) {
			return nil, "", fmt.Errorf("--from: %s of %s has type %v, %s wants %v: take other arrays with --part, or set the sizes alike", path, s.Path, has, m.Builder.Name, n.Type())
		}
		if values[path], err = s.Store.Get(path); err != nil {
			return nil, "", fmt.Errorf("--from: %w", err)
		}
		values[path] = converted(values[path], n.Type())
		found[part] = true
	}
	for _, part := range b.parts {
		if !found[part] {
			return nil, "", fmt.Errorf("--part %s: %s and %s have nothing of that name in common: the checkpoint has %s", part, m.Builder.Name, s.Path, arrays(s))
		}
	}
	if len(values) == 0 {
		return nil, "", fmt.Errorf("--from: %s and %s have no array in common: the checkpoint has %s", m.Builder.Name, s.Path, arrays(s))
	}
	return values, s.Path, nil
}

// state reads the checkpoint; nil without one.
func (b *transfer) state() (s *checkpoint.State, err error) {
	if b.from == "" {
		return nil, nil
	}
	if info, failed := os.Stat(b.from); failed == nil && info.IsDir() {
		s, _, err = checkpoint.Folder{Dir: b.from}.Latest()
	} else {
		s, err = checkpoint.Load(b.from)
	}
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	return s, nil
}

// arrays lists the arrays of a checkpoint but those of its optimiser.
func arrays(s *checkpoint.State) string {
	return strings.Join(slices.DeleteFunc(s.Store.Paths(), func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return slices.Contains(train.Names(), first)
	}), ", ")
}

// part returns the part that a path belongs to, and whether it is to be taken.
func (b *transfer) part(path string) (part string, wanted bool) {
	for _, p := range b.parts {
		if path == p || strings.HasPrefix(path, p+"/") {
			return p, true
		}
	}
	return "", len(b.parts) == 0
}

// begin puts values into the store of a training that makes its first step afterwards.
func begin(store *tape.Store, values map[string]*tensor.Dense) error {
	for _, path := range slices.Sorted(maps.Keys(values)) {
		put := store.Add
		if _, ok := store.Type(path); ok {
			put = store.Set
		}
		if err := put(path, values[path]); err != nil {
			return err
		}
	}
	return nil
}

// isReal reports whether arrays of a type may begin with values of another such type.
func isReal(dt graph.DType) bool { return dt == graph.F32 || dt == graph.F64 }

// converted returns floats as elements of a type, rounded where that is the narrower one: a training
// in f64 begins one in f32, and is exported in it.
func converted(d *tensor.Dense, to graph.Type) *tensor.Dense {
	v := graph.NewValue(to)
	switch data := d.Data().(type) {
	case []float32:
		if to.DType != graph.F64 {
			return d
		}
		for i, x := range data {
			v.Data[i] = float64(x)
		}
	case float32:
		if to.DType != graph.F64 {
			return d
		}
		v.Data[0] = float64(data)
	case []float64:
		if to.DType != graph.F32 {
			return d
		}
		copy(v.Data, data)
	case float64:
		if to.DType != graph.F32 {
			return d
		}
		v.Data[0] = data
	default:
		return d
	}
	return tape.Tensor(v)
}

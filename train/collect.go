package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// collect returns the store with what other ranks alone have, their parts of the optimiser's
// states, on the first rank, and nil on the others.
func (f *fitting) collect(ctx context.Context) (*tape.Store, error) {
	s := f.Store()
	if !f.several() || !f.Ranks.Sharded() || f.alone {
		return s, nil
	}
	lists, err := f.exchange(ctx, "collecting states", []byte(strings.Join(s.Paths(), "\n")), nil)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	parts := make([][]string, len(lists)) // by rank: the paths that no lower rank has
	for rank, list := range lists {
		for path := range strings.SplitSeq(string(list), "\n") {
			if path != "" && !have[path] {
				have[path] = true
				parts[rank] = append(parts[rank], path)
			}
		}
	}
	var mine []byte
	if !f.first() {
		if mine, err = raw(s, parts[f.Ranks.Rank()]); err != nil {
			return nil, f.abort(err)
		}
	}
	all, err := f.Ranks.GatherTo(endless(ctx), 0, mine)
	if err != nil {
		return nil, f.abort(err)
	}
	if !f.first() {
		return nil, nil
	}
	model, err := f.identity()
	if err != nil {
		return nil, err
	}
	types := map[string]graph.Type{}
	for _, l := range model.Leaves {
		types[l.Path] = l.Type
	}
	whole := s.Clone()
	for rank, paths := range parts[1:] {
		if err := addRaw(whole, types, paths, all[rank+1]); err != nil {
			return nil, fmt.Errorf("fit: the states of rank %d: %w", rank+1, err)
		}
	}
	return whole, nil
}

// raw returns the values under some paths, one behind the other.
func raw(s *tape.Store, paths []string) (b []byte, err error) {
	for _, path := range paths {
		v, err := s.View(path)
		if err != nil {
			return nil, err
		}
		b = append(b, v.Raw...)
	}
	return b, nil
}

// addRaw adds the values under some paths to a store.
func addRaw(s *tape.Store, types map[string]graph.Type, paths []string, b []byte) error {
	for _, path := range paths {
		typ, ok := types[path]
		if !ok {
			return fmt.Errorf("the model has no %s", path)
		}
		v := tape.Tensor(graph.NewValue(typ))
		if len(b) < len(v.Raw) {
			return fmt.Errorf("%s is cut off", path)
		}
		b = b[copy(v.Raw, b):]
		if err := s.Add(path, v); err != nil {
			return err
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes more than the values of %s", len(b), strings.Join(slices.Compact(paths), ", "))
	}
	return nil
}

package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// CopyFrom copies the values below the folder under of another store to the same places below the
// folder to of this one: with "encoder" and "features", encoder/fc/w goes to features/fc/w. The
// empty folder is the whole store; a name that is itself an entry stands for that entry. Every
// entry must exist already, with the type of the value that it gets; otherwise nothing is copied.
// Seed, step and runs stay as they are. It returns the paths written, in order.
func (s *Store) CopyFrom(from *Store, under, to string) ([]string, error) {
	if s == nil {
		return nil, errNilStore
	}
	if from == nil {
		return nil, errNoStore
	}
	var paths []string
	var values []kernel.Mem // copies, because the two stores may be one
	for _, p := range from.Paths() {
		rest, ok := below(p, under)
		if !ok {
			continue
		}
		q := strings.Trim(to+"/"+rest, "/")
		here, there := s.entries[q], from.entries[p]
		switch {
		case here == nil:
			return nil, fmt.Errorf("store: nothing under %q to take %s: it has %q", q, p, s.Paths())
		case here.typ.DType != there.typ.DType || !here.typ.Shape.SameSizes(there.typ.Shape):
			return nil, fmt.Errorf("store: %s has type %v, %s has %v", q, here.typ, p, there.typ)
		}
		m := kernel.Alloc(there.mem.Len())
		m.Copy(there.mem)
		paths, values = append(paths, q), append(values, m)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("store: nothing below %q: it has %q", under, from.Paths())
	}
	for i, q := range paths {
		s.entries[q].set(values[i])
	}
	return paths, nil
}

// below returns the rest of a path below a folder, "" for the folder's own name.
func below(path, folder string) (rest string, ok bool) {
	if folder == "" || path == folder {
		return strings.TrimPrefix(path, folder), true
	}
	return strings.CutPrefix(path, folder+"/")
}

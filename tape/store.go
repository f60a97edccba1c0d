package tape

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"gorgonia.org/tensor"
)

// Store holds parameters and states by path. Programs of different graphs and batch shapes may
// share one: only paths and types count. It is for one running VM at a time. The zero Store is
// empty, with seed 0.
type Store struct {
	seed    uint64
	step    uint64
	runs    uint64 // since the last commit: those that drew and updated nothing
	entries map[string]*entry
}

type entry struct {
	typ graph.Type
	mem kernel.Mem

	changes uint64 // how often the values have been written since the entry was made
}

// set copies values into the entry.
func (e *entry) set(m kernel.Mem) {
	e.mem.Copy(m)
	e.changes++
}

// leaf describes a parameter or state, for the store to make its entry.
type leaf struct {
	path string
	typ  graph.Type
	init initial.Init
	role graph.Role
	pos  graph.Pos
}

func leafOf(n *graph.Node) leaf {
	return leaf{n.Path(), n.Type(), n.Initialiser(), n.Role(), n.First().Pos}
}

// StoreOption is a setting of a store.
type StoreOption func(*Store)

// Seed fixes all of a store's randomness: fresh values, and the random draws of
// the programs that run on it (see "Random numbers" above). Without it the seed is 0.
func Seed(seed uint64) StoreOption { return func(s *Store) { s.seed = seed } }

// NewStore makes a store with fresh values for the parameters and states of g. A fresh value
// depends on the seed, the path and the type alone. Without a graph it is empty: NewVM then makes
// the entries that its program needs. It is also empty where memory does not suffice for the
// values, which NewVM then reports; and it lacks those that an initialiser of the user's fails to
// make ([initial.Custom]), which [Store.Complete] and NewVM report.
func NewStore(g *graph.Graph, options ...StoreOption) *Store {
	s := &Store{}
	for _, o := range options {
		if o != nil {
			o(s)
		}
	}
	if g != nil {
		_ = s.Complete(g) // NewVM says what is wrong, if the program needs it
	}
	return s
}

// Complete makes fresh values for the parameters and states of g that have none, as NewStore does,
// and returns the errors of initialisers. Where memory does not suffice it makes none, which NewVM
// then reports.
func (s *Store) Complete(g *graph.Graph) error {
	if s == nil {
		return errNilStore
	}
	if g == nil {
		return errors.New("store: the graph is nil")
	}
	var leaves []leaf
	for _, n := range g.Leaves(graph.RoleParam, graph.RoleState) {
		if l := leafOf(n); s.entries[l.path] == nil {
			leaves = append(leaves, l)
		}
	}
	promise, _, short := memory.Take(plus(freshBytes(leaves)))
	if short {
		return nil
	}
	defer promise.End()
	var errs error
	for _, l := range leaves {
		errs = errors.Join(errs, s.fresh(l))
	}
	return errs
}

var (
	errNilStore = errors.New("store: it is nil (tape.NewStore makes one)")
	errNoStore  = errors.New("store: want another store, got nil")
)

// complete makes fresh entries for the leaves that have none. Where one has an entry of another
// type, nothing is made.
func (s *Store) complete(leaves []stored) error {
	var err error
	for _, l := range leaves {
		if e := s.entries[l.leaf.path]; e != nil && (e.typ.DType != l.leaf.typ.DType || !e.typ.Shape.SameSizes(l.leaf.typ.Shape)) {
			err = errors.Join(err, fmt.Errorf("store: %s has type %v, the program wants %v", l.leaf.path, e.typ, l.leaf.typ))
		}
	}
	if err != nil {
		return err
	}
	for _, l := range leaves {
		err = errors.Join(err, s.fresh(l.leaf))
	}
	return err
}

// own sets the values of a leaf to those that an initialiser of the user's draws; ok is false for
// those of the library.
func (s *Store) own(l leaf, v graph.Value) (ok bool, err error) {
	_, f, ok := l.init.Custom()
	if !ok {
		return false, nil
	}
	defer func() {
		if err == nil {
			return
		}
		err = fmt.Errorf("%v %s: initialiser %v: %w", l.role, l.path, l.init, err)
		if at := l.pos.String(); at != "" {
			err = fmt.Errorf("%s: %w", at, err)
		}
	}()
	if f == nil {
		return true, errors.New("the text of a graph has its name alone: set the value in the store before, by Store.Add or from a checkpoint")
	}
	sizes := l.typ.Shape.Sizes()
	drawn := f(sizes, rand.New(rand.NewPCG(s.seed, kernel.KeyOf("init "+l.path))))
	if len(drawn) != len(v.Data) {
		return true, fmt.Errorf("its function returned %s for sizes %v: want %d", plural.Count(len(drawn), "value"), l.typ.Shape.Sizes(), len(v.Data))
	}
	for i, x := range drawn {
		if math.IsNaN(x - x) {
			return true, fmt.Errorf("value %d of its function is %v: want finite numbers", i, x)
		}
	}
	copy(v.Data, drawn)
	return true, l.typ.DType.Check(drawn...)
}

// fresh makes the entry of a leaf, if it is not there.
func (s *Store) fresh(l leaf) error {
	if s.entries[l.path] != nil {
		return nil
	}
	v := graph.NewValue(l.typ)
	own, err := s.own(l, v)
	if err != nil {
		return err
	}
	if !own {
		begin(v, l, s.seed)
	}
	s.put(l, v)
	return nil
}

// put makes the entry of a leaf.
func (s *Store) put(l leaf, v graph.Value) {
	if s.entries == nil {
		s.entries = map[string]*entry{}
	}
	s.entries[l.path] = &entry{typ: l.typ, mem: memOf(v)}
}

// Paths lists the entries in order.
func (s *Store) Paths() []string {
	var out []string
	for p := range s.entries {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// Type returns the type of an entry; ok is false where there is none.
func (s *Store) Type(path string) (t graph.Type, ok bool) {
	e := s.entries[path]
	if e == nil {
		return graph.Type{}, false
	}
	return e.typ, true
}

// Add makes an entry, whose path must be new, with a copy of the values. Its axes have
// no names; a program may name them.
func (s *Store) Add(path string, t *tensor.Dense) error {
	if s == nil {
		return errNilStore
	}
	if s.entries[path] != nil {
		return fmt.Errorf("store: %s is there already", path)
	}
	if path == "" || t == nil || t.Dtype().Type == nil || len(t.Shape()) > graph.MaxRank {
		return fmt.Errorf("store: %q: want a path and a tensor of at most %d axes", path, graph.MaxRank)
	}
	shape, err := graph.NewShape(graph.Dims(t.Shape()...)...)
	typ := graph.Type{DType: dtypeOf(t), Shape: shape}
	switch bad, ok := t.Engine().(mistake); {
	case ok:
		err = bad.err
	case typ.DType == graph.InvalidDType:
		err = errElements(t)
	case untold(t):
		err = fmt.Errorf("elements of type uint16 may be the bits of f16 or of bf16: give them with tape.HalfBits")
	}
	var m kernel.Mem
	if err == nil {
		m, err = memOfDense(typ, t)
	}
	if err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	own := kernel.Alloc(m.Len())
	own.Copy(m)
	if s.entries == nil {
		s.entries = map[string]*entry{}
	}
	s.entries[path] = &entry{typ: typ, mem: own}
	return nil
}

// Delete removes an entry, and reports whether it was there. VMs that read or update it go on with it
// by themselves: close them before.
func (s *Store) Delete(path string) bool {
	if s == nil || s.entries[path] == nil {
		return false
	}
	delete(s.entries, path)
	return true
}

// entry returns the entry of a path.
func (s *Store) entry(path string) (*entry, error) {
	if s == nil {
		return nil, errNilStore
	}
	e := s.entries[path]
	if e == nil {
		return nil, s.missing(path)
	}
	return e, nil
}

// Get returns a copy of the values under a path as a dense tensor of the entry's type and shape. A
// path that the store does not have is an error, which suggests the nearest one.
func (s *Store) Get(path string) (*tensor.Dense, error) {
	e, err := s.entry(path)
	if err != nil {
		return nil, err
	}
	own := kernel.Alloc(e.mem.Len())
	own.Copy(e.mem)
	return denseOver(e.typ, own), nil
}

// View is [Store.Get] without the copy: the tensor shows what the entry holds, also after
// later runs, and must not be changed: a program may have computed from it what it does not compute
// again ([Once]).
func (s *Store) View(path string) (*tensor.Dense, error) {
	e, err := s.entry(path)
	if err != nil {
		return nil, err
	}
	return denseOver(e.typ, e.mem), nil
}

// missing returns the error for a path without an entry: it suggests the nearest path, and says how
// entries come to be.
func (s *Store) missing(path string) error {
	paths := s.Paths()
	if len(paths) == 0 {
		return fmt.Errorf("store: nothing under %q: it is empty (NewStore makes the entries of a graph, Store.Add one of a new path)", path)
	}
	near, others := spelling.Nearest(path, paths), ""
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == near })
	if n := min(len(paths), 5); n > 0 {
		others = fmt.Sprintf(", then %q", paths[:n])
	}
	if n := len(paths) - 5; n > 0 {
		others += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("store: nothing under %q: it has %q%s (Store.Add makes an entry of a new path)", path, near, others)
}

// Set copies values into an entry, whose type they must have; [Store.Add] makes a new one.
func (s *Store) Set(path string, t *tensor.Dense) error {
	e, err := s.entry(path)
	if err != nil {
		return err
	}
	m, err := memOfDense(e.typ, t)
	if err != nil {
		return fmt.Errorf("store: %s: %w", path, err)
	}
	e.set(m)
	return nil
}

// Load copies seed, step, runs and values from another store. Entries that only the other has are
// added, those that only this one has stay. If an entry has another type there, nothing is changed,
// and Load returns an error. VMs of this store go on with the new values.
func (s *Store) Load(from *Store) error {
	if s == nil {
		return errNilStore
	}
	if from == nil {
		return errNoStore
	}
	for _, p := range from.Paths() {
		e := from.entries[p]
		if own := s.entries[p]; own != nil && (own.typ.DType != e.typ.DType || !own.typ.Shape.SameSizes(e.typ.Shape)) {
			return fmt.Errorf("store: %s has type %v, the other store has %v", p, own.typ, e.typ)
		}
	}
	c := from.Clone()
	s.seed, s.step, s.runs = c.seed, c.step, c.runs
	if s.entries == nil {
		s.entries = map[string]*entry{}
	}
	for p, e := range c.entries {
		if own := s.entries[p]; own != nil {
			own.set(e.mem)
		} else {
			s.entries[p] = e
		}
	}
	return nil
}

// Share returns a store of the same entries with a seed, a step and runs of its own, which begin
// as those of s are: for VMs that run side by side on the same parameters, such as those of lanes,
// and that draw different numbers ([Store.Resume]). What one of the stores sets, adds or updates,
// the others have too; so only runs without updates may run at once, and on stores that are
// complete ([Store.Complete]).
func (s *Store) Share() *Store {
	if s == nil {
		return NewStore(nil)
	}
	if s.entries == nil {
		s.entries = map[string]*entry{}
	}
	return &Store{seed: s.seed, step: s.step, runs: s.runs, entries: s.entries}
}

// Clone returns an independent copy: seed, step, runs and values.
func (s *Store) Clone() *Store {
	c := &Store{seed: s.seed, step: s.step, runs: s.runs, entries: map[string]*entry{}}
	for p, e := range s.entries {
		m := kernel.Alloc(e.mem.Len())
		m.Copy(e.mem)
		c.entries[p] = &entry{typ: e.typ, mem: m}
	}
	return c
}

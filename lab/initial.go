package lab

import (
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/table"
	"github.com/tapestry-ml/tapestry/tape"
)

// Initial says at which values the parameters and states of a training start. The zero value stands
// for the model's own initialisers, drawn from the seed.
type Initial struct {
	Name string // in tables, followed by the factor; by default made from the other fields
	// Values returns start values by path for a seed, of the shapes that the model has and of any
	// float type. Other parameters and states start as without Values. Paths that a model does not
	// have are ignored.
	Values func(seed uint64) map[string]graph.Value
	// Init replaces the initialisers of parameters that start at random. Those that start at a
	// constant, as biases do, keep it.
	Init *initial.Init
	// Scale multiplies the start values of all float parameters; 0 stands for 1.
	Scale float64

	centres func(m *builders.Model, seed uint64) map[string]graph.Value // start centres, by path
}

// centresFrom lets centres start as the configuration says, unless Values or Init are set.
func (s *Initial) centresFrom(c Config) {
	if s.Values != nil || s.Init != nil {
		return
	}
	s.centres = c.centres
	if s.Name == "" {
		s.Name = map[Start]string{PlusPlus: "k-means++", StartPoints: "random points", StartGiven: "given centres", StartGroups: "random groups"}[c.Start]
	}
}

// String returns the name, such as "own start" for the zero value, "glorot", or "start × 0.5".
func (s Initial) String() string {
	text := s.Name
	if text == "" {
		switch {
		case s.Init != nil:
			text = s.Init.String()
		case s.Values != nil:
			text = "given start"
		case s.factor() == 1:
			return "own start"
		default:
			text = "start"
		}
	}
	if f := s.factor(); f != 1 {
		text += " × " + table.Number(f, 4)
	}
	return text
}

// factor returns Scale, or 1 by default.
func (s Initial) factor() float64 {
	if s.Scale == 0 {
		return 1
	}
	return s.Scale
}

// store returns the store that training a model starts with. begin feeds the rows that may become
// start values.
func (s Initial) store(m *builders.Model, seed uint64, begin Feeds) (*tape.Store, error) {
	store := tape.NewStore(m.Graph, tape.Seed(seed))
	if err := store.Complete(m.Graph); err != nil {
		return nil, err
	}
	if err := startAtRows(store, m, seed, begin); err != nil {
		return nil, err
	}
	if s.Init != nil {
		if err := redraw(store, m, *s.Init, seed); err != nil {
			return nil, err
		}
	}
	if s.Values != nil || s.centres != nil {
		var values map[string]graph.Value
		if s.Values != nil {
			values = s.Values(seed)
		} else {
			values = s.centres(m, seed)
		}
		for _, path := range slices.Sorted(maps.Keys(values)) {
			n := m.Graph.Lookup(path)
			if n == nil || n.Role() != graph.RoleParam && n.Role() != graph.RoleState {
				continue
			}
			v := values[path]
			if v.Type.DType.IsFloat() && n.DType().IsFloat() {
				v.Type.DType = n.DType()
			}
			if err := store.Set(path, tape.Tensor(v)); err != nil {
				return nil, err
			}
		}
	}
	if f := s.factor(); f != 1 {
		for _, p := range m.Graph.Leaves(graph.RoleParam) {
			if p.DType().IsFloat() {
				if err := scaled(store, p, f); err != nil {
					return nil, err
				}
			}
		}
	}
	return store, nil
}

// redraw draws the parameters that start at random from another initialiser. A parameter gets the
// same values in every model that has it, by path and type.
func redraw(store *tape.Store, m *builders.Model, init initial.Init, seed uint64) error {
	other := graph.New("initial values")
	var drawing []*graph.Node
	for _, p := range m.Graph.Leaves(graph.RoleParam) {
		if drawn(p) {
			drawing = append(drawing, other.Copy(p, nil).Init(init))
		}
	}
	if err := other.Err(); err != nil {
		return err
	}
	from := tape.NewStore(other, tape.Seed(seed))
	if err := from.Complete(other); err != nil {
		return err
	}
	for _, p := range drawing {
		if _, err := store.CopyFrom(from, p.Path(), p.Path()); err != nil {
			return err
		}
	}
	return nil
}

// drawn reports whether a parameter starts at random values.
func drawn(p *graph.Node) bool {
	if !p.DType().IsFloat() {
		return false
	}
	_, orthogonal := p.Initialiser().Orthonormal()
	_, std, width := p.Initialiser().Distribution(p.Shape().Sizes()...)
	return orthogonal || std != 0 || width != 0
}

// scaled multiplies the values of a parameter in a store by f.
func scaled(store *tape.Store, p *graph.Node, f float64) error {
	t, err := store.Get(p.Path())
	if err != nil {
		return err
	}
	a, err := tape.ArrayOf(p.Type(), t)
	if err != nil {
		return err
	}
	for i := range p.Shape().Len() {
		a.Set(i, f*a.At(i))
	}
	return store.Set(p.Path(), t)
}

package page

import (
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// feeder gives every step its feed, which depends only on the seed and the step.
type feeder struct {
	model   *builders.Model
	seed    uint64
	begins  lab.Start   // how centres start
	table   *data.Table // of a clustering; nil for examples of the model's own
	points  *tensor.Dense
	plane   *linear.Plane
	courses map[*graph.Node]schedule // of scalars that change from step to step
	rate    *graph.Node              // the one among them that is the learning rate; nil for a constant one
	scalars map[*graph.Node]float64  // scalars that the user fixed
	gone    *resumed                 // the training that it goes on with; nil for one of the page's own
}

// usualSteps returns the steps of a training as the commands have them by default, over which schedules
// go.
func (f *feeder) usualSteps() int {
	if f.table != nil {
		return lab.ClusteringSteps
	}
	return lab.OwnSteps
}

// clusterData finds a table by name among those available to clusterings.
func (s *Service) clusterData(name string) (*data.Table, error) {
	if name == "" {
		return nil, nil
	}
	for _, t := range s.options.Tables {
		if t != nil && t.Name == name {
			return t, nil
		}
	}
	t, err := data.Builtin(name)
	if err != nil {
		return nil, badf("data %q: want iris, digits, wine, clusters, or nothing for the model's own examples", name)
	}
	return t, nil
}

// fit sets a clustering's sizes to those of its table, and those that are not given to what they are by
// default.
func fit(m *builders.Model, s builders.Settings, t *data.Table, asNotes bool) {
	n, d, k := lab.SizeNames(m)
	s[d] = float64(len(t.Columns))
	if _, given := s[n]; !given || !m.Builder.Batched() {
		s[n] = float64(lab.Config{Table: t, AsNotes: asNotes}.BatchOf(m.Builder))
	}
	if _, given := s[k]; !given {
		s[k] = float64(lab.DefaultK(t))
	}
}

func newFeeder(m *builders.Model, q opening, t *data.Table) (*feeder, error) {
	f := &feeder{model: m, seed: q.Seed, begins: lab.PlusPlus, table: t, courses: map[*graph.Node]schedule{}, scalars: map[*graph.Node]float64{}}
	if t == nil {
		if m.Examples == nil {
			return nil, failf(unprocessable, "%s has no examples to run on", m.Builder.Name)
		}
		return f, nil
	}
	n, k := m.Points().Dim(0), m.Centres().Dim(0)
	if n > t.Rows() || k > t.Rows() {
		return nil, badf("%s has %d rows: want at most as many points (%d) and centres (%d)", t.Name, t.Rows(), n, k)
	}
	var err error
	notes := m.Builder.AsNotes
	switch γ := m.Gamma(); {
	case γ != nil && q.AsNotes && notes.Steady:
		f.scalars[γ] = lab.SteadyGamma(t, k)
	case γ != nil:
		f.courses[γ] = schedule{Schedule: lab.Annealing(t, k, lab.ClusteringSteps), over: lab.ClusteringSteps}
	}
	if q.AsNotes && notes.Start != "" {
		if f.begins, err = lab.ParseStart(notes.Start); err != nil {
			return nil, err
		}
	}
	if f.points, err = t.Dense(dtypeOf(m.Points())); err != nil {
		return nil, err
	}
	f.plane, err = linear.NewPlane(t)
	return f, err
}

func dtypeOf(n *graph.Node) tensor.Dtype {
	if n.DType() == graph.F32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// start returns the store that a training begins with.
func (f *feeder) start() (*tape.Store, error) {
	if f.gone != nil {
		return f.gone.store.Clone(), nil
	}
	if f.table == nil {
		return lab.NewStore(f.model, f.seed)
	}
	s, r := tape.NewStore(f.model.Graph, tape.Seed(f.seed)), f.model.Centres()
	return s, s.Set(r.Path(), tape.Tensor(graph.Value{Type: r.Type(), Data: lab.Centres(f.table, r.Dim(0), f.begins, f.seed)}))
}

// at returns the feed of step t.
func (f *feeder) at(t int) (tape.Feed, error) {
	feed := tape.Feed{}
	var err error
	switch {
	case f.gone != nil:
		if feed, err = f.gone.Feed(f.gone.first + t); err != nil {
			return nil, err
		}
	case f.table == nil:
		if feed, err = lab.Examples(f.model, f.seed, t); err != nil {
			return nil, err
		}
	default:
		x := f.model.Points()
		feed[x] = f.points
		if x.Dim(0) < f.table.Rows() {
			part, err := f.table.Subset(data.Cut{Rows: f.table.Rows(), Size: x.Dim(0)}.At(f.seed, t))
			if err != nil {
				return nil, err
			}
			if feed[x], err = part.Dense(dtypeOf(x)); err != nil {
				return nil, err
			}
		}
	}
	for n, course := range f.courses {
		feed[n] = tape.Scalar(n.DType(), course.at(t))
	}
	for n, v := range f.scalars {
		feed[n] = tape.Scalar(n.DType(), v)
	}
	return feed, nil
}

// scalarsAt returns the numbers fed in step t to the inputs that have a default, in the model's
// graph or in one made from it.
func (f *feeder) scalarsAt(t int, g *graph.Graph) (map[*graph.Node]float64, error) {
	feed, err := f.at(t)
	if err != nil {
		return nil, err
	}
	if g != f.model.Graph {
		feed = inspect.Feed(feed, g)
	}
	out := map[*graph.Node]float64{}
	for n, x := range feed {
		if _, has := n.Default(); !has {
			continue
		}
		a, err := tape.ArrayOf(n.Type(), x)
		if err != nil {
			return nil, err
		}
		out[n] = a.At(0)
	}
	return out, nil
}

// source returns the feeds of training, step by step.
func (f *feeder) source() data.Source {
	return data.Generated("the page", 1, func(t int) (map[string]*tensor.Dense, error) {
		feed, err := f.at(t)
		values := map[string]*tensor.Dense{}
		for n, v := range feed {
			values[n.Path()] = v
		}
		return values, err
	})
}

// place returns the points of row-major centres in the plane of the data.
func (f *feeder) place(centres []float64) [][2]float64 { return f.plane.Points(centres) }

// rows returns the axis along which a clustering reads the rows of its table.
func (f *feeder) rows() *axisView {
	for _, n := range f.model.Graph.Inputs() {
		if n.Shape().Rank() == 2 && n.Shape().Len() == len(f.table.X) {
			a := n.Shape().Axis(0)
			return &axisView{a.Name, a.Size}
		}
	}
	return nil
}

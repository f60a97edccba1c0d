package lab_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// sharpened is a net whose loss has a temperature: (γ·x·w − x)².
func sharpened(dt graph.DType) (*builders.Model, error) {
	notes := builders.AsNotes{Says: "plain descent", Optimiser: "sgd", Rate: func(builders.Settings, int) string { return "0.1" }}
	return builders.Define(builders.Builder{Name: "sharpened", Title: "sharpened", AsNotes: notes}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
		x, w := m.Graph.Input("x", dt, graph.Ax("i", 4)), m.Graph.Param("w", dt).Init(initial.Normal(0, 1))
		m.Output = ops.Mul(ops.Mul(x, w), m.Graph.Scalar("γ", 1, dt))
		m.Loss = ops.Mean(ops.Square(ops.Sub(m.Output, x))).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			v := graph.NewValue(x.Type())
			for i := range v.Data {
				v.Data[i] = rng.NormFloat64()
			}
			return graph.Values{x: v}
		}
	}).Build(nil, dt)
}

// The functions that take a configuration, each with what it made of it: losses, measures and names.
// Compare is there twice, with clusterings and with nets alone.
var takers = map[string]func(c lab.Config) (string, error){
	"Learn": func(c lab.Config) (string, error) {
		l, err := lab.Learn(context.Background(), func() (*builders.Model, error) { return sharpened(graph.F64) }, short(c))
		if err != nil {
			return "", err
		}
		return fmt.Sprint(l.Runs), nil
	},
	"Compare": func(c lab.Config) (string, error) {
		if c.Table == nil {
			c.Table = data.Iris()
		}
		return comparison(c, c.Variant("kmeans-softmax"), c.Variant("kmeans-sgd"))
	},
	"Compare of nets": func(c lab.Config) (string, error) {
		return comparison(c, lab.Variant{Name: "sharpened", Build: sharpened})
	},
	"Cluster": func(c lab.Config) (string, error) {
		if c.Table == nil {
			c.Table = data.Iris()
		}
		if c.Restarts == 0 {
			c.Restarts = 1
		}
		if c.Objectives == nil {
			c.Objectives = []string{"kmeans-softmax"}
		}
		if c.SweepGamma == nil {
			c.SweepGamma = []float64{1}
		}
		if c.SweepK == nil {
			c.SweepK = []int{2}
		}
		res, err := lab.Cluster(context.Background(), short(c))
		if err != nil {
			return "", err
		}
		text := fmt.Sprint(res.Gamma, res.K)
		for _, v := range slices.Concat(res.Variants, res.Baselines) {
			text += fmt.Sprint(v.Name, v.Runs, v.Held)
		}
		return text, nil
	},
}

// short has few seeds and steps unless it says how many.
func short(c lab.Config) lab.Config {
	if c.Seeds == 0 {
		c.Seeds = 2
	}
	if c.Steps == 0 {
		c.Steps = 3
	}
	return c
}

func comparison(c lab.Config, variants ...lab.Variant) (string, error) {
	res, err := lab.Compare(context.Background(), short(c), variants...)
	if err != nil {
		return "", err
	}
	text := fmt.Sprint(res.Metrics)
	for v := range res.Variants {
		text += fmt.Sprint(res.Outcomes(v, lab.StudentT))
		for _, s := range res.Settings() {
			text += fmt.Sprint(res.SettingName(s), res.Cells(v, s))
		}
	}
	return text, nil
}

// TestEveryFieldIsTaken: whatever takes a configuration either makes something else of a field that
// is set, or refuses it with an error that says what the field is for.
func TestEveryFieldIsTaken(t *testing.T) {
	var mu sync.Mutex
	told := 0 // calls of functions that are fields
	tell := func() { mu.Lock(); told++; mu.Unlock() }
	report := func(done, of int, what string) { tell() }
	held, err := data.Iris().Subset([]int{1, 51, 101})
	if err != nil {
		t.Fatal(err)
	}
	ranks, err := parallel.Alone(parallel.Config{Lanes: 2})
	if err != nil {
		t.Fatal(err)
	}
	fields := []struct {
		name string
		by   string // who takes it; "" for all
		set  func(c *lab.Config)
	}{
		{"Seeds", "", func(c *lab.Config) { c.Seeds = 3 }},
		{"Seed", "", func(c *lab.Config) { c.Seed = 5 }},
		{"Steps", "", func(c *lab.Config) { c.Steps = 4 }},
		{"Optimisers", "", func(c *lab.Config) { c.Optimisers = []train.Optimiser{train.SGD(0.2)} }},
		{"Rate", "", func(c *lab.Config) { c.Rate = train.Constant(0.3) }},
		{"Falling", "", func(c *lab.Config) { c.Falling = true }},
		{"AsNotes", "", func(c *lab.Config) { c.AsNotes = true }},
		{"Rates", "Compare", func(c *lab.Config) { c.Rates = []train.Schedule{train.Constant(0.3)} }},
		{"Scheduled", "", func(c *lab.Config) { c.Scheduled = map[string]train.Schedule{"γ": train.Geometric(3, 4)} }},
		{"Progress", "", func(c *lab.Config) { c.Progress = report }},
		{"Stepped", "", func(c *lab.Config) { c.Stepped = report }},
		{"Examples", "Learn and Compare", func(c *lab.Config) {
			c.Examples = func(rng *rand.Rand) map[string]graph.Value {
				v := graph.NewValue(graph.Type{DType: graph.F64, Shape: shape(4)})
				v.Data[0] = rng.Float64()
				return map[string]graph.Value{"x": v}
			}
		}},
		{"OneBatch", "Learn and Compare", func(c *lab.Config) { c.OneBatch = true }},
		{"Engine", "Learn and Cluster", func(c *lab.Config) {
			c.Engine = func(context.Context, *graph.Graph, *graph.Node, graph.Step, *tape.Store) (train.Engine, error) {
				return nil, errors.New("asked for an engine")
			}
		}},
		{"Build", "Learn and Cluster", func(c *lab.Config) {
			c.Build = func(int, train.Mode) *train.Net { tell(); return nil }
			c.Plan = func(t *train.Trainer, _ *train.Plan) error { t.Build(1, train.Evaluating); return nil }
		}},
		{"Plan", "Learn and Cluster", func(c *lab.Config) {
			c.Plan = func(*train.Trainer, *train.Plan) error { tell(); return nil }
		}},
		{"Ranks", "Learn and Cluster", func(c *lab.Config) { c.Ranks = ranks }},
		{"CheckUpdates", "Learn and Cluster", func(c *lab.Config) { c.CheckUpdates = true }},
		{"Mixed", "Learn and Cluster", func(c *lab.Config) { c.Mixed = true }},
		{"Table", "Compare and Cluster", func(c *lab.Config) { c.Table = data.Clusters(1, 3, 20, 1) }},
		{"Held", "Compare and Cluster", func(c *lab.Config) { c.Held = held }},
		{"DType", "Compare and Cluster", func(c *lab.Config) { c.DType = graph.F32 }},
		{"K", "Compare and Cluster", func(c *lab.Config) { c.K = 4 }},
		{"Start", "Compare and Cluster", func(c *lab.Config) { c.Start = lab.StartGroups }},
		{"Given", "Compare and Cluster", func(c *lab.Config) {
			c.Start, c.Given = lab.StartGiven, lab.Centres(data.Iris(), 3, lab.StartPoints, 9)
		}},
		{"Batch", "Compare and Cluster", func(c *lab.Config) { c.Batch = 7 }},
		{"Find", "Compare and Cluster", func(c *lab.Config) {
			c.Find = func(string) (builders.Builder, error) { return builders.Lookup("kmeans-goofy") }
		}},
		{"Starts", "Compare", func(c *lab.Config) { c.Starts = []lab.Initial{{Scale: 2}} }},
		{"Probes", "Compare", func(c *lab.Config) {
			c.Probes = []lab.Probe{lab.ProbeFunc("p", func(*builders.Model, *tape.Store) (float64, error) { return 1, nil })}
		}},
		{"Level", "Compare", func(c *lab.Config) { c.Level = 1e9 }},
		{"Workers", "Compare", func(c *lab.Config) { c.Workers = 2 }},
		{"Objectives", "Cluster", func(c *lab.Config) { c.Objectives = []string{"kmeans-goofy"} }},
		{"Alone", "Cluster", func(c *lab.Config) { c.Alone = true }},
		{"Restarts", "Cluster", func(c *lab.Config) { c.Restarts = 2 }},
		{"SweepGamma", "Cluster", func(c *lab.Config) { c.SweepGamma = []float64{2} }},
		{"SweepK", "Cluster", func(c *lab.Config) { c.SweepK = []int{4} }},
		{"SweepSeeds", "Cluster", func(c *lab.Config) { c.SweepSeeds = 1 }},
	}
	// What differs from the rule: errors with a reason of their own, and what must not change anything.
	const same = "the same"
	except := map[string]string{
		"Compare, Falling":         same, // as by default
		"Cluster, Falling":         same,
		"Learn, CheckUpdates":      same, // where all is finite
		"Cluster, CheckUpdates":    same,
		"Learn, Mixed":             "sharpened: Mixed: no product rounds its operands: want 16 rows, columns and terms of float32, or convolutions of 32 channels",
		"Cluster, Mixed":           "kmeans-softmax: Mixed: no product rounds its operands: want 16 rows, columns and terms of float32, or convolutions of 32 channels",
		"Compare, Workers":         same, // TestWorkers
		"Compare of nets, Workers": same,
		"Compare, Examples":        "compare: there is a table, and a function that draws examples: want one of them",
		"Compare, OneBatch":        "compare: OneBatch is for examples, and there is a table",
		"Compare of nets, Held":    "compare: Held: want rows with the columns of Table",
		"Compare of nets, Table":   "sharpened has no input for rows of 2 numbers, which clusters has: its inputs are x[i=4]",
	}
	for _, name := range []string{"K", "Start", "Given", "Batch", "Find"} {
		first := map[string]string{"Given": "Start"}[name]
		if first == "" {
			first = name
		}
		except["Compare of nets, "+name] = first + " is for clusterings on a Table, and there is no Table"
	}
	except["Learn, Ranks"] = "sharpened: its nets for the rows of a lane are missing: lanes want Config.Build"
	except["Cluster, Ranks"] = "kmeans-lloyd: it moves by a step of its own, which needs all rows at once, and is not cut into lanes"
	except["Learn, Given"] = "learn: Start is for Compare and Cluster"
	of := reflect.TypeFor[lab.Config]()
	var exported, listed []string
	for i := range of.NumField() {
		if of.Field(i).IsExported() {
			exported = append(exported, of.Field(i).Name)
		}
	}
	for _, f := range fields {
		listed = append(listed, f.name)
	}
	if slices.Sort(exported); !slices.Equal(exported, slices.Sorted(slices.Values(listed))) {
		t.Fatalf("fields %v, want those of the configuration, %v", listed, exported)
	}
	for _, function := range slices.Sorted(maps.Keys(takers)) {
		plain, err := takers[function](lab.Config{})
		if again, err := takers[function](lab.Config{}); again != plain || err != nil {
			t.Fatalf("%s is not the same twice: %v", function, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range fields {
			var c lab.Config
			f.set(&c)
			told = 0
			got, err := takers[function](c)
			name, _, _ := strings.Cut(function, " ")
			want, special := except[function+", "+f.name]
			if !special && f.by != "" && !strings.Contains(f.by, name) {
				want = fmt.Sprintf("%s: %s is for %s", strings.ToLower(name), f.name, f.by)
			}
			switch {
			case want == same:
				if err != nil || got != plain {
					t.Errorf("%s with %s: %v, and another result", function, f.name, err)
				}
			case want != "":
				if err == nil || err.Error() != want {
					t.Errorf("%s with %s: %v, want %s", function, f.name, err, want)
				}
			case err != nil && !strings.Contains(err.Error(), "asked for an engine"):
				t.Errorf("%s with %s: %v", function, f.name, err)
			case err == nil && got == plain && told == 0:
				t.Errorf("%s does the same with %s as without", function, f.name)
			}
		}
	}
}

func shape(sizes ...int) graph.Shape {
	s, err := graph.NewShape(graph.Dims(sizes...)...)
	if err != nil {
		panic(err)
	}
	return s
}

// TestRefused: what contradicts itself or has no meaning is refused.
func TestRefused(t *testing.T) {
	two := []train.Optimiser{train.SGD(1), train.SGD(2)}
	iris, gamma := data.Iris(), map[string]train.Schedule{"gamma": train.Constant(1)}
	for _, c := range []struct {
		function string
		c        lab.Config
		want     string
	}{
		{"Learn", lab.Config{Optimisers: two}, "learn: 2 optimisers: want one; Compare takes several"},
		{"Cluster", lab.Config{Optimisers: two}, "cluster: 2 optimisers: want one; Compare takes several"},
		{"Learn", lab.Config{Optimisers: make([]train.Optimiser, 1)}, "learn: an optimiser is the zero value, which does nothing"},
		{"Learn", lab.Config{Rate: train.Constant(1), Falling: true}, "learn: there is a Rate, and Falling: want one of them"},
		{"Learn", lab.Config{Scheduled: gamma}, `learn: Scheduled has "gamma": no model has a scalar input of this name`},
		{"Compare", lab.Config{Scheduled: gamma}, `compare: Scheduled has "gamma": no model has a scalar input of this name`},
		{"Compare of nets", lab.Config{Scheduled: gamma}, `compare: Scheduled has "gamma": no model has a scalar input of this name`},
		{"Learn", lab.Config{Seeds: -1}, "learn: numbers of seeds, steps, workers, restarts and rows must not be negative"},
		{"Cluster", lab.Config{Given: []float64{1}}, "cluster: Given is for Start StartGiven"},
		{"Cluster", lab.Config{Scheduled: gamma}, `cluster: Scheduled has "gamma": want γ alone`},
		{"Compare", lab.Config{Start: lab.StartGiven, Given: []float64{1}}, "1 numbers for 3 start centres of 4 features: want 12"},
	} {
		if _, err := takers[c.function](c.c); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.function, err, c.want)
		}
	}
	// Compare starts as many centres as a clustering has, if the table has as many rows.
	build := func(k float64) lab.Variant {
		return lab.Registered("kmeans-softmax", builders.Settings{"k": k})
	}
	if _, err := lab.Compare(context.Background(), lab.Config{Table: iris, Seeds: 1, Steps: 2}, build(5)); err != nil {
		t.Error(err)
	}
	_, err := lab.Compare(context.Background(), lab.Config{Table: iris, Seeds: 1, Steps: 2, K: 3}, build(200))
	if want := "kmeans-softmax: iris.csv has only 150 rows to start r[j=200 d=4] from"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	given := lab.Config{Table: iris, Seeds: 1, Steps: 2, K: 3, Start: lab.StartGiven, Given: make([]float64, 12)}
	_, err = lab.Compare(context.Background(), given, build(5))
	if want := "kmeans-softmax: 3 start centres are given for r[j=5 d=4]"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestCentresOfAnyName: Compare starts and measures the centres of a clustering as Cluster does,
// whatever they are called.
func TestCentresOfAnyName(t *testing.T) {
	named := func(centres string) builders.Builder {
		return builders.Define(builders.Builder{Name: "named", Title: "named", Hyperparameters: []builders.Hyperparameter{
			{Name: "n", Default: 6, Kind: builders.Count}, {Name: "d", Default: 2, Kind: builders.Count}, {Name: "k", Default: 3, Kind: builders.Count},
		}}, func(s builders.Settings, dt graph.DType, m *builders.Model) {
			d := graph.Ax("d", int(s["d"]))
			x := m.Graph.Input("x", dt, graph.Ax("i", int(s["n"])), d)
			c := m.Graph.Param(centres, dt, graph.Ax("j", int(s["k"])), d).Init(initial.Rows("x"))
			m.Loss = builders.SoftKMeans(x, c, m.Graph.Scalar("γ", 1, dt)).Loss
			m.Output = m.Loss
		})
	}
	var measures [2][]float64
	for i, centres := range []string{"r", "means"} {
		c := lab.Config{Table: data.Iris(), Seeds: 1, Steps: 20, Find: func(string) (builders.Builder, error) { return named(centres), nil }}
		v, err := c.Train(context.Background(), "named")
		if err != nil {
			t.Fatal(err)
		}
		cell := compared(t, c, c.Variant("named")).Cells(0, lab.Setting{})[0]
		if !slices.Equal(cell.Loss, v.Runs[0].Loss) {
			t.Errorf("centres %s: losses %v, want %v", centres, cell.Loss, v.Runs[0].Loss)
		}
		measures[i] = cell.Measures
	}
	if !slices.Equal(measures[0], measures[1]) {
		t.Errorf("measured %v and %v of the same centres", measures[0], measures[1])
	}
}

// TestWorkers: two workers train two runs at a time, however many cores there are.
func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	both := make(chan bool)
	c := lab.Config{Seeds: 2, Steps: 3, Workers: 2, Stepped: func(done, _ int, _ string) {
		if done > 1 {
			return
		}
		select {
		case both <- true:
		case <-both:
		case <-late.Done():
			t.Error("one training does not begin before the other ends")
		}
	}}
	compared(t, c, lab.Variant{Name: "sharpened", Build: sharpened})
}

// TestScheduledInLearn: a schedule changes what is learnt, and a training whose schedule goes on has
// not come to rest.
func TestScheduledInLearn(t *testing.T) {
	build := func() (*builders.Model, error) { return sharpened(graph.F64) }
	still := learnt(t, build, lab.Config{Seeds: 1, Scheduled: map[string]train.Schedule{"γ": train.Constant(1)}})
	if own := learnt(t, build, lab.Config{Seeds: 1}); !slices.Equal(own.Runs[0].Loss, still.Runs[0].Loss) {
		t.Errorf("losses %v with γ = 1, which is its default: want %v", still.Runs[0].Loss, own.Runs[0].Loss)
	}
	moving := learnt(t, build, lab.Config{Seeds: 1, Scheduled: map[string]train.Schedule{"γ": train.Geometric(1, 2)}})
	if still.Runs[0].Rest.Changing || !moving.Runs[0].Rest.Changing {
		t.Errorf("%+v and %+v: want a schedule that changes the loss in the second alone", still.Runs[0].Rest, moving.Runs[0].Rest)
	}
}

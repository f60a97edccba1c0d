package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/columns"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

const classifier = `objective "two-layer classifier"
input x[i=32, p=4]
index y[i] ~ integers(size(k))
param W[p, h=8] ~ glorot
param b[h]
param V[h, k=4] ~ glorot
param c[k]

a[i,h] = tanh(dot(x, W, p) + b)
z[i,k] = dot(a, V, h) + c
loss = -mean(sum(onehot(y, k)*logsoftmax(z, k), k), i)
output z
`

const regression = `objective "regression"
input x[i=8, p=2]
input y[i]
param w[p]
param b
ŷ[i] = dot(x, w, p) + b
loss = mean((y - ŷ)^2, i)
output ŷ
`

func model(t *testing.T, name, text string) builders.Builder {
	t.Helper()
	file, err := notation.Parse(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return file.Builder()
}

func builtin(t *testing.T, name string) *columns.Columns {
	t.Helper()
	c, err := columns.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func table(t *testing.T, text string, opts ...data.Option) *columns.Columns {
	t.Helper()
	c, err := columns.Read("t.csv", strings.NewReader(text), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func registered(t *testing.T, name string) builders.Builder {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFit: the bindings and sizes that are found, for models and data of every kind.
func TestFit(t *testing.T) {
	images := tensor.New(tensor.WithShape(6, 4, 4), tensor.WithBacking(make([]float64, 96)))
	kinds := tensor.New(tensor.WithShape(6), tensor.WithBacking([]int32{0, 1, 2, 3, 0, 1}))
	arrays, err := columns.New("digits.npz", columns.Column{Name: "x", Values: images}, columns.Column{Name: "label", Values: kinds})
	if err != nil {
		t.Fatal(err)
	}
	houses := table(t, "area,town,price\n1,Ulm,2\n2,Bonn,3\n3,Ulm,4\n")
	bind := func(s ...string) (out []fit.Binding) {
		for _, text := range s {
			b, err := fit.ParseBinding(text)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
		return out
	}
	for _, test := range []struct {
		b    builders.Builder
		s    builders.Settings
		c    *columns.Columns
		o    fit.Options
		want string // the text, or how the error begins
	}{
		{model(t, "net.tapestry", classifier), nil, builtin(t, "wine"), fit.Options{Validation: 0.2, Standardise: true}, "wine.csv: 178 rows, 142 to train on, 36 held out\n" +
			"  x[i=142 p=13]  reads  alcohol, malic_acid, ash, alcalinity_of_ash, magnesium, total_phenols, flavanoids, … (13 columns), standardised\n" +
			"  y[i=142]       reads  cultivar (3 classes)\n"},
		{model(t, "net.tapestry", classifier), builders.Settings{"i": 10}, builtin(t, "iris"), fit.Options{}, "iris.csv: 150 rows, 150 to train on in batches of 10\n" +
			"  x[i=10 p=4]  reads  sepal_length, sepal_width, petal_length, petal_width\n  y[i=10]      reads  species (3 classes)\n"},
		{model(t, "reg.tapestry", regression), nil, houses, fit.Options{Bind: bind("x=area,town", "y=price")}, "t.csv: 3 rows\n" +
			"  x[i=3 p=3]  reads  area, town\n  y[i=3]      reads  price\n"},
		{model(t, "reg.tapestry", regression), nil, houses, fit.Options{Bind: bind("y=price")}, "t.csv: 3 rows\n  x[i=3 p=1]  reads  area\n  y[i=3]      reads  price\n"},
		{model(t, "reg.tapestry", regression), nil, houses, fit.Options{}, "reg.tapestry: which column does x[i=8 p=2] read? Bind it\n" +
			"  x[i=8 p=2]  f64      reads  –\n  y[i=8]      f64      reads  –\nt.csv: 3 rows\n  area   number\n  town   2 classes: Bonn, Ulm\n  price  number"},
		{model(t, "reg.tapestry", regression), builders.Settings{"p": 5}, houses, fit.Options{Bind: bind("x=area", "y=price")}, "reg.tapestry: x: area has 1, and with p = 5 the model has 5\n"},
		{model(t, "reg.tapestry", regression), nil, houses, fit.Options{Bind: bind("q=area")}, `reg.tapestry: there is no input "q" that data feed`},
		{model(t, "reg.tapestry", regression), nil, houses, fit.Options{Bind: bind("x=aera", "y=price")}, `reg.tapestry: t.csv: column "aera": no such column (did you mean "area"?)`},
		{registered(t, "regression-ols"), nil, houses, fit.Options{Bind: bind("X=area", "y=town")}, `regression-ols: y reads one number a row, and town has 2 classes whose names are not numbers`},
		{registered(t, "conv-2d"), nil, arrays, fit.Options{}, "digits.npz: 6 rows\n  x[n=6 h=4 w=4 c=1]  reads  x\n  label[n=6]          reads  label\n"},
		{registered(t, "graph-gcn"), nil, builtin(t, "karate"), fit.Options{}, "karate: 34 rows\n  x[i=34 c=34]    reads  node (34 classes)\n  label[i=34]     reads  faction (2 classes)\n  A[i=34 j=34]    reads  adjacency\n"},
		{registered(t, "graph-gcn"), nil, builtin(t, "karate"), fit.Options{Validation: 0.5}, "graph-gcn: validation: the rows cannot be divided"},
		{registered(t, "transformer-gpt"), nil, builtin(t, "constitution"), fit.Options{Batch: 16}, "constitution: 9112 rows, 9112 to train on in batches of 16\n  text[b=16 t=6]  reads  text (74 classes)\n"},
		{registered(t, "kmeans-softmax"), nil, builtin(t, "wine"), fit.Options{Bind: bind("x=ash,hue")}, "wine.csv: 178 rows\n  x[i=178 d=2]  reads  ash, hue\n"},
		{registered(t, "autoencoder"), nil, builtin(t, "iris"), fit.Options{Batch: 151}, "autoencoder: batches of 151 rows: there are 150 to train on"},
	} {
		f, err := fit.To(test.b, test.s, graph.F64, test.c, test.o)
		got := f.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(squeezed(got), squeezed(test.want)) {
			t.Errorf("%s:\n%s\nwant\n%s", test.b.Name, got, test.want)
		}
		if err != nil {
			if m := (*fit.Mismatch)(nil); !errors.As(err, &m) {
				t.Errorf("%s: %T is no Mismatch", test.b.Name, err)
			}
			continue
		}
		if m, err := f.Model(); err != nil || m.Rows == nil || m.Examples == nil {
			t.Errorf("%s: the model: %v", test.b.Name, err)
		}
	}
}

func shape(t *testing.T, axes ...graph.Axis) graph.Shape {
	t.Helper()
	s, err := graph.NewShape(axes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// squeezed is a text with single spaces.
func squeezed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// TestSameBatches: a trainer, the laboratory and a caller of Rows.Batch are fed the same rows, each
// of which comes once in an epoch.
func TestSameBatches(t *testing.T) {
	f, err := fit.To(model(t, "net.tapestry", classifier), nil, graph.F32, builtin(t, "iris"), fit.Options{Batch: 25, Validation: 1.0 / 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Model()
	if err != nil {
		t.Fatal(err)
	}
	source, err := f.Source(7)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for step := range 8 {
		b, err := source.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		feed, err := lab.Examples(m, 7, step)
		if err != nil {
			t.Fatal(err)
		}
		for in, v := range feed {
			if !slices.Equal(v.Shape(), b.Values[in.Path()].Shape()) || !slices.Equal(v.Raw, b.Values[in.Path()].Raw) {
				t.Errorf("step %d: the laboratory feeds other %s than the trainer", step, in)
			}
		}
		if step < 4 {
			for i := range b.Rows {
				seen[string(b.Values["x"].Raw[i*16:(i+1)*16])]++
			}
		}
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	if train, held := f.Rows(); train != 100 || held != 50 || total != 100 {
		t.Errorf("%d rows in an epoch of %d, %d held", total, train, held)
	}
}

// TestHeldEqually: if batches do not divide the rows that are measured, each row still counts the
// same.
func TestHeldEqually(t *testing.T) {
	f, err := fit.To(model(t, "reg.tapestry", regression), nil, graph.F64, table(t, "a,b,y\n1,0,1\n2,0,2\n3,0,3\n4,0,4\n5,0,5\n6,0,6\n7,0,7\n"), fit.Options{Batch: 3, Validation: 0.3,
		Bind: []fit.Binding{{Input: "y", Columns: []string{"y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Model()
	if err != nil {
		t.Fatal(err)
	}
	count := map[float64]int{}
	_, _, held := m.Rows.Batches()
	for i := range held {
		feed, err := m.Rows.Held(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range feed[m.Graph.Lookup("y")].Data {
			count[y]++
		}
	}
	if _, n := f.Rows(); n != 2 || len(count) != 2 {
		t.Fatalf("held %d: %v", n, count)
	}
	for y, n := range count {
		if n != 3 {
			t.Errorf("y = %v is measured %d times in %v", y, n, count)
		}
	}
}

// TestPreparedByTraining: means, deviations and substitutes for missing values are those of the
// rows to train on alone, and other data are prepared with them.
func TestPreparedByTraining(t *testing.T) {
	c := table(t, "a,b,y\n1,10,1\n2,,2\n3,30,3\n4,40,4\n100,1000,5\n", data.Missing())
	f, err := fit.To(model(t, "reg.tapestry", regression), nil, graph.F64, c, fit.Options{Validation: 0.2, Standardise: true, Missing: "mean", Seed: 3,
		Bind: []fit.Binding{{Input: "y", Columns: []string{"y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	source, err := f.Source(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := source.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := b.Values["x"].Float64s()
	for j := range 2 {
		mean, square := 0.0, 0.0
		for i := range 4 {
			mean, square = mean+x[2*i+j]/4, square+x[2*i+j]*x[2*i+j]/4
		}
		if math.Abs(mean) > 1e-12 || math.Abs(square-1) > 1e-12 {
			t.Errorf("number %d of the rows to train on has mean %v and mean square %v", j, mean, square)
		}
	}
	if f.Filled() != 1 {
		t.Errorf("%d filled", f.Filled())
	}
	bindings, err := fit.Parse(f.Meta())
	if err != nil || len(bindings) != 2 || bindings[0].Mean == nil || bindings[1].Mean != nil {
		t.Fatalf("%v: %v", bindings, err)
	}
	row := graph.Type{DType: graph.F64, Shape: shape(t, graph.Ax("p", 2))}
	again, err := bindings[0].Read(table(t, "a,b\n1,10\n", data.Missing()), row)
	if err != nil {
		t.Fatal(err)
	}
	want := (1 - bindings[0].Mean[0]) / bindings[0].Std[0]
	if got := again.Column("x").Float64s()[0]; got != want {
		t.Errorf("read as %v, want %v", got, want)
	}
	if _, err := fit.To(model(t, "reg.tapestry", regression), nil, graph.F64, c, fit.Options{Bind: []fit.Binding{{Input: "y", Columns: []string{"y"}}}}); err == nil || !strings.Contains(err.Error(), `t.csv:3: column "b"`) {
		t.Errorf("missing values without a word: %v", err)
	}
}

// TestClassesAsInTraining: other data are coded as in training, whichever classes they have.
func TestClassesAsInTraining(t *testing.T) {
	b := fit.Binding{Input: "y", Columns: []string{"kind"}, Classes: map[string][]string{"kind": {"u", "v", "w"}}}
	row := graph.Type{DType: graph.I64, Shape: shape(t)}
	s, err := b.Read(table(t, "a,kind\n1,w\n2,u\n"), row)
	if err != nil || !slices.Equal(s.Column("y").Int64s(), []int64{2, 0}) {
		t.Errorf("%v: %v", s, err)
	}
	if _, err := b.Read(table(t, "a,kind\n1,w\n2,z\n"), row); err == nil || !strings.Contains(err.Error(), `t.csv: line 3, column "kind": the class "z" did not occur in training`) {
		t.Errorf("an unknown class: %v", err)
	}
}

// TestTrainedOnData: a file in the notation learns the wines, by a trainer and by the laboratory,
// and its checkpoint predicts.
func TestTrainedOnData(t *testing.T) {
	c := builtin(t, "wine")
	f, err := fit.To(model(t, "net.tapestry", classifier), nil, graph.F32, c, fit.Options{Validation: 0.25, Standardise: true, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	source, err := f.Source(1)
	if err != nil {
		t.Fatal(err)
	}
	held, err := f.Held()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trainer := &train.Trainer{Build: f.Build, Optimiser: train.Adam(0.05), Seed: 1}
	defer trainer.Close()
	var losses []float64
	err = trainer.Fit(t.Context(), train.Plan{Data: source, Epochs: 60, Checkpoints: train.Checkpoints{Dir: dir, Meta: f.Meta()},
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				losses = append(losses, e.Loss)
			}
			return nil
		})}})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := trainer.Evaluate(t.Context(), held, metric.Accuracy("y"))
	if err != nil {
		t.Fatal(err)
	}
	if acc := scores[1].Value; acc < 0.9 {
		t.Errorf("accuracy on the wines held out: %v", acc)
	}
	l, err := lab.Learn(t.Context(), f.Model, lab.Config{Seeds: 1, Seed: 1, Steps: 60, Optimisers: []train.Optimiser{train.Adam(0.05)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Runs[0].Loss, losses) {
		t.Errorf("the laboratory's losses %v, the trainer's %v", l.Runs[0].Loss[:3], losses[:3])
	}
	s, _, err := checkpoint.Folder{Dir: dir}.Latest()
	if err != nil {
		t.Fatal(err)
	}
	classes, err := infer.Classes(s)
	if err != nil || !slices.Equal(classes, []string{"0", "1", "2"}) {
		t.Errorf("classes %v: %v", classes, err)
	}
	p, err := infer.LoadPredictor(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	bindings, err := fit.Parse(s.Meta)
	if err != nil {
		t.Fatal(err)
	}
	set, err := bindings[0].Read(c, p.Inputs()[0].Row)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Predict(t.Context(), set); err != nil {
		t.Error(err)
	}
}

// TestComparedOnData: two models are compared on the same rows of the same data.
func TestComparedOnData(t *testing.T) {
	c := builtin(t, "iris")
	var variants []lab.Variant
	for _, b := range []builders.Builder{model(t, "net.tapestry", classifier), registered(t, "loss-cross-entropy")} {
		f, err := fit.To(b, nil, graph.F64, c, fit.Options{Validation: 0.2, Batch: 40})
		if err != nil {
			t.Fatal(err)
		}
		variants = append(variants, lab.Objective(b.Name, f.Model))
	}
	res, err := lab.Compare(t.Context(), lab.Config{Seeds: 2, Steps: 30, Optimisers: []train.Optimiser{train.Adam(0.05)}}, variants...)
	if err != nil {
		t.Fatal(err)
	}
	if res.Variants[0].Task != res.Variants[1].Task {
		t.Error("the two are said to have different tasks")
	}
}

// TestRegistryOnData: models of the registry fit data of their kind, whatever its width and
// classes, and a step of training the first of each family on it is finite.
func TestRegistryOnData(t *testing.T) {
	fits := map[string]int{}
	for _, family := range builders.Families() {
		for _, b := range family.Builders {
			for _, name := range []string{"wine", "digits", "karate", "constitution"} {
				f, err := fit.To(b, nil, graph.F32, builtin(t, name), fit.Options{Batch: map[string]int{"wine": 20, "digits": 20, "constitution": 20}[name]})
				if err != nil {
					continue
				}
				m, err := f.Model()
				if err != nil {
					t.Errorf("%s on %s: %v", b.Name, name, err)
					continue
				}
				fits[family.Name+" on "+name]++
				if fits[family.Name+" on "+name] > 1 || m.Loss == nil || len(lab.Trained(m)) == 0 || m.Centres() != nil {
					continue
				}
				l, err := lab.Learn(t.Context(), func() (*builders.Model, error) { return m, nil }, lab.Config{Seeds: 1, Steps: 1, Optimisers: []train.Optimiser{train.SGD(1e-6)}})
				if err != nil || math.IsNaN(l.Runs[0].Loss[0]) {
					t.Errorf("%s on %s: %v", b.Name, name, err)
				}
			}
		}
	}
	for what, least := range map[string]int{
		"clustering on wine": 4, "regularisation on wine": 7, "self-supervision on wine": 4, "regression on wine": 7, "losses on wine": 7, "initialisation on wine": 1,
		"convolution on digits": 6, "normalisation on digits": 8, "regularisation on digits": 16, "graph networks on karate": 5, "transformer on constitution": 1, "recurrent on constitution": 2,
	} {
		if fits[what] < least {
			t.Errorf("%s: %d models fit, want at least %d (%v)", what, fits[what], least, fits)
		}
	}
}

// TestConvergesOnData: whether a training has converged is decided by the gradient on the rows that
// it is trained on, not on those held out, where it is not zero in the end.
func TestConvergesOnData(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%d,%v\n", i%7, i*i%5, 3*float64(i%7)-float64(i*i%5)+math.Sin(float64(i)))
	}
	f, err := fit.To(model(t, "reg.tapestry", regression), nil, graph.F64, table(t, rows.String()), fit.Options{Validation: 0.3, Standardise: true, Bind: []fit.Binding{{Input: "y", Columns: []string{"y"}}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Learn(t.Context(), f.Model, lab.Config{Seeds: 1, Steps: 400, Optimisers: []train.Optimiser{train.SGD(0.3)}})
	if err != nil {
		t.Fatal(err)
	}
	if r := l.Runs[0].Rest; !r.Converged() {
		t.Errorf("least squares by descent: %v", r)
	}
}

// TestTooManyClasses: a column of names that are all different is an error instead of a flood of
// ones and zeros.
func TestTooManyClasses(t *testing.T) {
	const n = 12_000
	codes, names := make([]int32, n), make([]string, n)
	for i := range codes {
		codes[i], names[i] = int32(i), fmt.Sprint("name", i)
	}
	c, err := columns.New("names.csv", columns.Column{Name: "name", Values: tensor.New(tensor.WithShape(n), tensor.WithBacking(codes)), Classes: names})
	if err != nil {
		t.Fatal(err)
	}
	_, err = fit.To(registered(t, "autoencoder"), nil, graph.F32, c, fit.Options{Bind: []fit.Binding{{Input: "x", Columns: []string{"name"}}}})
	if err == nil || !strings.Contains(err.Error(), "12000 ones and zeros for each of 12000 rows are too many") {
		t.Errorf("got %v", err)
	}
}

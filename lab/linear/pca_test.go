package linear_test

import (
	"context"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// residuals are what NumPy's singular values of the centred tables leave.
var residuals = []struct {
	name string
	k    int
	want float64
}{{"digits", 10, 314.5149712422968}, {"iris", 2, 0.10136429572959303}}

// TestResiduals: k principal components leave of the data the sum of squares that is known of each
// data set, and all components leave nothing.
func TestResiduals(t *testing.T) {
	for _, c := range residuals {
		table, err := data.Builtin(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := linear.NewPCA(table)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Residual(c.k); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%d components of %s leave %.15g, want %.15g", c.k, c.name, got, c.want)
		}
		if got := p.Residual(len(p.Axes)); got != 0 {
			t.Errorf("all components of %s leave %g", c.name, got)
		}
	}
	if _, err := linear.NewPCA(&data.Table{Columns: []string{"a"}}); err == nil {
		t.Error("a table without rows has components")
	}
}

// TestPCAIsTheAutoencodersOptimum: with the principal axes as weights and the mean as
// offsets the linear autoencoder leaves what PCA leaves, and no derivative is left.
func TestPCAIsTheAutoencodersOptimum(t *testing.T) {
	iris := data.Iris()
	p, err := linear.NewPCA(iris)
	if err != nil {
		t.Fatal(err)
	}
	const d, k = 4, 2
	m, err := builders.Build("autoencoder-linear", builders.Settings{"i": float64(iris.Rows()), "d": d, "k": k, "offsets": 1}, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	var A, B, a, b graph.Value
	for path, v := range map[string]*graph.Value{"encoder/A": &A, "decoder/B": &B, "encoder/a": &a, "decoder/b": &b} {
		*v = graph.NewValue(m.Graph.Lookup(path).Type())
	}
	copy(b.Data, p.Mean)
	for y := range k {
		for j := range d {
			A.Data[j*k+y], B.Data[y*d+j] = p.Axes[y][j], p.Axes[y][j]
			a.Data[y] -= p.Mean[j] * p.Axes[y][j]
		}
	}
	nodes := append([]*graph.Node{m.Loss}, grad.Of(m.Loss, m.Params()...)...)
	out, err := ref.Eval(trait.Env{}, graph.Values{
		m.Graph.Lookup("x"):         {Type: m.Graph.Lookup("x").Type(), Data: iris.X},
		m.Graph.Lookup("encoder/A"): A, m.Graph.Lookup("encoder/a"): a,
		m.Graph.Lookup("decoder/B"): B, m.Graph.Lookup("decoder/b"): b,
	}, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out[0].Data[0], p.Residual(k); math.Abs(got-want) > 1e-12 {
		t.Errorf("the autoencoder leaves %.15g, PCA %.15g", got, want)
	}
	for i, v := range out[1:] {
		for _, dx := range v.Data {
			if math.Abs(dx) > 1e-11 {
				t.Errorf("the derivative by %v is %v", m.Params()[i], v.Data)
				break
			}
		}
	}
}

// TestLinearAutoencoderFindsPCA: trained from random weights, the linear autoencoder
// comes to leave what PCA leaves, and never less.
func TestLinearAutoencoderFindsPCA(t *testing.T) {
	for _, c := range residuals {
		table, err := data.Builtin(c.name)
		if err != nil {
			t.Fatal(err)
		}
		got := leftByAutoencoder(t, table, c.k)
		t.Logf("%s: the autoencoder leaves %.6f, PCA %.6f: %+.3f %%", c.name, got, c.want, 100*(got/c.want-1))
		if got > 1.005*c.want || got < (1-1e-4)*c.want {
			t.Errorf("%s: the autoencoder leaves %.6f, want %.6f", c.name, got, c.want)
		}
	}
}

// leftByAutoencoder trains on all rows at once, with a rate that falls.
func leftByAutoencoder(t *testing.T, table *data.Table, k int) float64 {
	const steps = 8000
	m, err := builders.Build("autoencoder-linear", builders.Settings{
		"i": float64(table.Rows()), "d": float64(len(table.Columns)), "k": float64(k), "offsets": 1,
	}, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	adam, fall := train.Adam(0.05), train.Geometric(0.05, 0.0005)
	prog, err := tape.Compile(m.Graph, tape.Fetch(m.Loss), tape.Do(adam.Minimize(m.Loss)))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, tape.NewStore(m.Graph, tape.Seed(1)), tape.Workers(1))
	defer vm.Close()
	x := graph.Value{Type: m.Graph.Lookup("x").Type(), Data: table.X}
	feed := tape.Feed{m.Graph.Lookup("x"): tape.Tensor(x)}
	for step := range steps {
		rate := adam.Rate(m.Graph)
		feed[rate] = tape.Tensor(graph.Value{Type: rate.Type(), Data: []float64{fall.At(step, steps)}})
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
	}
	return tapetest.Float(t, vm, m.Loss)
}

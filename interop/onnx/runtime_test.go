package onnx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// runtime returns ONNX Runtime, or skips the test.
func runtime(t *testing.T) *onnxruntime.Runtime {
	t.Helper()
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	return rt
}

// A comparison is a graph whose nodes are computed by the tape and, as an exported model, by ONNX Runtime.
type comparison struct {
	name  string
	feed  graph.Values
	nodes []*graph.Node
	limit float64 // a node that is further off is named in the test's log
	floor float64 // differences are relative to at least this; 1e-6 if it is 0
}

// run returns the largest difference of an element over the largest element, of all nodes.
func (c comparison) run(t *testing.T, rt *onnxruntime.Runtime, options ...onnx.Option) (worst float64, err error) {
	g := c.nodes[0].Graph()
	store := tape.NewStore(g, tape.Seed(1))
	feed := graph.Values{}
	for n, v := range c.feed {
		if n.Role() == graph.RoleInput {
			feed[n] = v
		} else if err := store.Set(n.Path(), tape.Tensor(v)); err != nil {
			return 0, err
		}
	}
	for i, n := range c.nodes {
		options = append(options, onnx.As(fmt.Sprint("result", i), n))
	}
	var b bytes.Buffer
	if err := onnx.Write(&b, g, store, options...); err != nil {
		return 0, err
	}
	m, err := format.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Limits{})
	if err != nil {
		return 0, err
	}
	prog, err := tape.Compile(g, tape.Fetch(c.nodes...))
	if err != nil {
		return 0, err
	}
	vm, err := prog.NewVM(store, tape.Workers(1))
	if err != nil {
		return 0, err
	}
	defer vm.Close()
	inputs := map[string]onnxruntime.Array{}
	for n, v := range feed {
		if !slices.ContainsFunc(m.Graph.Inputs, func(in *format.Value) bool { return in.Name == n.Path() }) {
			continue
		}
		if inputs[n.Path()], err = onnxruntime.FromTensor(n.Type(), tape.Tensor(v)); err != nil {
			return 0, err
		}
	}
	drawn(m, inputs)
	s, err := rt.Load(b.Bytes(), onnxruntime.Options{Threads: 1})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	got, err := s.Run(t.Context(), inputs)
	if err != nil {
		return 0, err
	}
	if err := vm.Run(t.Context(), tape.Tensors(feed)); err != nil {
		return 0, err
	}
	for i, n := range c.nodes {
		d, err := vm.Value(n)
		if err != nil {
			return 0, err
		}
		a, err := onnxruntime.FromTensor(n.Type(), d)
		if err != nil {
			return 0, err
		}
		want, err := a.Floats()
		if err != nil {
			return 0, err
		}
		have, err := got[fmt.Sprint("result", i)].Floats()
		if err != nil {
			return 0, err
		}
		off, at := distance(have, want, max(c.floor, 1e-6))
		if limit := max(c.limit, 1e-9); off > limit {
			t.Logf("%s: %v: element %d is %v, want %v", c.name, n, at, have[at], want[at])
		}
		worst = max(worst, off)
	}
	return worst, nil
}

// distance is the largest difference over the largest finite element, or floor, and where it is.
func distance(have, want []float64, floor float64) (off float64, at int) {
	if len(have) != len(want) {
		return math.Inf(1), 0
	}
	scale := floor
	for _, w := range want {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			scale = max(scale, math.Abs(w))
		}
	}
	for i, w := range want {
		h := have[i]
		if h == w || math.IsNaN(h) && math.IsNaN(w) {
			continue
		}
		d := math.Abs(h-w) / scale
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > off {
			off, at = d, i
		}
	}
	return off, at
}

// drawn gives the inputs that stand for random numbers the numbers of the first run with seed 1.
func drawn(m *format.Model, inputs map[string]onnxruntime.Array) {
	var draws map[string]struct {
		Law, Key string
		Lo, Hi   float64
		Times    int
	}
	if json.Unmarshal([]byte(m.Metadata["tapestry.draws"]), &draws) != nil {
		return
	}
	for _, in := range m.Graph.Inputs {
		d, ok := draws[in.Name]
		if !ok {
			continue
		}
		var sizes []int
		for _, x := range in.Type.Dims {
			sizes = append(sizes, int(x.Size))
		}
		dt := map[format.DataType]graph.DType{format.Float: graph.F32, format.Double: graph.F64, format.Int32: graph.I32, format.Int64: graph.I64}[in.Type.Elem]
		each := product(sizes[d.Times:])
		var data []float64
		for p := range product(sizes[:d.Times]) {
			key := kernel.KeyOf(d.Key + " " + dt.String())
			at, rest := make([]int, d.Times), p
			for i := d.Times - 1; i >= 0; i-- {
				at[i], rest = rest%sizes[i], rest/sizes[i]
			}
			for i := d.Times - 1; i >= 0; i-- { // the innermost first
				key = kernel.At(key, int64(at[i]))
			}
			k := kernel.Random{Key: key, Law: kernel.Law(d.Law), Lo: d.Lo, Hi: d.Hi}
			for i := range each {
				data = append(data, k.Draw(kernel.DType(dt), kernel.Stream(1, 0), 0, uint64(i)))
			}
		}
		shape, _ := graph.NewShape(graph.Dims(sizes...)...)
		t := graph.Type{DType: dt, Shape: shape}
		inputs[in.Name], _ = onnxruntime.FromTensor(t, tape.Tensor(graph.Value{Type: t, Data: data}))
	}
}

func product(sizes []int) int {
	n := 1
	for _, d := range sizes {
		n *= d
	}
	return n
}

// TestRuntimeModels: the output, the loss and every derivative of every model of the registry are in ONNX
// Runtime what they are on the tape.
func TestRuntimeModels(t *testing.T) {
	rt := runtime(t)
	for dt, limit := range map[graph.DType]float64{graph.F32: 1e-4, graph.F64: 1e-9} {
		models(t, rt, dt, limit)
	}
}

func models(t *testing.T, rt *onnxruntime.Runtime, dt graph.DType, limit float64) {
	passed, all, worst := 0, 0, 0.0
	for _, bd := range builders.All() {
		all++
		m, err := bd.Build(nil, dt)
		if err != nil {
			t.Fatal(err)
		}
		c := comparison{name: fmt.Sprint(bd.Name, " ", dt), feed: m.Examples(rand.New(rand.NewPCG(1, 1))), limit: limit}
		if m.Output != nil {
			c.nodes = append(c.nodes, m.Output)
		}
		if m.Loss != nil {
			c.nodes = append(c.nodes, m.Loss)
			wrt := m.Params()
			for n := range c.feed {
				if n.DType().IsFloat() && m.Loss.DependsOn(n) {
					wrt = append(wrt, n)
				}
			}
			slices.SortStableFunc(wrt, func(a, b *graph.Node) int { return a.ID() - b.ID() })
			c.nodes = append(c.nodes, grad.OrZero(m.Loss, wrt...)...)
		}
		off, err := c.run(t, rt)
		switch {
		case err != nil:
			t.Errorf("%s: %s", c.name, short(err))
		case !(off <= limit):
			t.Errorf("%s: off by %.2g", c.name, off)
		default:
			passed++
			worst = max(worst, off)
		}
	}
	t.Logf("%v: %d of %d models, worst difference %.2g", dt, passed, all, worst)
}

func short(err error) string {
	var u onnx.Unsupported
	if errors.As(err, &u) {
		var list []string
		for _, r := range u {
			if s := r.Op + ": " + r.Reason; !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		return strings.Join(list, "; ")
	}
	return err.Error()
}

// TestRuntimeOperations: every operation, on each of its cases and in each type, and its derivatives, are
// in ONNX Runtime what they are on the tape.
func TestRuntimeOperations(t *testing.T) {
	rt := runtime(t)
	rng := rand.New(rand.NewPCG(1, 2))
	cases, passed := 0, 0
	worst := map[graph.DType]float64{}
	for _, op := range ops.List() {
		for k, c := range op.Cases() {
			for _, dt := range []graph.DType{graph.F32, graph.F64, graph.F16} {
				if dt != graph.F32 && !slices.ContainsFunc(c.Operands, func(o ops.Operand) bool { return strings.HasPrefix(o.Type, "float") }) {
					continue
				}
				cases++
				name := fmt.Sprintf("%s %d %v", op.Name(), k, dt)
				cmp, err := caseOf(c, dt, rng, op.Name() == "SearchSorted")
				if err != nil {
					cases--
					continue // not for this type
				}
				limit := map[graph.DType]float64{graph.F32: 1e-4, graph.F64: 1e-9, graph.F16: 1e-2}[dt]
				cmp.name, cmp.limit = name, limit
				off, err := cmp.run(t, rt)
				switch {
				case err != nil:
					t.Errorf("%s: %s", name, short(err))
				case !(off <= limit):
					t.Errorf("%s: off by %.2g", name, off)
				default:
					passed++
					worst[dt] = max(worst[dt], off)
				}
			}
		}
	}
	t.Logf("%d of %d cases, worst differences %v", passed, cases, worst)
}

// caseOf makes a graph of a case, with first and second derivatives.
func caseOf(c ops.Case, dt graph.DType, rng *rand.Rand, sorted bool) (comparison, error) {
	g := graph.New("case")
	out := comparison{feed: graph.Values{}}
	var in, floats []*graph.Node
	for i, o := range c.Operands {
		var typ graph.Type
		if err := typ.UnmarshalText([]byte(strings.Replace(o.Type, "float", dt.String(), 1))); err != nil {
			return out, err
		}
		x := g.Input(fmt.Sprint("x", i), typ.DType, typ.Shape.Axes()...)
		v := graph.NewValue(typ)
		for p := range v.Data {
			x := o.Domain.Lo + (o.Domain.Hi-o.Domain.Lo)*rng.Float64()
			if o.Domain.Distinct {
				x = o.Domain.Lo + (o.Domain.Hi-o.Domain.Lo)*(float64(p)+0.3+0.4*rng.Float64())/float64(len(v.Data))
			}
			if !typ.DType.IsFloat() {
				x = math.Round(x)
			}
			v.Data[p] = typ.DType.Round(x)
		}
		if sorted {
			slices.Sort(v.Data) // row-major, so along each axis
		} else if o.Domain.Distinct {
			rng.Shuffle(len(v.Data), func(i, j int) { v.Data[i], v.Data[j] = v.Data[j], v.Data[i] })
		}
		out.feed[x] = v
		if in = append(in, x); typ.DType.IsFloat() {
			floats = append(floats, x)
		}
	}
	y := c.Make(in)
	if !y.IsValid() {
		return out, errors.New("no node")
	}
	g = y.Graph()
	if err := g.Err(); err != nil {
		return out, err
	}
	out.nodes = []*graph.Node{y}
	if y.DType().IsFloat() && len(floats) > 0 && dt != graph.F16 {
		// Weights keep derivatives from being sums of rounding errors, as those of a sum of probabilities would be.
		weighted := func(nodes ...*graph.Node) (total *graph.Node) {
			for _, n := range nodes {
				w := g.ConstantFunc(n.DType(), func(data []float64) {
					for i := range data {
						data[i] = n.DType().Round(rng.Float64() + 0.5)
					}
				}, n.Shape().Axes()...)
				if s := ops.Sum(ops.Mul(w, ops.Add(n, ops.Scale(ops.Square(n), 0.25)))); total == nil {
					total = s
				} else {
					total = ops.Add(total, s)
				}
			}
			return total
		}
		first := grad.OrZero(weighted(y), floats...)
		out.nodes = append(out.nodes, first...)
		out.nodes = append(out.nodes, grad.OrZero(weighted(first...), floats...)...)
	}
	return out, g.Err()
}

//go:build onnxruntime

package onnx_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// fedBack runs a training step anywhere: it knows nothing of the model but what its metadata say, and
// feeds what is updated back.
type fedBack struct {
	session *onnxruntime.Session
	loss    string
	updates map[string]string
	held    map[string]onnxruntime.Array // by input; empty before the first run, which takes the defaults
	draws   map[string]string            // key by input
}

func load(t *testing.T, rt *onnxruntime.Runtime, file []byte) *fedBack {
	t.Helper()
	m, err := format.Read(bytes.NewReader(file), int64(len(file)), format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fedBack{loss: m.Metadata["tapestry.loss"], held: map[string]onnxruntime.Array{}, draws: map[string]string{}}
	var draws map[string]struct{ Key string }
	for key, to := range map[string]any{"tapestry.updates": &f.updates, "tapestry.draws": &draws} {
		if text := m.Metadata[key]; text != "" {
			if err := json.Unmarshal([]byte(text), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, d := range draws {
		f.draws[name] = d.Key
	}
	f.session, err = rt.Load(file, onnxruntime.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.session.Close() })
	return f
}

// step runs a step on inputs by name, and returns the loss before its update.
func (f *fedBack) step(t *testing.T, inputs map[string]onnxruntime.Array) float64 {
	t.Helper()
	for name, a := range f.held {
		inputs[name] = a
	}
	out, err := f.session.Run(context.Background(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	for name, next := range f.updates {
		f.held[name] = out[next]
	}
	v, err := out[f.loss].Floats()
	if err != nil || len(v) != 1 {
		t.Fatalf("the loss %q is %v, %v", f.loss, v, err)
	}
	return v[0]
}

// trained is a training of a model, on the tape and as it is exported.
type trained struct {
	model     string
	settings  builders.Settings
	optimiser train.Optimiser
	rate      string // a schedule in the graph; "" for none
	dtype     graph.DType
}

// losses runs so many steps on the tape and in ONNX Runtime from the same start on the same examples,
// and returns the losses of both.
func (c trained) losses(t *testing.T, rt *onnxruntime.Runtime, steps int) (ours, theirs []float64) {
	t.Helper()
	m, err := builders.Build(c.model, c.settings, c.dtype)
	if err != nil {
		t.Fatal(err)
	}
	g := m.Graph
	step := lab.TrainingStep(m, c.optimiser)
	options := []onnx.Option{onnx.Loss(m.Loss), onnx.Do(step)}
	var schedule train.Schedule
	rate := c.optimiser.Rate(g)
	if c.rate != "" {
		if schedule, err = train.ParseSchedule(c.rate); err != nil {
			t.Fatal(err)
		}
		count := g.State("step", graph.I64)
		value := ops.Cast(schedule.Node(ops.Cast(count, graph.F64), steps), rate.DType())
		options = append(options, onnx.Do(graph.Step{g.Assign(count, ops.Shift(count, 1))}), onnx.Let(rate, value))
	}
	store, err := lab.NewStore(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := onnx.Write(&file, g, store, options...); err != nil {
		t.Fatal(err)
	}
	random := draws(append([]*graph.Node{m.Loss}, values(step)...)...)
	prog, err := tape.Compile(g, tape.Fetch(append([]*graph.Node{m.Loss}, random...)...), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := prog.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	there := load(t, rt, file.Bytes())
	for i := range steps {
		also := tape.Feed{}
		if c.rate != "" {
			also[rate] = tape.Scalar(rate.DType(), schedule.At(i, steps))
		}
		inputs := feedBoth(t, m, i, vm, random, there, also)
		v, err := vm.Float(m.Loss)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs = append(ours, v), append(theirs, there.step(t, inputs))
	}
	return ours, theirs
}

// feedBoth runs the tape on the examples of step i, and returns them and what was drawn, as they are fed
// there. The tape alone is fed what is given besides.
func feedBoth(t *testing.T, m *builders.Model, i int, vm *tape.VM, random []*graph.Node, there *fedBack, also ...tape.Feed) map[string]onnxruntime.Array {
	t.Helper()
	feed, err := lab.Examples(m, 1, i)
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]onnxruntime.Array{}
	put := func(name string, typ graph.Type, d *tensor.Dense) {
		if !there.has(name) {
			return // the step does not read it
		}
		if inputs[name], err = onnxruntime.FromTensor(typ, d); err != nil {
			t.Fatal(err)
		}
	}
	for n, d := range feed {
		put(n.Path(), n.Type(), d)
	}
	for _, f := range also {
		maps.Copy(feed, f)
	}
	if err := vm.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
	for name, of := range there.draws {
		for _, n := range random {
			if key(n) != of {
				continue
			}
			d, err := vm.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			put(name, n.Type(), d)
		}
	}
	return inputs
}

// draws returns the draws that nodes depend on.
func draws(of ...*graph.Node) (out []*graph.Node) {
	for _, n := range graph.Reachable(of...) {
		if key(n) != "" {
			out = append(out, n)
		}
	}
	return out
}

func (f *fedBack) has(name string) bool {
	for _, v := range f.session.Inputs() {
		if v.Name == name {
			return true
		}
	}
	return false
}

func values(step graph.Step) (out []*graph.Node) {
	for _, u := range step {
		out = append(out, u.Value)
	}
	return out
}

// key returns the key of a draw; "" for other nodes.
func key(n *graph.Node) string {
	if v := reflect.ValueOf(n.Op()); v.Kind() == reflect.Struct {
		if f := v.FieldByName("Key"); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}

// worst returns the largest difference between losses, relative to ours.
func worst(ours, theirs []float64) float64 {
	most := 0.0
	for i, v := range ours {
		d := math.Abs(theirs[i]-v) / max(math.Abs(v), 1e-3)
		if math.IsNaN(d) {
			return d
		}
		most = max(most, d)
	}
	return most
}

// TestRuntimeTrains: 50 steps of models of every family, each by another optimiser, have the losses of
// the tape in ONNX Runtime, which gets what it gives back and nothing else.
func TestRuntimeTrains(t *testing.T) {
	rt := runtime(t)
	for _, c := range []trained{
		{"kmeans-softmax", nil, train.Adam(0.05), "hold(12,cosine(0.05,38))", graph.F32},
		{"loss-cross-entropy", nil, train.Momentum(0.05, 0.9), "", graph.F32},
		{"no-regularisation", nil, train.RMSProp(0.002), "", graph.F32},
		{"conv-2d", nil, train.Nesterov(0.01, 0.9), "", graph.F32},
		{"resnet", nil, train.AdamW(0.002), "", graph.F32},
		{"rnn-lstm", nil, train.Adam(0.01, train.ClipNorm(0.5), train.EMA(0.9)), "", graph.F32},
		{"transformer-gpt", nil, train.AdamW(0.003), "warmup(10,cosine(0.003,40))", graph.F32},
		{"autoencoder", nil, train.Adagrad(0.05), "", graph.F32},
		{"word2vec-negative", nil, train.LazyAdam(0.01), "", graph.F32},
		{"graph-gcn", nil, train.SmoothedMomentum(0.05, 0.9), "", graph.F32},
		{"dropout", nil, train.Adam(0.01, train.Accumulate(3)), "", graph.F32},
		{"norm-batch", nil, train.SGD(0.05, train.L1(1e-3)), "exp(0.05,0.97)", graph.F32},
		{"norm-batch", builders.Settings{"global": 1}, train.SGD(0.05), "", graph.F32}, // sums over lanes, of which there is one
	} {
		t.Run(c.model, func(t *testing.T) {
			ours, theirs := c.losses(t, rt, 50)
			w := worst(ours, theirs)
			t.Logf("%s by %s: losses from %.4g to %.4g, worst relative difference %.2g", c.model, c.optimiser, ours[0], ours[49], w)
			if !(w <= 1e-3) {
				t.Errorf("ours %.6v\ntheirs %.6v", ours, theirs)
			}
		})
	}
}

// TestRuntimeTrainsByEvery: the steps of every optimiser with every option, in both element types.
func TestRuntimeTrainsByEvery(t *testing.T) {
	rt := runtime(t)
	options := [][]train.Option{nil, {train.ClipNorm(0.1)}, {train.ClipValue(0.01)}, {train.EMA(0.9)}, {train.Accumulate(2), train.EMA(0.5)}, {train.WeightDecay(0.1)}, {train.DecoupledDecay(0.1)}, {train.L1(0.01)}}
	for i, name := range train.Names() {
		for k, o := range options {
			if name == "lbfgs" && o != nil {
				continue // it refuses most of them
			}
			dt := []graph.DType{graph.F32, graph.F64}[(i+k)%2]
			opt, err := train.Named(name, 0.01, o...)
			if err != nil {
				t.Fatal(err)
			}
			c := trained{"loss-huber", nil, opt.WithRate(0.01), "", dt} // that of lbfgs would be 1
			ours, theirs := c.losses(t, rt, 8)
			if w := worst(ours, theirs); !(w <= map[graph.DType]float64{graph.F32: 1e-4, graph.F64: 1e-9}[dt]) {
				t.Errorf("%s in %v: %.2g: ours %.6v, theirs %.6v", opt, dt, w, ours, theirs)
			}
		}
	}
}

// TestRuntimeTrainsAll: three steps of every model that is trained, by Adam.
func TestRuntimeTrainsAll(t *testing.T) {
	rt := runtime(t)
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil || m.Loss == nil || len(lab.Trained(m))+len(m.Step) == 0 {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			ours, theirs := trained{b.Name, nil, train.Adam(0.01), "", graph.F32}.losses(t, rt, 3)
			if w := worst(ours, theirs); !(w <= 1e-3) {
				t.Errorf("%.2g: ours %.6v, theirs %.6v", w, ours, theirs)
			}
		})
	}
}

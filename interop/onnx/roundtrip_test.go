package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestRoundTrip: a model of the registry that is written and read again has the parameters, states
// and inputs, with their names, types and values, the output and the loss.
func TestRoundTrip(t *testing.T) {
	whole := 0
	for _, b := range builders.All() {
		t.Run(b.Name, func(t *testing.T) {
			m, err := b.Build(nil, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			store := tape.NewStore(m.Graph)
			var file bytes.Buffer
			options := []onnx.Option{onnx.Output(m.Output)}
			if m.Loss != nil {
				options = append(options, onnx.Loss(m.Loss))
			}
			if err := onnx.Write(&file, m.Graph, store, options...); err != nil {
				if errors.As(err, new(*onnx.Unsupported)) {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			f, err := onnx.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), b.Name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := f.Build(nil, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			if (r.Loss == nil) != (m.Loss == nil) || r.Output == nil {
				t.Fatalf("output %v and loss %v: want %v and %v", r.Output, r.Loss, m.Output, m.Loss)
			}
			roots := []*graph.Node{m.Output, m.Loss}
			for _, n := range graph.Reachable(roots...) {
				if n.Role() != graph.RoleParam && n.Role() != graph.RoleState && n.Role() != graph.RoleInput {
					continue
				}
				c := r.Graph.Lookup(n.Path())
				if c == nil || c.Role() != n.Role() || c.DType() != n.DType() || !c.Shape().SameSizes(n.Shape()) {
					t.Errorf("%v %v is read as %v", n.Role(), n, c)
				}
			}
			if t.Failed() {
				return
			}
			values, read := m.Examples(rand.New(rand.NewPCG(1, 2))), graph.Values{}
			for n, v := range values {
				if c := r.Graph.Lookup(n.Path()); c != nil {
					read[c] = v
				}
			}
			for _, n := range r.Inputs() {
				if _, fed := read[n]; !fed {
					return // a draw, which differs
				}
			}
			whole++
			want, result := m.Loss, r.Loss
			if want == nil {
				want, result = m.Output, r.Output
			}
			w, err := store.Eval(context.Background(), tape.Tensors(values), want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tape.NewStore(r.Graph, tape.Seed(7)).Eval(context.Background(), tape.Tensors(read), result)
			if err != nil {
				t.Fatal(err)
			}
			largest := math.Abs(slices.MaxFunc(w[want].Data, func(a, b float64) int { return int(math.Copysign(1, math.Abs(a)-math.Abs(b))) }))
			for i, v := range w[want].Data {
				if !(math.Abs(v-got[result].Data[i]) <= 1e-5*largest) {
					t.Fatalf("%v is %v, read %v", want, w[want].Data, got[result].Data)
				}
			}
		})
	}
	t.Logf("%d models have the same loss", whole)
}

package inspect_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// subject is the training of a registered model.
func subject(t *testing.T, name string) inspect.Subject {
	t.Helper()
	m, err := builders.Build(name, nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	task, err := lab.Config{Optimisers: []train.Optimiser{train.SGD(0.05)}}.Task(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.Subject{Graph: m.Graph, Wanted: []*graph.Node{m.Result()}, Step: task.Step, Feed: task.Feed, Store: task.Store}
}

func open(t *testing.T, s inspect.Subject, options ...inspect.Option) *inspect.Session {
	t.Helper()
	out, err := inspect.Open(t.Context(), s, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	return out
}

// bits are the elements of an array, so that NaN equals itself and 0 is not −0.
func bits(a tape.Array) []uint64 {
	if a.Type.DType == graph.InvalidDType {
		return nil
	}
	out := make([]uint64, a.Type.Shape.Len())
	for i := range out {
		out[i] = math.Float64bits(a.At(i))
	}
	return out
}

// storeBits are all parameters and states of a store.
func storeBits(t *testing.T, s *tape.Store) map[string][]uint64 {
	t.Helper()
	out := map[string][]uint64{}
	for _, path := range s.Paths() {
		d, err := s.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		switch v := d.Data().(type) {
		case []float32:
			for _, x := range v {
				out[path] = append(out[path], uint64(math.Float32bits(x)))
			}
		case []float64:
			for _, x := range v {
				out[path] = append(out[path], math.Float64bits(x))
			}
		case float32:
			out[path] = []uint64{uint64(math.Float32bits(v))}
		case float64:
			out[path] = []uint64{math.Float64bits(v)}
		}
	}
	return out
}

func sameStore(a, b map[string][]uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for p := range a {
		if !slices.Equal(a[p], b[p]) {
			return false
		}
	}
	return true
}

var ctx = context.Background()

// walked are models of different families.
var walked = []string{"kmeans-softmax", "kmeans-lloyd", "attention-multihead", "position-rotary", "transformer-gpt", "rnn-elman", "rnn-lstm", "dropout",
	"norm-batch", "filter-iir", "attention-self"}

// TestWalk goes through models to the end and back. Every instruction is visited in both
// directions with the same values, and the updates in the record are those that the training
// program writes to the store.
func TestWalk(t *testing.T) {
	for _, name := range walked {
		t.Run(name, func(t *testing.T) {
			sub := subject(t, name)
			s := open(t, sub)
			if len(sub.Step) > 0 {
				if err := s.Train(ctx, 2); err != nil {
					t.Fatal(err)
				}
			}
			var there [][][]uint64
			see := func() (all [][]uint64) {
				ins, err := s.Instruction(ctx, s.At())
				if err != nil {
					t.Fatalf("instruction %d: %v", s.At(), err)
				}
				if ins.Result.Node != ins.Row.Node || len(ins.Operands) != len(ins.Row.In) {
					t.Fatalf("instruction %d shows %v of %v", s.At(), ins.Result.Node, ins.Row)
				}
				for _, q := range append(ins.Operands, ins.Result, ins.Owner) {
					if q.Node == nil {
						continue
					}
					all = append(all, bits(q.Value))
					if q.Gradient != nil {
						all = append(all, bits(q.Slope))
					}
				}
				return all
			}
			for there = append(there, see()); s.Next(); {
				there = append(there, see())
			}
			if len(there) != s.Len() || s.Len() != len(s.Program().Rows()) {
				t.Fatalf("%d instructions were visited, the program has %d", len(there), s.Len())
			}
			for i := s.Len() - 1; ; i-- {
				if !slices.EqualFunc(see(), there[i], slices.Equal) {
					t.Fatalf("instruction %d has other values on the way back", i)
				}
				if !s.Back() {
					if i != 0 {
						t.Fatalf("the way back ends at %d", i)
					}
					break
				}
			}
			checkUpdates(t, s, sub)
		})
	}
}

// checkUpdates compares the recorded new values with the store after a step.
func checkUpdates(t *testing.T, s *inspect.Session, sub inspect.Subject) {
	t.Helper()
	recorded := map[string]tape.Array{}
	for _, u := range sub.Step {
		q, err := s.Quantity(ctx, s.Program().Node(u.Value))
		if err != nil {
			t.Fatal(err)
		}
		recorded[u.Target.Path()] = q.Value
	}
	if len(sub.Step) == 0 {
		return
	}
	if err := s.Train(ctx, 1); err != nil {
		t.Fatal(err)
	}
	store := s.Store()
	for path, want := range recorded {
		d, err := store.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tape.ArrayOf(want.Type, d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Type.Shape.Len() {
			if x, y := got.At(i), want.At(i); math.Abs(x-y) > 1e-5*(1+math.Abs(y)) {
				t.Fatalf("%s[%d] becomes %v, the record says %v", path, i, x, y)
			}
		}
	}
}

// TestRewind goes back and forth between training steps: stores and values are the same as the
// first time, bit for bit, however few snapshots fit in memory.
func TestRewind(t *testing.T) {
	for _, limit := range []int{inspect.DefaultLimit, 1} {
		s := open(t, subject(t, "dropout"), inspect.Limit(limit))
		const steps = 30
		var stores []map[string][]uint64
		var values [][]uint64
		see := func() []uint64 {
			ins, err := s.Instruction(ctx, s.Len()/2)
			if err != nil {
				t.Fatal(err)
			}
			return bits(ins.Result.Value)
		}
		for k := range steps {
			stores, values = append(stores, storeBits(t, s.Store())), append(values, see())
			if s.Step() != k {
				t.Fatalf("training step %d, want %d", s.Step(), k)
			}
			if err := s.Train(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
		if sameStore(stores[3], stores[4]) {
			t.Fatal("training changes nothing")
		}
		for _, k := range []int{29, 0, 17, 16, 5, 21, 3, 0, 28} {
			if err := s.Rewind(ctx, k); err != nil {
				t.Fatal(err)
			}
			if s.Step() != k || !sameStore(storeBits(t, s.Store()), stores[k]) {
				t.Errorf("limit %d: the store of step %d is another one", limit, k)
			}
			if !slices.Equal(see(), values[k]) {
				t.Errorf("limit %d: the values of step %d are others", limit, k)
			}
		}
		if err := s.Rewind(ctx, -1); err == nil {
			t.Error("a training step before the first one")
		}
	}
}

// TestLimit checks that values recorded in parts equal those of a single record.
func TestLimit(t *testing.T) {
	whole, parts := open(t, subject(t, "rnn-lstm")), open(t, subject(t, "rnn-lstm"), inspect.Limit(20_000))
	for i := range whole.Len() {
		a, err := whole.Instruction(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parts.Instruction(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bits(a.Result.Value), bits(b.Result.Value)) || !slices.Equal(bits(a.Result.Slope), bits(b.Result.Slope)) {
			t.Errorf("instruction %d has other values where memory is short", i)
		}
	}
}

// TestOwners: the named quantities of soft k-means are found in the program, though
// rules have replaced most of its nodes; gradients are beside them.
func TestOwners(t *testing.T) {
	s := open(t, subject(t, "kmeans-softmax"))
	seen := map[string]string{}
	for i := range s.Len() {
		n, gradient := s.Owner(i)
		if n == nil {
			continue
		}
		if gradient {
			seen["∂"+n.Label()] += s.Rows()[i].Op + " "
			continue
		}
		seen[n.Label()] += s.Rows()[i].Op + " "
	}
	for name, op := range map[string]string{"D": "SqDist", "α": "Softmax", "loss": "Mean", "r": "Pack"} {
		if !strings.Contains(seen[name], op) {
			t.Errorf("%s belongs to %q, want %s among them (all: %v)", name, seen[name], op, seen)
		}
	}
	if !strings.Contains(seen["∂α"], "Sub") || !strings.Contains(seen["∂D"]+seen["∂r"], "WeightedDiff") {
		t.Errorf("derivatives belong to %v", seen)
	}
	for i, r := range s.Rows() {
		if r.Node.Name() != "α" {
			continue
		}
		ins, err := s.Instruction(ctx, i)
		if err != nil {
			t.Fatal(err)
		}
		// The derivative by α is D/n, which the program does not compute by itself.
		if g := ins.Result.Gradient; g == nil || !ins.Result.AsWritten {
			t.Fatalf("the gradient of α is %v, as written %v", g, ins.Result.AsWritten)
		}
		D, err := s.Quantity(ctx, s.Program().Graph().Lookup("D"))
		if err != nil {
			t.Fatal(err)
		}
		for k := range 9 {
			if got, want := ins.Result.Slope.At(k), D.Value.At(k)/150; math.Abs(got-want) > 1e-6*want {
				t.Errorf("∂loss/∂α at %d is %v, want %v", k, got, want)
			}
		}
	}
}

// TestNextNode goes from node to node and back the same way.
func TestNextNode(t *testing.T) {
	for _, name := range walked[:4] {
		s := open(t, subject(t, name))
		places := []int{0}
		for s.NextNode() {
			a, ga := s.Owner(s.At())
			b, gb := s.Owner(s.At() - 1)
			if a == b && ga == gb {
				t.Errorf("%s: instruction %d belongs to the same node as the one before", name, s.At())
			}
			places = append(places, s.At())
		}
		for i := len(places) - 2; i >= 0; i-- {
			if !s.BackNode() || s.At() != places[i] {
				t.Fatalf("%s: back at %d, want %d", name, s.At(), places[i])
			}
		}
		if s.BackNode() {
			t.Errorf("%s: something lies before the first node", name)
		}
	}
}

// TestMistakes checks that impossible requests are errors and leave the session where it was.
func TestMistakes(t *testing.T) {
	sub := subject(t, "kmeans-softmax")
	if _, err := inspect.Open(t.Context(), inspect.Subject{Graph: sub.Graph}); err == nil {
		t.Error("a session of nothing")
	}
	fails := errors.New("no more data")
	feed := sub.Feed
	sub.Feed = func(step int) (tape.Feed, error) {
		if step == 2 {
			return nil, fails
		}
		return feed(step)
	}
	s := open(t, sub)
	if err := s.Train(ctx, 5); !errors.Is(err, fails) || s.Step() != 2 {
		t.Errorf("training ends with %v at step %d", err, s.Step())
	}
	if _, err := s.Instruction(ctx, 0); !errors.Is(err, fails) {
		t.Errorf("an instruction without data: %v", err)
	}
	if err := s.Seek(s.Len()); err == nil || s.At() != 0 {
		t.Errorf("behind the end: %v, at %d", err, s.At())
	}
	other := graph.New("other").Param("w", graph.F32)
	if err := s.Rewind(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Quantity(ctx, other); err == nil {
		t.Error("a value of another graph's node")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := s.Continue(ended, 9); !errors.Is(err, context.Canceled) {
		t.Errorf("continuing after the end of the context: %v", err)
	}
	sub.Step = nil
	if err := open(t, sub).Train(ctx, 1); err == nil {
		t.Error("training without a step")
	}
}

package builders

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	machine "github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/nn/attention"
)

// TestRoom: what the examples take is known before they are drawn, and what the machine has
// not is refused in a line that says what is large.
func TestRoom(t *testing.T) {
	there, known := int64(1<<30), true
	defer func(was func(int64) (*machine.Promise, int64, bool)) { take = was }(take)
	take = func(bytes int64) (*machine.Promise, int64, bool) {
		return nil, there, known && bytes > max(there, 16<<20)
	}
	m, err := Build("attention-self", Settings{"b": 1e9}, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Room()
	if err == nil || !strings.HasPrefix(err.Error(), "attention-self: it takes ") || !strings.HasSuffix(err.Error(), "; set smaller sizes") ||
		!strings.Contains(err.Error(), "and there are 1.0 GiB: the largest is ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if known = false; m.Room() != nil {
		t.Error("refused where the system does not tell")
	}
	if there, known = math.MaxInt64, true; m.Room() != nil {
		t.Error("refused where there is room")
	}
	there = 0
	if m, err = Build("attention-self", nil, graph.F32); err != nil || m.Room() != nil {
		t.Errorf("%v: a small model asks the machine", err)
	}
	if m, err = Build("attention-self", Settings{"b": 1e4}, graph.F32); err != nil || m.Room() != nil || m.Room(m.Graph.Nodes()...) == nil {
		t.Errorf("%v: nodes that are held do not count", err)
	}
	if m, err = Build("kmeans-softmax", Settings{"n": 10, "k": 1e8}, graph.F32); err != nil {
		t.Fatal(err)
	}
	if there = 1 << 30; m.Room() == nil || !strings.Contains(m.Room().Error(), "kmeans-softmax: it takes 4.5 GiB") || !strings.Contains(m.Room().Error(), "the largest is r[j=100000000 d=4]") {
		t.Errorf("parameters do not count: %v", m.Room())
	}
	if _, err := Build("attention-self", Settings{"b": 1 << 45}, graph.F32); err == nil || !strings.HasSuffix(err.Error(), "want a whole number of at most 2147483648") {
		t.Errorf("%v", err)
	}
}

// TestConstantsThatDoNotFit: a model whose own constants no machine has the memory for is
// refused where they are made, before they are.
func TestConstantsThatDoNotFit(t *testing.T) {
	if there, known := machine.Available(); !known || there > 300<<30 {
		t.Skip("the machine does not say what memory it has, or has it")
	}
	for name, s := range map[string]Settings{
		"transformer-gpt": {"t": 2e5}, "graph-gcn": {"n": 1e6}, "graph-pool-fixed": {"n": 1e6}, "regression-ridge-observations": {"n": 10, "d": 1e6},
	} {
		_, err := Build(name, s, graph.F32)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), name+": builders/") || !strings.Contains(err.Error(), ": constant: ") ||
			!strings.Contains(err.Error(), "iB, and there are ") || !strings.HasSuffix(err.Error(), "(take smaller sizes)") {
			t.Errorf("%s: %v", name, err)
		}
	}
	g := graph.New("")
	R := attention.Rotation(g, graph.F32, graph.Ax("m", 1<<19), graph.Ax("m′", 1<<19), 1)
	if err := g.Err(); R.IsValid() || err == nil || !strings.Contains(err.Error(), "takes 3.0 TiB") {
		t.Errorf("Rotation: %v", err)
	}
}

// TestSettingsThatMultiplyNodes: a setting says how large arrays are, or has a bound that is
// said: no number makes a graph of so many nodes that nothing holds it.
func TestSettingsThatMultiplyNodes(t *testing.T) {
	for _, b := range All() {
		for _, z := range b.Hyperparameters {
			if z.Kind != Count && z.Kind != Natural {
				continue
			}
			m, err := b.Build(Settings{z.Name: 1e6}, graph.F32) // its square is too large for any machine
			if nodes := m.Graph.Len(); err == nil && nodes > 5000 {
				t.Errorf("%s with 10⁶ for %s has %d nodes", b.Name, z.Name, nodes)
			}
		}
	}
	for name, setting := range map[string]string{"transformer-gpt": "layers", "transformer-unet": "layers", "init": "layers", "graph-powers": "k", "graph-gat": "heads"} {
		_, err := Build(name, Settings{setting: 1e6}, graph.F32)
		if err == nil || !strings.Contains(err.Error(), ": "+name+": "+setting+" = 1000000: want at most 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDraw: a batch is drawn as Examples draws it, or refused before it is.
func TestDraw(t *testing.T) {
	m, err := Build("attention-self", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	want := m.Examples(rand.New(rand.NewPCG(1, 2)))
	got, err := m.Draw(rand.New(rand.NewPCG(1, 2)))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("other examples: %v", err)
	}
	defer func(was func(int64) (*machine.Promise, int64, bool)) { take = was }(take)
	take = func(bytes int64) (*machine.Promise, int64, bool) { return nil, 0, true }
	m.Examples = func(*rand.Rand) graph.Values { t.Error("drawn"); return nil }
	if _, err := m.Draw(rand.New(rand.NewPCG(1, 2))); err == nil || !strings.Contains(err.Error(), " for a batch of its examples, and there are 0 B") {
		t.Error(err)
	}
	m.Examples = nil
	if _, err := m.Draw(rand.New(rand.NewPCG(1, 2))); err == nil || err.Error() != "attention-self has no examples to be drawn" {
		t.Error(err)
	}
}

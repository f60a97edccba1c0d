package builders

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestRoom: what the examples take is known before they are drawn, and what the machine has
// not is refused in a line that says what is large.
func TestRoom(t *testing.T) {
	there, known := int64(1<<30), true
	defer func(was func() (int64, bool)) { available = was }(available)
	available = func() (int64, bool) { return there, known }
	m, err := Build("attention-self", Settings{"b": 1e9}, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Room()
	if err == nil || !strings.HasPrefix(err.Error(), "attention-self: a batch of its examples takes ") || !strings.HasSuffix(err.Error(), "; set smaller sizes") ||
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
	if _, err := Build("attention-self", Settings{"b": 1 << 45}, graph.F32); err == nil || !strings.HasSuffix(err.Error(), "want a whole number of at most 2147483648") {
		t.Errorf("%v", err)
	}
}

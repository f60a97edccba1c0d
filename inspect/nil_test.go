package inspect_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestNil: nothing that the package exports panics on nil, zero values or closed receivers.
func TestNil(t *testing.T) {
	g := graph.New("sample")
	w := g.Param("w", graph.F32, graph.Ax("n", 2))
	y := ops.Sum(ops.Square(w))
	feed := func(int) (tape.Feed, error) { return tape.Feed{}, nil }
	subject := inspect.Subject{Graph: g, Wanted: []*graph.Node{y}, Feed: feed, Store: tape.NewStore(g)}
	session, err := inspect.Open(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	closed, err := inspect.Open(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	record, err := inspect.Take(t.Context(), tape.Feed{}, subject.Store, y)
	if err != nil {
		t.Fatal(err)
	}
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{
			"AtStep": inspect.AtStep, "EntryAt": inspect.EntryAt, "Autopsy": inspect.Autopsy, "Digits": inspect.Digits,
			"Exceeds": inspect.Exceeds, "Feed": inspect.Feed, "IsNaN": inspect.IsNaN,
			"Limit": inspect.Limit, "NotFinite": inspect.NotFinite, "OnNode": inspect.OnNode,
			"NewRecorder": inspect.NewRecorder, "NewSnapshots": inspect.NewSnapshots, "Open": inspect.Open, "MeasureMixedPrecision": inspect.MeasureMixedPrecision, "MeasurePrecision": inspect.MeasurePrecision, "ShapeIs": inspect.ShapeIs,
			"StatisticsOf": inspect.StatisticsOf, "Take": inspect.Take, "Values": inspect.Values,
			"When": inspect.When,
		},
		Types: []any{
			inspect.Break{}, inspect.Entry{}, inspect.Finding{}, inspect.Iteration{}, inspect.Loss{},
			inspect.Precision{}, inspect.Reason{}, inspect.Result{}, inspect.Share{}, inspect.Record{}, inspect.Recorder{}, inspect.Session{}, inspect.Snapshots{}, inspect.Statistics{},
		},
		Samples: func() []any {
			return []any{session, closed, record, g, y, []*graph.Node{y}, tape.NewStore(g), tape.Feed{}, subject, "w", 2, 0.5}
		},
	})
}

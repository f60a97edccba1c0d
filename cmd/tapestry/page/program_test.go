package page

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// TestListing compares the listing with a program of the test's own.
func TestListing(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"attention-self","optimiser":"sgd","rate":0.1}`)
	var v tapeInfo
	c.get("/api/docs/"+id+"/tape", &v)
	m, err := builders.Build("attention-self", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := tape.Compile(m.Graph, tape.Fetch(m.Loss), tape.Do(lab.TrainingStep(m, train.SGD(0.1))), tape.CheckFinite(m.Loss))
	if err != nil {
		t.Fatal(err)
	}
	rows := prog.Rows()
	if len(rows) != len(v.Listing) || v.Arena != prog.Arena() || v.FLOPs != prog.FLOPs() {
		t.Fatalf("%d rows, arena %d, %d FLOP, want %d, %d, %d", len(v.Listing), v.Arena, v.FLOPs, len(rows), prog.Arena(), prog.FLOPs())
	}
	stages := map[int]int{}
	found := 0
	for i, r := range rows {
		got := v.Listing[i]
		if got.I != i || got.Op != r.Op || got.Result != r.Result || got.FLOPs != r.FLOPs || got.Offset != r.Offset || got.Stage != r.Stage || text(got.Operands) != text(append([]string{}, r.In...)) {
			t.Errorf("row %d is %+v, want %+v", i, got, r)
		}
		stages[r.Stage]++
		if got.Node != nil {
			found++
		}
	}
	for i, r := range v.Listing {
		if alone := stages[rows[i].Stage] == 1; alone != (r.Bracket == "") {
			t.Errorf("row %d of a stage of %d has the bracket %q", i, stages[rows[i].Stage], r.Bracket)
		}
	}
	if found < len(rows)/3 {
		t.Errorf("of %d instructions %d are known in the model as written", len(rows), found)
	}
}

// TestTimes: what the overlay measures is in the listing and at the nodes afterwards.
func TestTimes(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	var before, after tapeInfo
	c.get("/api/docs/"+id+"/tape", &before)
	var sheet sheetView
	c.get("/api/docs/"+id+"/sheet?overlay=time", &sheet)
	c.get("/api/docs/"+id+"/tape", &after)
	total := 0.0
	for i, r := range after.Listing {
		if before.Listing[i].Time != nil || r.Time == nil || *r.Time < 0 {
			t.Fatalf("row %d: time %v, then %v", i, before.Listing[i].Time, r.Time)
		}
		total += *r.Time
		if r.Node == nil || total == 0 {
			continue
		}
		var n nodeView
		c.get("/api/docs/"+id+"/node/"+*r.Node, &n)
		if n.Time == nil || *n.Time < *r.Time {
			t.Errorf("row %d takes %v, its node %v", i, *r.Time, n.Time)
		}
	}
	if total <= 0 || sheet.Scale == "" {
		t.Errorf("all together take %v; the legend says %q", total, sheet.Scale)
	}
}

package tape_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestTrace: what is written parses, is in order, and encloses call in stage in run.
func TestTrace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const runs, workers = 2, 2
	c := newClusters(2000, 16, 32, false)
	p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step))
	vm := tapetest.VM(t, p, tape.NewStore(c.g), tape.Workers(workers))
	defer vm.Close()
	var b bytes.Buffer
	if err := vm.Trace(t.Context(), tape.Feed{c.x: points(2000, 32)}, runs, &b); err != nil {
		t.Fatal(err)
	}
	type event struct {
		Name, Cat, Ph string
		Ts, Dur       float64
		Pid, Tid      int
		Args          map[string]any
	}
	var trace struct{ TraceEvents []event }
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	rows := p.Rows()
	calls := make([]int, len(rows))
	var run, stage event
	stages, at, names := 0, 0.0, map[string]int{}
	inside := func(e, of event) bool { return e.Ts >= of.Ts && e.Ts+e.Dur <= of.Ts+of.Dur+1e-3 }
	for _, e := range trace.TraceEvents {
		if e.Ph == "M" {
			names[fmt.Sprint(e.Name, " ", e.Args["name"])]++
			continue
		}
		if e.Ph != "X" || e.Ts < at || e.Dur < 0 || e.Pid != 1 || e.Tid < 0 || e.Tid >= workers {
			t.Fatalf("event %+v at %v", e, at)
		}
		at = e.Ts
		switch e.Cat {
		case "run":
			if e.Name != fmt.Sprint("run ", names["run"]) {
				t.Errorf("%s is number %d", e.Name, names["run"])
			}
			names["run"]++
			run = e
		case "stage":
			if !inside(e, run) || int(e.Args["stage"].(float64)) != stages%len(p.Stages()) {
				t.Errorf("stage %+v in %+v", e, run)
			}
			stages++
			stage = e
		case "instruction":
			i := int(e.Args["instruction"].(float64))
			calls[i]++
			r := rows[i]
			if !inside(e, stage) || e.Args["stage"] != stage.Args["stage"] || int(e.Args["stage"].(float64)) != r.Stage {
				t.Errorf("%+v in %+v", e, stage)
			}
			if !strings.HasPrefix(e.Name, r.Op+" ") || e.Args["result"] != r.Result || e.Args["line"] != r.Pos.String() ||
				e.Args["scope"] != r.Scope {
				t.Errorf("event %+v of %s %s", e, r.Op, r.Result)
			}
		default:
			t.Errorf("event %+v", e)
		}
	}
	if stages != runs*len(p.Stages()) || names["run"] != runs {
		t.Errorf("%d stages in %d runs", stages, names["run"])
	}
	for i, n := range calls {
		s := p.Stages()[rows[i].Stage]
		if n < runs*max(1, s.Rows/max(1, s.Block)) {
			t.Errorf("instruction %d has %d calls in stages of %+v", i, n, s)
		}
	}
	for _, name := range []string{"process_name soft k-means", "thread_name worker 0", "thread_name worker 1"} {
		if names[name] != 1 {
			t.Errorf("%q %d times: %v", name, names[name], names)
		}
	}
}

package tape_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestTooLargeForTheMachine: a program that no machine has the memory for is an error, and so the
// process lives.
func TestTooLargeForTheMachine(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("no such array can be written down")
	}
	g := graph.New("huge")
	w := g.Param("w", graph.F32, graph.Ax("i", 1<<(strconv.IntSize-24)))
	p := compile(t, g, tape.Fetch(ops.Sum(w)))
	store := tape.NewStore(g)
	if n := len(store.Paths()); n != 0 {
		t.Errorf("the store has %d entries", n)
	}
	_, err := p.NewVM(store)
	if want := `tape: program "huge" needs 12.0 TiB and there are `; err == nil || !strings.HasPrefix(err.Error(), want) ||
		!strings.Contains(err.Error(), "the largest are what fresh values are drawn in (8.0 TiB), w of type f32[i=1099511627776] at tape/limit_test.go:24 (4.0 TiB)") {
		t.Errorf("%v", err)
	}
	g = graph.New("wide")
	x := g.Input("x", graph.F32, graph.Ax("i", 1<<19))
	outer := ops.Mul(ops.Expand(x, 0, ""), ops.Expand(ops.Rename(x, 0, "j"), 1, ""))
	p = compile(t, g, tape.Fetch(ops.Tanh(outer)))
	if _, err = p.NewVM(tape.NewStore(g)); err == nil || !strings.Contains(err.Error(), "what helps: tape.Budget for the arrays") {
		t.Errorf("%v", err)
	}
}

// TestLimit: what a VM takes is held against the limit that it is given, and the error says what
// takes most and what helps.
func TestLimit(t *testing.T) {
	g := graph.New("loop")
	h := g.Param("h", graph.F32, graph.Ax("d", 65536))
	step := func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Tanh(c[0]).As("y")}, nil }
	r := ops.Scan(ops.Loop{Carry: nodes{h}, Steps: 1000}, step) // at this line
	loss := ops.Sum(r.Final[0])
	dh := grad.Of(loss, h)[0]
	p := compile(t, g, tape.Fetch(dh))
	_, err := p.NewVM(tape.NewStore(nil), tape.Workers(1), tape.Limit(1<<20))
	if want := "there are 1.0 MiB: the largest are the rows of Scan of y at tape/limit_test.go:50 (250.2 MiB), "; err == nil || !strings.Contains(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), "(what helps: tape.Budget for the arrays, Checkpoint for the loop, smaller parameters)") {
		t.Errorf("%v\nwant %s", err, want)
	}
	_, err = tape.Compile(g, tape.Fetch(dh), tape.Budget(4<<20))
	if want := "held by the rows of Scan of y at tape/limit_test.go:50 (250.2 MiB), "; err == nil || !strings.Contains(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), " (give the loop a Checkpoint: it keeps fewer carries)") {
		t.Errorf("%v\nwant %s", err, want)
	}
	small := compile(t, g, tape.Fetch(loss))
	need := small.Arena() + small.Scratch() + 65536*(4+8) + 2<<20
	vm := tapetest.VM(t, small, tape.NewStore(nil), tape.Workers(1), tape.Limit(need))
	run(t, vm, nil)
	if _, err := small.NewVM(tape.NewStore(nil), tape.Workers(1), tape.Limit(small.Arena())); err == nil || errors.Unwrap(err) != nil {
		t.Errorf("%v", err)
	}
	tapetest.VM(t, small, tape.NewStore(nil), tape.Limit(math.MaxInt))
	_, err = small.NewVM(tape.NewStore(nil), tape.Limit(-5))
	wantError(t, err, "tape: limit of -5 B: want 0 or more")
}

// TestLimitOfLittle: what a program without large arrays takes is named as well: the scratch of its
// workers.
func TestLimitOfLittle(t *testing.T) {
	g := graph.New("small")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	w := g.Param("w", graph.F32, graph.Ax("i", 4)) // at this line
	p := compile(t, g, tape.Fetch(ops.Sum(ops.Mul(x, w))))
	_, err := p.NewVM(tape.NewStore(nil), tape.Workers(1), tape.Limit(1<<10))
	want := "the largest are the scratch of a worker ("
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "what fresh values are drawn in (32 B), ") {
		t.Errorf("%v\nwant %s", err, want)
	}
	store := tape.NewStore(g)
	g = graph.New("wide")
	x = g.Input("x", graph.F32, graph.Ax("i", 1<<20))
	p = compile(t, g, tape.Fetch(ops.Sum(ops.Exp(x))))
	_, err = p.NewVM(store, tape.Workers(3), tape.Limit(1<<10))
	if want := "the largest are the scratch of 3 workers ("; err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ", fewer tape.Workers)") {
		t.Errorf("%v\nwant %s", err, want)
	}
}

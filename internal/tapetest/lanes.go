package tapetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/tapestry-ml/tapestry/tape"
)

// Lanes joins n lanes that run side by side in goroutines: a [tape.Summer] for each. Terms are added
// in the order of the lanes. Lanes that come to different sums, or one whose context ends while it
// waits, make the sum an error for all that wait, and every later one too.
func Lanes(n int) []tape.Summer {
	m := &meeting{terms: make([]tape.Array, n), met: make(chan struct{})}
	out := make([]tape.Summer, n)
	for i := range out {
		out[i] = lane{m, i}
	}
	return out
}

// meeting is where lanes wait for each other.
type meeting struct {
	mu    sync.Mutex
	terms []tape.Array // by lane, as far as they have come
	came  int
	site  int
	met   chan struct{} // closed when the sum is there
	err   error
}

type lane struct {
	*meeting
	number int
}

// Sum is that of [tape.Summer].
func (l lane) Sum(ctx context.Context, site int, x tape.Array) error {
	l.mu.Lock()
	if l.came > 0 && l.site != site && l.err == nil {
		l.fail(fmt.Errorf("lane %d comes to sum %d, others to %d", l.number, site, l.site))
	}
	if l.err != nil {
		defer l.mu.Unlock()
		return l.err
	}
	l.site, l.terms[l.number], l.came = site, x, l.came+1
	met := l.met
	if l.came == len(l.terms) {
		l.add()
		l.came, l.met = 0, make(chan struct{})
		close(met)
	}
	l.mu.Unlock()
	select {
	case <-met:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-met:
	default:
		l.fail(fmt.Errorf("lane %d has left: %w", l.number, ctx.Err()))
	}
	return l.err
}

// fail ends the wait of all.
func (m *meeting) fail(err error) {
	m.err = err
	close(m.met)
}

// add gives every lane the sum.
func (m *meeting) add() {
	for i := range m.terms[0].Type.Shape.Len() {
		sum := 0.0
		for k := range m.terms {
			sum += m.terms[k].At(i)
		}
		for k := range m.terms {
			m.terms[k].Set(i, sum)
		}
	}
}

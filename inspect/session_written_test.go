package inspect_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// TestAsWritten goes through the user's graph: every value is that of a record of it,
// inputs come before users, and every instruction with an owner is found from there.
func TestAsWritten(t *testing.T) {
	for _, name := range walked[:6] {
		sub := subject(t, name)
		s := open(t, sub)
		roots := slices.Clone(sub.Wanted)
		for _, u := range sub.Step {
			roots = append(roots, u.Target, u.Value)
		}
		feed, err := sub.Feed(0)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := inspect.Take(ctx, feed, sub.Store, roots...)
		if err != nil {
			t.Fatal(err)
		}
		nodes := s.Written()
		if rows := s.WrittenRows(); len(rows) != len(nodes) || len(nodes) == 0 {
			t.Fatalf("%s: %d rows of %d nodes", name, len(rows), len(nodes))
		}
		place := map[*graph.Node]int{}
		found := map[int]bool{}
		for i, n := range nodes {
			place[n] = i
			ins, err := s.AsWritten(ctx, i)
			if err != nil {
				t.Fatal(err)
			}
			if ins.Result.Node != n || !slices.Equal(bits(ins.Result.Value), bits(rec.Value(n))) || ins.Result.Gradient != rec.Gradient(n) {
				t.Errorf("%s: %v has another value or gradient than a record", name, n)
			}
			for k, q := range ins.Operands {
				if q.Node != n.In(k) {
					t.Errorf("%s: operand %d of %v is %v", name, k, n, q.Node)
				}
				if at, listed := place[q.Node]; q.Node.Role() != graph.RoleConstant && (!listed || at >= i) {
					t.Errorf("%s: %v stands before its operand %v", name, n, q.Node)
				}
			}
			for _, k := range append(s.Instructions(n, false), s.Instructions(n, true)...) {
				found[k] = true
			}
		}
		for i := range s.Len() {
			if n, _ := s.Owner(i); n != nil && !found[i] {
				t.Errorf("%s: no node has instruction %d of %v", name, i, n)
			}
		}
		if _, err := s.AsWritten(ctx, len(nodes)); err == nil {
			t.Errorf("%s: a node behind the last one", name)
		}
	}
}

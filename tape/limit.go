package tape

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
)

// Limit bounds the bytes that a VM may take for arrays, scratch and the parameters and states that
// the store does not have yet; a program that needs more is an error of NewVM. Without it the limit
// is what the machine or the control group of the process has available when the VM is made, where
// the system tells.
func Limit(bytes int) VMOption { return func(o *vmOptions) { o.limited, o.limit = true, bytes } }

// granted promises the memory that a VM with these options needs, or returns an error if there is
// less.
func (p *Program) granted(o *vmOptions, s *Store) (*memory.Promise, error) {
	if o.limited && o.limit < 0 {
		return nil, fmt.Errorf("tape: limit of %d B: want 0 or more", o.limit)
	}
	var fresh []leaf
	for _, l := range p.stored {
		if s.entries[l.leaf.path] == nil {
			fresh = append(fresh, l.leaf)
		}
	}
	workers := int64(p.workers(o.workers))
	scratch := workers * (int64(p.scratch) + int64(p.workBytes()) + kernel.WorkerBytes)
	entries, drawn := freshBytes(fresh)
	need := plus(plus(int64(p.arena), scratch), plus(entries, drawn))
	there := int64(o.limit)
	if o.limited && need <= there {
		return memory.Promised(need), nil
	}
	if !o.limited {
		promise, free, short := memory.Take(need)
		if !short {
			return promise, nil
		}
		there = free
	}
	holders, help := p.lifetimes(true).list(), []string{}
	if p.arena > 0 {
		help = append(help, "tape.Budget for the arrays")
	}
	if slices.ContainsFunc(holders, func(h holder) bool { return h.loop }) {
		help = append(help, "Checkpoint for the loop")
	}
	for _, l := range fresh {
		h := holder{name: graph.Type{DType: l.typ.DType, Shape: l.typ.Shape}.String(), bytes: entryBytes(l)}
		h.name = l.path + " of type " + h.name
		if n := p.source.Lookup(l.path); n != nil {
			h.name += at(n)
		}
		holders = append(holders, h)
	}
	if len(fresh) > 0 {
		holders = append(holders, holder{name: "what fresh values are drawn in", bytes: drawn})
		help = append(help, "smaller parameters")
	}
	work := "the scratch of a worker"
	if workers > 1 {
		work = fmt.Sprintf("the scratch of %d workers", workers)
		help = append(help, "fewer tape.Workers")
	}
	holders = append(holders, holder{name: work, bytes: scratch})
	if len(help) == 0 {
		help = append(help, "a higher tape.Limit")
	}
	return nil, fmt.Errorf("tape: program %q needs %s and there are %s: the largest are %s (what helps: %s)",
		p.source.Name(), memory.Text(need), memory.Text(there), holdersText(holders), strings.Join(help, ", "))
}

// freshBytes returns the bytes of the leaves' entries, and the bytes in which their values are
// drawn: float64, one leaf after the other.
func freshBytes(leaves []leaf) (entries, drawn int64) {
	for _, l := range leaves {
		entries = plus(entries, entryBytes(l))
		drawn = max(drawn, 8*int64(l.typ.Shape.Len()))
	}
	return entries, drawn
}

func entryBytes(l leaf) int64 { return int64(l.typ.Shape.Len()) * int64(l.typ.DType.Size()) }

// plus adds numbers of bytes and saturates at the largest number.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// holder is something that takes memory, and how much.
type holder struct {
	name  string
	bytes int64
	loop  bool // the rows of a loop
}

// holdersText names the largest holders.
func holdersText(all []holder) string {
	slices.SortStableFunc(all, func(a, b holder) int { return cmp.Compare(b.bytes, a.bytes) })
	const named = 3
	var out []string
	for _, h := range all[:min(named, len(all))] {
		out = append(out, fmt.Sprintf("%s (%s)", h.name, memory.Text(h.bytes)))
	}
	if more := len(all) - named; more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	return strings.Join(out, ", ")
}

// at says where a node was made, as words after its name; "" if that is not known.
func at(n *graph.Node) string {
	if pos := n.First().Pos; pos != (graph.Pos{}) {
		return " at " + pos.String()
	}
	return ""
}

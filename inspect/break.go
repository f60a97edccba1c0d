package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Break is a condition that stops a session at an instruction. The zero Break never holds.
type Break struct {
	text string
	// place decides without values; nil holds anywhere. The instruction is number at of its
	// training step, and the visited-th that the session came to in it.
	place func(s *Session, at, visited int) bool
	// value decides by the values; nil holds for any.
	value func(context.Context, *Session, *Instruction) (bool, error)
}

// String returns the text that [Session.ParseBreak] reads, or the text given to [When].
func (b Break) String() string { return b.text }

// OnNode stops at the instruction that computes a named quantity, or a derivative by its name: α,
// ∂loss/∂r, or fc/w for what lays out or updates a parameter. If the program computes the
// quantity only as part of another value, OnNode stops at that value's instruction; for a view,
// at the instruction whose result it views; and for an input, at those that read it.
func OnNode(name string) Break {
	return Break{text: name, place: func(s *Session, i, _ int) bool { return slices.Contains(s.named(name), i) }}
}

// Exceeds stops where an element of any result has |x| > t, ±Inf included and NaN excluded.
func Exceeds(t float64) Break {
	return bound{name: anything, absolute: true, relation: ">", than: t}.stop()
}

// IsNaN stops where an element of the result is NaN. Infinities are often intended: a mask puts
// −∞ before a softmax.
func IsNaN() Break { return ofResult("nan", func(v float64) bool { return v != v }) }

// NotFinite stops where an element of the result is NaN or infinite.
func NotFinite() Break { return ofResult("inf", func(v float64) bool { return !finite(v) }) }

// ofResult stops where an element of the result is as is says.
func ofResult(text string, is func(float64) bool) Break {
	return When(text, func(ins *Instruction) bool { return anyOf(ins.Result.Value, is) })
}

func anyOf(a tape.Array, is func(float64) bool) bool {
	for i := range length(a) {
		if is(a.At(i)) {
			return true
		}
	}
	return false
}

// ShapeIs stops where the result has these sizes, whatever the names of its axes.
func ShapeIs(sizes ...int) Break {
	text := make([]string, len(sizes))
	for i, n := range sizes {
		text[i] = strconv.Itoa(n)
	}
	return Break{text: strings.TrimSpace("shape " + strings.Join(text, "x")), place: func(s *Session, i, _ int) bool {
		return slices.Equal(s.rows[i].Node.Shape().Sizes(), sizes)
	}}
}

// AtStep stops at the first instruction of training step k that the session reaches: the first of
// the step going forwards, the last going back in time.
func AtStep(k int) Break {
	return Break{text: "step " + strconv.Itoa(k), place: func(s *Session, _, visited int) bool { return s.step == k && visited == 0 }}
}

// When stops where the predicate holds; text names the break.
func When(text string, holds func(*Instruction) bool) Break {
	return Break{text: text, value: func(_ context.Context, _ *Session, ins *Instruction) (bool, error) { return holds(ins), nil }}
}

// named lists the instructions that a name refers to: those of a node with that name, those of a
// parameter or state that they update or, if there are none of these, those whose owner has the
// name. A derivative that rewriting merged into something else is represented by the instruction
// that completes it.
func (s *Session) named(name string) []int {
	if at, ok := s.byName[name]; ok {
		return at
	}
	var own, owned []int
	for i, r := range s.rows {
		u := s.updates[r.Node]
		switch o := s.owners[i]; {
		case goesBy(r.Node, name) || u != nil && goesBy(u, name):
			own = append(own, i)
		case o.node != nil && !o.gradient && goesBy(o.node, name):
			owned = append(owned, i)
		}
	}
	for _, other := range []func() []int{func() []int { return owned }, func() []int { return s.unlisted(name) }, func() []int { return s.derivative(name) }} {
		if len(own) == 0 {
			own = other()
		}
	}
	s.byName[name] = own
	return own
}

// derivative handles ∂loss/∂x where the program has no node of that name. For each such x it
// returns the last instruction that computes part of the derivative. Where rules of rewriting
// carry factors on into the update, that is the last instruction on the way to the update whose
// result has the derivative's size.
func (s *Session) derivative(name string) (at []int) {
	of, ok := s.derivedBy(name)
	if !ok {
		return nil
	}
	last := map[*graph.Node]int{} // by x
	for i, r := range s.rows {
		if o := s.owners[i]; o.node != nil && o.gradient && goesBy(o.node, of) && r.Node.Shape().Len() == o.node.Shape().Len() {
			last[o.node] = i
		}
	}
	if len(last) == 0 {
		for i, r := range s.rows {
			if x := s.updates[r.Node]; x != nil && goesBy(x, of) {
				last[x] = s.lastGradient(i, x)
			}
		}
	}
	for _, i := range last {
		at = append(at, i)
	}
	slices.Sort(at)
	return at
}

// lastGradient returns the last instruction before the update of x that computes part of a
// derivative, has as many elements as x, and is needed by the update; if there is none, it
// returns the update.
func (s *Session) lastGradient(update int, x *graph.Node) int {
	before := graph.Reachable(s.rows[update].Node)
	for i := update; i >= 0; i-- {
		n := s.rows[i].Node
		if s.owners[i].gradient && n.Shape().Len() == x.Shape().Len() && slices.Contains(before, n) {
			return i
		}
	}
	return update
}

// derivedBy returns x of the name ∂loss/∂x, if the model as written has a derivative of that name.
func (s *Session) derivedBy(name string) (x string, ok bool) {
	above, x, ok := strings.Cut(name, "/∂")
	if !ok || !strings.HasPrefix(above, "∂") {
		return "", false
	}
	return x, slices.ContainsFunc(s.written.nodes, func(n *graph.Node) bool { return goesBy(n, name) })
}

// unlisted finds instructions for a name that no instruction has. For a view, which needs no
// instruction, it returns the instruction whose result is viewed; for inputs, parameters and
// states, those that read it.
func (s *Session) unlisted(name string) (at []int) {
	of := map[*graph.Node]bool{}
	for _, r := range s.rows {
		of[r.Node] = true
	}
	sought := map[*graph.Node]bool{}
	for _, n := range s.asRun.nodes {
		if goesBy(n, name) {
			for !of[n] && n.NumIn() > 0 {
				n = n.In(0)
			}
			sought[n] = true
		}
	}
	for i, r := range s.rows {
		read := slices.ContainsFunc(r.Of, func(n *graph.Node) bool { return sought[n] && n.NumIn() == 0 })
		if read || sought[r.Node] {
			at = append(at, i)
		}
	}
	return at
}

// goesBy reports whether a node has a name, as a leaf or by [graph.Node.As].
func goesBy(n *graph.Node, name string) bool {
	if n.Label() == name || n.Path() == name && name != "" {
		return true
	}
	for _, o := range n.Occurrences() {
		if o.Name == name && name != "" {
			return true
		}
	}
	return false
}

// First returns the number of the first instruction of the present training step at which a break
// holds that does not depend on values, such as [OnNode]; -1 if there is none.
func (s *Session) First(b Break) int {
	for i := range s.rows {
		if b.place != nil && b.value == nil && b.place(s, i, i) {
			return i
		}
	}
	return -1
}

// Names lists the names that [OnNode] knows, in the order of the program: paths, or plain names
// for quantities without a path. For a quantity with a path, its plain name works too.
func (s *Session) Names() []string {
	var out []string
	add := func(n *graph.Node) {
		name := n.Path()
		if _, constant := n.Constant(); name == "" && !constant {
			name = n.Name()
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for i, r := range s.rows {
		if o := s.owners[i]; o.node != nil && !o.gradient {
			add(o.node)
		}
		add(r.Node)
	}
	for _, n := range s.asRun.nodes {
		add(n)
	}
	return out
}

// Continue runs on from the instruction after the present one until a break holds, at most to the
// end of training step last, and stops there. It returns the break that held. If none did, ok is
// false, and the session stands before the last instruction.
func (s *Session) Continue(ctx context.Context, last int, breaks ...Break) (hit Break, ok bool, err error) {
	if err := s.whole(); err != nil {
		return Break{}, false, err
	}
	for i, visited := s.at+1, s.at+1; ; i, visited = 0, 0 {
		for ; i < len(s.rows); i, visited = i+1, visited+1 {
			if hit, ok, err := s.stops(ctx, i, visited, breaks); ok || err != nil {
				return hit, ok, err
			}
		}
		if s.step >= last || len(s.subject.Step) == 0 {
			return Break{}, false, s.Seek(len(s.rows) - 1)
		}
		if err := s.Train(ctx, 1); err != nil {
			return Break{}, false, err
		}
	}
}

// ContinueBack goes back from the instruction before the present one until a break holds, at most
// to the first instruction of training step 0, and stops there; see [Session.Continue].
func (s *Session) ContinueBack(ctx context.Context, breaks ...Break) (hit Break, ok bool, err error) {
	if err := s.whole(); err != nil {
		return Break{}, false, err
	}
	n := len(s.rows)
	for i, visited := s.at-1, n-s.at; ; i, visited = n-1, 0 {
		for ; i >= 0; i, visited = i-1, visited+1 {
			if hit, ok, err := s.stops(ctx, i, visited, breaks); ok || err != nil {
				return hit, ok, err
			}
		}
		if s.step == 0 {
			return Break{}, false, s.Seek(0)
		}
		if err := s.Rewind(ctx, s.step-1); err != nil {
			return Break{}, false, err
		}
	}
}

// stops tries the breaks at instruction i of the present training step, and moves there if one of
// them holds.
func (s *Session) stops(ctx context.Context, i, visited int, breaks []Break) (Break, bool, error) {
	if err := ctx.Err(); err != nil {
		return Break{}, false, err
	}
	var ins *Instruction
	for _, b := range breaks {
		if b.place == nil && b.value == nil || b.place != nil && !b.place(s, i, visited) {
			continue
		}
		if b.value != nil {
			var err error
			if ins == nil {
				if ins, err = s.Instruction(ctx, i); err != nil {
					return Break{}, false, err
				}
			}
			holds, err := b.value(ctx, s, ins)
			if err != nil {
				return Break{}, false, err
			}
			if !holds {
				continue
			}
		}
		return b, true, s.Seek(i)
	}
	return Break{}, false, nil
}

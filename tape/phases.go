package tape

import (
	"fmt"
	"slices"
)

// The compiler has a front and a list of phases. In front, package rewrite simplifies the graph by
// a list of passes of its own (rewrite.Passes), and lower (lower.go) turns its nodes into
// instructions and its changes of layout into strides. The phases make a program of them. The body
// of a loop goes through the same phases before the loop itself does, and the search for a program
// that fits into a budget (budget.go) repeats those up to plan, each time with other instructions.

// phases are the steps from lowered instructions to a program, in order. Each takes a form of its
// own, which it may change, and returns the next form.
var phases = []phase{
	{name: "fuse", transition: of(fuse), // lowered → fused
		why: "instructions that need of each other only the same row form a group, which runs block by block; " +
			"first, because all later choices are about groups"},
	{name: "sink", transition: of(sink), // fused → sunk
		why: "cheap values are made again in the groups that read them, instead of being arrays; " +
			"after fuse, because only a value that leaves its group would be one"},
	{name: "watch", transition: of(watch), // sunk → watched
		why: "what is there only to be watched forms groups of its own; " +
			"once the rest is settled, so that watching a value changes no bit of it"},
	{name: "postpone", transition: of(postpone), // watched → postponed
		why: "updates that nothing else needs are written straight into the store, by groups that wait for the checks; " +
			"once all groups are known, because every reader of the old value has to come first"},
	{name: "stage", transition: of(stageGroups), always: true, // postponed → staged
		why: "each group becomes a stage with blocks, tiles, partial sums, panels and places in the scratch; " +
			"of the groups as they stay"},
	{name: "order", transition: of(order), // staged → ordered
		why: "list scheduling proposes a second order of the stages; " +
			"stages, unlike groups, are known by the arrays that they make and free"},
	{name: "plan", transition: of(plan), always: true, // ordered → planned
		why: "every array gets its place in the arena, in the order that needs the smaller arena"},
	{name: "guard", transition: of(guard), // planned → guarded
		why: "stages that some runs need nothing of get the mask that tells these runs; " +
			"in the order as planned, because a mask must be known before the stages that it guards"},
	{name: "bind", transition: of(bind), // guarded → Program
		why: "kernels are bound to their layouts, and calls and operands are numbered as a VM wants them; " +
			"last, because it is only done for the program that is kept"},
}

// form is the program on its way: a phase takes one and returns the next. Its text is for tests,
// docs and [Debug]; check returns an error where something does not hold that must hold after the
// phase, which is then a bug of the compiler.
type form interface {
	fmt.Stringer
	check() error
}

// phase is one step of the list.
type phase struct {
	name string
	why  string // what it is for, and why it stands where it stands
	transition
	always bool // its form is checked by every compilation, not only under Debug
}

// transition applies a phase to the forms that it takes.
type transition struct {
	takes func(form) bool
	apply func(form) form
}

// of returns the transition that applies f.
func of[From, To form](f func(From) To) transition {
	return transition{
		takes: func(x form) bool { _, ok := x.(From); return ok },
		apply: func(x form) form { return f(x.(From)) },
	}
}

// advance applies phases, from the one that takes f on, until there is a form of type F.
func advance[F form](f form, how *settings) F {
	k := slices.IndexFunc(phases, func(p phase) bool { return p.takes(f) })
	for {
		if to, ok := f.(F); ok {
			return to
		}
		f = phases[k].apply(f)
		how.verify(phases[k].name, f, phases[k].always)
		k++
	}
}

// verify checks a form, always or under [Debug], and writes it where the option says. It panics
// where the form is wrong: no input may lead there.
func (how *settings) verify(phase string, f form, always bool) {
	if how.trace != nil {
		fmt.Fprintf(how.trace, "after %s:\n%v\n", phase, f)
	}
	if !always && !how.debug {
		return
	}
	if err := f.check(); err != nil {
		panic(fmt.Sprintf("tape: the form is wrong after %s: %v\n%v", phase, err, f))
	}
}

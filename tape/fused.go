package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// fused is the form in which instructions are members of groups, in the order in which the groups
// run.
type fused struct {
	*lowered
	groups []*group
	of     []int               // by instruction: the group
	from   []int               // by buffer: the instruction that makes it, -1 for what is outside
	divs   [][]kernel.Division // by instruction
	summed []bool              // by instruction: its result is a sum over the rows of its group
	reader []int               // by buffer: the last group that reads it

	updates  []bool // by instruction: it belongs to updates alone, see [fused.findUpdates]
	gradient []int  // by instruction: the product that such an update reads in the end, -1 for none
}

// group is a set of instructions that run together.
type group struct {
	rows       int // 0: a single instruction, which runs as a whole
	stretch    int // rows of a stretch: equally spaced, and no block crosses its end
	members    []member
	rowBytes   int         // of all results together
	whole      map[int]int // bytes of operands that every row needs, by buffer
	wholeBytes int
	wide       extent
	sums       int  // how many sums the rows add up to, each of as many; 0 without sums
	extra      bool // for watched values alone
	large      bool // a result is large for an instruction that shares only numbers with the others
}

// extent measures the rows of a group: the bytes of the longest result, the bytes of the longest
// result of a product, and the matrix rows in a row of the products' results.
type extent struct{ longest, product, unit int }

// member is an instruction of a group, and how its work divides into the group's rows.
type member struct {
	ins int
	div kernel.Division
}

// watched is the form in which all instructions have groups.
type watched struct{ *fused }

// watch groups the instructions that are there for watched values alone.
func watch(s *sunk) *watched {
	s.groupAll(true)
	return &watched{s.fused}
}

// String lists the groups with their instructions, those for watched values among them.
func (w *watched) String() string { return w.text("watched", len(w.groups)) }

// check returns an error if other instructions read a value that is there for watched values alone.
func (w *watched) check() error {
	if err := w.fused.check(); err != nil {
		return err
	}
	for _, g := range w.groups {
		for _, m := range g.members {
			if w.instrs[m.ins].extra != g.extra {
				return fmt.Errorf("instruction %d, %s, is in a group of the other kind", m.ins, w.instrs[m.ins].name)
			}
			for _, v := range w.instrs[m.ins].in {
				if from := w.from[v.buf]; from >= 0 && !g.extra && w.instrs[from].extra {
					return fmt.Errorf("instruction %d, %s, reads buffer %d, which is there to be watched", m.ins, w.instrs[m.ins].name, v.buf)
				}
			}
		}
	}
	return nil
}

// kill says that nothing makes the result of instruction i any more.
func (f *fused) kill(i int) {
	f.instrs[i].in = nil
	f.vacate(f.instrs[i].out.buf)
}

// String lists the groups with their instructions.
func (f *fused) String() string { return f.text("fused", len(f.groups)) }

// text lists the groups; those from late on run after the checks.
func (f *fused) text(form string, late int) string {
	var b strings.Builder
	name := f.names()
	fmt.Fprintf(&b, "%s %q\n", form, f.source.Name())
	for k, g := range f.groups {
		if len(g.members) == 0 {
			continue
		}
		how := "as a whole"
		if g.rows > 0 {
			how = fmt.Sprintf("%d rows", g.rows)
		}
		if g.rows != 0 && g.stretch != g.rows {
			how += fmt.Sprintf(" in stretches of %d", g.stretch)
		}
		if k >= late {
			how += ", after the checks"
		}
		fmt.Fprintf(&b, "  group %d: %s\n", k, how)
		for _, m := range g.members {
			fmt.Fprintf(&b, "    %s%s\n", name.lineOf(&f.instrs[m.ins].instr), f.remarks(m.ins))
		}
	}
	return b.String()
}

// remarks returns what the text form says of an instruction after its operands.
func (f *fused) remarks(i int) (s string) {
	switch ins := &f.instrs[i]; {
	case f.summed[i]:
		s = "  · summed over the rows"
	case ins.repeated:
		s = "  · once more"
	case ins.cut != "":
		s = "  · apart: " + ins.cut
	}
	if f.instrs[i].extra {
		s += "  · watched only"
	}
	return s
}

// check returns an error unless every instruction is in one group at most, reads what its own group
// makes row by row, and reads nothing else but from earlier groups.
func (f *fused) check() error {
	seen := make([]bool, len(f.instrs))
	for at, g := range f.groups {
		for _, m := range g.members {
			ins := &f.instrs[m.ins]
			switch {
			case seen[m.ins]:
				return fmt.Errorf("group %d: instruction %d, %s, is in two places", at, m.ins, ins.name)
			case f.of[m.ins] != at || f.buffers[ins.out.buf].home == nowhere:
				return fmt.Errorf("group %d: instruction %d, %s, does not belong there", at, m.ins, ins.name)
			}
			for _, v := range ins.in {
				from := f.from[v.buf]
				if from >= 0 && (f.of[from] > at || f.of[from] == at && !seen[from]) || from < 0 && f.buffers[v.buf].home != outside {
					return fmt.Errorf("group %d: instruction %d, %s, reads buffer %d before it is made", at, m.ins, ins.name, v.buf)
				}
			}
			if g.rows > 0 {
				if stretch, why, ok := f.fits(m.ins, m.div, g.rows, at); !ok {
					return fmt.Errorf("group %d: instruction %d, %s: %s", at, m.ins, ins.name, why)
				} else if stretch%g.stretch != 0 || g.rows%g.stretch != 0 {
					return fmt.Errorf("group %d: instruction %d, %s, has stretches of %d rows, the group %d of %d",
						at, m.ins, ins.name, stretch, g.stretch, g.rows)
				}
			} else if len(g.members) > 1 {
				return fmt.Errorf("group %d has no rows and %d instructions", at, len(g.members))
			}
			seen[m.ins] = true
		}
	}
	for b, buf := range f.buffers {
		if f.wanted(b) && (f.from[b] < 0 || !seen[f.from[b]]) {
			return fmt.Errorf("no group makes buffer %d, of %d B, which is wanted", b, buf.bytes)
		}
	}
	return nil
}

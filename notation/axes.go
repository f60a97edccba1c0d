package notation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/greek"
)

// Limits of sizes, so that a mistyped one is a clear error instead of an exhausted machine.
const (
	maxDrawn  = 1 << 27                      // elements of all values that examples are computed from, which are float64
	maxStored = 1 << 27                      // elements of an input, a parameter or a state
	maxArray  = min(1<<31, math.MaxInt>>4+1) // elements of an intermediate value, which rewriting often avoids
)

// merged returns the union of two lists of axes, in an order that agrees with both: i,d and j,d
// give i,j,d. If they contradict each other, the first decides.
func merged(a, b []string) []string {
	all := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	var out []string
	for len(all) > 0 {
		waits := func(x string, list []string) bool { // whether x comes after others of the list that are still to be taken
			return slices.ContainsFunc(list[:max(0, slices.Index(list, x))], func(y string) bool { return slices.Contains(all, y) })
		}
		next := slices.IndexFunc(all, func(x string) bool { return !waits(x, a) && !waits(x, b) })
		if next < 0 {
			next = slices.IndexFunc(all, func(x string) bool { return !waits(x, a) })
		}
		out = append(out, all[next])
		all = slices.Delete(all, next, next+1)
	}
	return out
}

// without returns the elements of list that are not in some.
func without(list, some []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return slices.Contains(some, x) })
}

func sameSet(a, b []string) bool {
	return len(a) == len(b) && len(without(a, b)) == 0
}

// sized is an axis with its size: a number, or the size of another axis.
type sized struct {
	name   string
	number int
	same   string // the axis of the same size, "" if the number is its own
	line   int
	span
}

// rename is a place where an axis is called by the name of another of the same size.
type rename struct {
	from, to string
	line     int
	span
}

// declareAxes records the sizes of a declaration.
func (c *checker) declareAxes(s *statement) {
	line, _ := c.line(s.from)
	for i, a := range s.axes {
		if slices.Contains(namesOf(s.axes[:i]), a.name) {
			c.fail(a.span, fmt.Sprintf("%s has axis %s twice", s.name, a.name), "give each a name of its own", "")
			continue
		}
		z := sized{name: a.name, line: line, span: a.span}
		known := c.axis(a.name)
		switch n, err := strconv.Atoi(a.size); {
		case a.size == "" && known == nil && c.doubtful[greek.Symbol(a.name)]:
			z.number = 1
		case a.size == "" && known == nil:
			c.fail(a.span, "axis "+a.name+" has no size", "state it where the axis first occurs, as in "+a.name+"=4", "")
			z.number = 1
		case a.size == "":
			continue
		case err == nil && (n < 1 || n > maxStored) || err != nil && !startsName([]rune(a.size)[0]):
			c.fail(a.span, "the size of "+a.name+" is "+a.size, fmt.Sprintf("want a whole number from 1 to %d", maxStored), "")
			z.number = 1
		case err == nil:
			z.number = n
		case a.size == a.name || c.axis(a.size) == nil:
			c.fail(a.span, "axis "+a.size+" has no size yet", "state it above, or give "+a.name+" a number", "")
			z.number = 1
		default:
			z.same = a.size
		}
		if known == nil {
			c.axes = append(c.axes, z)
		} else if known.number != z.number || known.same != z.same {
			problem := fmt.Sprintf("axis %s has another size at line %d", a.name, known.line)
			if known.same == "" && z.same == "" {
				problem = fmt.Sprintf("axis %s has size %d at line %d, not %d", a.name, known.number, known.line, z.number)
			}
			c.fail(a.span, problem, "state the size once", "")
		}
	}
}

// axis returns an axis that has a size, nil if there is none.
func (f *File) axis(name string) *sized {
	for i := range f.axes {
		if f.axes[i].name == name {
			return &f.axes[i]
		}
	}
	return nil
}

// axisNames lists the axes that have sizes.
func (f *File) axisNames() []string {
	out := make([]string, len(f.axes))
	for i, a := range f.axes {
		out[i] = a.name
	}
	return out
}

// sizes returns the sizes of all axes under the given settings.
func (f *File) sizes(s builders.Settings) map[string]int {
	out := map[string]int{}
	for _, a := range f.axes { // an axis comes after the one whose size it has
		switch n, set := s[a.name]; {
		case a.same != "":
			out[a.name] = out[a.same]
		case set:
			out[a.name] = int(n)
		default:
			out[a.name] = a.number
		}
	}
	return out
}

// elements returns the number of elements over the axes, or limit+1 if there are more than limit.
func elements(axes []string, sizes map[string]int, limit int) int {
	n := 1
	for _, a := range axes {
		if size := max(sizes[a], 1); n > limit/size {
			return limit + 1
		} else {
			n *= size
		}
	}
	return n
}

// misfits reports sizes that do not fit together, or are too large.
func (f *File) misfits(sizes map[string]int, report func(line int, at span, problem, fix string)) {
	for _, r := range f.renames {
		if sizes[r.from] != sizes[r.to] {
			report(r.line, r.span, fmt.Sprintf("%s=%d cannot be called %s=%d", r.from, sizes[r.from], r.to, sizes[r.to]), "give them one size, as in "+r.to+"="+r.from)
		}
	}
	for _, s := range f.lines {
		line, _ := f.line(s.from)
		if s.isLeaf() && elements(namesOf(s.axes), sizes, maxStored) > maxStored {
			report(line, s.named, fmt.Sprintf("%s has more than %d elements", s.name, maxStored), "")
		}
		s.value.each(func(e *expr) {
			if e.kind != exprName && elements(e.typ.axes, sizes, maxArray) > maxArray {
				report(line, e.span, fmt.Sprintf("%s has more than %d elements", e, maxArray), "reduce it earlier")
			}
		})
	}
}

// each calls f for the expression and all its parts.
func (e *expr) each(f func(*expr)) {
	if e == nil {
		return
	}
	f(e)
	for _, a := range e.args {
		a.each(f)
	}
}

// shown returns [i,j], or "no axes".
func shown(axes []string) string {
	if len(axes) == 0 {
		return "no axes"
	}
	return brackets(axes)
}

func listed(names []string) string { return strings.Join(names, ", ") }

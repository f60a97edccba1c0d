package tape

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A value that a later group reads is an array in memory, written by one group and read by the
// other. Where a few cheap instructions compute it again from values that are in memory anyway, the
// later group does so: 1 − y² from y in the derivative of tanh, the mask of a relu, the factors of
// a product rule. Derivatives are written next to the forward values that they depend on, so
// without this every training step would keep them all.
//
// For example, y = e^(v − Σ v) with v = x² needs v twice, before the sum is known and after:
//
//	fused "spread"
//	  group 0: 64 rows
//	    v[i=64] = Square x[i=64]
//	    s[] = Sum v[i=64]  · summed over the rows
//	  group 1: 64 rows
//	    %4[i=64] = Sub v[i=64], Broadcast(s)[i=64]  · apart: it needs the whole sum s[]
//	    y[i=64] = Exp %4[i=64]
//
// Between the groups v would be an array. Instead, group 1 squares x once more, block by block:
//
//	sunk "spread"
//	  group 0: 64 rows
//	    v[i=64] = Square x[i=64]
//	    s[] = Sum v[i=64]  · summed over the rows
//	  group 1: 64 rows
//	    v[i=64] = Square x[i=64]  · once more
//	    %4[i=64] = Sub v[i=64], Broadcast(s)[i=64]  · apart: it needs the whole sum s[]
//	    y[i=64] = Exp %4[i=64]

// sunk is the form in which every group makes the cheap values that it reads itself.
type sunk struct{ *fused }

// sinking decides which values are made again.
type sinking struct {
	*fused
	div     []kernel.Division // by instruction, in its group
	readers [][]int           // by buffer: the instructions that read it
	fixed   []bool            // by instruction: its result stays in memory
	given   [][]value         // by instruction, if values are watched: what it read before anything was made again
	again   []int             // by instruction: the effort of making it again; 0 for too much
	idle    []bool            // by instruction: nothing reads its result any more
}

// maxAgain limits the instructions that a value may take to be made again.
const maxAgain = 4

func sink(f *fused) *sunk {
	if f.how.separate {
		return &sunk{f}
	}
	s := &sinking{fused: f}
	s.index()
	s.fix(nil)
	s.fix(s.promoted())
	// The last first: where later groups make again all that a member was for, nothing is brought
	// there.
	for g := len(f.groups) - 1; g >= 0; g-- {
		s.findIdle(g)
		s.bringInto(g)
	}
	s.bury()
	return &sunk{f}
}

// index finds the readers of each buffer. Watched arrays, and the instructions that are there for
// them alone, do not count: a value that only they still need is made among them.
func (s *sinking) index() {
	s.div = make([]kernel.Division, len(s.instrs))
	for _, g := range s.groups {
		for _, m := range g.members {
			s.div[m.ins] = m.div
		}
	}
	s.readers = make([][]int, len(s.buffers))
	s.given, s.idle = make([][]value, len(s.instrs)), make([]bool, len(s.instrs))
	watched := len(s.watched) > 0 || slices.ContainsFunc(s.instrs, func(ins draft) bool { return ins.extra })
	for i := range s.instrs {
		if watched {
			s.given[i] = slices.Clone(s.instrs[i].in)
		}
		if s.instrs[i].extra {
			continue
		}
		for _, v := range s.instrs[i].in {
			if r := s.readers[v.buf]; len(r) == 0 || r[len(r)-1] != i {
				s.readers[v.buf] = append(s.readers[v.buf], i)
			}
		}
	}
}

// kept reports whether the result of instruction i is an array in memory as the groups are, and
// whether it has to be one.
func (s *sinking) kept(i int) (is, must bool) {
	b := s.instrs[i].out.buf
	if s.wanted(b) || s.summed[i] {
		return true, true
	}
	for _, r := range s.readers[b] {
		if s.of[r] != s.of[i] {
			is = true
			must = must || !s.byRow(r, b)
		}
	}
	return is, must || is && s.groups[s.of[i]].rows == 0
}

// byRow reports whether an instruction reads a buffer row by row, each block only its own part.
func (s *sinking) byRow(reader, buf int) bool {
	g := s.groups[s.of[reader]]
	if g.rows == 0 {
		return false
	}
	ins := &s.instrs[reader]
	for k, v := range ins.in {
		if v.buf != buf {
			continue
		}
		r, ok := s.div[reader].Rows(v.layout, k, g.rows)
		stride, uniform := r.Uniform()
		if !ok || !uniform || stride*g.rows*v.layout.DType.Size() != s.buffers[buf].bytes {
			return false
		}
	}
	return true
}

// fix decides which results stay in memory, besides those given.
func (s *sinking) fix(besides map[int]bool) {
	s.fixed, s.again = make([]bool, len(s.instrs)), make([]int, len(s.instrs))
	for i := range s.instrs {
		s.how.look()
		s.again[i] = s.effort(i, nil)
		is, must := s.kept(i)
		s.fixed[i] = besides[i] || must || is && s.again[i] == 0
	}
}

// effort returns how many instructions make the result of i from values that stay in memory, 0 if
// that cannot be done or takes too many. It collects the values that are missing.
func (s *sinking) effort(i int, missing *[]int) int {
	ins := &s.instrs[i]
	if !kernel.Cheap(ins.kernel) {
		return 0
	}
	n := 1
	for _, v := range ins.in {
		from := s.from[v.buf]
		switch {
		case from < 0 || s.fixed[from]:
		case s.again[from] > 0:
			n += s.again[from]
		case missing != nil && kernel.Cheap(s.instrs[from].kernel):
			s.effort(from, missing)
			n = maxAgain + 1
		default:
			if missing != nil && !slices.Contains(*missing, from) {
				*missing = append(*missing, from)
			}
			n = maxAgain + 1
		}
	}
	if n > maxAgain {
		return 0
	}
	return n
}

// promoted finds results that are not in memory, but would save more than their size if they were.
func (s *sinking) promoted() map[int]bool {
	saves := map[int]int{}
	for i := range s.instrs {
		s.how.look()
		if is, must := s.kept(i); is && !must && kernel.Cheap(s.instrs[i].kernel) && s.again[i] == 0 {
			var missing []int
			s.effort(i, &missing)
			if len(missing) == 1 && !s.summed[missing[0]] {
				saves[missing[0]] += s.buffers[s.instrs[i].out.buf].bytes
			}
		}
	}
	out := map[int]bool{}
	for i, n := range saves {
		if n > s.buffers[s.instrs[i].out.buf].bytes {
			out[i] = true
		}
	}
	return out
}

// findIdle finds the members of a group whose results nothing reads any more, once this is known of
// all later groups.
func (s *sinking) findIdle(at int) {
	g := s.groups[at]
	for k := len(g.members) - 1; k >= 0; k-- {
		i := g.members[k].ins
		b := s.instrs[i].out.buf
		s.idle[i] = !s.wanted(b) && !once(s.instrs[i].kernel) && !slices.ContainsFunc(s.readers[b], func(r int) bool {
			return !s.idle[r] && slices.ContainsFunc(s.instrs[r].in, func(v value) bool { return v.buf == b })
		})
	}
}

// bringInto makes a group compute again the values that it reads and that do not stay in memory.
func (s *sinking) bringInto(at int) {
	g := s.groups[at]
	if g.rows == 0 {
		return
	}
	made := map[int]int{} // by instruction that is repeated: the buffer of the copy's result
	for k := 0; k < len(g.members); k++ {
		s.how.look()
		reader := g.members[k]
		if s.idle[reader.ins] {
			continue
		}
		for n := range s.instrs[reader.ins].in {
			from := s.from[s.instrs[reader.ins].in[n].buf]
			if from < 0 || s.of[from] == at || s.fixed[from] {
				continue
			}
			c := copying{sinking: s, at: at, first: len(s.instrs), made: made, news: map[int]int{}}
			if b, ok := c.repeat(from); ok && c.readable(reader, n, b) {
				g.members = slices.Insert(g.members, k, c.members...)
				k += len(c.members)
				maps.Copy(made, c.news)
			} else { // it stays in memory after all
				c.discard()
				s.fixed[from] = true
			}
		}
	}
}

// copying is one attempt to repeat instructions in a group. Its copies are at the end of the list
// of instructions; they belong to no group until the group takes them as members, and are dead if
// it does not.
type copying struct {
	*sinking
	at      int         // the group
	first   int         // instruction that is a copy of this attempt
	made    map[int]int // what the group has repeated before
	news    map[int]int // the same of this attempt
	members []member
}

// repeat copies instruction i, and those that it needs, and returns the buffer of the copy's
// result.
func (c *copying) repeat(i int) (buf int, ok bool) {
	for _, known := range []map[int]int{c.made, c.news} {
		if b, has := known[i]; has {
			return b, true
		}
	}
	ins := c.instrs[i]
	ins.in = slices.Clone(ins.in)
	ins.cut, ins.inPlace, ins.repeated = "", false, true
	for n, v := range ins.in {
		from := c.from[v.buf]
		if from < 0 || c.fixed[from] || c.of[from] == c.at {
			continue
		}
		b, ok := c.repeat(from)
		if !ok {
			return 0, false
		}
		ins.in[n].buf = b
	}
	g, copied := c.groups[c.at], c.put(ins, c.divs[i])
	for _, d := range c.divs[i] {
		stretch, _, fits := c.fits(copied, d, g.rows, c.at)
		if fits && d.Accumulate == nil && c.longEnough(copied, d, g.rows, stretch) && gcd(g.stretch, stretch) == g.stretch {
			c.members = append(c.members, member{copied, d})
			c.news[i] = c.instrs[copied].out.buf
			return c.news[i], true
		}
	}
	return 0, false
}

// put adds a copy, with a result of its own, at the end of the list and returns its number.
func (c *copying) put(ins draft, divs []kernel.Division) int {
	ins.out.buf = len(c.buffers)
	c.buffers = append(c.buffers, buffer{bytes: ins.out.layout.Len() * ins.out.layout.DType.Size()})
	c.instrs = append(c.instrs, ins)
	copied := len(c.instrs) - 1
	c.from, c.reader = append(c.from, copied), append(c.reader, -1)
	c.of, c.divs, c.summed = append(c.of, c.at), append(c.divs, divs), append(c.summed, false)
	c.updates, c.gradient = append(c.updates, false), append(c.gradient, -1)
	c.fixed, c.again, c.idle = append(c.fixed, false), append(c.again, 0), append(c.idle, false)
	c.readers = append(c.readers, nil)
	for _, v := range ins.in {
		c.readers[v.buf] = append(c.readers[v.buf], copied)
	}
	return copied
}

// readable makes a member read buffer b as its operand n, if its rows allow that; otherwise it
// reports false.
func (c *copying) readable(m member, n, b int) bool {
	g, operand := c.groups[c.at], &c.instrs[m.ins].in[n]
	was := operand.buf
	operand.buf = b
	stretch, _, fits := c.fits(m.ins, m.div, g.rows, c.at)
	if !fits || !c.longEnough(m.ins, m.div, g.rows, stretch) {
		operand.buf = was
		return false
	}
	return true
}

// discard marks the copies dead: no group has them, and nothing reads them.
func (c *copying) discard() {
	for i := c.first; i < len(c.instrs); i++ {
		c.kill(i)
	}
}

// bury removes instructions whose results nothing reads any more. Those that are watched, or needed
// by watched values, join the instructions that are there for watched values alone.
func (s *sinking) bury() {
	uses, watched := make([]int, len(s.buffers)), make([]bool, len(s.buffers))
	for b := range s.watched {
		watched[b] = true
	}
	for i := range s.instrs {
		if s.instrs[i].extra {
			for _, v := range s.instrs[i].in {
				watched[v.buf] = true
			}
		}
	}
	for _, g := range s.groups {
		for _, m := range g.members {
			for _, v := range s.instrs[m.ins].in {
				uses[v.buf]++
			}
		}
	}
	for k := len(s.groups) - 1; k >= 0; k-- {
		g := s.groups[k]
		for j := len(g.members) - 1; j >= 0; j-- {
			ins := &s.instrs[g.members[j].ins]
			if uses[ins.out.buf] > 0 || s.wanted(ins.out.buf) {
				continue
			}
			if once(ins.kernel) {
				continue
			}
			for _, v := range ins.in {
				uses[v.buf]--
			}
			if ins.extra = watched[ins.out.buf]; ins.extra {
				ins.in = s.given[g.members[j].ins]
				for _, v := range ins.in {
					watched[v.buf] = true
				}
			} else {
				s.kill(g.members[j].ins)
			}
			g.members = slices.Delete(g.members, j, j+1)
		}
	}
}

// String lists the groups with their instructions; those that are there again are marked.
func (s *sunk) String() string { return s.text("sunk", len(s.groups)) }

// check returns an error unless each value that groups hand each other is made once, and each value
// that is made is read.
func (s *sunk) check() error {
	if err := s.fused.check(); err != nil {
		return err
	}
	read := make([]bool, len(s.buffers))
	for at, g := range s.groups {
		for _, m := range g.members {
			for _, v := range s.instrs[m.ins].in {
				read[v.buf] = true
				if from := s.from[v.buf]; from >= 0 && s.instrs[from].repeated && s.of[from] != at {
					return fmt.Errorf("group %d reads buffer %d, which group %d makes once more", at, v.buf, s.of[from])
				}
			}
		}
	}
	if s.how.separate {
		return nil
	}
	for _, g := range s.groups {
		for _, m := range g.members {
			ins := &s.instrs[m.ins]
			if !once(ins.kernel) && !read[ins.out.buf] && !s.wanted(ins.out.buf) {
				return fmt.Errorf("nothing reads instruction %d, %s", m.ins, ins.name)
			}
		}
	}
	return nil
}

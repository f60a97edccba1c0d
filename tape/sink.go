package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A value that a later group reads is an array in memory, written by one group and read by the other. Where it costs a few cheap
// instructions to make it again from what is in memory anyway, the later group does: 1 − y² from y in the derivative of tanh, the
// mask of a relu, the factors of a product rule. Derivatives are written next to the forward values that they depend on, so without
// this every training step would keep them all.

// sinking decides which values are made again.
type sinking struct {
	p       *Program
	f       *fusion
	div     []kernel.Division // by instruction, in its group
	readers [][]int           // instructions, by buffer
	fixed   []bool            // by instruction: its result stays in memory
	given   [][]value         // by instruction: what it read before anything was made again
	again   []int             // by instruction: how many instructions make its result from what is fixed; 0 if they are too many
}

// maxAgain is how many instructions a value may take to be made again.
const maxAgain = 4

func (p *Program) sink(f *fusion) {
	s := &sinking{p: p, f: f}
	s.index()
	s.fix(nil)
	s.fix(s.promoted())
	for g := range f.groups {
		s.bringInto(g)
	}
	s.bury()
}

// The arrays that are watched, and the instructions that are there for them alone, count for nothing here: a value that only they
// still need is made among them.
func (s *sinking) index() {
	s.div = make([]kernel.Division, len(s.p.instrs))
	for _, g := range s.f.groups {
		for _, m := range g.members {
			s.div[m.ins] = m.div
		}
	}
	s.readers = make([][]int, len(s.p.buffers))
	s.given = make([][]value, len(s.p.instrs))
	for i := range s.p.instrs {
		s.given[i] = slices.Clone(s.p.instrs[i].in)
		if s.p.instrs[i].extra {
			continue
		}
		for _, v := range s.p.instrs[i].in {
			if r := s.readers[v.buf]; len(r) == 0 || r[len(r)-1] != i {
				s.readers[v.buf] = append(s.readers[v.buf], i)
			}
		}
	}
}

// kept reports whether the result of instruction i is an array in memory as the groups are, and whether it has to be one.
func (s *sinking) kept(i int) (is, must bool) {
	b := s.p.instrs[i].out.buf
	if s.pinned(b) || s.f.fold[i] {
		return true, true
	}
	for _, r := range s.readers[b] {
		if s.f.of[r] != s.f.of[i] {
			is = true
			must = must || !s.byRow(r, b)
		}
	}
	return is, must || is && s.f.groups[s.f.of[i]].rows == 0
}

// pinned reports whether a buffer is a result or the source of a commit.
func (s *sinking) pinned(b int) bool { return s.p.buffers[b].pinned && !s.p.buffers[b].watched }

// byRow reports whether an instruction reads a buffer row by row, each block just its own part.
func (s *sinking) byRow(reader, buf int) bool {
	g := s.f.groups[s.f.of[reader]]
	if g.rows == 0 {
		return false
	}
	ins := &s.p.instrs[reader]
	for k, v := range ins.in {
		if v.buf != buf {
			continue
		}
		r, ok := s.div[reader].Rows(v.layout, k, g.rows)
		stride, uniform := r.Uniform()
		if !ok || !uniform || stride*g.rows*v.layout.DType.Size() != s.p.buffers[buf].bytes {
			return false
		}
	}
	return true
}

// fix decides what stays in memory, given results that are put there besides.
func (s *sinking) fix(besides map[int]bool) {
	s.fixed, s.again = make([]bool, len(s.p.instrs)), make([]int, len(s.p.instrs))
	for i := range s.p.instrs {
		s.p.under.look()
		s.again[i] = s.effort(i, nil)
		is, must := s.kept(i)
		s.fixed[i] = besides[i] || must || is && s.again[i] == 0
	}
}

// effort is how many instructions make the result of i from what is fixed, 0 if that cannot be done or takes too many. What is
// missing is collected.
func (s *sinking) effort(i int, missing *[]int) int {
	ins := &s.p.instrs[i]
	if !kernel.Cheap(ins.kernel) {
		return 0
	}
	n := 1
	for _, v := range ins.in {
		from := s.f.from[v.buf]
		switch {
		case from < 0 || s.fixed[from]:
		case s.again[from] > 0:
			n += s.again[from]
		case missing != nil && kernel.Cheap(s.p.instrs[from].kernel):
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

// promoted finds results that are not in memory but, if they were, would save more than their size.
func (s *sinking) promoted() map[int]bool {
	saves := map[int]int{}
	for i := range s.p.instrs {
		s.p.under.look()
		if is, must := s.kept(i); is && !must && kernel.Cheap(s.p.instrs[i].kernel) && s.again[i] == 0 {
			var missing []int
			s.effort(i, &missing)
			if len(missing) == 1 && !s.f.fold[missing[0]] {
				saves[missing[0]] += s.p.buffers[s.p.instrs[i].out.buf].bytes
			}
		}
	}
	out := map[int]bool{}
	for i, n := range saves {
		if n > s.p.buffers[s.p.instrs[i].out.buf].bytes {
			out[i] = true
		}
	}
	return out
}

// bringInto makes a group compute again what it reads and is not fixed.
func (s *sinking) bringInto(at int) {
	g := s.f.groups[at]
	if g.rows == 0 {
		return
	}
	made := map[int]int{} // buffers, by the instruction that is repeated
	for k := 0; k < len(g.members); k++ {
		s.p.under.look()
		reader := g.members[k].ins
		for n := range s.p.instrs[reader].in {
			from := s.f.from[s.p.instrs[reader].in[n].buf]
			if from < 0 || s.f.of[from] == at || s.fixed[from] {
				continue
			}
			members, instrs, buffers := slices.Clone(g.members), len(s.p.instrs), len(s.p.buffers)
			news := map[int]int{}
			b, ok := s.repeat(g, at, &k, from, made, news)
			if ok {
				was := s.p.instrs[reader].in[n].buf
				s.p.instrs[reader].in[n].buf = b
				limit, _, fits := s.f.fits(reader, g.members[k].div, g.rows, at)
				if ok = fits && s.f.longEnough(reader, g.members[k].div, g.rows, limit); !ok {
					s.p.instrs[reader].in[n].buf = was
				}
			}
			if !ok { // it stays in memory after all
				k -= len(g.members) - len(members)
				g.members = members
				s.p.instrs, s.p.buffers = s.p.instrs[:instrs], s.p.buffers[:buffers]
				s.f.of, s.f.from, s.f.divs, s.f.fold = s.f.of[:instrs], s.f.from[:buffers], s.f.divs[:instrs], s.f.fold[:instrs]
				s.fixed, s.again = s.fixed[:instrs], s.again[:instrs]
				s.fixed[from] = true
				continue
			}
			for i, b := range news {
				made[i] = b
			}
		}
	}
}

// repeat adds copies of instruction i, and of those that it needs, to a group, before the member at k, which moves on. It gives the
// buffer of the copy's result.
func (s *sinking) repeat(g *group, at int, k *int, i int, made, news map[int]int) (buf int, ok bool) {
	for _, known := range []map[int]int{made, news} {
		if b, has := known[i]; has {
			return b, true
		}
	}
	ins := s.p.instrs[i]
	ins.in = slices.Clone(ins.in)
	ins.cut, ins.inPlace, ins.repeated = "", false, true
	for n, v := range ins.in {
		from := s.f.from[v.buf]
		if from < 0 || s.fixed[from] || s.f.of[from] == at {
			continue
		}
		b, ok := s.repeat(g, at, k, from, made, news)
		if !ok {
			return 0, false
		}
		ins.in[n].buf = b
	}
	b := len(s.p.buffers)
	s.p.buffers = append(s.p.buffers, buffer{bytes: ins.out.layout.Len() * ins.out.layout.DType.Size()})
	ins.out.buf = b
	copied := len(s.p.instrs)
	s.p.instrs = append(s.p.instrs, ins)
	s.f.of, s.f.from, s.f.fold = append(s.f.of, at), append(s.f.from, copied), append(s.f.fold, false)
	s.f.divs = append(s.f.divs, s.f.divs[i])
	s.fixed, s.again = append(s.fixed, false), append(s.again, s.again[i])
	for _, d := range s.f.divs[i] {
		limit, _, fits := s.f.fits(copied, d, g.rows, at)
		if !fits || d.Accumulate != nil || !s.f.longEnough(copied, d, g.rows, limit) || gcd(g.limit, limit) != g.limit {
			continue
		}
		g.members = slices.Insert(g.members, *k, member{copied, d})
		g.rowBytes += s.f.rowBytes(copied, d, g.rows)
		*k++
		news[i] = b
		return b, true
	}
	return 0, false
}

// bury takes out what nothing reads any more. What is watched, or needed for that, goes to the instructions that are there for it.
func (s *sinking) bury() {
	uses, watched := make([]int, len(s.p.buffers)), make([]bool, len(s.p.buffers))
	for b := range s.p.buffers {
		watched[b] = s.p.buffers[b].watched
	}
	for i := range s.p.instrs {
		if s.p.instrs[i].extra {
			for _, v := range s.p.instrs[i].in {
				watched[v.buf] = true
			}
		}
	}
	for _, g := range s.f.groups {
		for _, m := range g.members {
			for _, v := range s.p.instrs[m.ins].in {
				uses[v.buf]++
			}
		}
	}
	for k := len(s.f.groups) - 1; k >= 0; k-- {
		g := s.f.groups[k]
		for j := len(g.members) - 1; j >= 0; j-- {
			ins := &s.p.instrs[g.members[j].ins]
			if uses[ins.out.buf] > 0 || s.pinned(ins.out.buf) {
				continue
			}
			if _, users := ins.kernel.(runner); users {
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
				ins.in = nil
				s.p.vacate(ins.out.buf)
			}
			g.members = slices.Delete(g.members, j, j+1)
		}
	}
}

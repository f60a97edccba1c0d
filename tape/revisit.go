package tape

// Where every stretch of a stage reads the same rows of a large array, as for each of many centres
// the same points, they come from a cache far away each time. So some blocks are done in all
// stretches before the next ones are: their rows stay in the L2 cache. Blocks whose rows are added
// up keep their order, since sums are rounded by it.

// Arrays of at least revisitBytes are read part by part, of revisitPart bytes. What differs from
// stretch to stretch is then read again with each part: it is to have revisitOwn bytes at most.
const (
	revisitBytes = 512 << 10
	revisitPart  = 256 << 10
	revisitOwn   = 16 << 10
)

// revisit returns how many blocks of a stage are done in all stretches before the next ones, 0 for
// those of a whole stretch.
func (s *stager) revisit(made *stage, g *group, members []laid) int {
	if made.parts > 0 || made.stretch == made.rows {
		return 0
	}
	again, own, met := 0, 0, map[value]bool{} // bytes of a row, and of what all rows of a stretch share
	for _, m := range members {
		ins := &s.instrs[m.ins]
		for i, v := range ins.in {
			if met[v] || s.buffers[v.buf].home == inScratch {
				continue
			}
			met[v] = true
			r, ok := m.div.Rows(v.layout, i, made.rows)
			switch {
			case !ok || r.Same():
			case r.Shared():
				own += touched(r.Layout(1))
			case r.At(made.stretch) == r.At(0):
				again += s.rowOf(g, m.member, i)
			}
		}
	}
	if again*made.stretch < revisitBytes || own > revisitOwn {
		return 0
	}
	return max(1, revisitPart/(again*made.block))
}

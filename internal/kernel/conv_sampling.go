package kernel

// A sampling says which elements along an axis of a source contribute to the results along an axis:
// result i reads, for each tap t, element i·stride + at + t·step, with weight number first + t·by.
// Elements outside of the source count as 0.
type sampling struct {
	n, size          int // results, and elements of the source
	stride, at, step int
	taps, first, by  int
}

// rows and cols return how the windows sample the axes of x.
func (g *convolved) rows() sampling { return g.sampling(0, g.yh, g.xh, g.kh) }
func (g *convolved) cols() sampling { return g.sampling(1, g.yw, g.xw, g.kw) }

func (g *convolved) sampling(axis, n, size, taps int) sampling {
	return sampling{n: n, size: size, stride: g.Stride[axis], at: -g.Padding[axis], step: g.Dilation[axis], taps: taps, by: 1}
}

// spread returns the sampling the other way round: s reads an axis of so many elements, and of
// these the elements rest, rest+stride, … now read the results of s to which they contribute. Only
// every few taps lead from such an element to a result.
func (s sampling) spread(rest, size int) sampling {
	back := sampling{n: (size - rest + s.stride - 1) / s.stride, size: s.n, stride: 1}
	for k := range s.taps {
		if (rest-s.at-k*s.step)%s.stride != 0 {
			continue
		}
		if back.taps > 0 {
			back.by = back.first - k // the last tap comes first: it leads to the first result
		}
		back.first = k
		back.taps++
	}
	back.at = (rest - s.at - back.first*s.step) / s.stride
	back.step = -back.by * s.step / s.stride
	return back
}

// A stretch is a range of neighbouring results that read the same taps, the others lying outside of
// the source.
type stretch struct {
	from, to int // results
	tap, end int
}

// stretches cuts the results [from,to) into stretches.
func (s sampling) stretches(from, to int) (all []stretch) {
	for i := from; i < to; i++ {
		tap, end := s.inside(i)
		if n := len(all) - 1; n >= 0 && all[n].tap == tap && all[n].end == end {
			all[n].to = i + 1
		} else {
			all = append(all, stretch{i, i + 1, tap, end})
		}
	}
	return all
}

// inside returns the range of taps of result i that lie inside of the source.
func (s sampling) inside(i int) (tap, end int) {
	at := i*s.stride + s.at
	end = s.taps
	for tap < end && at+tap*s.step < 0 {
		tap++
	}
	for end > tap && at+(end-1)*s.step >= s.size {
		end--
	}
	return tap, end
}

// reads returns the first element that the first result of a stretch reads.
func (s sampling) reads(r stretch) int { return r.from*s.stride + s.at + r.tap*s.step }

// meets returns the range of results that have tap k inside of the source.
func (s sampling) meets(k int) (from, to int) {
	at := s.at + k*s.step
	if at < 0 {
		from = (-at + s.stride - 1) / s.stride
	}
	if at < s.size {
		to = min(s.n, (s.size-1-at)/s.stride+1)
	}
	return min(from, to), to
}

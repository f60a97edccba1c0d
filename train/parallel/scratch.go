package parallel

import "slices"

// scratch is the memory of a rank for what it sends and receives, kept from one sum to the next.
type scratch struct {
	in, out []byte
	terms   []vector
}

// recv returns memory for so many bytes.
func (s *scratch) recv(n int) []byte { return sized(&s.in, n) }

func sized(mem *[]byte, n int) []byte {
	if len(*mem) < n {
		*mem = newMemory(n)
	}
	return (*mem)[:n]
}

// pack returns the runs of some terms side by side, each term at a multiple of 8 bytes. A single
// run is not copied.
func (s *scratch) pack(terms []vector, runs []span) []byte {
	if len(terms) == 1 && len(runs) == 1 {
		return terms[0].mem[runs[0].from:runs[0].to]
	}
	n := bytes(runs)
	out := sized(&s.out, extent(len(terms), n))
	for i, t := range terms {
		pack(out[i*aligned(n):], t.mem, runs)
	}
	return out
}

// pack copies runs of mem to the beginning of dst.
func pack(dst, mem []byte, runs []span) {
	for _, s := range runs {
		dst = dst[copy(dst, mem[s.from:s.to]):]
	}
}

// unpack is the reverse of pack.
func unpack(mem []byte, runs []span, src []byte) {
	for _, s := range runs {
		src = src[copy(mem[s.from:s.to], src):]
	}
}

// aligned rounds up to a multiple of the size of a float64.
func aligned(bytes int) int { return (bytes + 7) &^ 7 }

// extent returns the bytes from the first of so many terms to the end of the last.
func extent(terms, bytes int) int { return (terms-1)*aligned(bytes) + bytes }

// tidy sorts runs, leaves out empty ones and joins those that touch.
func tidy(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return a.from - b.from })
	out := list[:0]
	for _, s := range list {
		switch last := len(out) - 1; {
		case s.size() <= 0:
		case last >= 0 && out[last].to == s.from:
			out[last].to = s.to
		default:
			out = append(out, s)
		}
	}
	return out
}

// bytes returns the length of runs.
func bytes(runs []span) int {
	n := 0
	for _, s := range runs {
		n += s.size()
	}
	return n
}

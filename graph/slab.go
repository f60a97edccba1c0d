package graph

// slab hands out short pieces of one large slice. A graph makes nodes by the hundred thousand and
// frees them together, and to allocate each alone would cost more than to fill it.
type slab[T any] struct {
	free []T
	size int // of the last piece of memory taken
}

// take returns n zero elements that nobody else has, with no room behind them.
func (s *slab[T]) take(n int) []T {
	const least, most = 8, 1024
	if len(s.free) < n {
		s.size = max(n, min(max(2*s.size, least), most))
		s.free = make([]T, s.size)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

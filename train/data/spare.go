package data

import "sync"

// spare is a pool of slices, as many as were ever in use at once. (A sync.Pool may drop them at any
// time, and the next batch would allocate.)
type spare[T any] struct {
	mu   sync.Mutex
	free [][]T
}

func (s *spare[T]) get() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	p := s.free[n-1]
	s.free = s.free[:n-1]
	return p
}

func (s *spare[T]) put(p []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, p)
}

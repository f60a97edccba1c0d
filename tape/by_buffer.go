package tape

// byBuffer is a map from buffers to values that is emptied without a look at what is in it. Every
// stage needs a few of them, for its own buffers alone.
type byBuffer[T any] struct {
	values []T
	in     []int // by buffer: the round in which its value was set
	round  int
}

// empty removes all values. There are so many buffers.
func (m *byBuffer[T]) empty(buffers int) {
	m.round++
	m.grow(buffers)
}

// grow makes room for so many buffers.
func (m *byBuffer[T]) grow(buffers int) {
	if more := buffers - len(m.in); more > 0 {
		m.in, m.values = append(m.in, make([]int, more)...), append(m.values, make([]T, more)...)
	}
}

// get returns the value of a buffer; ok is false, and the value zero, if it has none.
func (m *byBuffer[T]) get(b int) (v T, ok bool) {
	if !m.has(b) {
		return v, false
	}
	return m.values[b], true
}

// at returns the value of a buffer, zero if it has none.
func (m *byBuffer[T]) at(b int) T {
	v, _ := m.get(b)
	return v
}

// has reports whether a buffer has a value. A buffer that is newer than the round has none.
func (m *byBuffer[T]) has(b int) bool { return b < len(m.in) && m.in[b] == m.round }

// push adds a number to the list of a buffer.
func push(m *byBuffer[[]int], b, n int) {
	list, has := m.get(b)
	if !has && b < len(m.values) {
		list = m.values[b][:0] // the memory of an earlier round
	}
	m.set(b, append(list, n))
}

// set gives a buffer a value.
func (m *byBuffer[T]) set(b int, v T) {
	if b >= len(m.in) {
		m.grow(b + 1)
	}
	m.in[b], m.values[b] = m.round, v
}

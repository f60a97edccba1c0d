package tape

import "testing"

// TestByBuffer: a round has what was set in it and nothing of an earlier one, for buffers that came
// later too.
func TestByBuffer(t *testing.T) {
	var m byBuffer[[]int]
	m.empty(2)
	push(&m, 1, 5)
	push(&m, 1, 6)
	push(&m, 7, 8)
	if l := m.at(1); len(l) != 2 || l[0] != 5 || l[1] != 6 || m.has(0) || !m.has(7) || m.has(100) {
		t.Errorf("first round: %v, %v, %v", m.at(0), l, m.at(7))
	}
	m.empty(3)
	if m.has(1) || m.has(7) || m.at(1) != nil {
		t.Errorf("second round, empty: %v, %v", m.at(1), m.at(7))
	}
	push(&m, 1, 9)
	if l, ok := m.get(1); !ok || len(l) != 1 || l[0] != 9 {
		t.Errorf("second round: %v", l)
	}
}

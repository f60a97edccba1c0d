package scaling

import (
	"math"
	"testing"
)

// volume returns the bytes that each rank sends, and the number of exchanges of the busiest.
func volume(s Schedule, ranks, lanes int, bytes float64) (sent []float64, messages int) {
	sent, count := make([]float64, ranks), make([]int, ranks)
	for p := range s.Phases(ranks, lanes, bytes) {
		times := max(1, p.Times)
		for _, e := range p.Exchanges {
			sent[e.A] += e.There * float64(times)
			sent[e.B] += e.Back * float64(times)
			count[e.A] += times
			count[e.B] += times
		}
	}
	for _, c := range count {
		messages = max(messages, c)
	}
	return sent, messages
}

// TestSchedules: volumes and numbers of messages are those of Thakur, Rabenseifner and Gropp (2005).
func TestSchedules(t *testing.T) {
	const bytes = 1 << 20
	for _, c := range []struct {
		name     string
		ranks    int
		sent     float64 // by the busiest rank, in parts of the vector
		messages int
	}{
		{"tree", 1, 0, 0}, {"tree", 2, 1, 2}, {"tree", 8, 2 * 7.0 / 8, 6}, {"tree", 4096, 2 * 4095.0 / 4096, 24},
		{"tree", 3, 2 * 2.0 / 3, 4}, {"tree", 6, 2 * 5.0 / 6, 6},
		{"ring", 3, 2 * 2.0 / 3, 8}, {"ring", 8, 2 * 7.0 / 8, 28},
		{"doubling", 8, 3, 3}, {"doubling", 6, 3, 4},
		{"mpi", 8, 2 * 7.0 / 8, 6}, {"mpi", 6, 2*3.0/4 + 1, 6},
	} {
		s, err := ScheduleOf(c.name)
		if err != nil {
			t.Fatal(err)
		}
		sent, messages := volume(s, c.ranks, 1, bytes)
		most := 0.0
		for _, b := range sent {
			most = max(most, b)
		}
		if math.Abs(most-c.sent*bytes) > 1e-6*bytes || messages != c.messages {
			t.Errorf("%s of %d ranks: %v parts in %d messages, want %v in %d", c.name, c.ranks, most/bytes, messages, c.sent, c.messages)
		}
	}
	if s, _ := ScheduleOf("mpi"); true {
		if _, messages := volume(s, 8, 1, 2048); messages != 3 {
			t.Errorf("MPI sends 2 KiB in %d messages, want 3", messages)
		}
	}
	if _, err := ScheduleOf("rings"); err == nil || err.Error() != `unknown schedule "rings": did you mean "ring"?` {
		t.Errorf("error %v", err)
	}
}

// TestOpponents: every rank meets every other once, and no rank is in two exchanges of a round.
func TestOpponents(t *testing.T) {
	for ranks := 2; ranks < 14; ranks++ {
		met := map[[2]int]int{}
		for round := range rounds(ranks) {
			busy := map[int]bool{}
			for _, e := range opponents(ranks, 1, round, func(_, _ int) float64 { return 1 }) {
				if e.A >= e.B || busy[e.A] || busy[e.B] {
					t.Fatalf("%d ranks, round %d: %v", ranks, round, e)
				}
				busy[e.A], busy[e.B] = true, true
				met[[2]int{e.A, e.B}]++
			}
		}
		if len(met) != ranks*(ranks-1)/2 {
			t.Errorf("%d ranks: %d pairs met", ranks, len(met))
		}
		for pair, n := range met {
			if n != 1 {
				t.Errorf("%d ranks: %v met %d times", ranks, pair, n)
			}
		}
	}
}

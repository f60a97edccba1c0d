package scaling

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// clocks has the time of each rank, in seconds, in several independent steps.
type clocks [][]float64

// run moves the clocks through phases and returns the bytes that the busiest rank sends. An addition
// takes add seconds a byte.
func (n *Network) run(phases iter.Seq[Phase], add float64, steps ...clocks) (sent float64) {
	var bytes []float64
	for p := range phases {
		times := max(1, p.Times)
		for _, c := range steps {
			if bytes == nil && len(c) > 0 {
				bytes = make([]float64, len(c[0]))
			}
		}
		for _, e := range p.Exchanges {
			if bytes != nil {
				bytes[e.A] += e.There * float64(times)
				bytes[e.B] += e.Back * float64(times)
			}
		}
		crowd := n.crowding(p)
		took := n.seconds(p, crowd)
		if p.Adds {
			for i, e := range p.Exchanges {
				took[i] += max(e.There, e.Back) * add * crowd[i]
			}
		}
		for _, c := range steps {
			for _, clock := range c {
				if len(p.Exchanges) == 0 {
					n.add(clock, p.Add*add)
				} else {
					pass(p, clock, took)
				}
			}
		}
	}
	if bytes == nil {
		return 0
	}
	return slices.Max(bytes)
}

// add moves the clocks of all ranks by additions of so many seconds.
func (n *Network) add(clock []float64, seconds float64) {
	crowd := 1.0
	if n.Cores > 0 {
		crowd = math.Ceil(float64(min(len(clock), max(1, n.PerNode))) / float64(n.Cores))
	}
	for r := range clock {
		clock[r] += crowd * seconds
	}
}

// pass moves the clocks of one step through a phase whose exchanges, with the additions after them,
// take so many seconds each.
func pass(p Phase, clock, took []float64) {
	if p.Times > 1 { // what all wait for, after few repetitions
		end := slices.Max(clock) + float64(p.Times)*slices.Max(took)
		for r := range clock {
			clock[r] = end
		}
		return
	}
	before := slices.Clone(clock)
	for i, e := range p.Exchanges {
		end := max(before[e.A], before[e.B]) + took[i]
		clock[e.A], clock[e.B] = max(clock[e.A], end), max(clock[e.B], end)
	}
}

// seconds returns how long each exchange of a phase takes, those beside it being under way.
func (n *Network) seconds(p Phase, crowd []float64) []float64 {
	type port struct{ node, out int } // of a node's link, or of a switch's: out 1, in 0
	flows, uplinks := map[port]int{}, map[port]int{}
	for _, e := range p.Exchanges {
		a, b := n.node(e.A), n.node(e.B)
		if a == b {
			continue
		}
		for _, way := range []struct {
			from, to int
			bytes    float64
		}{{a, b, e.There}, {b, a, e.Back}} {
			if way.bytes == 0 {
				continue
			}
			flows[port{way.from, 1}]++
			flows[port{way.to, 0}]++
			if from, to := n.pod(way.from), n.pod(way.to); from != to {
				uplinks[port{from, 1}]++
				uplinks[port{to, 0}]++
			}
		}
	}
	took := make([]float64, len(p.Exchanges))
	for i, e := range p.Exchanges {
		a, b := n.node(e.A), n.node(e.B)
		if a == b {
			took[i] = n.Within.seconds(e.There, e.Back, 1/crowd[i], n.Most, n.Cores > 0 && n.core(e.A) == n.core(e.B))
			continue
		}
		most := max(flows[port{a, 1}], flows[port{b, 0}], flows[port{b, 1}], flows[port{a, 0}])
		part := 1 / float64(max(1, most))
		if from, to := n.pod(a), n.pod(b); from != to {
			most := max(uplinks[port{from, 1}], uplinks[port{to, 0}], uplinks[port{to, 1}], uplinks[port{from, 0}])
			part = min(part, float64(n.Pod)/n.Oversubscription/float64(max(1, most)))
		}
		took[i] = n.Between.seconds(e.There, e.Back, part, n.Most, false)
	}
	return took
}

// core returns the core that a rank is bound to: those of a node are counted round.
func (n *Network) core(rank int) int {
	perNode := max(1, n.PerNode)
	return rank/perNode*n.Cores + rank%perNode%n.Cores
}

// crowding returns, by exchange, how many times as long it takes because other ranks of the phase are
// bound to the same core.
func (n *Network) crowding(p Phase) []float64 {
	crowd := make([]float64, len(p.Exchanges))
	busy := map[int]int{}
	if n.Cores > 0 {
		for _, e := range p.Exchanges {
			busy[n.core(e.A)]++
			busy[n.core(e.B)]++
		}
	}
	for i, e := range p.Exchanges {
		if crowd[i] = 1; n.Cores > 0 {
			crowd[i] = float64(max(busy[n.core(e.A)], busy[n.core(e.B)]))
		}
	}
	return crowd
}

// finish returns when each rank has done its work, in seconds of a core. Ranks that are bound to one
// core share it in equal parts.
func (n *Network) finish(work []float64) []float64 {
	end := slices.Clone(work)
	if n.Cores == 0 {
		return end
	}
	cores := map[int][]int{}
	for r := range work {
		cores[n.core(r)] = append(cores[n.core(r)], r)
	}
	for _, ranks := range cores {
		slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(work[a], work[b]) })
		now, done := 0.0, 0.0
		for i, r := range ranks {
			now += (work[r] - done) * float64(len(ranks)-i)
			done = work[r]
			end[r] = now
		}
	}
	return end
}

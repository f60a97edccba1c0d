package scaling

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func fixed() *Net {
	return &Net{Name: "fixed", Parameters: 250_000, Held: 1e6, States: 2e6, Bucket: 1e6, Row: 1000,
		Lanes: []Lane{{1, 0.010, 100}, {2, 0.018, 200}, {4, 0.034, 400}}, Put: 0.001, Update: 0.003, Busy: 1.25, BusyPut: 1.25}
}

func wire(latency, bandwidth float64) Network {
	return Network{Name: "wire", Between: Link{Latency: latency, Bandwidth: bandwidth}, Within: shared}
}

func schedule(t *testing.T, name string) Schedule {
	t.Helper()
	s, err := ScheduleOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStep: a step's parts are those of the formulas of Thakur, Rabenseifner and Gropp (2005) for a
// network without contention.
func TestStep(t *testing.T) {
	const α, β, add, n = 1e-4, 1e8, 1e9, 1e6
	for name, want := range map[string]func(p float64) float64{
		"tree":     func(p float64) float64 { return 2*math.Log2(p)*α + 2*(p-1)/p*n/β + (p-1)/p*n/add },
		"ring":     func(p float64) float64 { return 2*(p-1)*α + 2*(p-1)/p*n/β + (p-1)/p*n/add },
		"doubling": func(p float64) float64 { return math.Log2(p) * (α + n/β + n/add) },
		"mpi":      func(p float64) float64 { return 2*math.Log2(p)*α + 2*(p-1)/p*n/β + (p-1)/p*n/add },
	} {
		for _, p := range []int{1, 2, 8, 64, 4096} {
			j := Job{Net: fixed(), Network: wire(α, β), Schedule: schedule(t, name), Ranks: p, Lanes: 2 * p, Rows: 6 * p, Add: add}
			s, err := j.Step()
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" compute", s.Compute, 2*(0.026+0.001), 1e-12)
			near(t, name+" exchange", s.Exchange, want(float64(p)), 1e-9)
			near(t, name+" step", s.Total, s.Compute+s.Exchange+0.003, 1e-12)
		}
	}
}

// TestStepOfTwoCores: ranks beyond the cores of a machine wait for them.
func TestStepOfTwoCores(t *testing.T) {
	points := []Point{{0, 1e-4, 5e-5}, {1e6, 1e-3, 5e-4}, {2e6, 3e-3, 1e-3}}
	for ranks, want := range map[int]float64{
		1: 24 * 0.011,
		2: 12 * 0.011 * 1.25,
		3: (16*2 + 8) * 0.011 / 3 * 1.25, // two are bound to one core
		4: 24 * 0.011 / 2 * 1.25,
	} {
		j := Job{Net: fixed(), Network: (&Measurement{Loopback: points, Cores: 2}).Network(), Schedule: schedule(t, "tree"), Ranks: ranks, Lanes: 24, Rows: 24, Add: 1e9}
		s, err := j.Step()
		if err != nil {
			t.Fatal(err)
		}
		near(t, "compute", s.Compute, want, 1e-12)
		switch ranks {
		case 2: // 12 lanes are two subtrees: two halves of a vector there, and one back
			near(t, "exchange", s.Exchange, 1e-3+0.55e-3+(3+5*copying)*0.5e6/1e9*1.25, 1e-9)
		case 3: // one pair at a time, a third of the vector; ranks 0 and 2 are on one core
			near(t, "exchange", s.Exchange, 2*4*0.4e-3+2*(2+2*copying)*1e6/3/1e9*1.25, 1e-9)
		case 4: // two pairs at a time
			near(t, "update", s.Update, 2*0.003*1.25, 1e-12)
		}
	}
	n := (&Measurement{Loopback: points, Cores: 2}).Network()
	if end := n.finish([]float64{1, 2, 3}); end[0] != 2 || end[1] != 2 || end[2] != 4 {
		t.Errorf("1 and 3 seconds on one core and 2 on another end at %v", end)
	}
}

// TestContention: ranks of a node share its link, and nodes below a switch its uplinks; the nearest
// exchange the most.
func TestContention(t *testing.T) {
	base := Job{Net: fixed(), Network: wire(0, 1e8), Schedule: schedule(t, "tree"), Ranks: 64, Lanes: 64, Rows: 64, Add: 1e30}
	exchange := func(change func(j *Job)) float64 {
		j := base
		change(&j)
		s, err := j.Step()
		if err != nil {
			t.Fatal(err)
		}
		return s.Exchange
	}
	alone := exchange(func(j *Job) {})
	near(t, "alone", alone, 2*63.0/64*1e6/1e8, 1e-9)
	// Of 8 ranks a node the 8 parts of 1/8 each go over the link as one vector between 8 nodes would.
	node := exchange(func(j *Job) { j.Network.PerNode = 8; j.Network.Within = Link{Bandwidth: 1e30} })
	near(t, "node", node, 2*7.0/8*1e6/1e8, 1e-9)
	full := exchange(func(j *Job) { j.Network.Pod, j.Network.Oversubscription = 8, 1 })
	near(t, "full bisection", full, alone, 1e-9)
	thin := exchange(func(j *Job) { j.Network.Pod, j.Network.Oversubscription = 8, 4 })
	near(t, "oversubscribed", thin, 2*(7.0/8+4*(7.0/8)/8)*1e6/1e8, 1e-9)
	sockets := exchange(func(j *Job) { j.Network.Most = 1e8 / 4 })
	near(t, "sockets", sockets, 4*alone, 1e-9)
	ring := exchange(func(j *Job) {
		j.Schedule = schedule(t, "ring")
		j.Network.Pod, j.Network.Oversubscription = 8, 4
	})
	near(t, "a ring, of which one flow leaves a switch", ring, alone, 1e-9)
}

// TestNoise: draws have the mean, the slowest of many that of its formula, and the estimator finds
// the law again.
func TestNoise(t *testing.T) {
	z := Noise{Mean: 0.04, Index: 3}
	rng := rand.New(rand.NewPCG(1, 2))
	var times []float64
	slowest, mean := 0.0, 0.0
	const steps, ranks = 4000, 64
	for range steps {
		most := 0.0
		for range ranks {
			x := z.draw(rng)
			mean += x / steps / ranks
			most = max(most, x)
			times = append(times, 1+x)
		}
		slowest += most / steps
	}
	near(t, "mean", mean, z.Mean, 0.02)
	near(t, "slowest of 64", slowest, z.Slowest(ranks), 0.03)
	near(t, "slowest of 1", z.Slowest(1), z.Mean, 1e-9)
	got := NoiseOf(times[:20000])
	near(t, "estimated mean", got.Mean, z.Mean, 0.1)
	near(t, "estimated index", got.Index, z.Index, 0.35)
	if NoiseOf(times[:3]) != (Noise{}) {
		t.Error("a law of 3 times")
	}

	j := Job{Net: fixed(), Network: wire(0, 1e14), Schedule: schedule(t, "tree"), Ranks: 64, Lanes: 64, Rows: 64, Add: 1e30, Noise: z, Steps: 4000}
	s, err := j.Step()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "wait", s.Wait, 0.011*(z.Slowest(64)-z.Mean), 0.05)
	again, err := j.Step()
	if err != nil || again != s {
		t.Errorf("%v, then %v (%v)", s, again, err)
	}
}

// TestShard: a rank updates its part, has the states of that part alone, and copies all parameters.
func TestShard(t *testing.T) {
	j := Job{Net: fixed(), Network: wire(0, 1e8), Schedule: schedule(t, "tree"), Ranks: 4, Lanes: 4, Rows: 4, Add: 1e9}
	whole, err := j.Step()
	if err != nil {
		t.Fatal(err)
	}
	j.Shard, j.Net.Arrays = true, []int{250_000, 250_000, 250_000, 250_000}
	shard, err := j.Step()
	if err != nil {
		t.Fatal(err)
	}
	const copies = copying * 1e6 / 1e9
	near(t, "update", shard.Update, whole.Update/4+copies, 1e-12)
	near(t, "memory", whole.Memory-shard.Memory, 1.5e6, 1e-12)
	near(t, "sent", shard.Sent, whole.Sent, 1e-12)

	j.Net.Arrays = []int{100_000, 600_000, 300_000}
	if shard, err = j.Step(); err != nil {
		t.Fatal(err)
	}
	near(t, "update of a large array", shard.Update, whole.Update*0.6+copies, 1e-12)
	near(t, "states of a large array", whole.Memory-shard.Memory, 0.4*2e6, 1e-12)
}

// TestOverlap: what is hidden is at most the exchange, and nothing where all gradients come last.
func TestOverlap(t *testing.T) {
	n := fixed()
	n.Bucket = 100 << 20
	j := Job{Net: n, Network: wire(0, 1<<34), Schedule: schedule(t, "tree"), Ranks: 4, Lanes: 4, Rows: 4, Add: 1e30, Overlap: true}
	for at, want := range map[float64]float64{1: 0, 0.5: 0.75} {
		n.Layers = nil
		for i := range 4 {
			l := Layer{Bytes: 25 << 20, At: at}
			if i == 3 {
				l.At = 1
			}
			n.Layers = append(n.Layers, l)
		}
		whole := j
		whole.Overlap = false
		a, err := whole.Step()
		if err != nil {
			t.Fatal(err)
		}
		b, err := j.Step()
		if err != nil {
			t.Fatal(err)
		}
		hidden := a.Total - b.Total
		if limit := 0.005; at < 1 {
			near(t, "hidden", hidden, min(limit, want*a.Exchange), 0.01)
		} else if math.Abs(hidden) > 1e-12 {
			t.Errorf("hidden: %v, want none", hidden)
		}
	}
}

// TestFailures: intervals and useful time are those of Daly (2006), which are Young's (1974) where
// failures are rare.
func TestFailures(t *testing.T) {
	f := Failures{Between: 365 * 86400, Save: 10, Restart: 60}
	near(t, "Young", f.Interval(1), math.Sqrt(2*10*f.Between), 0.01)
	for _, nodes := range []int{1, 1000, 100_000} {
		best := f.Useful(nodes)
		m, τ := f.Between/float64(nodes), f.Interval(nodes)
		for _, other := range []float64{τ * 0.8, τ * 1.25} {
			if u := other / (m * math.Exp(f.Restart/m) * math.Expm1((other+f.Save)/m)); u > best {
				t.Errorf("%d nodes: useful %v at %v s, %v at %v s", nodes, best, τ, u, other)
			}
		}
	}
	near(t, "a thousand nodes", f.Useful(1000), 0.9728, 0.001)
	if (Failures{Between: 10, Save: 30}).Interval(1) != 10 {
		t.Error("the interval is no longer than that between failures")
	}
}

func TestJobErrors(t *testing.T) {
	for want, change := range map[string]func(j *Job){
		"3 ranks do not divide 8 lanes":           func(j *Job) { j.Ranks = 3 },
		"0 ranks: want at least 1":                func(j *Job) { j.Ranks = 0 },
		"8 lanes have no more than 7 rows":        func(j *Job) { j.Rows = 7 },
		"schedule doubling cannot be sharded":     func(j *Job) { j.Shard, j.Schedule = true, schedule(t, "doubling") },
		"latency of NaN seconds: want 0 to 10":    func(j *Job) { j.Network.Between.Latency = math.NaN() },
		"oversubscription 0.5: want at least 1":   func(j *Job) { j.Network.Pod, j.Network.Oversubscription = 4, 0.5 },
		"no net":                                  func(j *Job) { j.Net = nil },
		"fixed: no lanes":                         func(j *Job) { j.Net = &Net{Name: "fixed"} },
		"delays of mean 1 and index 1":            func(j *Job) { j.Noise = Noise{1, 1} },
		"speed -1 and additions of 1e+09 bytes a": func(j *Job) { j.Speed = -1 },
	} {
		j := Job{Net: fixed(), Network: wire(0, 1e8), Schedule: schedule(t, "tree"), Ranks: 2, Lanes: 8, Rows: 8, Add: 1e9}
		change(&j)
		if _, err := j.Step(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := NetworkOf("ethernet-1000"); err == nil || err.Error() != `unknown network "ethernet-1000": did you mean "ethernet-100"?` {
		t.Errorf("error %v", err)
	}
}

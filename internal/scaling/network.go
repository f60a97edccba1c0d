package scaling

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Link carries messages between two ranks, or the messages of a node.
type Link struct {
	Latency   float64 // seconds that a message takes besides its bytes
	Bandwidth float64 // bytes a second, each way
	// Points, where there are any, say instead how long two ranks take to send each other so many
	// bytes, ascending. Between two points the time is linear, beyond the last one proportional.
	Points []Point
	// Crowded and OneCore, where there are any, say so where two ranks share each core, and for two ranks
	// that share one. Else it is twice as long.
	Crowded, OneCore []Point
}

// Point is a measured exchange: so many bytes each way in so many seconds, and one way.
type Point struct {
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
	OneWay  float64 `json:"one_way_s"`
}

// Network connects the ranks of a job.
type Network struct {
	Name    string
	Between Link // of each node into the network; its ranks share it
	Within  Link // between two ranks of a node
	PerNode int  // ranks on a node, 1 for 0
	// Cores are those of a node that its ranks are bound to in turn, for computing and for exchanging;
	// 0 where each rank has cores of its own.
	Cores int
	// Pod is the number of nodes below one switch, 0 for all, and Oversubscription how many times the
	// bandwidth of their links is that of the links which leave the switch (Leiserson 1985).
	Pod              int
	Oversubscription float64
	// Sockets says that messages pass through the sockets of the operating system. Their copies and
	// checksums take a core's time, so that a rank moves no more than Most bytes a second each way; 0 for
	// no limit.
	Sockets bool
	Most    float64
	Source  string // where the figures are from
}

// The networks by name. Bandwidths are those of the wire less frames and headers.
var networks = []Network{
	{Name: "ethernet-10", Between: Link{Latency: 30e-6, Bandwidth: 1.17e9}, Sockets: true,
		Source: "10 Gb/s, of which TCP over frames of 1500 bytes leaves 94 %; TCP's latency through kernel and switch is 15 to 50 µs"},
	{Name: "ethernet-100", Between: Link{Latency: 15e-6, Bandwidth: 12.3e9}, Sockets: true,
		Source: "100 Gb/s, of which TCP over frames of 9000 bytes leaves 99 %; TCP's latency through kernel and switch is 10 to 30 µs"},
	{Name: "infiniband-hdr", Between: Link{Latency: 1.3e-6, Bandwidth: 24.5e9},
		Source: "200 Gb/s; MPI's latency and bandwidth over HDR adapters and one switch, as vendors' and OSU's benchmarks have them"},
	{Name: "infiniband-ndr", Between: Link{Latency: 1.1e-6, Bandwidth: 49e9},
		Source: "400 Gb/s; MPI's latency and bandwidth over NDR adapters and one switch, likewise"},
}

// shared is the memory of a node as its ranks use it to exchange: one core's copy in, and one out.
var shared = Link{Latency: 0.5e-6, Bandwidth: 8e9}

// Network returns the network of processes on the machine: one node.
func (m *Measurement) Network() Network {
	return Network{Name: "loopback", Within: Link{Points: m.Loopback, Crowded: m.Crowded, OneCore: m.OneCore}, PerNode: 1 << 20, Cores: m.Cores, Sockets: true, Source: "measured"}
}

// SocketRate returns the bytes a second that two processes send each other at best.
func SocketRate(points []Point) float64 {
	rate := 0.0
	for _, p := range points {
		rate = max(rate, p.Bytes/p.Seconds)
	}
	return rate
}

// Networks lists the names of the networks besides the loopback.
func Networks() []string {
	out := make([]string, len(networks))
	for i, n := range networks {
		out[i] = n.Name
	}
	return out
}

// NetworkOf returns the network called name. The error for a name that none has suggests the nearest.
func NetworkOf(name string) (Network, error) {
	i := slices.IndexFunc(networks, func(n Network) bool { return n.Name == name })
	if i < 0 {
		all := append(Networks(), "loopback")
		return Network{}, fmt.Errorf("unknown network %q: did you mean %q?", name, spelling.Nearest(name, all))
	}
	n := networks[i]
	n.Within = shared
	return n, nil
}

// Check returns an error for figures that no network has.
func (n Network) Check() error {
	switch b := n.Between; {
	case n.Name != "loopback" && !(b.Latency >= 0 && b.Latency <= 10):
		return fmt.Errorf("latency of %v seconds: want 0 to 10", b.Latency)
	case n.Name != "loopback" && !(b.Bandwidth >= 1 && b.Bandwidth <= 1e15):
		return fmt.Errorf("bandwidth of %v bytes a second: want 1 to 10¹⁵", b.Bandwidth)
	case n.PerNode < 0:
		return fmt.Errorf("%d ranks on a node: want at least 1", n.PerNode)
	case n.Pod < 0:
		return fmt.Errorf("%d nodes below a switch: want at least 1", n.Pod)
	case n.Pod > 0 && !(n.Oversubscription >= 1):
		return fmt.Errorf("oversubscription %v: want at least 1", n.Oversubscription)
	}
	return nil
}

// seconds returns how long an exchange of so many bytes there and back takes at a share of the link, and
// at most bytes a second if most is not 0. same tells ranks that are bound to the same core.
func (l Link) seconds(there, back, share, most float64, same bool) float64 {
	if len(l.Points) == 0 {
		rate := share * l.Bandwidth
		if most > 0 {
			rate = min(rate, most)
		}
		return l.Latency + max(there, back)/rate
	}
	points := l.Points
	switch {
	case share > 0.5:
	case same && len(l.OneCore) > 0:
		points, share = l.OneCore, 2*share
	case !same && len(l.Crowded) > 0:
		points, share = l.Crowded, 2*share
	}
	both, rest := min(there, back), math.Abs(there-back)
	took := 0.0
	if rest == 0 || both > 0 {
		took += measured(points, both, func(p Point) float64 { return p.Seconds })
	}
	if rest > 0 {
		took += measured(points, rest, func(p Point) float64 { return p.OneWay })
	}
	return took / share
}

// measured interpolates a time between points.
func measured(p []Point, bytes float64, seconds func(Point) float64) float64 {
	i := sort.Search(len(p), func(i int) bool { return p[i].Bytes >= bytes })
	switch {
	case i == 0:
		return seconds(p[0])
	case i == len(p):
		return seconds(p[i-1]) * bytes / p[i-1].Bytes
	}
	at := (bytes - p[i-1].Bytes) / (p[i].Bytes - p[i-1].Bytes)
	return seconds(p[i-1]) + at*(seconds(p[i])-seconds(p[i-1]))
}

// node returns the node that a rank is on.
func (n *Network) node(rank int) int { return rank / max(1, n.PerNode) }

// pod returns the switch that a node hangs from.
func (n *Network) pod(node int) int {
	if n.Pod == 0 {
		return 0
	}
	return node / n.Pod
}

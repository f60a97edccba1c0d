package main

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data/edges"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// learnt is what a network has learnt after a whole training.
func learnt(t *testing.T, m network) (outcome, *edges.Network, []int) {
	t.Helper()
	club, faction := edges.Karate()
	set, err := columns(club, faction)
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Build: m.net, Optimiser: train.Adam(0.01), Seed: 1}
	defer tr.Close()
	o, err := learn(t.Context(), tr, m, set, 200)
	if err != nil {
		t.Fatal(err)
	}
	return o, club, faction
}

// TestFactions: nearly all are right after training, and were not before; nobody knows more
// than two labels.
func TestFactions(t *testing.T) {
	for _, m := range []network{gcn, gat} {
		o, club, faction := learnt(t, m)
		if wrong := o.wrong(faction); len(wrong) > 3 {
			t.Errorf("%s: wrong are %v", m.name, wrong)
		}
		if len(o.course) != 1+200/lookEvery {
			t.Errorf("%s: looked %d times", m.name, len(o.course))
		}
		before := outcome{course: o.course[:1]}
		if wrong := before.wrong(faction); len(wrong) < 4 {
			t.Errorf("%s: before training only %v are wrong", m.name, wrong)
		}
		set, err := columns(club, faction)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, l := range set.Column("label").Int32s() {
			if l != unknown {
				known++
			}
		}
		if known != 2 {
			t.Errorf("%d labels are known", known)
		}
	}
}

// TestWhoIsHeard: a member hears himself and his friends alone; GAT's weights sum to 1,
// those of GCN are what the degrees say.
func TestWhoIsHeard(t *testing.T) {
	for _, m := range []network{gcn, gat} {
		o, club, _ := learnt(t, m)
		d := distances(club)
		degree := make([]float64, club.Nodes)
		for i := range d {
			for j := range d {
				if d[i][j] <= 1 {
					degree[i]++
				}
			}
		}
		for i := range d {
			sum := 0.0
			for j := range d {
				got := float64(o.α[i*club.Nodes+j])
				sum += got
				want := 1 / math.Sqrt(degree[i]*degree[j])
				switch {
				case d[i][j] > 1 && got != 0:
					t.Errorf("%s: %d hears %d, who is no friend", m.name, i, j)
				case m.name == "GCN" && d[i][j] <= 1 && math.Abs(got-want) > 1e-6:
					t.Errorf("%d hears %d with %v, want %v", i, j, got, want)
				}
			}
			if m.name == "GAT" && math.Abs(sum-1) > 1e-5 {
				t.Errorf("what %d hears sums to %v", i, sum)
			}
		}
	}
}

// TestLayout: the places are nearly as far from each other as the ways are long, always the
// same, and nobody stands on another.
func TestLayout(t *testing.T) {
	chain := &edges.Network{Nodes: 4, From: []int{2, 0, 1}, To: []int{3, 1, 2}}
	if got, want := distances(chain), [][]float64{{0, 1, 2, 3}, {1, 0, 1, 2}, {2, 1, 0, 1}, {3, 2, 1, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("distances %v, want %v", got, want)
	}
	club, _ := edges.Karate()
	for _, c := range []struct {
		name   string
		net    *edges.Network
		stress float64 // at most, a pair
	}{{"chain", chain, 1e-5}, {"club", club, .1}} {
		d, p := distances(c.net), layout(c.net)
		stress, pairs := 0.0, 0.0
		for i := range p {
			for j := range i {
				apart := math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1])
				if apart < .39 {
					t.Errorf("%s: %d and %d are %.2f apart", c.name, i, j, apart)
				}
				stress += (apart - d[i][j]) * (apart - d[i][j]) / (d[i][j] * d[i][j])
				pairs++
			}
		}
		if !(stress/pairs < c.stress) {
			t.Errorf("%s: stress %v a pair, want less than %v", c.name, stress/pairs, c.stress)
		}
		if !reflect.DeepEqual(p, layout(c.net)) {
			t.Errorf("%s: two layouts differ", c.name)
		}
	}
}

// TestPicture: everyone is there in the shape of his faction and the colour that the network
// says, and whom it gets wrong is crossed out.
func TestPicture(t *testing.T) {
	club := &edges.Network{Nodes: 3, From: []int{0, 1}, To: []int{1, 2}}
	p := picture{"net", club, layout(club), []int{0, 0, 1}, outcome{
		course: [][][2]float64{{{1, 0}, {0, 1}, {0, 1}}},
		α:      []float32{.5, .5, 0, .25, .5, .25, 0, .5, .5},
	}}
	var b strings.Builder
	if err := chart.Panels(&b, 1, p); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	for what, want := range map[string]int{
		`<circle [^>]*class="ch-0"`: 1, `<circle [^>]*class="ch-1"`: 1, `<rect [^>]*class="ch-1"`: 1,
		`<circle [^>]*class="ch-page ch-text-s"`: 1, `<rect [^>]*class="ch-page ch-text-s"`: 1, // the labelled
		`l-9 9`:                   1,
		"net: 2 of 3 right</text": 1,
		"<desc>member 1 joined faction 0, the network says 1.</desc>": 1,
	} {
		if got := len(regexp.MustCompile(what).FindAllString(svg, -1)); got != want {
			t.Errorf("%s: %d times, want %d in\n%s", what, got, want, svg)
		}
	}
	if got, want := tapered([2]float64{0, 0}, [2]float64{10, 0}, 4, 2), "M0.0 2.0L10.0 1.0L10.0 -1.0L0.0 -2.0z"; got != want {
		t.Errorf("an edge is %s, want %s", got, want)
	}
}

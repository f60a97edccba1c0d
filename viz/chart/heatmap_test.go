package chart

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grid gives f at n places along x and m along y.
func grid(n, m int, f func(x, y float64) float64) (xs, ys []float64, values [][]float64) {
	for i := range n {
		xs = append(xs, -2+4*float64(i)/float64(n-1))
	}
	for j := range m {
		ys = append(ys, -1.5+3*float64(j)/float64(m-1))
		row := make([]float64, n)
		for i := range row {
			row[i] = f(xs[i], ys[j])
		}
		values = append(values, row)
	}
	return xs, ys, values
}

// heatmaps are those of a report, and hard cases.
func heatmaps() map[string]Heatmap {
	valley := func(x, y float64) float64 { return .05 + (1-x)*(1-x) + 5*(y-x*x/2)*(y-x*x/2) }
	all := map[string]Heatmap{}
	add := func(id string, h Heatmap) {
		h.ID, h.X, h.Y, h.Z = id, "direction 1", "direction 2", "loss"
		if h.Title == "" {
			h.Title = "Loss over two directions"
		}
		all[id] = h
	}
	xs, ys, values := grid(41, 31, valley)
	add("surface", Heatmap{Xs: xs, Ys: ys, Values: values, Log: true, Scatter: Scatter{EqualAspect: true, Paths: []Path{
		{"SGD", 1, [][2]float64{{-1.5, 1}, {-1, .6}, {-.3, .2}, {.4, .1}, {.8, .35}, {1, .5}}}}}})
	broken := make([][]float64, len(values))
	for j, row := range values {
		broken[j] = append([]float64{}, row...)
		for i := range row {
			if math.Hypot(xs[i]+1.2, ys[j]-.6) < .5 {
				broken[j][i] = math.NaN()
			}
		}
	}
	add("surface-bare", Heatmap{Xs: xs, Ys: ys, Values: broken, Range: [2]float64{0, 12}})
	var arrows []Arrow
	ax, ay, _ := grid(11, 9, valley)
	for _, y := range ay {
		for _, x := range ax {
			u := y - x*x/2
			arrows = append(arrows, Arrow{[2]float64{x, y}, [2]float64{2*(1-x) + 10*u*x, -10 * u}})
		}
	}
	add("arrows", Heatmap{Xs: xs, Ys: ys, Values: values, Arrows: arrows, ArrowName: "down the gradient", Log: true,
		Scatter: Scatter{EqualAspect: true, Points: [][2]float64{{-1, 0}, {0, .5}, {1, -1}}, Class: []int{0, 1, 1}, ClassNames: []string{"a", "b"}}})
	fx, fy, flat := grid(3, 3, func(x, y float64) float64 { return 2 })
	add("surface-flat", Heatmap{Xs: fx, Ys: fy, Values: flat})
	_, _, none := grid(3, 3, func(x, y float64) float64 { return math.NaN() })
	add("surface-nothing", Heatmap{Xs: fx, Ys: fy, Values: none})
	_, _, saddle := grid(3, 3, func(x, y float64) float64 { return math.Copysign(1, x*y) })
	add("surface-saddle", Heatmap{Xs: fx, Ys: fy, Values: saddle, Scatter: Scatter{Frame: Frame{Width: 300}}})
	return all
}

func TestHeatmaps(t *testing.T) {
	for id, h := range heatmaps() {
		t.Run(id, func(t *testing.T) {
			checkInvariants(t, h)
			got, _ := render(t, h)
			name := filepath.Join("testdata", id+".svg")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s; look at both and run with -update if it is better", name)
			}
			if strings.Contains(got, "no finite data") != (id == "surface-nothing") {
				t.Error("whether there is something to draw")
			}
		})
	}
}

// TestContoursLieOnTheirLevel: of x² + y² the contours are rings around the origin, each
// one line of that radius.
func TestContoursLieOnTheirLevel(t *testing.T) {
	xs, ys, values := grid(81, 61, func(x, y float64) float64 { return x*x + y*y })
	h := Heatmap{Xs: xs, Ys: ys, Values: values}
	f := field{xs: xs, ys: ys, at: values}
	s := newScale(h.span(), false)
	if len(s.levels) < 4 {
		t.Fatalf("levels %v", s.levels)
	}
	for l, lines := range f.lines(s) {
		r := math.Sqrt(s.levels[l].value)
		whole := r < 1.5 // the frame cuts the others
		if whole && (len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1]) {
			t.Errorf("level %v is %d lines, or no ring", s.levels[l].value, len(lines))
		}
		if !whole && len(lines) < 2 {
			t.Errorf("level %v is %d lines", s.levels[l].value, len(lines))
		}
		for _, line := range lines {
			for _, p := range line {
				if d := math.Abs(math.Hypot(p.x, p.y) - r); d > 2e-3 {
					t.Fatalf("level %v passes %v, which is %v off", s.levels[l].value, p, d)
				}
			}
		}
		if whole && math.Abs(lengthOf(lines[0])-2*math.Pi*r) > .01*r {
			t.Errorf("level %v is %v long", s.levels[l].value, lengthOf(lines[0]))
		}
	}
}

// TestBandsCoverWhatIsAbove: the area of the part of all cells above a level is that of
// the disc outside of which it lies.
func TestBandsCoverWhatIsAbove(t *testing.T) {
	xs, ys, values := grid(81, 61, func(x, y float64) float64 { return x*x + y*y })
	f := field{xs: xs, ys: ys, at: values}
	area := 0.0
	for j := range len(ys) - 1 {
		for i := range len(xs) - 1 {
			q, _ := f.quad(i, j)
			polygon, _ := f.above(q, 1)
			for k, p := range polygon {
				n := polygon[(k+1)%len(polygon)]
				area += (p.x*n.y - n.x*p.y) / 2
			}
		}
	}
	if want := 4*3 - math.Pi; math.Abs(area-want) > 5e-3 {
		t.Errorf("area %v, want %v", area, want)
	}
}

// TestSaddleIsCutTwice: opposite corners above a level belong together.
func TestSaddleIsCutTwice(t *testing.T) {
	f := field{}
	for turn := range 2 {
		z := [4]float64{1, -1, 1, -1}
		var q [4]corner
		for k, at := range []point{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
			q[k] = corner{at, z[(k+turn)%4]}
		}
		polygon, cuts := f.above(q, 0)
		if len(polygon) != 6 || len(cuts) != 2 {
			t.Fatalf("%d corners, %d cuts", len(polygon), len(cuts))
		}
		for _, cut := range cuts {
			if math.Abs(math.Hypot(cut[0].x-cut[1].x, cut[0].y-cut[1].y)-math.Sqrt(.5)) > 1e-12 {
				t.Errorf("a cut from %v to %v", cut[0], cut[1])
			}
			edge := false
			for k, p := range polygon {
				edge = edge || p == cut[0] && polygon[(k+1)%6] == cut[1]
			}
			if !edge {
				t.Errorf("the cut from %v to %v is no edge of %v", cut[0], cut[1], polygon)
			}
		}
	}
}

// TestBandsGoByLightness in both themes, so that greyscale keeps their order, and no two
// neighbours look the same.
func TestBandsGoByLightness(t *testing.T) {
	for i := 1; i < len(bandInks); i++ {
		a, b := bandInks[i-1], bandInks[i]
		if c := contrast(t, a.light, b.light); c < 1.08 || luminance(t, a.light) <= luminance(t, b.light) {
			t.Errorf("%s and %s: %.2f on the light page", a.class, b.class, c)
		}
		if c := contrast(t, a.dark, b.dark); c < 1.08 || luminance(t, a.dark) >= luminance(t, b.dark) {
			t.Errorf("%s and %s: %.2f on the dark page", a.class, b.class, c)
		}
	}
}

// TestSameRangeSameColours checks that values that two charts share have the same colours.
func TestSameRangeSameColours(t *testing.T) {
	a, b := newScale(span{0, 10}, false), newScale(span{0, 10}, false)
	for i := range len(a.levels) + 1 {
		if a.ink(i) != b.ink(i) {
			t.Error("two scales of one range differ")
		}
	}
	if a.ink(0) != bandInks[0] || a.ink(len(a.levels)) != bandInks[len(bandInks)-1] {
		t.Error("the scale does not use all colours")
	}
	for _, s := range []span{{1e-9, 1e9}, {.5, 5}, {1, 1.01}, {3, 3000}, {1e-300, 1e300}} {
		if n := len(newScale(s, true).levels); n < 2 || n >= len(bandInks) {
			t.Errorf("%v has %d levels", s, n)
		}
	}
}

// TestRandomHeatmaps keep every promise, whatever they are given.
func TestRandomHeatmaps(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		value := func(float64, float64) float64 {
			switch rng.IntN(12) {
			case 0:
				return math.Inf(1 - 2*rng.IntN(2))
			case 1:
				return math.NaN()
			case 2:
				return math.Float64frombits(rng.Uint64())
			}
			return rng.NormFloat64()
		}
		xs, ys, values := grid(2+rng.IntN(6), 2+rng.IntN(6), value)
		h := Heatmap{Xs: xs, Ys: ys, Values: values, Log: rng.IntN(2) == 0, ArrowName: "arrow"}
		h.Scatter = Scatter{Frame: Frame{ID: "random", Title: "Random"}, X: strings.Repeat("x n̂ ", rng.IntN(5)), EqualAspect: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			h.Width, h.Height = 240+600*rng.Float64(), 180+300*rng.Float64()
		}
		h.Z = strings.Repeat("loss ", rng.IntN(4))
		for range rng.IntN(9) {
			h.Arrows = append(h.Arrows, Arrow{[2]float64{value(0, 0), 1}, [2]float64{value(0, 0), value(0, 0)}})
			h.Points = append(h.Points, [2]float64{value(0, 0), 1})
		}
		checkInvariants(t, h)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestHeatmapErrors(t *testing.T) {
	frame := Scatter{Frame: Frame{ID: "c", Title: "t"}}
	two := []float64{0, 1}
	values := [][]float64{{1, 2}, {3, 4}}
	for _, test := range []struct {
		h    Heatmap
		want string
	}{
		{Heatmap{Scatter: frame, Xs: two, Ys: two[:1], Values: values}, `chart "c": y: 1 places of values: want two or more`},
		{Heatmap{Scatter: frame, Xs: []float64{1, 1}, Ys: two, Values: values}, `chart "c": x: place 1, 1, cannot be drawn or does not ascend`},
		{Heatmap{Scatter: frame, Xs: two, Ys: two, Values: values[:1]}, `chart "c": 1 rows of values for 2 places`},
		{Heatmap{Scatter: frame, Xs: two, Ys: two, Values: [][]float64{{1, 2}, {3}}}, `chart "c": row 1: 1 values for 2 places`},
		{Heatmap{Scatter: frame, Xs: two, Ys: two, Values: values, Range: [2]float64{2, 1}}, `chart "c": the range of the colours, 2 to 1, cannot be drawn`},
		{Heatmap{Xs: two, Ys: two, Values: values}, `chart "": the id is not a letter followed by letters, digits, '-' or '_'`},
	} {
		var b strings.Builder
		if err := test.h.SVG(&b); err == nil || err.Error() != test.want || b.Len() > 0 {
			t.Errorf("got error %v\nwant      %s", err, test.want)
		}
	}
}

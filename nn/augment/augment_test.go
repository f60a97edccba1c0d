package augment_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn/augment"
	"github.com/tapestry-ml/tapestry/ops"
)

// album is images between 0 and 1, to be changed.
type album struct {
	*graph.Graph
	n, h, w, c int
	x          *graph.Node
	feed       graph.Values
}

func newAlbum(n, h, w, c int) album {
	g := graph.New("album")
	a := album{g, n, h, w, c, layertest.Image(g, n, h, w, c), graph.Values{}}
	rng := rand.New(rand.NewPCG(1, 1))
	a.feed[a.x] = layertest.Computed(a.x.Type(), func(int) float64 { return rng.Float64() })
	return a
}

// pixel is 0 outside the image.
func (a album) pixel(n, i, j, c int) float64 {
	if i < 0 || i >= a.h || j < 0 || j >= a.w {
		return 0
	}
	return a.feed[a.x].Data[((n*a.h+i)*a.w+j)*a.c+c]
}

// each is the images that f gives pixel by pixel.
func (a album) each(f func(n, i, j, c int) float64) []float64 {
	var out []float64
	for p := range a.feed[a.x].Data {
		out = append(out, f(p/(a.h*a.w*a.c), p/(a.w*a.c)%a.h, p/a.c%a.w, p%a.c))
	}
	return out
}

// numbers is an input [n] with values, one for each example.
func (a album) numbers(name string, v ...float64) *graph.Node {
	in := a.Input(name, graph.F64, graph.Ax("n", a.n))
	a.feed[in] = graph.Value{Type: in.Type(), Data: v}
	return in
}

func (a album) scalar(v float64) *graph.Node { return a.Constant(graph.F64, []float64{v}) }

func (a album) values(t *testing.T, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	return layertest.At(t, 0, a.feed, nodes...)
}

// between is the image at a place between pixels.
func (a album) between(n int, r, s float64, c int) float64 {
	i, j := int(math.Floor(r)), int(math.Floor(s))
	p, q := r-math.Floor(r), s-math.Floor(s)
	return (1-p)*((1-q)*a.pixel(n, i, j, c)+q*a.pixel(n, i, j+1, c)) + p*((1-q)*a.pixel(n, i+1, j, c)+q*a.pixel(n, i+1, j+1, c))
}

func TestFlip(t *testing.T) {
	a := newAlbum(3, 4, 5, 2)
	once := augment.Flip(a.x)
	out := a.values(t, once, augment.Flip(once), augment.RandomFlip(a.x, a.scalar(1)))
	want := a.each(func(n, i, j, c int) float64 { return a.pixel(n, i, a.w-1-j, c) })
	layertest.Same(t, "flipped", out[0].Data, want)
	layertest.Same(t, "flipped twice", out[1].Data, a.feed[a.x].Data)
	layertest.Same(t, "always flipped", out[2].Data, want)
}

// TestRotateByQuarters: of square images, a quarter of a turn moves pixels to
// pixels, anticlockwise.
func TestRotateByQuarters(t *testing.T) {
	for _, size := range []int{1, 4, 5} {
		a := newAlbum(6, size, size, 2)
		degrees := []float64{90, 180, 270, -90, 360, 0}
		want := a.each(func(n, i, j, c int) float64 {
			last := size - 1
			switch n {
			case 0:
				return a.pixel(n, j, last-i, c)
			case 1:
				return a.pixel(n, last-i, last-j, c)
			case 2, 3:
				return a.pixel(n, last-j, i, c)
			}
			return a.pixel(n, i, j, c)
		})
		layertest.Same(t, "turned by quarters", a.values(t, augment.Rotate(a.x, a.numbers("θ", degrees...)))[0].Data, want)
	}
}

// TestRotateBetween against a loop that turns places in the plane, y upwards.
func TestRotateBetween(t *testing.T) {
	a := newAlbum(4, 5, 8, 1)
	degrees := []float64{30, -75, 143, 777}
	want := a.each(func(n, i, j, c int) float64 {
		from := complex(float64(j)-3.5, 2-float64(i)) // about the middle
		sin, cos := math.Sincos(-degrees[n] * math.Pi / 180)
		from *= complex(cos, sin)
		return a.between(n, 2-imag(from), 3.5+real(from), c)
	})
	layertest.Same(t, "turned", a.values(t, augment.Rotate(a.x, a.numbers("θ", degrees...)))[0].Data, want)
}

func TestTranslate(t *testing.T) {
	a := newAlbum(4, 5, 6, 2)
	down, right := []float64{2, -1, 0.25, 99}, []float64{0, 3, -1.5, -1e9}
	y := augment.Translate(a.x, a.numbers("down", down...), a.numbers("right", right...))
	out := a.values(t, y, augment.Translate(a.x, a.scalar(1), a.scalar(-2)))
	layertest.Same(t, "moved", out[0].Data, a.each(func(n, i, j, c int) float64 {
		return a.between(n, float64(i)-down[n], float64(j)-right[n], c)
	}))
	for n := range 2 { // by whole pixels it is exact
		for p := n * 60; p < n*60+60; p++ {
			if want := a.pixel(n, p/12%5-int(down[n]), p/2%6-int(right[n]), p%2); out[0].Data[p] != want {
				t.Fatalf("image %d: %v, want %v", n, out[0].Data[p], want)
			}
		}
	}
	layertest.Same(t, "all moved", out[1].Data, a.each(func(n, i, j, c int) float64 { return a.pixel(n, i-1, j+2, c) }))
}

// TestCrop: windows are where they should be, and random ones are of every place.
func TestCrop(t *testing.T) {
	a := newAlbum(3, 5, 6, 1)
	top, left := []float64{0, -2, 3.9}, []float64{2, 1, -4}
	window := a.values(t, augment.Crop(a.x, a.numbers("top", top...), a.numbers("left", left...), 3, 4))[0]
	for p, got := range window.Data {
		n := p / 12
		if want := a.pixel(n, p/4%3+int(math.Floor(top[n])), p%4+int(math.Floor(left[n])), 0); got != want {
			t.Fatalf("image %d: %v, want %v", n, got, want)
		}
	}
	padding := a.scalar(1)
	y := augment.RandomCrop(a.x, padding, a.scalar(1), 4, 5)
	still := augment.RandomCrop(a.x, padding, a.scalar(0), 3, 4)
	found := map[[2]int]bool{}
	for step := range uint64(200) {
		out := layertest.At(t, step, a.feed, y)[0].Data
		for n := range 3 {
			for first := range 16 { // from −1 to 2 along each axis
				top, left, fits := first/4-1, first%4-1, true
				for q := range 20 {
					fits = fits && out[n*20+q] == a.pixel(n, q/5+top, q%5+left, 0)
				}
				if fits {
					found[[2]int{top, left}] = true
				}
			}
		}
	}
	if len(found) != 16 {
		t.Errorf("windows at %v, want 16 places", found)
	}
	for p, got := range a.values(t, still)[0].Data {
		if want := a.pixel(p/12, p/4%3+1, p%4+1, 0); got != want {
			t.Fatalf("not the window in the middle: %v, want %v", got, want)
		}
	}
}

func TestAutocontrast(t *testing.T) {
	a := newAlbum(2, 3, 4, 2)
	for p := 25; p < 48; p += 2 {
		a.feed[a.x].Data[p] = 0.4 // a channel that is all the same
	}
	want := a.each(func(n, i, j, c int) float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for p := range 12 {
			v := a.pixel(n, p/4, p%4, c)
			low, high = min(low, v), max(high, v)
		}
		if low == high {
			return a.pixel(n, i, j, c)
		}
		return (a.pixel(n, i, j, c) - low) / (high - low)
	})
	layertest.Same(t, "stretched", a.values(t, augment.Autocontrast(a.x))[0].Data, want)
}

// TestPosterise: as if the intensities were rounded to bytes, in both float types.
func TestPosterise(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("posterise")
		x := g.Input("x", dt, graph.Ax("n", 1), graph.Ax("h", 16), graph.Ax("w", 16), graph.Ax("c", 1))
		feed := graph.Values{x: layertest.Computed(x.Type(), func(i int) float64 { return dt.Round((float64(i) - 0.3) / 255) })}
		for bits := range 9 {
			y := augment.Posterise(x, g.Constant(dt, []float64{float64(bits)}))
			out, err := reftest.Tape(0, feed, []*graph.Node{y})
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range out[0].Data {
				if want := i &^ (1<<(8-bits) - 1); math.Abs(got*255-float64(want)) > 1e-4 {
					t.Fatalf("%v: %d bits of %d are %v, want %d", dt, bits, i, got*255, want)
				}
			}
		}
	}
}

func TestCutout(t *testing.T) {
	a := newAlbum(4, 6, 7, 2)
	row, column, size := []float64{3.7, 0, 5, 2}, []float64{2, 6.5, 0, 3}, []float64{3, 2, 5, 0}
	want := a.each(func(n, i, j, c int) float64 {
		half := int(size[n]) / 2
		r, s := i-int(row[n])+half, j-int(column[n])+half
		if k := int(size[n]); r >= 0 && r < k && s >= 0 && s < k {
			return 0
		}
		return a.pixel(n, i, j, c)
	})
	layertest.Same(t, "cut out", a.values(t, augment.Cutout(a.x, a.numbers("r", row...), a.numbers("s", column...), a.numbers("k", size...)))[0].Data, want)
}

// augmentations are all random changes with a strength at which they show.
var augmentations = map[string]func(a album, p *graph.Node) *graph.Node{
	"flip":         func(a album, p *graph.Node) *graph.Node { return augment.RandomFlip(a.x, p) },
	"rotate":       func(a album, p *graph.Node) *graph.Node { return augment.RandomRotation(a.x, a.scalar(180), p) },
	"translate":    func(a album, p *graph.Node) *graph.Node { return augment.RandomTranslation(a.x, a.scalar(2), p) },
	"crop":         func(a album, p *graph.Node) *graph.Node { return augment.RandomCrop(a.x, a.scalar(2), p, a.h, a.w) },
	"autocontrast": func(a album, p *graph.Node) *graph.Node { return augment.RandomAutocontrast(a.x, p) },
	"posterise":    func(a album, p *graph.Node) *graph.Node { return augment.RandomPosterise(a.x, a.scalar(3), p) },
	"cutout":       func(a album, p *graph.Node) *graph.Node { return augment.RandomCutout(a.x, a.scalar(3), p) },
	"mixup":        func(a album, p *graph.Node) *graph.Node { return augment.Mixup(a.x, a.labelled(), a.scalar(1), p).X },
	"cutmix":       func(a album, p *graph.Node) *graph.Node { return augment.CutMix(a.x, a.labelled(), a.scalar(1), p).X },
	"pixmix": func(a album, p *graph.Node) *graph.Node {
		return augment.PixMix(a.x, augment.Flip(a.x), a.scalar(2), p, 3)
	},
}

// TestAugmentationsByChance: with probability 0 nothing changes, not a bit; with ½
// some images do and others do not, others in the next step, and the same again in
// the same step.
func TestAugmentationsByChance(t *testing.T) {
	for name, f := range augmentations {
		a := newAlbum(40, 5, 6, 1)
		p := a.Graph.Scalar("p", 0, graph.F64)
		y := f(a, p)
		if got := a.values(t, y)[0]; !slices.Equal(got.Data, a.feed[a.x].Data) || y.Shape() != a.x.Shape() {
			t.Errorf("%s with probability 0 changes images, or %v to %v", name, a.x, y)
		}
		a.feed[p] = layertest.Scalar(0.5)
		now, again, then := layertest.At(t, 1, a.feed, y)[0].Data, layertest.At(t, 1, a.feed, y)[0].Data, layertest.At(t, 2, a.feed, y)[0].Data
		if !slices.Equal(now, again) || slices.Equal(now, then) {
			t.Errorf("%s: not the same in a step, or the same in the next", name)
		}
		changed := 0
		for n := range 40 {
			if !slices.Equal(now[n*30:n*30+30], a.feed[a.x].Data[n*30:n*30+30]) {
				changed++
			}
		}
		if changed < 5 || changed > 35 {
			t.Errorf("%s with probability ½ changes %d of 40 images", name, changed)
		}
	}
}

// TestAugmentationsDerivatives: the derivative with respect to the images is that of
// the change with the same draws, and the tape agrees with the definitions in both
// float types.
func TestAugmentationsDerivatives(t *testing.T) {
	for name, f := range augmentations {
		a := newAlbum(12, 5, 6, 1)
		y := f(a, a.scalar(0.7))
		rng := rand.New(rand.NewPCG(4, 4))
		weights, way := layertest.Random(rng, a.x.Type(), 1), layertest.Random(rng, a.x.Type(), 1)
		loss := ops.Sum(ops.Mul(ops.Square(y), a.ConstantValue(weights)))
		dx := grad.Of(loss, a.x)[0]
		slope := 0.0
		for i, d := range a.values(t, dx)[0].Data {
			slope += d * way.Data[i]
		}
		start := a.feed[a.x]
		moved := func(h float64) float64 {
			a.feed[a.x] = layertest.Computed(start.Type, func(i int) float64 { return start.Data[i] + h*way.Data[i] })
			return a.values(t, loss)[0].Data[0]
		}
		const h = 1e-7
		if want := (moved(h) - moved(-h)) / (2 * h); math.Abs(slope-want) > 1e-5*(1+math.Abs(want)) || want == 0 {
			t.Errorf("%s: the derivative is %v, differences give %v", name, slope, want)
		}
		a.feed[a.x] = start
		byDefinition := a.values(t, y, dx)
		onTape, err := reftest.Tape(5, a.feed, []*graph.Node{y, dx})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, v := range byDefinition {
			if err := reftest.Near(onTape[i].Data, v.Data, 1e-11*(1+reftest.Largest(v.Data))); err != nil {
				t.Errorf("%s: value %d on the tape: %v", name, i, err)
			}
		}
	}
}

// TestAugmentationsOfOneImage: a batch of one has no next image, and a small
// image is changed at its edges.
func TestAugmentationsOfOneImage(t *testing.T) {
	for _, b := range builders.All() {
		if len(b.Name) < 8 || b.Name[:8] != "augment-" {
			continue
		}
		s := builders.Settings{"n": 1, "size": 2, "p": 1}
		if b.Name == "augment-crop" {
			s["window"] = 3
		}
		m, err := b.Build(s, graph.F32)
		if err != nil {
			t.Errorf("%s: %v", b.Name, err)
			continue
		}
		feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(1, 1)))
		for in, v := range m.Examples(rand.New(rand.NewPCG(1, 1))) {
			feed[in] = v
		}
		out, err := reftest.Tape(1, feed, []*graph.Node{m.Loss})
		if err != nil || math.IsNaN(out[0].Data[0]) || math.IsInf(out[0].Data[0], 0) {
			t.Errorf("%s: a loss of %v, %v", b.Name, out, err)
		}
	}
}

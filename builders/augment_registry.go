package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/augment"
	"github.com/tapestry-ml/tapestry/ops"
)

var (
	sizeChance  = Hyperparameter{Name: "p", Default: 0.5, Doc: "probability that an image is changed; 0 in evaluation", Training: true}
	sizeAlpha   = Hyperparameter{Name: "alpha", Default: 1, Doc: "α of the share's distribution Beta(α, α)"}
	sizeFigures = Hyperparameter{Name: "classes", Default: figures, Doc: "classes; the model's own examples are of at most 3", Kind: Count}
)

// scene holds the nodes of an augmentation.
type scene struct {
	*Model
	dt      graph.DType
	x       *graph.Node // images x[n h w c]
	label   *graph.Node // whole numbers [n]
	classes graph.Axis  // that the labels are of
	p       *graph.Node // probability of a change

	examples []func(rng *rand.Rand, feed graph.Values) // of inputs that the augmentation adds
}

// y returns the labels as probabilities[n k].
func (c *scene) y() *graph.Node { return ops.OneHot(c.label, -1, c.classes, c.dt).As("y") }

// augmented makes the builder of a small convolutional net for images that are
// changed by f, which also gives mixed labels, or nil.
func augmented(b Builder, f func(c *scene) (x, y *graph.Node)) Builder {
	b.Notes = "data augmentation"
	b.Hyperparameters = append(append([]Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeFigures, sizeChannels}, b.Hyperparameters...), sizeChance)
	b.make = func(s Settings, dt graph.DType, m *Model) {
		g := m.Graph
		c := &scene{Model: m, dt: dt, x: pictures(g, s, dt), classes: classesOf(s)}
		c.label = g.Input("label", graph.I64, graph.Ax("n", s.Int("n")))
		c.p = m.dial("p", "p", dt, 0, 1)
		conv := nn.NewConv2D(g, "conv", dt, build.Last(c.x), channelsOf(s), ops.Size(3), ops.Padding(1))
		x, y := f(c)
		h := ops.MaxPool2D(ops.ReLU(conv.Of(x.As("x̂"))).As("h"), ops.Size(2)).As("v")
		flat := ops.Merge(h, "f", 1, 2, 3)
		m.Output = nn.NewLinear(g, "head", dt, build.Last(flat), c.classes).Of(flat).As("scores")
		if y == nil {
			m.Loss = nn.CrossEntropy(m.Output, c.label).As("loss")
		} else {
			m.Loss = nn.CrossEntropy(m.Output, y.As("ŷ")).As("loss")
		}
		m.Examples = func(rng *rand.Rand) graph.Values {
			images, labels := shapes(rng, c.x.Type(), c.label.Type(), c.classes.Size)
			feed := graph.Values{c.x: images, c.label: labels}
			for _, add := range c.examples {
				add(rng, feed)
			}
			return feed
		}
	}
	return b
}

// augmentation: images changed at random, and the labels that belong to them.
var augmentation = []Builder{
	augmented(Builder{
		Name:    "augment-flip",
		Title:   "augmentation by flipping",
		Formula: "x̂ᵢⱼ = x_{i, W−1−j} with probability p",
	}, func(c *scene) (x, y *graph.Node) { return augment.RandomFlip(c.x, c.p), nil }),
	augmented(Builder{
		Name:    "augment-crop",
		Title:   "augmentation by cropping",
		Formula: "x̂ᵢⱼ = x_{i+t, j+l},  t and l random windows of the image and zeros around it",
		Hyperparameters: []Hyperparameter{
			{Name: "padding", Default: 1, Doc: "zeros laid around an image", Kind: Natural},
			{Name: "window", Default: 7, Doc: "height and width of what is cut out", Kind: Count},
		},
	}, func(c *scene) (x, y *graph.Node) {
		padding := c.dial("padding", "padding", c.dt, 0, 1000)
		return augment.RandomCrop(c.x, padding, c.p, c.Settings.Int("window"), c.Settings.Int("window")), nil
	}),
	augmented(Builder{
		Name:            "augment-rotate",
		Title:           "augmentation by rotation",
		Formula:         "x̂(r) = x(R(θ)·r) about the middle, bilinear,  θ uniform from −most to most",
		Hyperparameters: []Hyperparameter{{Name: "degrees", Default: 45, Doc: "largest angle, either way"}},
	}, func(c *scene) (x, y *graph.Node) {
		return augment.RandomRotation(c.x, c.dial("degrees", "degrees", c.dt, 0, 1e6), c.p), nil
	}),
	augmented(Builder{
		Name:            "augment-translate",
		Title:           "augmentation by translation",
		Formula:         "x̂(r) = x(r − t), bilinear,  t uniform from −most to most along each axis",
		Hyperparameters: []Hyperparameter{{Name: "pixels", Default: 1.5, Doc: "largest shift along each axis"}},
	}, func(c *scene) (x, y *graph.Node) {
		return augment.RandomTranslation(c.x, c.dial("pixels", "pixels", c.dt, 0, 1e6), c.p), nil
	}),
	augmented(Builder{
		Name:    "augment-autocontrast",
		Title:   "augmentation by autocontrast",
		Formula: "x̂ = (x − min x)/(max x − min x) for each channel of an image, with probability p",
	}, func(c *scene) (x, y *graph.Node) { return augment.RandomAutocontrast(c.x, c.p), nil }),
	augmented(Builder{
		Name:            "augment-posterise",
		Title:           "augmentation by posterisation",
		Formula:         "x̂ = ⌊v/s⌋·s/255,  v = ⌊255·x + ½⌋,  s = 2^(8 − bits), with probability p",
		Hyperparameters: []Hyperparameter{{Name: "bits", Default: 2, Doc: "bits that an intensity keeps of eight", Kind: Natural}},
	}, func(c *scene) (x, y *graph.Node) {
		return augment.RandomPosterise(c.x, c.dial("bits", "bits", c.dt, 0, 8), c.p), nil
	}),
	augmented(Builder{
		Name:            "augment-cutout",
		Title:           "augmentation by cutout",
		Formula:         "x̂ᵢⱼ = 0 in a square around a random pixel, else xᵢⱼ",
		Hyperparameters: []Hyperparameter{{Name: "pixels", Default: 3, Doc: "height and width of the square", Kind: Natural}},
	}, func(c *scene) (x, y *graph.Node) {
		return augment.RandomCutout(c.x, c.dial("pixels", "pixels", c.dt, 0, 1e6), c.p), nil
	}),
	augmented(Builder{
		Name:            "augment-mixup",
		Title:           "augmentation by mixup",
		Formula:         "x̂ = λ·x + (1 − λ)·x',  ŷ = λ·y + (1 − λ)·y',  λ ~ Beta(α, α)",
		Hyperparameters: []Hyperparameter{sizeAlpha},
	}, func(c *scene) (x, y *graph.Node) {
		m := augment.Mixup(c.x, c.y(), c.alpha(), c.p)
		return m.X, m.Y
	}),
	augmented(Builder{
		Name:            "augment-cutmix",
		Title:           "augmentation by CutMix",
		Formula:         "x̂ = x' in a rectangle, else x;  ŷ = λ·y + (1 − λ)·y',  λ = 1 − area of the rectangle",
		Hyperparameters: []Hyperparameter{sizeAlpha},
	}, func(c *scene) (x, y *graph.Node) {
		m := augment.CutMix(c.x, c.y(), c.alpha(), c.p)
		return m.X, m.Y
	}),
	augmented(Builder{
		Name:    "augment-pixmix",
		Title:   "augmentation by PixMix",
		Formula: "m ← ½(a(2m − 1) + b(2z − 1) + 1) or ½(2m)ᵃ(2z)ᵇ, up to R times;  x̂ = m",
		Hyperparameters: []Hyperparameter{
			{Name: "rounds", Default: 2, Doc: "most times that patterns are mixed in", Kind: Natural},
			{Name: "beta", Default: 3, Doc: "β of the factors' distribution; more mixes less"},
		},
	}, func(c *scene) (x, y *graph.Node) {
		z := c.Graph.Input("z", c.dt, c.x.Shape().Axes()...)
		c.examples = append(c.examples, func(rng *rand.Rand, feed graph.Values) { feed[z] = planeWaves(rng, z.Type()) })
		return augment.PixMix(c.x, z, c.dial("β", "beta", c.dt, 0.01, 1000), c.p, c.Settings.Int("rounds")), nil
	}),
}

// alpha returns the scalar input of a share's distribution.
func (c *scene) alpha() *graph.Node { return c.dial("α", "alpha", c.dt, 0.01, 1000) }

package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// normalisation: standardising what flows through a net.
var normalisation = []Builder{
	standardise,
	normBatch,
	normed("norm-layer", "layer normalisation", "layer normalisation", "(x − μ)/√(σ² + ε) · gain + bias,  μ and σ² of all channels of an image, or of those at a place",
		[]Hyperparameter{{Name: "over", Doc: "all channels of an image, as in the notes, or those at a place, as in ConvNeXt and in transformers", Kind: Choice, Choices: []string{"image", "place"}}},
		func(g *graph.Graph, dt graph.DType, c graph.Axis, s Settings) nn.Layer {
			l := nn.NewLayerNorm(g, "norm", dt, c)
			if s.Int("over") == 0 {
				l.Axes = 3 // h, w and c
			}
			return l
		}),
	normed("norm-instance", "instance normalisation", "instance normalisation", "(x − μ)/√(σ² + ε) · gain + bias,  μ and σ² of a channel of an image", nil,
		func(g *graph.Graph, dt graph.DType, c graph.Axis, _ Settings) nn.Layer {
			return nn.NewInstanceNorm(g, "norm", dt, c)
		}),
	normed("norm-group", "group normalisation", "group normalisation", "(x − μ)/√(σ² + ε) · gain + bias,  μ and σ² of a group of channels of an image",
		[]Hyperparameter{{Name: "groups", Default: 2, Doc: "groups of channels", Kind: Count}},
		func(g *graph.Graph, dt graph.DType, c graph.Axis, s Settings) nn.Layer {
			return nn.NewGroupNorm(g, "norm", dt, c, s.Int("groups"))
		}),
	normed("norm-rms", "RMS normalisation", "layer normalisation, without its mean", "x/√(mean x² + ε) · gain", nil,
		func(g *graph.Graph, dt graph.DType, c graph.Axis, _ Settings) nn.Layer {
			return nn.NewRMSNorm(g, "norm", dt, c)
		}),
	normed("norm-scale", "layer normalisation that only scales", "transformers: query standardisation", "(x − μ)/√(σ² + ε) · gain", nil,
		func(g *graph.Graph, dt graph.DType, c graph.Axis, _ Settings) nn.Layer {
			return nn.NewScaleOnlyNorm(g, "norm", dt, c)
		}),
	normWeight,
}

// sizeFeatures are enough channels for groups of them.
var sizeFeatures = Hyperparameter{Name: "channels", Default: 8, Doc: sizeChannels.Doc, Kind: Count}

// sizeGlobal is a setting of batch norms, and of input norms.
var sizeGlobal = Hyperparameter{Name: "global", Doc: "statistics of all lanes of a step, not of each lane's rows", Kind: Flag}

// normalised makes the net around each norm: the norm of the convolved pictures x, relu, the
// average over all places, and scores.
func (m *Model) normalised(x, h *graph.Node, s Settings, dt graph.DType) {
	head := nn.NewLinear(m.Graph, "head", dt, channelsOf(s), classesOf(s))
	m.classify(x, head.Of(nn.GlobalAverage(ops.ReLU(h.As("ĥ")).As("v")).As("v̄")))
}

// filters returns the convolution of that net, without a bias, which a norm would take away.
func filters(g *graph.Graph, s Settings, dt graph.DType) nn.Conv {
	return nn.NewFilter2D(g, "conv", dt, graph.Ax("c", s.Int("colours")), channelsOf(s), ops.Size(3), ops.Padding(1))
}

// normed returns the builder of a norm that does not remember anything.
func normed(name, title, notes, formula string, more []Hyperparameter, norm func(*graph.Graph, graph.DType, graph.Axis, Settings) nn.Layer) Builder {
	return Builder{
		Name: name, Title: title, Notes: notes, Formula: formula,
		Hyperparameters: append([]Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeFeatures}, more...),
		make: func(s Settings, dt graph.DType, m *Model) {
			x := pictures(m.Graph, s, dt)
			h := filters(m.Graph, s, dt).Of(x).As("h")
			m.normalised(x, norm(m.Graph, dt, channelsOf(s), s).Of(h), s, dt)
		},
	}
}

var normBatch = Builder{
	Name:            "norm-batch",
	Title:           "batch normalisation",
	Notes:           "batch normalisation",
	Formula:         "(x − μ)/√(σ² + ε) · gain + bias,  μ and σ² of a channel in the batch;  running ← 0.9·running + 0.1·of the batch",
	Hyperparameters: []Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeFeatures, sizeMode, sizeGlobal},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := pictures(m.Graph, s, dt)
		l := nn.NewBatchNorm(m.Graph, "norm", dt, channelsOf(s))
		l.Global = s.Is("global")
		h := filters(m.Graph, s, dt).Of(x).As("h")
		if s.Int("mode") == 1 {
			m.normalised(x, l.Of(h), s, dt)
			return
		}
		y, step := l.OfTrain(h)
		m.normalised(x, y, s, dt)
		m.Step = step
	},
}

var normWeight = Builder{
	Name:            "norm-weight",
	Title:           "weight standardisation",
	Notes:           "weight standardisation",
	Formula:         "ŵ = (w − μ)/√(σ² + ε) for each output;  h = conv(x, ŵ)",
	Hyperparameters: []Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeFeatures},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := pictures(m.Graph, s, dt)
		l := nn.NewConv2D(m.Graph, "conv", dt, build.Last(x), channelsOf(s), ops.Size(3), ops.Padding(1))
		l.W = nn.StandardiseWeights(l.W)
		m.normalised(x, l.Of(x), s, dt)
	},
}

var standardise = Builder{
	Name:    "standardise",
	Title:   "input standardisation and centring",
	Notes:   "input standardisation: where the mean comes from",
	Formula: "x̂ = (x − μ)/√(σ² + ε),  μ and σ² of a pixel or a channel over all training images so far, which evaluation uses too, or of an image, a patch or the range of all",
	Hyperparameters: []Hyperparameter{
		sizeImages, sizeHeight, sizeColours, sizeClasses, sizeFeatures,
		{Name: "of", Doc: "what has a mean of its own", Kind: Choice, Choices: []string{"pixel", "channel", "image", "patch", "range"}},
		{Name: "patch", Default: 3, Doc: "height and width of a patch, odd", Kind: Count},
		{Name: "centre", Doc: "subtract the mean and leave the spread", Kind: Flag},
		sizeMode, sizeGlobal,
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := pictures(m.Graph, s, dt)
		l := nn.NewConv2D(m.Graph, "conv", dt, build.Last(x), channelsOf(s), ops.Size(3), ops.Padding(1))
		m.normalised(x, l.Of(m.standardised(x, s, dt).As("x̂")).As("h"), s, dt)
		plain := m.Examples
		m.Examples = func(rng *rand.Rand) graph.Values {
			feed := plain(rng)
			feed[x] = exposed(rng, feed[x])
			return feed
		}
	},
}

// standardised returns x as the settings have it. Statistics of a pixel or a channel are those of
// all images of training so far, in training and in evaluation.
func (m *Model) standardised(x *graph.Node, s Settings, dt graph.DType) *graph.Node {
	if !x.IsValid() {
		return x
	}
	centre, axes := s.Is("centre"), x.Shape().Axes()
	switch of := s.Int("of"); {
	case of <= 1:
		l := nn.NewInputNorm(m.Graph, "input", dt, axes[1+2*of:]...)
		l.CentreOnly, l.Global = centre, s.Is("global")
		if s.Int("mode") == 1 {
			return l.Of(x)
		}
		y, step := l.OfTrain(x)
		m.Step = step
		return y
	case of == 2 && centre:
		return nn.CentreImage(x)
	case of == 2:
		return nn.StandardiseImage(x)
	case of == 3 && centre:
		return nn.CentrePatch(x, s.Int("patch"))
	case of == 3:
		return nn.StandardisePatch(x, s.Int("patch"))
	case centre:
		return ops.Shift(x, -255./2)
	}
	return nn.CentreRange(x, 0, 255)
}

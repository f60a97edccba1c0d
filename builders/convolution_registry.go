package builders

import (
	"fmt"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/augment"
	"github.com/tapestry-ml/tapestry/ops"
)

// convolution: weights shared over positions.
var convolution = []Builder{
	conv1DNarrow, conv1DWide, convText, conv2D, convDepthwise, convTransposed, pool,
	resnetPlain, resnet, convNeXt, uNet, odeNet,
}

var (
	sizeImages   = Hyperparameter{Name: "n", Default: 8, Doc: "images in a batch", Kind: Count}
	sizeHeight   = Hyperparameter{Name: "size", Default: 8, Doc: "height and width of an image", Kind: Count}
	sizeChannels = Hyperparameter{Name: "channels", Default: 4, Doc: "channels after the first convolution", Kind: Count}
	sizeWindow   = Hyperparameter{Name: "window", Default: 3, Doc: "height and width of the windows", Kind: Count}
	sizeBlocks   = Hyperparameter{Name: "depth", Default: 2, Doc: "blocks", Kind: Count}
	sizeStages   = Hyperparameter{Name: "stages", Default: 1, Doc: "stages of so many blocks; each after the first halves the map and doubles the channels", Kind: Count}
	sizeBlock    = Hyperparameter{Name: "block", Doc: "two convolutions, or a bottleneck: 1×1 to a quarter of the channels, 3×3, and 1×1 back", Kind: Choice, Choices: []string{"basic", "bottleneck"}}
	sizeMode     = Hyperparameter{Name: "mode", Doc: "statistics of the batch, or the running ones", Kind: Choice, Choices: []string{"train", "eval"}, Training: true, Eval: 1}
	sizePadding  = Hyperparameter{Name: "padding", Default: 1, Doc: "pixels laid around an image", Kind: Natural}
	sizeMirror   = Hyperparameter{Name: "around", Doc: "what is laid around an image", Kind: Choice, Choices: []string{"zero", "mirror"}}
	sizeColours  = Hyperparameter{Name: "colours", Default: 1, Doc: "channels of an image", Kind: Count}
	sizeClasses  = Hyperparameter{Name: "classes", Default: orientations, Doc: "classes; the model's own examples are of at most 4", Kind: Count}
)

// classesOf is the axis of the classes that scores are of.
func classesOf(s Settings) graph.Axis { return graph.Ax("k", s.Int("classes")) }

// pictures adds the input x[n h w c].
func pictures(g *graph.Graph, s Settings, dt graph.DType) *graph.Node {
	return g.Input("x", dt, graph.Ax("n", s.Int("n")), graph.Ax("h", s.Int("size")), graph.Ax("w", s.Int("size")), graph.Ax("c", s.Int("colours")))
}

// channelsOf returns the axis of the channels that the first convolution makes.
func channelsOf(s Settings) graph.Axis { return graph.Ax("c", s.Int("channels")) }

// classify makes scores[n k] of the pictures x the model's output, with the
// orientation of a bar as the task.
func (m *Model) classify(x, scores *graph.Node) {
	label := m.Graph.Input("label", graph.I64, graph.Ax("n", x.Dim(0)))
	scores = scores.As("scores")
	m.recognise(x, label, scores, nn.CrossEntropy(scores, label))
}

// recognise is like classify for a label[n] that is an input already, and a loss.
func (m *Model) recognise(x, label, scores, loss *graph.Node) {
	m.Output, m.Loss = scores.As("scores"), loss.As("loss")
	m.Examples = func(rng *rand.Rand) graph.Values {
		images, labels := bars(rng, x.Type(), label.Type(), build.Last(scores).Size)
		return graph.Values{x: images, label: labels}
	}
}

// mostLayers is the greatest depth of a net that the registry builds: each layer is nodes of
// its own.
const mostLayers = 1000

// mostStages is the greatest number of times that a net of the registry doubles its channels, plus 1.
const mostStages = 10

// atMost records that a number of parts is more than a graph should have, and gives
// how many to build.
func (m *Model) atMost(name string, n, most int) int {
	if n > most {
		m.Graph.Fail(m.Builder.Name, fmt.Errorf("%s = %d: want at most %d", name, n, most))
		return 0
	}
	return n
}

// conv1D makes a model of a single convolution of sequences that learns a filter.
func conv1D(wide bool) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		g, w := m.Graph, ops.Size(s.Int("window"))
		if wide {
			w = ops.Windows(w, ops.Wide())
		}
		n := graph.Ax("n", s.Int("n"))
		x := g.Input("x", dt, n, graph.Ax("t", s.Int("t")), graph.Ax("c", s.Int("channels")))
		m.Output = nn.NewConv1D(g, "conv", dt, build.Last(x), graph.Ax("f", s.Int("filters")), w).Of(x).As("y")
		if !m.Output.IsValid() {
			return
		}
		target := g.Input("target", dt, m.Output.Shape().Axes()...)
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			sequences, targets := filtered(rng, x.Type(), target.Type(), w.Sliding(0))
			return graph.Values{x: sequences, target: targets}
		}
	}
}

var sizes1D = []Hyperparameter{
	{Name: "n", Default: 4, Doc: "sequences in a batch", Kind: Count},
	{Name: "t", Default: 9, Doc: "elements of a sequence", Kind: Count},
	{Name: "channels", Default: 2, Doc: "channels of an element", Kind: Count},
	{Name: "filters", Default: 3, Doc: "filters", Kind: Count},
	{Name: "window", Default: 3, Doc: "elements of a window", Kind: Count},
}

var conv1DNarrow = Builder{
	Name:            "conv-1d-narrow",
	Title:           "narrow convolution of sequences",
	Notes:           "CNN for textual data",
	Formula:         "y_q = Σₖ Wₖ·x_{q+k} + b,  q = 0 … T−K",
	Hyperparameters: sizes1D,
	make:            conv1D(false),
}

var conv1DWide = Builder{
	Name:            "conv-1d-wide",
	Title:           "wide convolution of sequences",
	Notes:           "CNN for textual data",
	Formula:         "y_q = Σₖ Wₖ·x_{q+k−(K−1)} + b,  q = 0 … T+K−2, x = 0 outside",
	Hyperparameters: sizes1D,
	make:            conv1D(true),
}

var convText = Builder{
	Name:    "conv-text",
	Title:   "CNN over word embeddings",
	Notes:   "CNN for textual data, general scheme; from RNN to CNN: bigrams, with narrowest=2, widest=2 and activation=tanh",
	Formula: "cᵢ = φ(W·[xᵢ; …; x_{i+h−1}] + b), φ = relu or tanh;  ĉ = maxᵢ cᵢ for each width h;  scores = V·ĉ + a",
	Hyperparameters: []Hyperparameter{
		{Name: "n", Default: 8, Doc: "sequences in a batch", Kind: Count},
		{Name: "t", Default: 9, Doc: "tokens of a sequence", Kind: Count},
		{Name: "vocabulary", Default: 6, Doc: "different tokens, of which two make the pattern", Kind: Count},
		{Name: "d", Default: 4, Doc: "features of a token", Kind: Count},
		{Name: "filters", Default: 4, Doc: "filters of each width", Kind: Count},
		{Name: "narrowest", Default: 2, Doc: "tokens in the smallest window", Kind: Count},
		{Name: "widest", Default: 3, Doc: "tokens in the largest window", Kind: Count},
		{Name: "wide", Doc: "windows also stand out at the ends", Kind: Flag},
		{Name: "activation", Doc: "of a window: relu, or tanh as in a recurrent net", Kind: Choice, Choices: []string{"relu", "tanh"}},
		{Name: "classes", Default: 2, Doc: "classes; the model's own examples are of at most 2", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, v := m.Graph, s.Int("vocabulary")
		if v < 3 {
			g.Fail("conv-text", fmt.Errorf("vocabulary = %d: want at least 3", v))
		}
		n := graph.Ax("n", s.Int("n"))
		tokens := g.Input("tokens", graph.I64, n, graph.Ax("t", s.Int("t")))
		label := g.Input("label", graph.I64, n)
		var widths []int
		for k := range m.atMost("widest − narrowest", s.Int("widest")-s.Int("narrowest")+1, 100) {
			widths = append(widths, s.Int("narrowest")+k)
		}
		if s.Int("widest") < s.Int("narrowest") {
			g.Fail("conv-text", fmt.Errorf("windows from %d to %d tokens", s.Int("narrowest"), s.Int("widest")))
		}
		net := NewTextCNN(g, dt, graph.Ax("v", v), graph.Ax("d", s.Int("d")), graph.Ax("f", s.Int("filters")), classesOf(s), widths, s.Is("wide"))
		net.Tanh = s.Is("activation")
		m.Output = net.Of(tokens).As("scores")
		m.Loss = nn.CrossEntropy(m.Output, label).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			sequences, labels := motifs(rng, tokens.Type(), label.Type(), v, s.Int("classes"))
			return graph.Values{tokens: sequences, label: labels}
		}
	},
}

var conv2D = Builder{
	Name:    "conv-2d",
	Title:   "convolutional net",
	Notes:   "convolutional nets: locality and weight sharing",
	Formula: "h = relu(Σₖₗ x_{iS+kD−P, jS+lD−P}·Wₖₗ + b);  scores = V·meanᵢⱼ hᵢⱼ + a",
	Hyperparameters: []Hyperparameter{
		sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels, sizeWindow,
		{Name: "stride", Default: 1, Doc: "distance from window to window", Kind: Count},
		sizePadding,
		sizeMirror,
		{Name: "dilation", Default: 1, Doc: "distance between neighbours in a window", Kind: Count},
		{Name: "groups", Default: 1, Doc: "groups of channels in the second convolution", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, c := m.Graph, channelsOf(s)
		x := pictures(g, s, dt)
		w := ops.Windows(ops.Size(s.Int("window")), ops.Padding(s.Int("padding")), ops.Dilation(s.Int("dilation")))
		first := nn.NewConv2D(g, "conv1", dt, build.Last(x), c, w, ops.Stride(s.Int("stride")))
		second := nn.NewConv2D(g, "conv2", dt, c, c, w, ops.Groups(s.Int("groups")))
		first.Reflect, second.Reflect = s.Is("around"), s.Is("around")
		head := nn.NewLinear(g, "head", dt, c, classesOf(s))
		h := ops.ReLU(first.Of(x)).As("h₁")
		h = ops.ReLU(second.Of(h)).As("h₂")
		m.classify(x, head.Of(nn.GlobalAverage(h).As("h̄")))
	},
}

var convDepthwise = Builder{
	Name:            "conv-depthwise",
	Title:           "depthwise and pointwise convolutions",
	Notes:           "ConvNeXt: depthwise convolution",
	Formula:         "uᵢⱼ꜀ = Σₖₗ h_{i+k, j+l, c}·Wₖₗ꜀ + b꜀;  v = relu(U·u + a)",
	Hyperparameters: []Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels, sizeWindow},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, c, w := m.Graph, channelsOf(s), ops.Windows(ops.Size(s.Int("window")), ops.Same())
		x := pictures(g, s, dt)
		lift := nn.NewConv2D(g, "lift", dt, build.Last(x), c, w)
		depthwise := nn.NewDepthwise2D(g, "depthwise", dt, c, w)
		pointwise := nn.NewConv2D(g, "pointwise", dt, c, c, ops.Size(1))
		head := nn.NewLinear(g, "head", dt, c, classesOf(s))
		u := depthwise.Of(ops.ReLU(lift.Of(x)).As("h")).As("u")
		v := ops.ReLU(pointwise.Of(u)).As("v")
		m.classify(x, head.Of(nn.GlobalAverage(v).As("v̄")))
	},
}

var convTransposed = Builder{
	Name:            "conv-transposed",
	Title:           "transposed convolution, from coarse to fine",
	Notes:           "U-Net: features that are sampled up",
	Formula:         "y_{iS+k−P} += xᵢ·Wₖ;  loss = mean (y − fine image)²",
	Hyperparameters: []Hyperparameter{sizeImages, {Name: "size", Default: 4, Doc: "height and width of a coarse image", Kind: Count}, sizeChannels, sizeColours},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, c := m.Graph, channelsOf(s)
		x := pictures(g, s, dt)
		lift := nn.NewConv2D(g, "lift", dt, build.Last(x), c, ops.Size(3), ops.Padding(1))
		up := nn.NewConvTransposed2D(g, "up", dt, c, build.Last(x), ops.Size(4), ops.Stride(2), ops.Padding(1))
		m.Output = up.Of(ops.ReLU(lift.Of(x)).As("h")).As("y")
		if !m.Output.IsValid() {
			return
		}
		target := g.Input("target", dt, m.Output.Shape().Axes()...)
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			fine, _ := blobs(rng, target.Type(), graph.Type{DType: dt, Shape: target.Shape()})
			return graph.Values{x: halved(fine, x.Type()), target: fine}
		}
	},
}

var pool = Builder{
	Name:    "pool",
	Title:   "pooling: the largest, the average, one, or a weighted average",
	Notes:   "convolutional nets: down-sampling",
	Formula: "pᵢⱼ = max, mean, first or Σ Wₖₗ· of h over k×k;  scores = V·p + a",
	Hyperparameters: []Hyperparameter{
		sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels,
		{Name: "kind", Doc: "what stands for a square", Kind: Choice, Choices: []string{"max", "average", "pick", "weighted"}},
		{Name: "pool", Default: 4, Doc: "height and width of a square", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, c, k := m.Graph, channelsOf(s), s.Int("pool")
		x := pictures(g, s, dt)
		h := ops.ReLU(nn.NewConv2D(g, "conv", dt, build.Last(x), c, ops.Size(3), ops.Padding(1)).Of(x)).As("h")
		var p *graph.Node
		switch s.Int("kind") {
		case 0:
			p = ops.MaxPool2D(h, ops.Size(k))
		case 1:
			p = ops.AvgPool2D(h, ops.Size(k))
		case 2:
			p = nn.PickOne(h, k)
		default:
			p = nn.NewWeightedPool(g, "pool", dt, c, k).Of(h)
		}
		flat := ops.Merge(p.As("p"), "f", "h", "w", "c")
		m.classify(x, nn.NewLinear(g, "head", dt, build.Last(flat), classesOf(s)).Of(flat))
	},
}

// residual makes a net of residual blocks, or of plain ones.
func residual(plain bool) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		x := pictures(m.Graph, s, dt)
		depth, stages := m.atMost("depth", s.Int("depth"), mostLayers), m.atMost("stages", s.Int("stages"), mostStages)
		if m.atMost("depth·stages", depth*stages, mostLayers) == 0 {
			return
		}
		net := NewStagedResNet(m.Graph, dt, build.Last(x), channelsOf(s), classesOf(s), stages, depth, s.Int("block") == 1, plain)
		if s.Is("global") {
			net = net.Global()
		}
		if s.Int("mode") == 1 {
			m.classify(x, net.Of(x))
			return
		}
		scores, step := net.OfTrain(x)
		m.classify(x, scores)
		m.Step = step
	}
}

var resnetPlain = Builder{
	Name:            "resnet-plain",
	Title:           "plain convolutional net, as deep as a residual net",
	Notes:           "ResNet: plain nets against residual nets, Figure 2",
	Formula:         "x ← relu(F(x)),  F = norm ∘ conv ∘ relu ∘ norm ∘ conv, or a bottleneck",
	Hyperparameters: []Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels, sizeBlocks, sizeStages, sizeBlock, sizeMode, sizeGlobal},
	make:            residual(true),
}

var resnet = Builder{
	Name:            "resnet",
	Title:           "residual net",
	Notes:           "ResNet: plain nets against residual nets, Figure 3",
	Formula:         "x ← relu(x + F(x)),  F = norm ∘ conv ∘ relu ∘ norm ∘ conv, or a bottleneck, norm ∘ conv₁ₓ₁ ∘ relu ∘ norm ∘ conv₃ₓ₃ ∘ relu ∘ norm ∘ conv₁ₓ₁",
	Hyperparameters: []Hyperparameter{sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels, sizeBlocks, sizeStages, sizeBlock, sizeMode, sizeGlobal},
	make:            residual(false),
}

var convNeXt = Builder{
	Name:    "convnext",
	Title:   "ConvNeXt",
	Notes:   "ConvNeXt, Figure 4; its training: train convnext --set drop=0.2,smoothing=0.1,cutmix=0.5 --optimiser adamw --rate 'cosine(0.01,400)' --steps 400",
	Formula: "x ← x + W₂·gelu(W₁·norm(depthwise conv(x)));  in training on CutMix images, the added part dropped with pₗ = l/L·drop, labels smoothed",
	Hyperparameters: []Hyperparameter{
		sizeImages, sizeHeight, sizeColours, sizeClasses, sizeChannels,
		{Name: "depth", Default: 1, Doc: "blocks", Kind: Count},
		{Name: "window", Default: 7, Doc: "height and width of the depthwise windows, odd", Kind: Count},
		{Name: "patch", Default: 2, Doc: "height and width of the patches that images are cut into", Kind: Count},
		{Name: "scale", Doc: "each block scaled by a γ that starts at 10⁻⁶", Kind: Flag},
		{Name: "drop", Doc: "stochastic depth: probability that the last block is dropped; 0 in evaluation", Training: true},
		{Name: "smoothing", Doc: "label smoothing: probability that all classes share; 0 in evaluation", Training: true},
		{Name: "cutmix", Doc: "augmentation: probability that a rectangle of another image is pasted in; 0 in evaluation", Training: true},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		x := pictures(m.Graph, s, dt)
		net := NewConvNeXt(m.Graph, dt, build.Last(x), channelsOf(s), classesOf(s), s.Int("patch"), s.Int("window"),
			m.atMost("depth", s.Int("depth"), mostLayers), s.Is("scale"))
		if s["drop"] == 0 && s["smoothing"] == 0 && s["cutmix"] == 0 {
			m.classify(x, net.Of(x))
			return
		}
		label := m.Graph.Input("label", graph.I64, graph.Ax("n", s.Int("n")))
		images, y := x, label
		if s["cutmix"] != 0 {
			mixed := augment.CutMix(x, ops.OneHot(label, -1, classesOf(s), dt).As("y"), m.Graph.Scalar("α", 1, dt), m.dial("p", "cutmix", dt, 0, 1))
			images, y = mixed.X.As("x̂"), mixed.Y.As("ŷ")
		}
		scores := net.OfTrain(images, m.dial("drop", "drop", dt, 0, 1)).As("scores")
		m.recognise(x, label, scores, nn.CrossEntropy(scores, y, nn.Smoothed(m.dial("ε", "smoothing", dt, 0, 1))))
	},
}

var uNet = Builder{
	Name:    "unet",
	Title:   "U-Net: which pixels belong to the disc",
	Notes:   "attention in seq2seq: what the U-Net's skips are for",
	Formula: "sₗ = relu(conv(xₗ));  xₗ₊₁ = maxpool(sₗ);  uₗ = up(yₗ₊₁);  yₗ = relu(conv([sₗ uₗ]))",
	Hyperparameters: []Hyperparameter{
		{Name: "n", Default: 4, Doc: "images in a batch", Kind: Count}, sizeHeight, sizeColours,
		{Name: "classes", Default: 2, Doc: "classes of a pixel; the model's own examples are of at most 2", Kind: Count},
		{Name: "channels", Default: 2, Doc: "channels of the finest level", Kind: Count},
		{Name: "levels", Default: 2, Doc: "times that the size is halved", Kind: Count},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g := m.Graph
		x := pictures(g, s, dt)
		if !x.IsValid() {
			return
		}
		label := g.Input("label", graph.I64, x.Shape().Axes()[:x.Rank()-1]...)
		m.Output = NewUNet(g, "unet", dt, build.Last(x), classesOf(s), s.Int("channels"), s.Int("levels")).Of(x).As("scores")
		m.Loss = nn.CrossEntropy(m.Output, label).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			images, labels := blobs(rng, x.Type(), label.Type())
			if s.Int("classes") == 1 { // there is no class of its own for the disc
				labels = graph.NewValue(label.Type())
			}
			return graph.Values{x: images, label: labels}
		}
	},
}

var odeNet = Builder{
	Name:    "ode-net",
	Title:   "residual net as the steps of a differential equation",
	Notes:   "ResNet: depth as an ordinary differential equation; graph nets: sharing weights across layers",
	Formula: "x ← x + h·f(x),  f(x) = W₂·tanh(W₁·x + b₁) + b₂;  loss = mean (x − x₀ turned by 90°)²",
	Hyperparameters: []Hyperparameter{
		{Name: "n", Default: 8, Doc: "points in a batch", Kind: Count},
		{Name: "hidden", Default: 8, Doc: "hidden units of the field f", Kind: Count},
		{Name: "steps", Default: 4, Doc: "steps of Euler's method", Kind: Count},
		{Name: "h", Default: 0.25, Doc: "time of a step"},
		{Name: "shared", Default: 1, Doc: "one field for all steps", Kind: Flag},
	},
	make: func(s Settings, dt graph.DType, m *Model) {
		g, d, hidden := m.Graph, graph.Ax("d", 2), graph.Ax("e", s.Int("hidden"))
		x := g.Input("x₀", dt, graph.Ax("n", s.Int("n")), d)
		target := g.Input("target", dt, graph.Ax("n", s.Int("n")), d)
		var fields []nn.Layer
		for i := range m.atMost("steps", s.Int("steps"), mostLayers) {
			switch {
			case !s.Is("shared"):
				fields = append(fields, NewField(g, build.Numbered("f", i), dt, d, hidden))
			case i == 0:
				fields = append(fields, NewField(g, "f", dt, d, hidden))
			default:
				fields = append(fields, fields[0])
			}
		}
		m.Output = Euler(x, g.Scalar("h", s["h"], dt), fields...)
		m.Loss = nn.SquaredError(m.Output, target).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			points := normals(rng, x.Type())
			return graph.Values{x: points, target: turned(points)}
		}
	},
}

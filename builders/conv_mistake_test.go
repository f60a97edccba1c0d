package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestImageModelMistakes are clear and never panic.
func TestImageModelMistakes(t *testing.T) {
	layertest.Refuse(t, []layertest.Refusal{
		{Model: "conv-1d-narrow", Settings: builders.Settings{"window": 10}, Want: "windows of 10 elements, 1 apart, do not fit over axis t=9"},
		{Model: "conv-text", Settings: builders.Settings{"t": 2}, Want: "windows of 3 elements, 1 apart, do not fit over axis t=2"},
		{Model: "conv-text", Settings: builders.Settings{"widest": 1}, Want: "conv-text: windows from 2 to 1 tokens"},
		{Model: "conv-text", Settings: builders.Settings{"vocabulary": 2}, Want: "conv-text: vocabulary = 2: want at least 3"},
		{Model: "conv-text", Settings: builders.Settings{"widest": 1e6}, Want: "widest − narrowest = 999999: want at most 100"},
		{Model: "conv-2d", Settings: builders.Settings{"groups": 3}, Want: "do not divide into 3 groups"},
		{Model: "conv-2d", Settings: builders.Settings{"window": 11}, Want: "do not fit over axis h=8"},
		{Model: "conv-2d", Settings: builders.Settings{"around": 1, "padding": 9}, Want: "9 and 9 elements around axis h=8: want 0 to 7"},
		{Model: "conv-depthwise", Settings: builders.Settings{"channels": 1 << 30, "n": 1 << 16}, Want: "more than 2^"},
		{Model: "pool", Settings: builders.Settings{"pool": 9}, Want: "do not fit over axis h=8"},
		{Model: "resnet", Settings: builders.Settings{"depth": 1e9}, Want: "depth = 1000000000: want at most 1000"},
		{Model: "resnet", Settings: builders.Settings{"stages": 11}, Want: "stages = 11: want at most 10"},
		{Model: "resnet", Settings: builders.Settings{"stages": 10, "depth": 200}, Want: "depth·stages = 2000: want at most 1000"},
		{Model: "resnet", Settings: builders.Settings{"n": 1, "size": 1}, Want: "at least two elements of a channel"},
		{Model: "convnext", Settings: builders.Settings{"patch": 9}, Want: "do not fit over axis h=8"},
		{Model: "unet", Settings: builders.Settings{"levels": 4}, Want: "4 levels: want height and width to be multiples of 16"},
		{Model: "unet", Settings: builders.Settings{"levels": 99}, Want: "99 levels: want 0 to 16"},
		{Model: "ode-net", Settings: builders.Settings{"steps": 1e9}, Want: "steps = 1000000000: want at most 1000"},
		{Model: "norm-group", Settings: builders.Settings{"groups": 3}, Want: "channels c=8 do not divide into 3 groups"},
		{Model: "standardise", Settings: builders.Settings{"of": 3, "patch": 4}, Want: "patches of size 4: want an odd number of at least 1"},
	})
}

// TestOneClass: the examples of a segmentation with a single class are of that class.
func TestOneClass(t *testing.T) {
	m := layertest.Build(t, "unet", builders.Settings{"classes": 1})
	feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(1, 1)))
	for in, v := range m.Examples(rand.New(rand.NewPCG(1, 2))) {
		feed[in] = v
	}
	if loss := layertest.Values(t, feed, m.Loss)[0].Data[0]; loss != 0 {
		t.Errorf("the loss with a single class is %v, want 0", loss)
	}
}

// TestOddSizes: whatever the settings, a model is refused or has finite values for
// the examples of its task.
func TestOddSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	built := map[string]int{}
	for _, f := range builders.Families() {
		if f.Name != "convolution" && f.Name != "normalisation" {
			continue
		}
		for _, b := range f.Builders {
			for range 40 {
				s := builders.Settings{}
				for _, z := range b.Hyperparameters {
					switch z.Kind {
					case builders.Choice:
						s[z.Name] = float64(rng.IntN(len(z.Choices)))
					case builders.Flag:
						s[z.Name] = float64(rng.IntN(2))
					case builders.Count, builders.Natural:
						s[z.Name] = float64(1 + rng.IntN(int(z.Default)+3))
					}
				}
				m, err := b.Build(s, graph.F64)
				if err != nil {
					continue
				}
				built[b.Name]++
				feed := layertest.Filled(m.Graph, rng)
				for _, n := range m.Graph.Leaves(graph.RoleState) {
					feed[n] = graph.NewValue(n.Type()) // no variance, the hardest case
				}
				for in, v := range m.Examples(rng) {
					feed[in] = v
				}
				if loss := layertest.Values(t, feed, m.Loss)[0].Data[0]; math.IsNaN(loss) || math.IsInf(loss, 0) {
					t.Errorf("%s %v: the loss is %v", b.Name, s, loss)
				}
			}
			if built[b.Name] == 0 {
				t.Errorf("%s was refused with all sizes", b.Name)
			}
		}
	}
}

// TestNilImageOperands are recorded mistakes of every layer, and so is a layer
// without parameters.
func TestNilImageOperands(t *testing.T) {
	g := graph.New("layers")
	c := graph.Ax("c", 2)
	trained := func(y *graph.Node, _ graph.Step) *graph.Node { return y }
	type call = func(x *graph.Node) *graph.Node
	for name, f := range map[string]call{
		"Conv":          nn.NewConv2D(g, "conv", graph.F32, c, c, ops.Size(3)).Of,
		"WeightedPool":  nn.NewWeightedPool(g, "pool", graph.F32, c, 2).Of,
		"BatchNorm":     nn.NewBatchNorm(g, "norm", graph.F32, c).Of,
		"InputNorm":     nn.NewInputNorm(g, "input", graph.F32, c).Of,
		"GroupNorm":     nn.GroupNorm{}.Of,
		"InstanceNorm":  nn.InstanceNorm{}.Of,
		"RMSNorm":       nn.RMSNorm{}.Of,
		"PickOne":       func(x *graph.Node) *graph.Node { return nn.PickOne(x, 2) },
		"GlobalAverage": nn.GlobalAverage,
		"CentreImage":   nn.CentreImage,
		"CentrePatch":   func(x *graph.Node) *graph.Node { return nn.CentrePatch(x, 3) },
		"CentreRange":   func(x *graph.Node) *graph.Node { return nn.CentreRange(x, 0, 1) },
		"weights":       nn.StandardiseWeights,
		"Euler":         func(x *graph.Node) *graph.Node { return builders.Euler(x, nil, decay{}) },
	} {
		if y := f(nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s of nil: %v, no mistake", name, y)
		}
	}
	for name, f := range map[string]call{
		"Conv":            nn.Conv{Name: "a", Reflect: true}.Of,
		"ConvTransposed":  nn.ConvTransposed{}.Of,
		"ResNetBlock":     builders.ResNetBlock{}.Of,
		"Bottleneck":      builders.ResNetBlock{Conv3: &nn.Conv{}, Norm3: &nn.BatchNorm{}}.Of,
		"ConvNeXtBlock":   builders.ConvNeXtBlock{}.Of,
		"ConvNeXt":        builders.ConvNeXt{}.Of,
		"ResNet":          builders.ResNet{}.Of,
		"UNet":            builders.UNet{Down: []nn.Conv{{}}}.Of,
		"TextCNN":         builders.TextCNN{Filters: []nn.Conv{{}}}.Of,
		"TextCNN, empty":  builders.TextCNN{}.Of,
		"Field":           builders.Field{}.Of,
		"Euler":           func(x *graph.Node) *graph.Node { return builders.Euler(x, x, nil) },
		"BatchNorm":       nn.BatchNorm{}.Of,
		"BatchNorm train": func(x *graph.Node) *graph.Node { return trained(nn.BatchNorm{}.OfTrain(x)) },
		"InputNorm":       nn.InputNorm{}.Of,
		"CentreRange":     func(x *graph.Node) *graph.Node { return nn.CentreRange(x, 1, 1) },
		"GroupNorm":       nn.GroupNorm{}.Of,
		"StandardisePatch": func(x *graph.Node) *graph.Node {
			return nn.StandardisePatch(x, 2)
		},
	} {
		g := graph.New(name)
		if f(layertest.Image(g, 2, 4, 4, 2)); g.Err() == nil {
			t.Errorf("%s without parameters: no mistake", name)
		}
	}
}

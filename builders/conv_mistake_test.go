package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// TestImageModelMistakes are clear and never panic.
func TestImageModelMistakes(t *testing.T) {
	refuse(t, []refusal{
		{"conv-1d-narrow", builders.Settings{"window": 10}, "windows of 10 elements, 1 apart, do not fit over axis t=9"},
		{"conv-text", builders.Settings{"t": 2}, "windows of 3 elements, 1 apart, do not fit over axis t=2"},
		{"conv-text", builders.Settings{"widest": 1}, "conv-text: windows from 2 to 1 tokens"},
		{"conv-text", builders.Settings{"vocabulary": 2}, "conv-text: vocabulary = 2: want at least 3"},
		{"conv-text", builders.Settings{"widest": 1e6}, "widest − narrowest = 999999: want at most 100"},
		{"conv-2d", builders.Settings{"groups": 3}, "do not divide into 3 groups"},
		{"conv-2d", builders.Settings{"window": 11}, "do not fit over axis h=8"},
		{"conv-2d", builders.Settings{"around": 1, "padding": 9}, "9 and 9 elements around axis h=8: want 0 to 7"},
		{"conv-depthwise", builders.Settings{"channels": 1 << 30, "n": 1 << 16}, "more than 2^"},
		{"pool", builders.Settings{"pool": 9}, "do not fit over axis h=8"},
		{"resnet", builders.Settings{"depth": 1e9}, "depth = 1000000000: want at most 1000"},
		{"resnet", builders.Settings{"n": 1, "size": 1}, "at least two elements of a channel"},
		{"convnext", builders.Settings{"patch": 9}, "do not fit over axis h=8"},
		{"unet", builders.Settings{"levels": 4}, "4 levels: want height and width to be multiples of 16"},
		{"unet", builders.Settings{"levels": 99}, "99 levels: want 0 to 16"},
		{"ode-net", builders.Settings{"steps": 1e9}, "steps = 1000000000: want at most 1000"},
		{"norm-group", builders.Settings{"groups": 3}, "channels c=8 do not divide into 3 groups"},
		{"standardise", builders.Settings{"of": 3, "patch": 4}, "patches of size 4: want an odd number of at least 1"},
	})
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
				for _, z := range b.Sizes {
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
				feed := filled(m.Graph, rng)
				for _, n := range m.Graph.Leaves(graph.RoleState) {
					feed[n] = graph.NewValue(n.Type()) // no variance, the hardest case
				}
				for in, v := range m.Examples(rng) {
					feed[in] = v
				}
				if loss := values(t, feed, m.Loss)[0].Data[0]; math.IsNaN(loss) || math.IsInf(loss, 0) {
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
		"Conv":          builders.NewConv2D(g, "conv", graph.F32, c, c, builders.Window{Size: 3}).Of,
		"WeightedPool":  builders.NewWeightedPool(g, "pool", graph.F32, c, 2).Of,
		"BatchNorm":     builders.NewBatchNorm(g, "norm", graph.F32, c).Of,
		"InputNorm":     builders.NewInputNorm(g, "input", graph.F32, c).Of,
		"GroupNorm":     builders.GroupNorm{}.Of,
		"InstanceNorm":  builders.InstanceNorm{}.Of,
		"RMSNorm":       builders.RMSNorm{}.Of,
		"PickOne":       func(x *graph.Node) *graph.Node { return builders.PickOne(x, 2) },
		"GlobalAverage": builders.GlobalAverage,
		"CentreImage":   builders.CentreImage,
		"CentrePatch":   func(x *graph.Node) *graph.Node { return builders.CentrePatch(x, 3) },
		"CentreRange":   func(x *graph.Node) *graph.Node { return builders.CentreRange(x, 0, 1) },
		"weights":       builders.StandardiseWeights,
		"Euler":         func(x *graph.Node) *graph.Node { return builders.Euler(x, nil, decay{}) },
	} {
		if y := f(nil); y.IsValid() || y.Graph().Err() == nil {
			t.Errorf("%s of nil: %v, no mistake", name, y)
		}
	}
	for name, f := range map[string]call{
		"Conv":            builders.Conv{Name: "a", Mirror: true}.Of,
		"ConvTransposed":  builders.ConvTransposed{}.Of,
		"ResNetBlock":     builders.ResNetBlock{}.Of,
		"ConvNeXtBlock":   builders.ConvNeXtBlock{}.Of,
		"ConvNeXt":        builders.ConvNeXt{}.Of,
		"ResNet":          builders.ResNet{}.Of,
		"UNet":            builders.UNet{Down: []builders.Conv{{}}}.Of,
		"TextCNN":         builders.TextCNN{Filters: []builders.Conv{{}}}.Of,
		"TextCNN, empty":  builders.TextCNN{}.Of,
		"Field":           builders.Field{}.Of,
		"Euler":           func(x *graph.Node) *graph.Node { return builders.Euler(x, x, nil) },
		"BatchNorm":       builders.BatchNorm{}.Of,
		"BatchNorm train": func(x *graph.Node) *graph.Node { return trained(builders.BatchNorm{}.OfTrain(x)) },
		"InputNorm":       builders.InputNorm{}.Of,
		"CentreRange":     func(x *graph.Node) *graph.Node { return builders.CentreRange(x, 1, 1) },
		"GroupNorm":       builders.GroupNorm{}.Of,
		"StandardisePatch": func(x *graph.Node) *graph.Node {
			return builders.StandardisePatch(x, 2)
		},
	} {
		g := graph.New(name)
		if f(image(g, 2, 4, 4, 2)); g.Err() == nil {
			t.Errorf("%s without parameters: no mistake", name)
		}
	}
}

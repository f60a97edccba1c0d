package builders_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
)

// photo is an image[h w c] in loops.
type photo struct {
	h, w, c int
	at      []float64
}

// convolved is the convolution with a kernel[k k c o], padded by k/2.
func (p photo) convolved(kernel graph.Value, stride int) photo {
	k, o := kernel.Type.Shape.Dim(0), kernel.Type.Shape.Dim(3)
	out := photo{h: (p.h-1)/stride + 1, w: (p.w-1)/stride + 1, c: o}
	for q := range out.h * out.w * o {
		sum := 0.0
		for t := range k * k * p.c {
			i, j := q/(out.w*o)*stride+t/(k*p.c)-k/2, q/o%out.w*stride+t/p.c%k-k/2
			if i >= 0 && i < p.h && j >= 0 && j < p.w {
				sum += p.at[(i*p.w+j)*p.c+t%p.c] * kernel.Data[t*o+q%o]
			}
		}
		out.at = append(out.at, sum)
	}
	return out
}

// normed is batch norm by running statistics.
func (p photo) normed(l nn.BatchNorm, feed graph.Values) photo {
	out := p
	out.at = nil
	for q, v := range p.at {
		c := q % p.c
		out.at = append(out.at, (v-feed[l.Mean].Data[c])/math.Sqrt(feed[l.Var].Data[c]+1e-5)*feed[l.Gain].Data[c]+feed[l.Bias].Data[c])
	}
	return out
}

// relu is max(0, p + q), where q may be empty.
func (p photo) relu(q ...float64) photo {
	out := p
	out.at = slices.Clone(p.at)
	for i := range out.at {
		if len(q) > 0 {
			out.at[i] += q[i]
		}
		out.at[i] = max(0, out.at[i])
	}
	return out
}

// TestBottleneck against loops: 1×1 to a quarter of the channels, 3×3 with the stride, 1×1 back, and
// the shortcut; and it has the parameters of these alone.
func TestBottleneck(t *testing.T) {
	for _, stride := range []int{1, 2} {
		g := graph.New("block")
		out := 8
		x := layertest.Image(g, 1, 5, 4, 8)
		if stride == 2 {
			out = 16
		}
		b := builders.NewBottleneck(g, "block", graph.F64, graph.Ax("c", 8), graph.Ax("c", out), stride)
		rng := rand.New(rand.NewPCG(2, 1))
		feed := layertest.Filled(g, rng)
		for _, n := range g.Leaves(graph.RoleState) { // variances are positive
			feed[n] = layertest.Computed(n.Type(), func(int) float64 { return 0.5 + rng.Float64() })
		}
		image := photo{5, 4, 8, feed[x].Data}
		f := image.convolved(feed[b.Conv1.W], 1).normed(b.Norm1, feed).relu()
		f = f.convolved(feed[b.Conv2.W], stride).normed(b.Norm2, feed).relu()
		f = f.convolved(feed[b.Conv3.W], 1).normed(*b.Norm3, feed)
		skip := image.at
		if b.Expand != nil {
			skip = image.convolved(feed[b.Expand.W], stride).at
		}
		layertest.Same(t, fmt.Sprintf("stride %d", stride), layertest.Values(t, feed, b.Of(x))[0].Data, f.relu(skip...).at)
		if (b.Expand != nil) != (stride == 2) {
			t.Errorf("stride %d: shortcut %v", stride, b.Expand)
		}
	}
	weights := func(s builders.Settings) (n int) {
		s["channels"], s["depth"] = 64, 1
		for _, p := range layertest.Build(t, "resnet", s).Graph.Leaves(graph.RoleParam) {
			if p.Rank() == 4 && p.Path() != "stem/w" {
				n += p.Shape().Len()
			}
		}
		return n
	}
	if basic, bottleneck := weights(builders.Settings{}), weights(builders.Settings{"block": layertest.Choice(t, "resnet", "block", "bottleneck")}); basic != 2*9*64*64 || bottleneck != 2*64*16+9*16*16 {
		t.Errorf("%d weights in a basic block and %d in a bottleneck, want %d and %d", basic, bottleneck, 2*9*64*64, 2*64*16+9*16*16)
	}
}

// TestChannelsGrowAsMapsCoarsen: from stage to stage of a residual net height and width halve and
// the channels double, which the shortcuts follow; a plain net has none.
func TestChannelsGrowAsMapsCoarsen(t *testing.T) {
	for _, name := range []string{"resnet", "resnet-plain"} {
		m := layertest.Build(t, name, builders.Settings{"stages": 3, "depth": 2, "channels": 4, "n": 2})
		for i, want := range [][]int{{2, 8, 8, 4}, {2, 8, 8, 4}, {2, 4, 4, 8}, {2, 4, 4, 8}, {2, 2, 2, 16}, {2, 2, 2, 16}} {
			block := fmt.Sprintf("block%d", i+1)
			of := slices.IndexFunc(m.Graph.Nodes(), func(n *graph.Node) bool { return n.First().Scope == block && n.First().Name == "y" })
			if of < 0 {
				t.Fatalf("%s has no %s", name, block)
			}
			if got := m.Graph.Nodes()[of].Shape().Sizes(); !slices.Equal(got, want) {
				t.Errorf("%s: %s has size %v, want %v", name, block, got, want)
			}
			if expands, changes := m.Graph.Lookup(block+"/expand/w") != nil, name == "resnet" && i > 0 && i%2 == 0; expands != changes {
				t.Errorf("%s: %s has a convolution on its shortcut: %v, want %v", name, block, expands, changes)
			}
		}
	}
}

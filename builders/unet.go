package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// UNet goes from fine to coarse and back. On the way back, the features of each level on the way
// there are concatenated with those from the level below (Ronneberger et al., 2015; the notes on
// the models for attention). It returns scores for every pixel.
type UNet struct {
	Name   string
	Down   []nn.Conv           // of each level, the finest first
	Bottom nn.Conv             // below the coarsest
	Up     []nn.ConvTransposed // Up[i] leads to level i
	Merge  []nn.Conv           // of both halves, at each level
	Head   nn.Conv             // of 1×1, to the scores
}

// maxLevels keeps the channels of the lowest level countable.
const maxLevels = 16

// NewUNet adds the parameters of a net from images with channels in to scores out. The finest level
// has the given number of channels, each coarser one twice as many.
func NewUNet(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, channels, levels int) UNet {
	defer g.Scope(name)()
	u := UNet{Name: name}
	if levels < 0 || levels > maxLevels {
		g.Fail("NewUNet", fmt.Errorf("%d levels: want 0 to %d", levels, maxLevels))
		return u
	}
	w := ops.Windows(ops.Size(3), ops.Padding(1))
	width := func(level int) graph.Axis { return graph.Ax("c", channels<<level) }
	for i := range levels {
		u.Down = append(u.Down, nn.NewConv2D(g, build.Numbered("down", i), dt, in, width(i), w))
		in = width(i)
	}
	u.Bottom = nn.NewConv2D(g, "bottom", dt, in, width(levels), w)
	for i := range levels {
		u.Up = append(u.Up, nn.NewConvTransposed2D(g, build.Numbered("up", i), dt, width(i+1), width(i), ops.Size(2), ops.Stride(2)))
		u.Merge = append(u.Merge, nn.NewConv2D(g, build.Numbered("merge", i), dt, width(i+1), width(i), w))
	}
	u.Head = nn.NewConv2D(g, "head", dt, width(0), out, ops.Size(1))
	return u
}

// Of returns the scores[n h w k] of x[n h w c]. Height and width must be multiples of 2 for every
// level.
func (u UNet) Of(x *graph.Node) *graph.Node {
	defer build.Within(u.Name, x, u.Bottom.W)()
	if x.IsValid() && x.Rank() == 4 {
		if f := 1 << len(u.Down); x.Dim(1)%f != 0 || x.Dim(2)%f != 0 {
			return graph.Of(x).Fail("UNet", fmt.Errorf("%d levels: want height and width to be multiples of %d", len(u.Down), f), x)
		}
	}
	skips := make([]*graph.Node, len(u.Down))
	for i, l := range u.Down {
		skips[i] = ops.ReLU(l.Of(x)).As(build.Indexed("s", i))
		x = ops.MaxPool2D(skips[i], ops.Size(2))
	}
	x = ops.ReLU(u.Bottom.Of(x)).As(build.Indexed("y", len(u.Down)))
	for i := len(u.Up) - 1; i >= 0; i-- {
		up := u.Up[i].Of(x).As(build.Indexed("u", i))
		x = ops.ReLU(u.Merge[i].Of(ops.Concat(-1, skips[i], up))).As(build.Indexed("y", i))
	}
	return u.Head.Of(x)
}

package parity

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestSignals(t *testing.T) {
	spectrum := func(re, im *graph.Node) []*graph.Node {
		return []*graph.Node{re, im, ops.Add(ops.Square(re), ops.Mul(re, im))}
	}
	compare(t, "signals", family{
		"FFT":  func(c *call) []*graph.Node { return spectrum(ops.FFT(c.x("re"), c.x("im"), c.int("axis"))) },
		"IFFT": func(c *call) []*graph.Node { return spectrum(ops.IFFT(c.x("re"), c.x("im"), c.int("axis"))) },
		"RFFT": func(c *call) []*graph.Node { return spectrum(ops.RFFT(c.x("x"), c.int("axis"))) },
		"IRFFT": func(c *call) []*graph.Node {
			return one(ops.Square(ops.IRFFT(c.x("re"), c.x("im"), c.int("n"), c.int("axis"))))
		},
		"CTC": func(c *call) []*graph.Node {
			z := ops.LogSoftmax(c.x("z"), -1)
			return one(nn.CTC(z, c.x("labels"), c.x("lengths"), c.x("target"), c.int("blank")))
		},
		"Upsample": func(c *call) []*graph.Node {
			u := nn.Upsampling{Linear: c.bool("linear"), AlignCorners: c.bool("align")}
			if c.has("factors") {
				u.Factors = c.ints("factors")
			} else {
				u.Sizes = c.ints("sizes")
			}
			return one(ops.Square(nn.Upsample(c.x("x"), u)))
		},
	})
}

package ref_test

import "github.com/tapestry-ml/tapestry/nn"

func init() {
	models["cross_entropy_smoothing_0"] = (*builder).crossEntropy
	models["cross_entropy_smoothing_0.1"] = (*builder).crossEntropy
}

func (b *builder) crossEntropy() outputs {
	ε := b.g.Scalar("ε", b.number("smoothing", 0), b.dt)
	return outputs{"loss": nn.CrossEntropy(b.array("x"), b.ints("labels"), nn.Smoothed(ε))}
}

package ref_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

type node = *graph.Node

// models build the cases by name.
var models = map[string]func(b *builder) outputs{
	"kmeans_softmax": func(b *builder) outputs {
		D, α, _ := b.kmeans()
		return outputs{"D": D, "alpha": α, "loss": ops.Mean(ops.Sum(ops.Mul(α, D), "j"), "i")}
	},
	"kmeans_goofy": func(b *builder) outputs {
		_, α, r := b.kmeans()
		centre := ops.MatMul(α, r)
		return outputs{"alpha": α, "rhat": centre, "loss": ops.Mean(ops.Sum(ops.Square(ops.Sub(centre, b.array("x"))), "d"), "i")}
	},
	"kmeans_hard": func(b *builder) outputs {
		D, _, _ := b.kmeans()
		return outputs{"assign": ops.ArgMin(D, "j"), "loss": ops.Mean(ops.Min(D, "j"), "i")}
	},
	"second_order": func(b *builder) outputs {
		w := b.array("w")
		g := grad.Of(ops.Sum(ops.Square(ops.Tanh(ops.MatMul(w, w)))), w)[0]
		return outputs{"g": g, "loss": ops.Sum(ops.Mul(g, g))}
	},

	"conv2d":              (*builder).convolution,
	"conv2d_stride2_pad1": (*builder).convolution,
	"conv2d_dilated":      (*builder).convolution,
	"conv2d_depthwise":    (*builder).convolution,
	"conv1d_narrow":       (*builder).convolution,
	"conv1d_wide":         (*builder).convolution,
	"maxpool2d": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.MaxPool2D(x, ops.Size(2)) })
	},
	"maxpool2d_overlap": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.MaxPool2D(x, ops.Size(3), ops.Stride(2), ops.Padding(1)) })
	},
	"avgpool2d": func(b *builder) outputs {
		return b.pooled(func(x node) node { return ops.AvgPool2D(x, ops.Size(2)) })
	},

	"batch_norm_train": (*builder).batchNormTrain,
	"instance_norm":    (*builder).instanceNorm,
	"group_norm":       (*builder).groupNorm,
	"layer_norm": func(b *builder) outputs {
		return b.weighted(nn.LayerNorm{Gain: b.array("gamma"), Bias: b.array("beta")}.Of(b.array("x")))
	},

	"gelu_erf":    func(b *builder) outputs { return b.weighted(ops.GELU(b.array("x"))) },
	"gelu_tanh":   func(b *builder) outputs { return b.weighted(ops.GELUTanh(b.array("x"))) },
	"silu":        func(b *builder) outputs { return b.weighted(ops.SiLU(b.array("x"))) },
	"softplus":    func(b *builder) outputs { return b.weighted(ops.Softplus(b.array("x"))) },
	"logsumexp":   func(b *builder) outputs { return b.weighted(ops.LogSumExp(b.array("x"), 1)) },
	"log_softmax": func(b *builder) outputs { return b.weighted(ops.LogSoftmax(b.array("x"), 1)) },
	"elu":         func(b *builder) outputs { return b.weighted(ops.ELU(b.array("x"))) },
	"cumsum":      func(b *builder) outputs { return b.weighted(ops.CumSum(b.array("x"), 1)) },
	"prod":        func(b *builder) outputs { return b.weighted(ops.Prod(b.array("x"), 1)) },
	"var":         func(b *builder) outputs { return b.weighted(ops.Var(b.array("x"), 1)) },
	"norm":        func(b *builder) outputs { return b.weighted(ops.Norm(b.array("x"), 1)) },
}

// weighted is the case of one output.
func (b *builder) weighted(y node) outputs { return outputs{"y": y, "loss": b.wsum(y)} }

// kmeans is D_ij = ‖x_i − r_j‖², α = softmax_j(−γ D), and the centres.
func (b *builder) kmeans() (D, α, r node) {
	x := b.array("x", "i", "d")
	r = b.array("r", "j", "d")
	D = ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D")
	γ := b.g.Scalar("γ", b.number("gamma", 0), b.dt)
	return D, ops.Softmax(ops.Neg(ops.Mul(γ, D)), "j").As("α"), r
}

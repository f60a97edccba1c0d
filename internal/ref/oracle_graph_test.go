package ref_test

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
)

func init() {
	models["gcn"] = func(b *builder) outputs {
		l := graphnet.GCN{Linear: nn.Linear{W: b.array("w")}}
		return b.weighted(ops.ReLU(l.Of(b.array("x"), b.adjacency())))
	}
	models["gat"] = func(b *builder) outputs {
		l := graphnet.GATHead{W: b.array("w"), Me: b.array("a1"), Them: b.array("a2")}
		α, y := l.Of(b.array("x"), b.adjacency())
		y = ops.ELU(y)
		return outputs{"alpha": α, "y": y, "loss": b.wsum(y)}
	}
}

func (b *builder) adjacency() graphnet.Adjacency {
	var rows [][]float64
	b.attr("adjacency", &rows)
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return graphnet.Adjacency{A: b.g.Constant(b.dt, flat, graph.Dims(len(rows), len(rows))...)}
}

package grad

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/derive"
	"github.com/tapestry-ml/tapestry/ops"
)

func init() { derive.Back, derive.Forward = back, JVP }

// back makes one sweep from several roots, each with a given derivative, as the rule of a loop
// wants for the loop's body. ℓ is the loss that is differentiated outside of the body.
func back(outs, seeds, wrt []*graph.Node) []*graph.Node {
	r := newReverse(outs, wrt)
	r.label = "ℓ"
	for k, y := range outs {
		r.seed(y, seeds[k])
	}
	r.run()
	out := make([]*graph.Node, len(wrt))
	for i, w := range wrt {
		if out[i] = r.adjoint[w.ID()]; out[i] == nil {
			out[i] = ops.BroadcastTo(ops.Lit(w, 0), w.Shape())
		}
	}
	return out
}

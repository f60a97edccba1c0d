package tapestry

// The packages of the tour, so that go get of this one records in go.mod and go.sum what a
// program over any of them needs.
import (
	_ "github.com/tapestry-ml/tapestry/builders"
	_ "github.com/tapestry-ml/tapestry/check"
	_ "github.com/tapestry-ml/tapestry/fit"
	_ "github.com/tapestry-ml/tapestry/graph"
	_ "github.com/tapestry-ml/tapestry/graph/expr"
	_ "github.com/tapestry-ml/tapestry/graph/grad"
	_ "github.com/tapestry-ml/tapestry/graph/rewrite"
	_ "github.com/tapestry-ml/tapestry/graph/trait"
	_ "github.com/tapestry-ml/tapestry/graph/vmap"
	_ "github.com/tapestry-ml/tapestry/infer"
	_ "github.com/tapestry-ml/tapestry/inspect"
	_ "github.com/tapestry-ml/tapestry/lab"
	_ "github.com/tapestry-ml/tapestry/nn"
	_ "github.com/tapestry-ml/tapestry/nn/attention"
	_ "github.com/tapestry-ml/tapestry/nn/augment"
	_ "github.com/tapestry-ml/tapestry/nn/graphnet"
	_ "github.com/tapestry-ml/tapestry/nn/rnn"
	_ "github.com/tapestry-ml/tapestry/notation"
	_ "github.com/tapestry-ml/tapestry/ops"
	_ "github.com/tapestry-ml/tapestry/tape"
	_ "github.com/tapestry-ml/tapestry/train"
	_ "github.com/tapestry-ml/tapestry/train/checkpoint"
	_ "github.com/tapestry-ml/tapestry/train/data"
	_ "github.com/tapestry-ml/tapestry/train/metric"
	_ "github.com/tapestry-ml/tapestry/train/watch"
	_ "github.com/tapestry-ml/tapestry/viz"
	_ "github.com/tapestry-ml/tapestry/viz/chart"
	_ "github.com/tapestry-ml/tapestry/viz/report"
)

package importer

import "github.com/tapestry-ml/tapestry/ops"

// products has matrix products and convolutions.
var products = map[string]rule{
	"MatMul": binary(ops.MatMul),
}

package importer

import "maps"

// table has a rule for each operator of the standard domain.
var table = func() map[string]rule {
	t := map[string]rule{}
	for _, part := range []map[string]rule{elementwise, layout, products} {
		maps.Copy(t, part)
	}
	return t
}()

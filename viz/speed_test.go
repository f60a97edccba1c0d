package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// A transformer of twelve layers with its derivatives: drawn as it is by default, with
// its modules closed, and with every one of its 3 300 operations.
func BenchmarkTransformer(b *testing.B) {
	roots, _ := trained(b, "transformer-seq2seq", builders.Settings{"layers": 12})
	for name, opts := range map[string][]Option{
		"default": {At(Ops)},
		"closed":  {At(Ops), CollapseAbove(0)},
		"open":    {At(Ops), CollapseAbove(-1), Unfolded()},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := Draw(roots, opts...)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Sheet(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

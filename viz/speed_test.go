package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
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

// Two models of twelve layers with their derivatives, compared: a transformer with itself, with one
// of other sizes, and with one of another family.
func BenchmarkDiff(b *testing.B) {
	gpt, _ := trained(b, "transformer-gpt", builders.Settings{"layers": 12})
	wider, _ := trained(b, "transformer-gpt", builders.Settings{"layers": 12, "f": 32, "norm": 1})
	encoder, _ := trained(b, "transformer-encoder", builders.Settings{"layers": 12})
	for _, c := range []struct {
		name  string
		other []*graph.Node
	}{{"itself", gpt}, {"post-norm", wider}, {"encoder", encoder}} {
		for _, level := range []Level{Notes, Primitive} {
			b.Run(c.name+"/"+level.String(), func(b *testing.B) {
				for b.Loop() {
					if _, err := Diff(gpt, c.other, At(level)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

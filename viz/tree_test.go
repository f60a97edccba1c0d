package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

func TestTree(t *testing.T) {
	var b strings.Builder
	for _, o := range []*objective{soft(t), goofy(t)} {
		for _, n := range o.roots() {
			s, err := Tree(n)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(s + "\n")
		}
	}
	golden(t, "tree.txt", b.String())
	if _, err := Tree(nil); err == nil {
		t.Error("no error for nil")
	}
	if s, err := Tree(graph.New("leaf").Scalar("η", 0.1)); err != nil || s != "η = 0.1  f32[]\n" {
		t.Errorf("got %q, %v", s, err)
	}
}

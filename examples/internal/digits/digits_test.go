package digits

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// TestClasses: what reads a checkpoint finds the names of the digits, in the order of the
// labels.
func TestClasses(t *testing.T) {
	names, err := infer.Classes(&checkpoint.State{Meta: Classes()})
	if err != nil || strings.Join(names, "") != "0123456789" {
		t.Errorf("classes %q, %v", names, err)
	}
	fit, _, err := Split()
	if err != nil {
		t.Fatal(err)
	}
	if labels := fit.Column("y").Data().([]int32); int(slices.Max(labels)) != len(names)-1 || slices.Min(labels) != 0 {
		t.Errorf("labels from %d to %d for %d classes", slices.Min(labels), slices.Max(labels), len(names))
	}
}

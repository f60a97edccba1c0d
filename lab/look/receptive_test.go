package look_test

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// normalisation makes every place depend on all.
func TestReceptive(t *testing.T) {
	f, err := fresh(t, "conv-2d", builders.Settings{"size": 16}).Receptive(t.Context())
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	want := nn.ReceptiveField(ops.Windows(ops.Size(3), ops.Same()), ops.Windows(ops.Size(3), ops.Same()))
	for i, l := range f.Layers {
		if l.Extent[0] != want[i].Size || l.Extent[1] != want[i].Size {
			t.Errorf("layer %d sees %v, want %d", i, l.Extent, want[i].Size)
		}
	}
	deep, err := fresh(t, "unet", builders.Settings{"size": 32}).Receptive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var extent []int
	for _, l := range deep.Layers[:5] {
		extent = append(extent, l.Extent[0])
	}
	if !slices.Equal(extent, []int{3, 4, 8, 10, 18}) {
		t.Errorf("convolutions and pooling see %v", extent)
	}
	normed, err := fresh(t, "resnet", builders.Settings{"size": 16}).Receptive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last := normed.Layers[2]; last.Extent[0] != 16 {
		t.Errorf("after batch normalisation a unit sees %v", last.Extent)
	}
	text, err := fresh(t, "conv-text", nil).Receptive(t.Context())
	if err != nil || text == nil || len(text.Size) != 1 || text.Layers[0].Extent[0] != 2 {
		t.Errorf("of words: %+v, %v", text, err)
	}
	if none, err := fresh(t, "init", nil).Receptive(t.Context()); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

// TestSpectrum: a cycle has the eigenvalues 1 − cos(2πk/n), the layers of Kipf and Welling commute with

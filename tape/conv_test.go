package tape_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestConvolutionsImageByImage: the convolutions of a step and their gradients run in two groups,
// an image at a time, whatever stands between them in the graph: copies of weights, and products
// that want more rows. The number of workers changes no bit.
func TestConvolutionsImageByImage(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	w, err := workload.Build("conv", graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Compile()
	if err != nil {
		t.Fatal(err)
	}
	in := map[int][]string{}
	for _, r := range p.Rows() {
		if strings.HasPrefix(r.Op, "Conv") || strings.HasPrefix(r.Op, "MaxUnpool") {
			in[r.Stage] = append(in[r.Stage], r.Op)
		}
	}
	var groups []string
	for i, s := range p.Stages() {
		if ops := in[i]; ops != nil {
			slices.Sort(ops)
			groups = append(groups, fmt.Sprintf("%d of %d rows: %v", s.Block, s.Rows, slices.Compact(ops)))
		}
	}
	if want := []string{"1 of 32 rows: [Conv]", "1 of 32 rows: [ConvInput ConvKernel MaxUnpool]"}; !slices.Equal(groups, want) {
		t.Errorf("%q, want %q\n%v", groups, want, p)
	}
	var want []float64
	for _, workers := range []int{1, 2, 8} {
		store, err := w.Store()
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, p, store, tape.Workers(workers))
		run(t, vm, w.Feed)
		vm.Close()
		var got []float64
		for _, u := range w.Step {
			got = append(got, stored(t, store, u.Target.Path())...)
		}
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%d workers give other bits than one", workers)
		}
	}
}

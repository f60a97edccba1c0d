package tape_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/ops"
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

// TestConvInputReadsWeights: the derivative of a convolution by its input reads the weights where
// they are, without a copy that exchanges their axes, where it packs them or multiplies matrices;
// the values are those by the definition, with the same bits on any number of workers.
func TestConvInputReadsWeights(t *testing.T) {
	for _, c := range []struct {
		convCase
		copies int
	}{
		{convCase{"many channels", 2, 9, 300, 3, 40, 300, []ops.Window{ops.Same()}, 0, 0, 0}, 0},
		{convCase{"strides", 2, 11, 260, 3, 30, 260, []ops.Window{ops.Stride(2, 2), ops.Padding(1, 1)}, 0, 0, 0}, 0},
		{convCase{"pointwise", 2, 7, 40, 1, 50, 40, nil, 0, 0, 0}, 0},
		{convCase{"few channels", 2, 9, 20, 3, 30, 20, []ops.Window{ops.Same()}, 0, 0, 0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, _, wanted, values := c.build()
			p := compile(t, x.Graph(), tape.Fetch(wanted...))
			if n := instructions(p)["Copy"]; n != c.copies {
				t.Errorf("%d copies, want %d:\n%v", n, c.copies, p)
			}
			want, err := ref.Eval(trait.Env{}, values, wanted...)
			if err != nil {
				t.Fatal(err)
			}
			var first []float64
			for _, workers := range []int{1, 2} {
				vm := tapetest.VM(t, p, tape.NewStore(x.Graph()), tape.Workers(workers))
				run(t, vm, feedOf(values))
				got := value(t, vm, wanted[0])
				vm.Close()
				if first == nil {
					first = got
				} else if !slices.Equal(got, first) {
					t.Errorf("other bits on %d workers", workers)
				}
			}
			for e, v := range first {
				if truth := want[0].Data[e]; math.Abs(v-truth) > 1e-5*math.Sqrt(float64(c.out*c.window*c.window)) {
					t.Fatalf("element %d of the derivative is %v, want %v", e, v, truth)
				}
			}
		})
	}
}

package tape_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestSeveralSums: where rows too long for a block are made for a product over them, or for a sum
// or mean of them, for each of a batch, they are made block by block in the group of these, which
// adds them up to a result for each of the batch. The results are those of each instruction alone,
// and the same for any number of workers.
func TestSeveralSums(t *testing.T) {
	for _, c := range []struct{ batch, rows, cols, others int }{{3, 5000, 16, 5}, {40, 4099, 16, 16}, {7, 20_011, 9, 3}, {2, 300, 64, 33}} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			t.Run(fmt.Sprintf("%d of %d, %v", c.batch, c.rows, dt), func(t *testing.T) {
				g := graph.New("several")
				k, i, d, e := graph.Ax("k", c.batch), graph.Ax("i", c.rows), graph.Ax("d", c.cols), graph.Ax("e", c.others)
				u, v := g.Input("u", dt, i, d), g.Input("v", dt, k, graph.Ax("", 1), d)
				w := g.Input("w", dt, k, i, e)
				x := ops.Tanh(ops.Sub(u, v)) // [k i d]
				products := ops.MatMul(ops.Transpose(x, "k", "d", "i"), w)
				wanted := []*graph.Node{products, ops.Sum(ops.Square(x), "i"), ops.Mean(x, "i", ops.Keep)}
				feed := tape.Feed{}
				for _, in := range []*graph.Node{u, v, w} {
					value := graph.NewValue(in.Type())
					for n := range value.Data {
						value.Data[n] = float64(float32(math.Sin(float64(n * n % 1009))))
					}
					feed[in] = tape.Tensor(value)
				}
				p := compile(t, g, tape.Fetch(wanted...), tape.Debug(io.Discard))
				if text, want := p.String(), fmt.Sprintf("sums of %d rows each", c.rows); c.rows > 1000 && !strings.Contains(text, want) {
					t.Errorf("no group has %s:\n%s", want, text)
				}
				if c.rows > 20_000 && !strings.Contains(p.String(), "sums in 2 parts") {
					t.Errorf("few sums have one part each:\n%s", p)
				}
				alone := tapetest.VM(t, compile(t, g, tape.Fetch(wanted...), tape.Unfused()), tape.NewStore(g))
				run(t, alone, feed)
				root := math.Sqrt(float64(c.rows)) // by which rounding errors of a sum grow
				tol := 8 * root * map[graph.DType]float64{graph.F32: 0x1p-24, graph.F64: 0x1p-53}[dt]
				var bits [][]uint64
				for _, workers := range []int{1, 3} {
					vm := tapetest.VM(t, p, tape.NewStore(g), tape.Workers(workers))
					run(t, vm, feed)
					var all []uint64
					for _, n := range wanted {
						got, want := value(t, vm, n), value(t, alone, n)
						for j := range want {
							if !(math.Abs(got[j]-want[j]) <= tol*(math.Abs(want[j])+root)) {
								t.Fatalf("%d workers: element %d of %v is %v, want %v", workers, j, n, got[j], want[j])
							}
						}
						all = append(all, patterns(got)...)
					}
					bits = append(bits, all)
				}
				if !slices.Equal(bits[0], bits[1]) {
					t.Error("three workers make other bits than one")
				}
			})
		}
	}
}

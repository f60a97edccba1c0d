package tape

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestAlignedRows: a tile of turned rows has a multiple of lineRows of them, so that every column of
// the scratch begins with a cache line; but where rows are added up, the end of a block decides how
// sums are rounded, and stays where it is.
func TestAlignedRows(t *testing.T) {
	for _, sums := range []bool{false, true} {
		g, _, _, _, y := swept(50_001)
		fetched := []*graph.Node{y}
		if sums {
			fetched = append(fetched, ops.Sum(y, "i"))
		}
		p, err := Compile(g, Fetch(fetched...))
		if err != nil {
			t.Fatal(err)
		}
		turned := 0
		for i := range p.stages {
			s := &p.stages[i]
			if !slices.ContainsFunc(s.steps, func(st step) bool { return p.buffers[st.out.buf].turned }) {
				continue
			}
			turned++
			if len(s.sums) > 0 != sums {
				t.Fatalf("stage %d adds up %d sums: want some: %v", i, len(s.sums), sums)
			}
			for _, tl := range s.tilings {
				if aligned := tl.rows%lineRows == 0; !sums && !aligned {
					t.Errorf("stage %d has tiles of %d rows: want a multiple of %d", i, tl.rows, lineRows)
				}
			}
			if n := (s.rows + s.blocks() - 1) / s.blocks(); sums && s.block != n {
				t.Errorf("stage %d has blocks of %d rows: want %d, all about equal", i, s.block, n)
			}
		}
		if turned == 0 {
			t.Error("no stage has turned rows")
		}
	}
}

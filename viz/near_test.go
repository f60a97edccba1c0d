package viz

import (
	"cmp"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

func sheetNear(t *testing.T, roots []*graph.Node, places map[string]float64, opts ...Option) *figure.Sheet {
	t.Helper()
	s, err := draw(t, roots, opts...).Sheet(t.Context(), figure.Near(places))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inRows lists the ids of the nodes that both sheets have, by the rows of the first,
// from left to right.
func inRows(s, other *figure.Sheet) (rows [][]string) {
	has := map[string]bool{}
	for _, it := range other.Items {
		has[it.ID] = has[it.ID] || it.Kind == "node"
	}
	byRow := map[float64][]figure.Item{}
	var ys []float64
	for _, it := range s.Items {
		if it.Kind != "node" || !has[it.ID] {
			continue
		}
		y := it.Box.Y + it.Box.H
		if byRow[y] == nil {
			ys = append(ys, y)
		}
		byRow[y] = append(byRow[y], it)
	}
	slices.Sort(ys)
	for _, y := range ys {
		slices.SortFunc(byRow[y], func(a, b figure.Item) int { return cmp.Compare(a.Box.X, b.Box.X) })
		var ids []string
		for _, it := range byRow[y] {
			ids = append(ids, it.ID)
		}
		rows = append(rows, ids)
	}
	return rows
}

// What stays in a drawing while a module is opened keeps its order; the module is
// where its node was, and closing it gives the same drawing again.
func TestOpeningKeepsPlaces(t *testing.T) {
	gpt, _ := trained(t, "transformer-gpt", builders.Settings{"layers": 3})
	seq, _ := trained(t, "transformer-seq2seq", builders.Settings{"layers": 2})
	for _, c := range []struct {
		roots []*graph.Node
		open  []string // one after the other
	}{
		{gpt, []string{"decoder", "decoder/block1…3", "decoder/block1…3/self-attention", "output"}},
		{seq, []string{"decoder", "encoder", "decoder/block1…2/norm1", "cross-entropy"}},
		{deep(t, 4, 10), []string{"stage0…3", "stage0…3/block0…9"}},
	} {
		opts := []Option{At(Ops), CollapseAbove(0)}
		before := sheetNear(t, c.roots, nil, opts...)
		places := before.Places(nil)
		for _, path := range c.open {
			more := append(slices.Clone(opts), Expand(path))
			after := sheetNear(t, c.roots, places, more...)
			place := after.Places(places)
			rowBefore, placeBefore := map[string]int{}, map[string]int{}
			for r, row := range inRows(before, after) {
				for k, id := range row {
					rowBefore[id], placeBefore[id] = r, k
				}
			}
			for _, row := range inRows(after, before) {
				for i, a := range row {
					for _, b := range row[:i] {
						if rowBefore[a] == rowBefore[b] && placeBefore[a] < placeBefore[b] {
							t.Errorf("%s: %s was left of %s", path, a, b)
						}
					}
				}
			}
			closed := sheetNear(t, c.roots, place, opts...)
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(closed)
			if string(a) != string(b) {
				t.Errorf("%s: opening and closing it gives another drawing", path)
			}
			opts, before, places = more, after, place
		}
	}
}

// Modules have one id, open or closed.
func TestModulesKeepTheirIDs(t *testing.T) {
	roots, _ := trained(t, "transformer-gpt", builders.Settings{"layers": 3})
	id := func(kind, path string, backward bool, opts ...Option) string {
		for _, it := range sheetNear(t, roots, nil, append(opts, At(Ops), CollapseAbove(0))...).Items {
			if it.Kind == kind && it.Backward == backward && (it.Closed == path || kind == "module" && it.Module == path) {
				return it.ID
			}
		}
		t.Fatalf("no %s %s", kind, path)
		return ""
	}
	for _, backward := range []bool{false, true} {
		if a, b := id("node", "decoder", backward), id("module", "decoder", backward, Expand("decoder")); a != b {
			t.Errorf("closed %s, open %s", a, b)
		}
	}
}

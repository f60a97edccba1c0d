package figure

import (
	"context"
	"maps"
)

// Near keeps things where they were in an earlier drawing of the figure, in which other modules
// were open. What both drawings have keeps its order from left to right, and a module that is
// opened or closed stays where its node or box was. The places are those that [Sheet.Places]
// returned, horizontal positions by Item.ID. With an empty map, the drawing is a first one that
// later ones can be near to: closing what was opened gives the same bytes again.
func Near(places map[string]float64) Option {
	return func(o *options) { o.near = maps.Clone(places); o.steady = true }
}

// Places returns the horizontal positions of nodes and modules for [Near], for the next time that
// the figure is drawn. Positions in before are kept as they are: pass the places that s was drawn
// near to.
func (s *Sheet) Places(before map[string]float64) map[string]float64 {
	places := map[string]float64{}
	for _, it := range s.Items {
		if _, met := places[it.ID]; !met && (it.Kind == "node" || it.Kind == "module") {
			places[it.ID] = tenth(it.Box.X + it.Box.W/2)
		}
	}
	maps.Copy(places, before)
	return places
}

// steady orders the rows by the given places, as far as they are known, and computes positions
// that follow from the order alone.
func (s *scene) steady(ctx context.Context, places map[string]float64) error {
	if err := s.settleFresh(ctx); err != nil {
		return err
	}
	s.keyByPlace(places)
	s.sortRows()
	if err := s.settleFresh(ctx); err != nil {
		return err
	}
	s.keyByPlace(nil)
	s.sortRows()
	return nil
}

// settleFresh places the nodes by the order of their rows and nothing else. The runs of edges,
// which are not kept between drawings, go where they are pulled.
func (s *scene) settleFresh(ctx context.Context) error {
	all := s.inRow
	s.inRow = make([][]int, len(all))
	for i := range s.item {
		s.item[i].x = 0
	}
	for r, row := range all {
		x := 0.0
		for _, i := range row {
			it := &s.item[i]
			if it.run {
				continue
			}
			s.inRow[r] = append(s.inRow[r], i)
			x += it.half
			it.x = x
			x += it.half + s.nodeGap
		}
	}
	err := s.newPlacement().settle(ctx, 40)
	s.inRow = all
	return err
}

// keyByPlace orders boxes and items by their places. Those without a place are ordered by
// neighbours that have one, and by their present position among similar ones.
func (s *scene) keyByPlace(places map[string]float64) {
	known := make([]bool, len(s.box)) // the places of some of its direct contents
	itemPlace := func(i int) (float64, bool) {
		if s.item[i].node < 0 {
			return 0, false
		}
		x, ok := places[s.figure.Nodes[s.item[i].node].ID]
		return x, ok
	}
	boxPlace := func(b int) (float64, bool) {
		x, ok := places[ModuleID(s.box[b].path, s.box[b].backward)]
		return x, ok
	}
	for i := range s.item {
		if _, ok := itemPlace(i); ok {
			known[s.innermost(i)] = true
		}
	}
	for b := backwardColumn + 1; b < len(s.box); b++ {
		if _, ok := boxPlace(b); ok {
			known[s.box[b].parent] = true
		}
	}
	near := s.neighbours()
	for i := range s.item {
		it := &s.item[i]
		it.rank.key = it.x
		if x, ok := itemPlace(i); ok {
			it.rank.key = x
		} else if known[s.innermost(i)] {
			sum, n := 0.0, 0
			for _, list := range [...][]int{near[i].above, near[i].below} {
				for _, j := range list {
					if x, ok := itemPlace(j); ok {
						sum, n = sum+x, n+1
					}
				}
			}
			if n > 0 {
				it.rank.key = sum / float64(n)
			}
		}
	}
	for b := backwardColumn + 1; b < len(s.box); b++ {
		k := &s.box[b]
		k.rank.key = (k.left + k.right) / 2
		if x, ok := boxPlace(b); ok {
			k.rank.key = x
		}
	}
}

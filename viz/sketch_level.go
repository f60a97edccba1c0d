package viz

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// addLevels gives the signs of a net whose maps shrink and grow again their levels, one for each
// size: it is drawn as a U.
func (s *sketcher) addLevels(out *figure.Sketch) {
	axes := s.valleys()
	if len(axes) == 0 {
		return
	}
	size := map[*group]string{}
	area := map[string]int{}
	for _, g := range s.groups {
		if name, n := sizesAlong(g.last(), axes); name != "" {
			size[g], area[name] = name, n
		}
	}
	levels := slices.SortedFunc(maps.Keys(area), func(a, b string) int { return area[b] - area[a] })
	if len(levels) < 2 {
		return
	}
	for _, g := range s.groups { // what has no map is beside what it is computed from
		if size[g] != "" {
			continue
		}
		for _, x := range s.operands[g.members[0]] {
			if h := s.member[x]; h != nil && size[h] != "" {
				size[g] = size[h]
				break
			}
		}
	}
	for _, g := range slices.Backward(s.groups) { // and leaves beside what they are for
		if g.last().NumIn() > 0 && size[g] != "" {
			continue
		}
		for _, u := range s.users[g.last()] {
			if h := s.member[u]; h != nil && h != g && size[h] != "" {
				size[g] = size[h]
				break
			}
		}
	}
	at := map[string]int{}
	for _, g := range s.groups {
		at[g.id] = max(0, slices.Index(levels, size[g]))
	}
	for i := range out.Signs {
		id, _, _ := strings.Cut(out.Signs[i].ID, "_")
		out.Signs[i].Level = at[id]
	}
	out.Levels = levels
}

// sizesAlong returns the sizes of an array along axes, 8×8, and their product.
func sizesAlong(n *graph.Node, axes []string) (name string, area int) {
	area = 1
	var sizes []string
	for _, axis := range axes {
		a, ok := axisOf(n, axis)
		if !ok || a.Size == 1 {
			return "", 0
		}
		sizes, area = append(sizes, strconv.Itoa(a.Size)), area*a.Size
	}
	return strings.Join(sizes, "×"), area
}

// valleys lists the axes along which arrays become smaller, and later as large as before.
func (s *sketcher) valleys() (out []string) {
	first, last, low := map[string]int{}, map[string]int{}, map[string]int{}
	var names []string
	for _, g := range s.groups {
		if g.last().NumIn() == 0 || g.closed != "" {
			continue
		}
		for _, a := range g.last().Shape().Axes() {
			if a.Name == "" || a.Size == 1 {
				continue
			}
			if first[a.Name] == 0 {
				names = append(names, a.Name)
				first[a.Name], low[a.Name] = a.Size, a.Size
			}
			low[a.Name] = min(low[a.Name], a.Size)
			last[a.Name] = a.Size
		}
	}
	for _, name := range names {
		if low[name] < first[name] && last[name] == first[name] {
			out = append(out, name)
		}
	}
	return out
}

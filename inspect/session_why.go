package inspect

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
)

// Record records the user's graph, as it is written, in the present training step.
func (s *Session) Record(ctx context.Context) (*Record, error) {
	if err := s.whole(); err != nil {
		return nil, err
	}
	feed, err := s.now()
	if err != nil {
		return nil, err
	}
	_, written := s.roots()
	return Take(ctx, feed, s.store, written...)
}

// ParseElement reads an element of a quantity of the user's graph, with an index for each axis:
// loss, α[5,1], alpha[5,1] or ∂loss/∂r[0,2]. It returns the position in row-major order. Of several
// quantities of one name it takes the first.
func (s *Session) ParseElement(text string) (n *graph.Node, at int, err error) {
	if err := s.whole(); err != nil {
		return nil, 0, err
	}
	name, inside := strings.TrimSpace(text), ""
	if open := strings.LastIndexByte(name, '['); open >= 0 && strings.HasSuffix(name, "]") {
		name, inside = strings.TrimSpace(name[:open]), name[open+1:len(name)-1]
	}
	for _, spelt := range []string{name, greek.Symbol(name)} {
		for _, x := range s.written.nodes {
			if n == nil && goesBy(x, spelt) {
				n = x
			}
		}
	}
	if n == nil {
		return nil, 0, fmt.Errorf("inspect: element %q: the model has no quantity %q", text, name)
	}
	var index []string
	if strings.TrimSpace(inside) != "" {
		index = strings.Split(inside, ",")
	}
	if len(index) != n.Rank() {
		return nil, 0, fmt.Errorf("inspect: element %q: %s is %v: want %d indices", text, nameOf(n), n.Shape(), n.Rank())
	}
	for a, word := range index {
		i, err := strconv.Atoi(strings.TrimSpace(word))
		if size := n.Shape().Dim(a); err != nil || i < 0 || i >= size {
			return nil, 0, fmt.Errorf("inspect: element %q: want an index from 0 to %d along axis %d of %s, not %q", text, size-1, a, nameOf(n), word)
		}
		at = at*n.Shape().Dim(a) + i
	}
	return n, at, nil
}

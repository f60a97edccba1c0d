package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// vectors are the words' as centre, v[w m].
type vectors struct {
	words *text.Vocabulary
	v     [][]float64
}

// newVectors reads them from a store.
func newVectors(words *text.Vocabulary, store *tape.Store) (*vectors, error) {
	table, err := store.Get("v")
	if err != nil {
		return nil, err
	}
	flat := table.Float32s()
	t := &vectors{words, make([][]float64, words.Len())}
	for w := range t.v {
		for _, x := range flat[w*dimensions : (w+1)*dimensions] {
			t.v[w] = append(t.v[w], float64(x))
		}
	}
	return t, nil
}

// cosine of the angle between the vectors of two words.
func (t *vectors) cosine(a, b int) float64 {
	var ab, aa, bb float64
	for m, x := range t.v[a] {
		y := t.v[b][m]
		ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
	}
	return ab / math.Sqrt(aa*bb)
}

// nearest lists the n words whose vectors are nearest to that of a word by angle.
func (t *vectors) nearest(word string, n int) (string, error) {
	w, ok := t.words.Code(word)
	if !ok {
		return "", fmt.Errorf("%q is not among the %d words", word, t.words.Len())
	}
	var others []int
	for o := range t.v {
		if o != w {
			others = append(others, o)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(t.cosine(w, b), t.cosine(w, a)) })
	var list []string
	for _, o := range others[:min(n, len(others))] {
		list = append(list, t.words.Tokens()[o])
	}
	return strings.Join(list, ", "), nil
}

// plane gives the places of the n most frequent words on their first two principal
// components, and which part of their variance these show.
func (t *vectors) plane(n int) (places [][2]float64, shown float64, err error) {
	table := &data.Table{Name: "vectors", Columns: make([]string, dimensions)}
	for _, v := range t.v[:min(n, len(t.v))] {
		table.X = append(table.X, v...)
	}
	p, err := linear.NewPCA(table)
	if err != nil {
		return nil, 0, err
	}
	scores, err := p.Scores(table, 2)
	if err != nil {
		return nil, 0, err
	}
	for i := range table.Rows() {
		places = append(places, [2]float64{scores[2*i], scores[2*i+1]})
	}
	return places, 1 - p.Residual(2)/p.Residual(0), nil
}

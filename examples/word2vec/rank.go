package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

// rank is the mean rank of the right word o among all, the likeliest first; among equal ones it is
// the middle. It is a metric.Metric.
type rank struct{ sum, n float64 }

func (r *rank) Name() string   { return "rank" }
func (r *rank) Reset()         { *r = rank{} }
func (r *rank) Value() float64 { return r.sum / r.n }

// Add takes scores[n w] and the words o[n].
func (r *rank) Add(scores *tensor.Dense, b data.Batch) error {
	flat, words := scores.Float32s(), scores.Shape()[1]
	for i, o := range b.Values["o"].Int32s() {
		r.sum += place(flat[i*words:(i+1)*words], int(o))
		r.n++
	}
	return nil
}

// place is that of element o in falling order, from 1.
func place[F float32 | float64](scores []F, o int) float64 {
	better, equal := 0, 0
	for _, s := range scores {
		if s > scores[o] {
			better++
		} else if s == scores[o] {
			equal++
		}
	}
	return float64(better) + float64(equal+1)/2
}

// unigram returns the rank from knowing only how often words occur.
func unigram(words *text.Vocabulary, o []int32) moment {
	var counts []float64
	total := 0.0
	for _, n := range words.Counts() {
		counts = append(counts, float64(n))
		total += float64(n)
	}
	var m moment
	for _, w := range o {
		m.rank += place(counts, int(w)) / float64(len(o))
		m.nats -= math.Log(counts[w]/total) / float64(len(o))
	}
	return m
}

package metric

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Nats is how surprising the labels are, in natural units: the mean of
// −log softmax(output) at the label, over all labels of all batches. The output holds
// logits, output[n c] against y[n] or output[n t c] against y[n t]; of a language model
// whose tokens are characters it is nats per character. Labels among the ignored do not
// count; another that is no class is an error. It is NaN where a logit is NaN or all
// are −Inf, and +Inf where that of a label is −Inf.
func Nats(labels string, ignored ...int64) Metric {
	return newSurprisal("nats", labels, ignored, func(mean float64) float64 { return mean })
}

// Bits is [Nats] in bits: divided by ln 2.
func Bits(labels string, ignored ...int64) Metric {
	return newSurprisal("bits", labels, ignored, func(mean float64) float64 { return mean / math.Ln2 })
}

// Perplexity is e to the power of [Nats]: among how many equally likely classes one would
// have to guess to be as surprised.
func Perplexity(labels string, ignored ...int64) Metric {
	return newSurprisal("perplexity", labels, ignored, math.Exp)
}

type surprisal struct {
	labelled
	name string
	of   func(mean float64) float64
	sum  float64
	n    int
	add  func(v floats, lo, hi int, y int64) error // made once, so that a batch allocates nothing
}

func newSurprisal(name, labels string, ignored []int64, of func(float64) float64) *surprisal {
	s := &surprisal{labelled: labelled{labels, ignored}, name: name, of: of}
	s.add = s.one
	return s
}

func (s *surprisal) Name() string   { return s.name }
func (s *surprisal) Reset()         { s.sum, s.n = 0, 0 }
func (s *surprisal) Value() float64 { return s.of(s.sum / float64(s.n)) }

func (s *surprisal) Add(output *tensor.Dense, b data.Batch) error {
	return s.each(s.name, output, b, s.add)
}

func (s *surprisal) one(v floats, lo, hi int, y int64) error {
	s.sum += v.surprise(lo, hi, int(y))
	s.n++
	return nil
}

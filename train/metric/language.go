package metric

import (
	"math"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Nats measures the cross-entropy of the labels in nats: the mean of −log softmax(output) at the
// label, over all labels of all batches. The output holds logits, output[n c] against labels[n] or
// output[n t c] against labels[n t]; the labels are integers in the named column. For a language
// model over characters these are nats per character. Labels that are among the ignored are
// skipped; any other that is outside [0, c) is an error of Add. It is NaN if a logit is NaN or all
// logits of a label are −Inf, and +Inf if the logit at a label is −Inf.
func Nats(labels string, ignored ...int64) Metric {
	return newSurprisal("nats", labels, ignored, func(mean float64) float64 { return mean })
}

// Bits is [Nats] in bits: it is divided by ln 2.
func Bits(labels string, ignored ...int64) Metric {
	return newSurprisal("bits", labels, ignored, func(mean float64) float64 { return mean / math.Ln2 })
}

// Perplexity is e to the power of [Nats]: the number of equally likely classes that has the same
// cross-entropy.
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

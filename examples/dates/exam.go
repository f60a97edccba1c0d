package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// exam is the result of a translator on pairs that were held out. A date is right if all of its ten
// characters are.
type exam struct {
	right, all       int
	rightNew, allNew int    // of these, dates that training does not have in any format
	mistake          string // the last one; "" for none
}

// examine has a translator write the dates of pairs.
func examine(ctx context.Context, t *train.Trainer, pairs []pair) (exam, error) {
	set, err := encoded(pairs)
	if err != nil {
		return exam{}, err
	}
	var e exam
	err = t.Predict(ctx, data.InOrder(set, 250), func(_ data.Batch, codes *tensor.Dense) error {
		dates, err := decoded(codes)
		for _, said := range dates {
			e.mark(pairs[e.all], said)
		}
		return err
	})
	return e, err
}

// mark counts one more date.
func (e *exam) mark(p pair, said string) {
	e.all++
	if !p.known {
		e.allNew++
	}
	switch {
	case said != p.iso:
		e.mistake = p.text + " → " + said
	case !p.known:
		e.rightNew++
		fallthrough
	default:
		e.right++
	}
}

// accuracy returns the share of right dates.
func (e exam) accuracy() float64 { return float64(e.right) / float64(e.all) }

// String gives 999 of 1000 right, 800 of 801 new dates; "march 3 09" → 2009-03-08.
func (e exam) String() string {
	s := fmt.Sprintf("%d of %d right, %d of %d new dates", e.right, e.all, e.rightNew, e.allNew)
	if e.mistake != "" {
		s += "; wrong: " + e.mistake
	}
	return s
}

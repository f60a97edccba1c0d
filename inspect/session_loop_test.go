package inspect_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/trait"
)

// TestEnter goes into every iteration of the loops of models, forward and backward: the values in
// the body are the rows of the loop's value.
func TestEnter(t *testing.T) {
	loops := 0
	for _, name := range []string{"rnn-elman", "rnn-lstm", "filter-iir"} {
		s := open(t, subject(t, name))
		if err := s.Train(ctx, 1); err != nil {
			t.Fatal(err)
		}
		for i, row := range s.Rows() {
			if row.Body == nil {
				continue
			}
			loops++
			ins, err := s.Instruction(ctx, i)
			if err != nil {
				t.Fatal(err)
			}
			l := row.Node.Op().(trait.Looped).Loop()
			parts := l.Parts(row.Node.Body())
			totals := make([][]float64, l.Sums)
			for k := range l.Steps {
				it, err := s.Enter(ctx, i, k)
				if err != nil {
					t.Fatal(err)
				}
				now, _, after := l.At(k)
				if it.Time != now || it.Number != k || it.Of != l.Steps || it.Len() != len(row.Body.Rows()) {
					t.Fatalf("%s: iteration %d is %+v", name, k, it)
				}
				for o, n := range row.Node.Body().Out() {
					at := now
					if o < l.Carries {
						at = after
					}
					v := it.Value(n)
					for e := range parts[o].Size {
						got := v.At(e)
						if o >= l.Carries+l.Outs {
							o := o - l.Carries - l.Outs
							if totals[o] == nil {
								totals[o] = make([]float64, parts[o+l.Carries+l.Outs].Size)
							}
							totals[o][e] += got
							continue
						}
						if want := ins.Result.Value.At(parts[o].At + at*parts[o].Size + e); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
							t.Fatalf("%s: instruction %d, iteration %d: element %d of result %d is %v, the loop has %v", name, i, k, e, o, got, want)
						}
					}
				}
				for j := range it.Len() {
					in, err := it.Instruction(j)
					if err != nil || in.Result.Value.Type != in.Row.Node.Type() || len(in.Operands) != len(in.Row.In) {
						t.Fatalf("%s: instruction %d of the body: %+v, %v", name, j, in, err)
					}
				}
				if _, err := it.Instruction(it.Len()); err == nil {
					t.Error("an instruction behind the end of the body")
				}
			}
			for o, total := range totals {
				p := parts[l.Carries+l.Outs+o]
				for e, got := range total {
					if want := ins.Result.Value.At(p.At + e); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
						t.Fatalf("%s: instruction %d: element %d of sum %d is %v, the loop has %v", name, i, e, o, got, want)
					}
				}
			}
			if _, err := s.Enter(ctx, i, l.Steps); err == nil {
				t.Error("an iteration behind the end of the loop")
			}
		}
	}
	if loops < 6 {
		t.Errorf("%d loops were entered, want those forward and back of three models", loops)
	}
	s := open(t, subject(t, "kmeans-softmax"))
	if _, err := s.Enter(ctx, 0, 0); err == nil {
		t.Error("went into what is not a loop")
	} else if !strings.HasSuffix(err.Error(), "is not a loop: the program has none") {
		t.Error(err)
	}
	looped := open(t, subject(t, "rnn-lstm"))
	if _, err := looped.Enter(ctx, 0, 0); err == nil || !regexp.MustCompile(`is not a loop: instructions \d+, \d+ are$`).MatchString(err.Error()) {
		t.Errorf("before a loop: %v", err)
	}
}

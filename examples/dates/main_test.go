package main

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// TestLossFalls: with every score, a few steps of training make the loss smaller, and what
// the decoder says on its own is drawn with where it looked.
func TestLossFalls(t *testing.T) {
	training, held := drawPairs(1, 320, 5)
	set, err := encoded(training)
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range scores {
		tr := &train.Trainer{Build: build(score), Optimiser: train.Adam(4e-3, train.ClipNorm(1)), Seed: 1}
		defer tr.Close()
		var losses []float64
		err := tr.Fit(t.Context(), train.Plan{Data: data.Shuffled(set, 32, 1), Steps: 12, Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			if e.Kind == train.Stepped {
				losses = append(losses, e.Loss)
			}
			return nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		if first, last := losses[0], losses[11]; !(last < 0.9*first) {
			t.Errorf("%s: the loss goes from %v to %v", score, first, last)
		}
		if score != "none" {
			aligned(t, tr, score, held)
		}
	}
}

// aligned checks the alignments of pairs and their pictures.
func aligned(t *testing.T, tr *train.Trainer, score string, pairs []pair) {
	t.Helper()
	looks, err := align(t.Context(), tr, score, pairs)
	if err != nil {
		t.Fatal(err)
	}
	set, err := encoded(pairs)
	if err != nil {
		t.Fatal(err)
	}
	err = tr.Predict(t.Context(), data.InOrder(set, 0), func(_ data.Batch, codes *tensor.Dense) error {
		dates, err := decoded(codes)
		for i, said := range dates {
			if looks[i].said != said || looks[i].text != pairs[i].text {
				t.Errorf("%s: the picture of %q has %q → %q, the translator says %q", score, pairs[i].text, looks[i].text, looks[i].said, said)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range looks {
		if len(a.α) != isoLength {
			t.Fatalf("%s: weights of %d characters", score, len(a.α))
		}
		for said, α := range a.α {
			sum := 0.0
			for _, w := range α {
				sum += float64(w)
			}
			if len(α) != len(a.text) || math.Abs(sum-1) > 1e-5 {
				t.Errorf("%s: character %d: %d weights that sum to %v", score, said, len(α), sum)
			}
		}
		var b strings.Builder
		if err := chart.Panels(&b, 1, a); err != nil {
			t.Fatalf("%s: %v", a.text, err)
		}
		labels := ""
		for _, m := range regexp.MustCompile(`<text x="\d+" y="\d+">(.)</text>`).FindAllStringSubmatch(b.String(), -1) {
			labels += m[1]
		}
		if want := strings.ReplaceAll(a.text, " ", "") + a.said; labels != want {
			t.Errorf("the characters at the axes are %q, want %q", labels, want)
		}
	}
}

// TestAlignmentSVG: a weight fills the cell where the character said meets the one read.
func TestAlignmentSVG(t *testing.T) {
	a := alignment{title: "dot", text: "3<", said: "79", α: [][]float32{{1, 0}, {.004, .996}}}
	var b strings.Builder
	if err := a.SVG(&b); err != nil {
		t.Fatal(err)
	}
	var filled []string
	for _, m := range regexp.MustCompile(`x="(\d+)" y="(\d+)" width="15" height="15" fill-opacity="([\d.]+)"`).FindAllStringSubmatch(b.String(), -1) {
		filled = append(filled, strings.Join(m[1:], " "))
	}
	if want := []string{"28 58 1.00", "44 74 1.00"}; !slices.Equal(filled, want) {
		t.Errorf("filled are %q, want %q", filled, want)
	}
	if want := "<desc>&#39;7&#39; looks most at &#39;3&#39;, character 1; &#39;9&#39; looks most at &#39;&lt;&#39;, character 2.</desc>"; !strings.Contains(b.String(), want) {
		t.Errorf("no %s in\n%s", want, b.String())
	}
}

// TestExam: right is a date with all characters right; new dates are counted besides.
func TestExam(t *testing.T) {
	var e exam
	for _, c := range []struct {
		known bool
		said  string
		want  string
	}{
		{true, "1979-05-03", "1 of 1 right, 0 of 0 new dates"},
		{false, "1979-05-03", "2 of 2 right, 1 of 1 new dates"},
		{false, "1979-05-08", "2 of 3 right, 1 of 2 new dates; wrong: may 3 79 → 1979-05-08"},
		{true, "1979-05-13", "2 of 4 right, 1 of 2 new dates; wrong: may 3 79 → 1979-05-13"},
	} {
		e.mark(pair{text: "may 3 79", iso: "1979-05-03", known: c.known}, c.said)
		if e.String() != c.want {
			t.Errorf("%s, want %s", e, c.want)
		}
	}
	if e.accuracy() != 0.5 {
		t.Errorf("accuracy %v", e.accuracy())
	}
}

// TestExamineMarksEach: pairs are compared with what is said of them, also over several
// batches; an untrained translator gets none right.
func TestExamineMarksEach(t *testing.T) {
	training, held := drawPairs(1, 300, 10)
	tr := &train.Trainer{Build: build("none"), Seed: 1}
	defer tr.Close()
	e, err := examine(context.Background(), tr, append(training, held...))
	if err != nil {
		t.Fatal(err)
	}
	if e.all != 300 || e.right != 0 || e.allNew == 0 || e.allNew > 10 || e.mistake == "" {
		t.Errorf("%+v", e)
	}
}

package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/chars"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
)

// TestLearns: a few steps are better than guessing by the frequency of characters, and a
// head's weights for each place sum to 1, none of them on what comes later.
func TestLearns(t *testing.T) {
	text, err := chars.NewText()
	if err != nil {
		t.Fatal(err)
	}
	trained, err := gpt.Train(t.Context(), &lesson.Lesson{Seed: 1}, text, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer trained.Trainer.Close()
	if most := math.Log(float64(text.Vocabulary.Len())); !(trained.Loss < 0.85*most) {
		t.Errorf("%v nats after 10 steps, and ln %d = %v before", trained.Loss, text.Vocabulary.Len(), most)
	}
	const sentence = "No person <&>"
	if _, err := look(t.Context(), trained, sentence); err == nil {
		t.Error("characters that the text has not are read")
	}
	heads, err := look(t.Context(), trained, sentence[:9])
	if err != nil || len(heads) != 2 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	for _, picture := range heads {
		h := picture.(head)
		for at, α := range h.α {
			sum := 0.0
			for to, weight := range α {
				if sum += float64(weight); to > at && weight != 0 {
					t.Errorf("%s: place %d looks at %d", h.title, at, to)
				}
			}
			if len(α) != 9 || math.Abs(sum-1) > 1e-5 {
				t.Errorf("%s: %d weights of place %d sum to %v", h.title, len(α), at, sum)
			}
		}
	}
}

// TestHeadSVG: a weight fills the cell where the reader's place meets the one looked at.
func TestHeadSVG(t *testing.T) {
	h := head{title: "block 1, head 1", text: "a<", α: [][]float32{{1, 0}, {.26, .02}}}
	var b bytes.Buffer
	if err := h.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<path d="M28 61h9v9h-9z" fill-opacity="0.5"/>`, `<path d="M28 52h9v9h-9z" fill-opacity="1.0"/>`, "looks 0.1 characters back"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

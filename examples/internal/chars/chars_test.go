package chars

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// small is a recurrent model of few numbers.
var small = Study{Name: "small", Rate: 1e-2, Net: func(g *graph.Graph, characters graph.Axis) Model {
	m, h := graph.Ax("m", 4), graph.Ax("h", 8)
	return builders.RecurrentLanguageModel{
		Tokens: nn.NewEmbedding(g, "embedding", graph.F32, characters, m),
		Layers: []rnn.Recur{{Name: "rnn", Cell: rnn.NewRNN(g, "rnn", graph.F32, m, h)}},
		Output: nn.NewLinear(g, "output", graph.F32, h, characters),
	}
}}

// trained is small after so many steps; with a folder, it goes on from what is there.
func trained(t *testing.T, steps int, folder string) *Trained {
	t.Helper()
	text, err := NewText()
	if err != nil {
		t.Fatal(err)
	}
	got, err := small.Train(t.Context(), &lesson.Lesson{Seed: 1, Checkpoints: folder, Resume: true}, text, steps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(got.Trainer.Close)
	return got
}

// TestText: nothing of what is held out is trained on, and all is used.
func TestText(t *testing.T) {
	all, err := NewText()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := all.Vocabulary.Decode(append(all.fit[:len(all.fit):len(all.fit)], all.held...))
	if err != nil || whole != text.Constitution() {
		t.Errorf("fit and held are not the whole: %v", err)
	}
	if len(all.fit) != 49208 || all.Vocabulary.Len() != 74 { // as the reference has it
		t.Errorf("%d characters of %d to train on", len(all.fit), all.Vocabulary.Len())
	}
	if _, _, err := all.passage("We the People"); err == nil {
		t.Error("the beginning is held out")
	}
	if _, _, err := all.passage(Passage); err != nil {
		t.Error(err)
	}
}

// TestGoesOn: a training that goes on from its checkpoint ends where one at a stretch
// does, and the checkpoint alone says what the trainer says.
func TestGoesOn(t *testing.T) {
	folder := t.TempDir()
	trained(t, 6, folder)
	again, whole := trained(t, 12, folder), trained(t, 12, "")
	if again.Loss != whole.Loss {
		t.Errorf("the loss is %v, at a stretch %v", again.Loss, whole.Loss)
	}
	sampling := infer.Sampling{Temperature: 1, Seed: 3}
	var want, got bytes.Buffer
	if err := whole.Say(t.Context(), &want, "We the", 20, sampling); err != nil {
		t.Fatal(err)
	}
	s, _, err := checkpoint.Folder{Dir: filepath.Join(folder, small.Name)}.Latest()
	if err != nil {
		t.Fatal(err)
	}
	generator, vocabulary, err := infer.LoadGenerator(t.Context(), s, sampling)
	if err != nil {
		t.Fatal(err)
	}
	defer generator.Close()
	said, err := vocabulary.Encode("We the")
	if err != nil {
		t.Fatal(err)
	}
	if err := generator.Generate(t.Context(), said, 20, func(code int32) bool { said = append(said, code); return true }); err != nil {
		t.Fatal(err)
	}
	text, err := vocabulary.Decode(said)
	if err != nil {
		t.Fatal(err)
	}
	got.WriteString("\n" + text + "\n\n")
	if got.String() != want.String() {
		t.Errorf("the checkpoint says %q, the trainer %q", got.String(), want.String())
	}
}

// TestSurprise: the surprises of a passage are near the loss, and the picture has a ground
// for each character that is not expected.
func TestSurprise(t *testing.T) {
	tr := trained(t, 30, "")
	s, err := tr.Surprise(t.Context(), Passage)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nats) != len(Passage) || math.Abs(s.Mean()-tr.Loss) > 0.5 {
		t.Errorf("%d surprises of mean %v, the loss is %v", len(s.Nats), s.Mean(), tr.Loss)
	}
	s = &Surprise{Title: "a < b", Text: "a\n<", Nats: []float64{0, 2.5, 50}}
	var b bytes.Buffer
	if err := s.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<g class="ch-1" fill="#B84A00"><rect x="21" y="58" width="9" height="18" fill-opacity="0.30"/><rect x="12" y="78" width="9" height="18" fill-opacity="0.60"/></g>`,
		"mean 17.50:", "the greatest surprise, 50.0, is &#39;&lt;&#39; after",
	} {
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
	if z := surprise([]float32{1, 1, 1, 1}, 2); math.Abs(z-math.Log(4)) > 1e-12 {
		t.Errorf("of four equal ones each surprises by %v", z)
	}
}

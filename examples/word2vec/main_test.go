package main

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// TestLearn: before training the scores know the frequencies of words and nothing else;
// after a little of it, the loss is smaller and words held out are found earlier.
func TestLearn(t *testing.T) {
	c, err := read(text.Constitution())
	if err != nil {
		t.Fatal(err)
	}
	company, err := c.company()
	if err != nil {
		t.Fatal(err)
	}
	l, err := learn(t.Context(), c, 1, 0, 12)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.course) != 13 {
		t.Fatalf("%d moments of 12 epochs", len(l.course))
	}
	known, before, last := unigram(c.words, company.Column("o").Int32s()), l.course[0], l.last()
	if math.Abs(before.rank-known.rank) > 3 || math.Abs(before.nats-known.nats) > .15 {
		t.Errorf("before training rank and nats are %.2f and %.3f, by frequency %.2f and %.3f", before.rank, before.nats, known.rank, known.nats)
	}
	if !(last.rank < .95*known.rank) || !(last.nats < known.nats-.05) || !(last.loss < .8*l.course[1].loss) {
		t.Errorf("from %+v through %+v to %+v; by frequency %+v", before, l.course[1], last, known)
	}
}

// small is a corpus of two sentences and one that is held out.
func small(t *testing.T) *corpus {
	t.Helper()
	text := strings.Repeat("a b c d e f g. ", 4) + strings.Repeat("h i j; ", 5) + "a h\n\nh x a"
	c, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRead: of ten sentences the last is held out; its words that are not known are left out.
func TestRead(t *testing.T) {
	c := small(t)
	if got, want := strings.Join(c.words.Tokens(), ""), "haijbcdefg"; got != want {
		t.Errorf("the words are %q, want %q", got, want)
	}
	if len(c.sentence) != 10 || len(c.held) != 1 {
		t.Fatalf("%d sentences and %d held out", len(c.sentence), len(c.held))
	}
	if got, err := c.words.Decode(c.held[0]); err != nil || got != "a h" {
		t.Errorf("held out is %q, %v", got, err)
	}
	if got, err := c.words.Decode(c.sentence[9]); err != nil || got != "h a" {
		t.Errorf("the last is %q, %v", got, err)
	}
	company, err := c.company()
	if err != nil || company.Rows() != 2 {
		t.Errorf("company %v, %v", company, err)
	}
}

// TestPairs: what is drawn stands within the window in a sentence, near words more often than
// far ones, and frequent words more seldom than they occur.
func TestPairs(t *testing.T) {
	c := small(t)
	for w := range c.keep {
		c.keep[w] = 1
	}
	code := func(token string) int32 {
		w, _ := c.words.Code(token)
		return int32(w)
	}
	c.keep[code("b")] = .1
	const draws = 20000
	b, err := c.pairs(draws, 1).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[[2]int32]float64{}
	for k, w := range b.Values["c"].Int32s() {
		count[[2]int32{w, b.Values["o"].Int32s()[k]}]++
	}
	of := func(pair string) float64 { return count[[2]int32{code(pair[:1]), code(pair[1:])}] }
	for _, never := range []string{"aa", "ae", "ga", "gh", "ai", "hd"} {
		if of(never) > 0 {
			t.Errorf("%s is drawn %v times", never, of(never))
		}
	}
	for _, r := range []struct {
		what      string
		over      string
		low, high float64
	}{
		{"de", "dg", 2.6, 3.4}, // the radius is 1, 2 or 3: all of these reach e, one g
		{"df", "dg", 1.7, 2.3},
		{"ed", "de", .9, 1.1},
		{"cb", "cd", .07, .13},
		{"ba", "dc", .07, .13},
	} {
		if got := of(r.what) / of(r.over); !(got > r.low && got < r.high) {
			t.Errorf("%s is drawn %.3f times as often as %s, want %v to %v", r.what, got, r.over, r.low, r.high)
		}
	}
}

// TestRank: places are counted from 1, equal ones share the middle.
func TestRank(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		o      int
		want   float64
	}{
		{[]float64{3, 1, 2}, 0, 1}, {[]float64{3, 1, 2}, 1, 3}, {[]float64{3, 1, 2}, 2, 2},
		{[]float64{1, 1, 1}, 1, 2}, {[]float64{2, 1, 1}, 2, 2.5}, {[]float64{5}, 0, 1},
	} {
		if got := place(c.scores, c.o); got != c.want {
			t.Errorf("place %d of %v is %v, want %v", c.o, c.scores, got, c.want)
		}
	}
	var r rank
	err := r.Add(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float32{3, 1, 2, 3, 1, 2})),
		data.Batch{Values: map[string]*tensor.Dense{"o": tensor.New(tensor.WithShape(2), tensor.WithBacking([]int32{0, 1}))}})
	if err != nil || r.Value() != 2 {
		t.Errorf("rank %v, %v; want 2", r.Value(), err)
	}
	if r.Reset(); !math.IsNaN(r.Value()) {
		t.Errorf("rank of nothing is %v", r.Value())
	}
	words, err := text.Tokeniser{Words: true}.Vocabulary("a a a b")
	if err != nil {
		t.Fatal(err)
	}
	if m := unigram(words, []int32{0, 1}); m.rank != 1.5 || math.Abs(m.nats+math.Log(3./16)/2) > 1e-12 {
		t.Errorf("by frequency %+v", m)
	}
}

// TestNearest is by angle, not by length.
func TestNearest(t *testing.T) {
	words, err := text.Tokeniser{Words: true}.Vocabulary("a b c d")
	if err != nil {
		t.Fatal(err)
	}
	v := &vectors{words, [][]float64{{1, 0}, {0, 1}, {9, 1}, {1, .5}}}
	if got, err := v.nearest("a", 2); err != nil || got != "c, d" {
		t.Errorf("nearest to a: %q, %v", got, err)
	}
	if got, err := v.nearest("a", 9); err != nil || got != "c, d, b" {
		t.Errorf("nearest to a: %q, %v", got, err)
	}
	if _, err := v.nearest("e", 1); err == nil || err.Error() != `"e" is not among the 4 words` {
		t.Errorf("an unknown word: %v", err)
	}
}

// TestAtlas: every word has a place, and the frequent ones are written there.
func TestAtlas(t *testing.T) {
	words, err := text.Tokeniser{Words: true}.Vocabulary("the the the of of and")
	if err != nil {
		t.Fatal(err)
	}
	v := &vectors{words: words}
	for w := range words.Len() {
		v.v = append(v.v, make([]float64, dimensions))
		v.v[w][w] = 1
	}
	atlas, err := v.atlas(2)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := chart.Panels(&b, 1, atlas); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{">the<": true, ">of<": true, ">and<": false, "2 most frequent": true, "both: 100 %": true} {
		if strings.Contains(b.String(), word) != want {
			t.Errorf("%s is in the map: %v", word, !want)
		}
	}
}

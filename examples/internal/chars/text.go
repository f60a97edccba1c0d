package chars

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// Window is how many characters a model is trained on at once.
const Window = 64

// Passage is the part of the held-out text that pictures show: the first section of Amendment XXII,
// without its second sentence.
const Passage = "No person shall be elected to the office of the President more than\n" +
	"twice, and no person who has held the office of President, or acted as\n" +
	"President, for more than two years of a term to which some other\n" +
	"person was elected President shall be elected to the office of\n" +
	"the President more than once.\n"

// Text is the Declaration of Independence and the Constitution of the United States.
type Text struct {
	Vocabulary *text.Vocabulary
	fit, held  []int32 // codes of the first nine tenths, and of the rest
	heldText   string
}

// NewText cuts the text.
func NewText() (*Text, error) {
	whole := text.Constitution() // ASCII: a byte is a character
	v, err := text.Characters(whole)
	if err != nil {
		return nil, err
	}
	codes, err := v.Encode(whole)
	if err != nil {
		return nil, err
	}
	n := len(codes) * 9 / 10
	return &Text{v, codes[:n], codes[n:], whole[n:]}, nil
}

// Windows draws batches to train on, of so many windows: characters x[b t], and those that follow
// them y[b t].
func (t *Text) Windows(rows int, seed uint64) (data.Source, error) {
	return data.Windows(t.fit, Window, rows, seed)
}

// passage finds words in the part held out: where they begin and end.
func (t *Text) passage(words string) (lo, hi int, err error) {
	lo = strings.Index(t.heldText, words)
	if lo < Window {
		return 0, 0, fmt.Errorf("%q does not come after the first %d characters of what is held out", words, Window)
	}
	return lo, lo + len(words), nil
}

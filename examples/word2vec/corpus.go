package main

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/text"
	"gorgonia.org/tensor"
)

const (
	window   = 3    // words to either side that keep a word company, at most
	rare     = 3    // words that occur less often are left out
	frequent = 1e-3 // words that are more than this part of the text are thinned out
	heldOut  = 10   // of so many sentences the last is held out
)

// corpus is a text as sentences of words.
type corpus struct {
	words    *text.Vocabulary // of the sentences to learn from
	sentence [][]int32        // to learn from
	held     [][]int32
	keep     []float64 // by word: the probability to be used where it occurs
}

// sentenceEnd is also a semicolon or a colon: the text has sentences of a page.
var sentenceEnd = regexp.MustCompile(`[.;:?!]\s+|\n\s*\n`)

// read makes a corpus of a text.
func read(all string) (*corpus, error) {
	var learn, held []string
	tokeniser := text.Tokeniser{Words: true, Lower: true, MinCount: rare}
	for _, s := range sentenceEnd.Split(all, -1) {
		if strings.TrimSpace(s) == "" {
			continue
		}
		if n := len(learn) + len(held); n%heldOut == heldOut-1 {
			held = append(held, s)
		} else {
			learn = append(learn, s)
		}
	}
	words, err := tokeniser.Vocabulary(strings.Join(learn, "\n"))
	if err != nil {
		return nil, err
	}
	c := &corpus{words: words}
	if c.sentence, err = encoded(words, learn); err != nil {
		return nil, err
	}
	if c.held, err = encoded(words, held); err != nil {
		return nil, err
	}
	total := 0
	for _, n := range words.Counts() {
		total += n
	}
	for _, n := range words.Counts() {
		c.keep = append(c.keep, min(1, math.Sqrt(frequent*float64(total)/float64(n))))
	}
	return c, nil
}

// encoded returns sentences as codes, without words that have none.
func encoded(words *text.Vocabulary, sentences []string) (list [][]int32, err error) {
	for _, s := range sentences {
		tokens, err := words.Tokeniser().Split(s)
		if err != nil {
			return nil, err
		}
		var codes []int32
		for _, token := range tokens {
			if code, ok := words.Code(token); ok {
				codes = append(codes, int32(code))
			}
		}
		if len(codes) > 1 {
			list = append(list, codes)
		}
	}
	return list, nil
}

// pairs draws pairs of a centre word c and a word o within a radius of it, in batches of the given
// size. The radius is drawn from 1 to the window, so that near words come more often than far ones,
// and frequent words come more seldom than in the text (Mikolov et al., 2013). An epoch has as many
// pairs as the text has words, times the window.
func (c *corpus) pairs(size int, seed uint64) data.Source {
	centre, other := make([]int32, size), make([]int32, size)
	b := data.Batch{Rows: size, Values: map[string]*tensor.Dense{
		"c": tensor.New(tensor.WithShape(size), tensor.WithBacking(centre)),
		"o": tensor.New(tensor.WithShape(size), tensor.WithBacking(other)),
	}}
	var place [][2]int // sentence and word of each place in the text
	for s, sentence := range c.sentence {
		for w := range sentence {
			place = append(place, [2]int{s, w})
		}
	}
	return data.Drawn(b, window*len(place)/size, seed, func(rng *rand.Rand, _ data.Batch) error {
		for k := 0; k < size; {
			at := place[rng.IntN(len(place))]
			sentence, i := c.sentence[at[0]], at[1]
			apart := 1 + rng.IntN(window)
			j := i + apart
			if rng.IntN(2) == 0 {
				j = i - apart
			}
			radius := 1 + rng.IntN(window)
			if apart > radius || j < 0 || j >= len(sentence) || rng.Float64() >= c.keep[sentence[i]]*c.keep[sentence[j]] {
				continue
			}
			centre[k], other[k] = sentence[i], sentence[j]
			k++
		}
		return nil
	})
}

// company lists all pairs of words of the held-out sentences that are within the window.
func (c *corpus) company() (*data.Set, error) {
	var centre, other []int32
	for _, sentence := range c.held {
		for i := range sentence {
			for j := max(0, i-window); j <= min(len(sentence)-1, i+window); j++ {
				if i != j {
					centre, other = append(centre, sentence[i]), append(other, sentence[j])
				}
			}
		}
	}
	return data.NewSet(map[string]*tensor.Dense{
		"c": tensor.New(tensor.WithShape(len(centre)), tensor.WithBacking(centre)),
		"o": tensor.New(tensor.WithShape(len(other)), tensor.WithBacking(other)),
	})
}

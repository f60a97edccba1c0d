package text

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Tokeniser splits a text into tokens and decides which of them get a code. The zero value splits
// it into characters, all of which get one.
//
// A character is a Unicode code point. A word is a run of letters, the marks on them, and digits.
// An apostrophe between two of these belongs to the word, so that don't is one word, but quotation
// marks around a word do not. Every other character that is not white space is punctuation.
type Tokeniser struct {
	Words       bool `json:"words,omitempty"`       // words, not characters
	Lower       bool `json:"lower,omitempty"`       // in lower case
	Punctuation bool `json:"punctuation,omitempty"` // with Words: keep punctuation as tokens, not drop it

	MinCount int    `json:"min_count,omitempty"` // rarer tokens get no code
	MaxSize  int    `json:"max_size,omitempty"`  // the most codes, Unknown's included; 0: no limit
	Unknown  string `json:"unknown,omitempty"`   // the token for all without a code; "": they are errors
}

// Characters returns the vocabulary of the characters of a text, in the order of their code points,
// as Python's sorted(set(text)). An empty text is an *Error.
func Characters(text string) (*Vocabulary, error) { return Tokeniser{}.Vocabulary(text) }

// Split returns the tokens of a text. Bytes that are not UTF-8 are an *Error with line and byte.
func (t Tokeniser) Split(text string) ([]string, error) {
	var tokens []string
	err := t.each(text, func(_ int, token string) *input.Error {
		tokens = append(tokens, token)
		return nil
	})
	return tokens, err
}

// each calls visit with each token of a text and the byte at which it begins.
func (t Tokeniser) each(text string, visit func(at int, token string) *input.Error) error {
	if err := checkUTF8(text); err != nil {
		return err
	}
	for at := 0; at < len(text); {
		n, isToken := t.next(text[at:])
		if isToken {
			token := text[at : at+n]
			if t.Lower {
				token = strings.ToLower(token)
			}
			if err := visit(at, token); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// next returns the length in bytes of the token that a text begins with, or of what is to be
// skipped.
func (t Tokeniser) next(text string) (n int, isToken bool) {
	r, n := utf8.DecodeRuneInString(text)
	if !t.Words {
		return n, true
	}
	if !inWord(r) {
		return n, t.Punctuation && !unicode.IsSpace(r)
	}
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if r == '\'' || r == '’' {
			if r, _ := utf8.DecodeRuneInString(text[n+size:]); !inWord(r) {
				break
			}
		} else if !inWord(r) {
			break
		}
		n += size
	}
	return n, true
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

// Vocabulary numbers the tokens of a text from 0: characters in the order of their code points,
// words by falling count and then in the order of their code points, and Unknown last. A text in
// which no token gets a code is an *Error, and so are bytes that are not UTF-8.
func (t Tokeniser) Vocabulary(text string) (*Vocabulary, error) {
	count := map[string]int{}
	if err := t.each(text, func(_ int, token string) *input.Error { count[token]++; return nil }); err != nil {
		return nil, err
	}
	unknown := count[t.Unknown]
	delete(count, t.Unknown)
	tokens := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	kept := len(tokens)
	for kept > 0 && count[tokens[kept-1]] < t.MinCount {
		kept--
	}
	if t.MaxSize > 0 {
		size := t.MaxSize
		if t.Unknown != "" {
			size--
		}
		kept = min(kept, size)
	}
	if kept == 0 {
		return nil, &input.Error{Msg: "the text has no token that gets a code"}
	}
	for _, token := range tokens[kept:] {
		unknown += count[token]
	}
	tokens = tokens[:kept]
	if !t.Words {
		slices.Sort(tokens)
	}
	v := &Vocabulary{split: t}
	for _, token := range tokens {
		v.tokens = append(v.tokens, strings.Clone(token)) // not the whole text
		v.counts = append(v.counts, count[token])
	}
	if t.Unknown != "" {
		v.tokens, v.counts = append(v.tokens, t.Unknown), append(v.counts, unknown)
	}
	if err := v.index(); err != nil {
		return nil, err
	}
	return v, nil
}

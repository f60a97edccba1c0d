package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Vocabulary numbers the tokens of texts: code k stands for token k. It does not change, and any
// number of goroutines may use it. Its text form is a line of JSON, with the fields of Tokeniser
// that are not zero:
//
//	{"words":true,"lower":true,"unknown":"?","tokens":["the","of","?"],"counts":[3,2,4]}
type Vocabulary struct {
	split  Tokeniser
	tokens []string
	counts []int
	code   map[string]int
}

// Len returns the number of codes.
func (v *Vocabulary) Len() int { return len(v.tokens) }

// Tokens returns the tokens, in the order of their codes.
func (v *Vocabulary) Tokens() []string { return slices.Clone(v.tokens) }

// Tokeniser returns the tokeniser that made the vocabulary.
func (v *Vocabulary) Tokeniser() Tokeniser { return v.split }

// Counts returns, by code, how often each token occurred in the text that the vocabulary was made
// from; Unknown counts for all tokens without a code of their own. Word2vec draws negative samples
// with probabilities proportional to the 3/4th power of these (Mikolov et al., 2013).
func (v *Vocabulary) Counts() []int { return slices.Clone(v.counts) }

// Code returns the code of a token, or that of Unknown if it has none of its own; ok is false if
// there is no Unknown either.
func (v *Vocabulary) Code(token string) (code int, ok bool) {
	code, ok = v.code[token]
	if !ok && v.split.Unknown != "" {
		code, ok = v.code[v.split.Unknown]
	}
	return code, ok
}

// Token returns the token of a code. A code outside [0, Len) is an *Error.
func (v *Vocabulary) Token(code int) (string, error) {
	v = input.OrZero(v)
	if code < 0 || code >= len(v.tokens) {
		return "", &input.Error{Msg: fmt.Sprintf("code %d is outside [0, %d)", code, len(v.tokens))}
	}
	return v.tokens[code], nil
}

// Encode returns the codes of the tokens of a text, which Windows and Consecutive of package data
// take. A token that has no code, if there is no Unknown, is an *Error with line and byte; so are
// bytes that are not UTF-8.
func (v *Vocabulary) Encode(text string) ([]int32, error) {
	v = input.OrZero(v)
	var codes []int32
	if !v.split.Words {
		codes = make([]int32, 0, utf8.RuneCountInString(text))
	}
	err := v.split.each(text, func(at int, token string) *input.Error {
		code, ok := v.Code(token)
		if !ok {
			return errorInText(text, at, input.Quote(token)+" is not in the vocabulary; Tokeniser.Unknown would stand for it")
		}
		codes = append(codes, int32(code))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// Decode returns the text of codes: characters joined, words with a space between them. Encode
// turns it back into the codes, unless Unknown, which need not be a single token, is among them. A
// code outside [0, Len) is an *Error.
func (v *Vocabulary) Decode(codes []int32) (string, error) {
	var text strings.Builder
	for i, code := range codes {
		token, err := v.Token(int(code))
		if err != nil {
			return "", inText(err, fmt.Sprintf("at %d: ", i))
		}
		if v.split.Words && i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(token)
	}
	return text.String(), nil
}

// vocabularyJSON is the text form.
type vocabularyJSON struct {
	Tokeniser
	List   []string `json:"tokens"`
	Counts []int    `json:"counts"`
}

// MarshalJSON returns the text form.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	v = input.OrZero(v)
	return json.Marshal(vocabularyJSON{v.split, v.tokens, v.counts})
}

// UnmarshalJSON reads the text form. It is an *Error, and leaves v as it was, if there are no
// tokens, if a token recurs or is not one token, if there are not as many counts, or if Unknown is
// not among the tokens.
func (v *Vocabulary) UnmarshalJSON(text []byte) error {
	if v == nil {
		return &input.Error{Msg: "there is no Vocabulary to read into"}
	}
	if !utf8.Valid(text) {
		return &input.Error{Msg: "vocabulary: not UTF-8 text"} // which encoding/json would change
	}
	var j vocabularyJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return &input.Error{Msg: "vocabulary: " + err.Error(), Err: err}
	}
	read := Vocabulary{split: j.Tokeniser, tokens: j.List, counts: j.Counts}
	if err := read.index(); err != nil {
		return inText(err, "vocabulary: ")
	}
	*v = read
	return nil
}

// index builds the map from tokens to codes, and returns an error if v is not a vocabulary.
func (v *Vocabulary) index() error {
	if len(v.tokens) == 0 {
		return &input.Error{Msg: "no tokens"}
	}
	if len(v.counts) != len(v.tokens) {
		return &input.Error{Msg: fmt.Sprintf("%d counts of %d tokens", len(v.counts), len(v.tokens))}
	}
	if !utf8.ValidString(v.split.Unknown) {
		return &input.Error{Msg: "the unknown token " + input.Quote(v.split.Unknown) + " is not UTF-8 text"}
	}
	v.code = make(map[string]int, len(v.tokens))
	for k, token := range v.tokens {
		if _, twice := v.code[token]; twice {
			return &input.Error{Msg: "two codes for " + input.Quote(token)}
		}
		if v.counts[k] < 0 {
			return &input.Error{Msg: fmt.Sprintf("%s came %d times", input.Quote(token), v.counts[k])}
		}
		v.code[token] = k
		if token == v.split.Unknown && token != "" {
			continue // which may be no token of any text
		}
		if tokens, err := v.split.Split(token); err != nil || len(tokens) != 1 || tokens[0] != token {
			return &input.Error{Msg: input.Quote(token) + " is not one token"}
		}
	}
	if _, ok := v.code[v.split.Unknown]; !ok && v.split.Unknown != "" {
		return &input.Error{Msg: "no code for the unknown token " + input.Quote(v.split.Unknown)}
	}
	return nil
}

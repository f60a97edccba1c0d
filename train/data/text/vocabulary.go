package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Vocabulary numbers the tokens of texts: code k stands for token k. It is not changed
// once made, and any number of goroutines may use it. Its text form is JSON in one line,
//
//	{"words":true,"lower":true,"unknown":"?","tokens":["the","of","?"],"counts":[3,2,4]}
//
// with the fields of Tokeniser, of which those that are zero are left out.
type Vocabulary struct {
	split  Tokeniser
	tokens []string
	counts []int
	code   map[string]int
}

// Len is the number of codes.
func (v *Vocabulary) Len() int { return len(v.tokens) }

// Tokens returns all tokens by code.
func (v *Vocabulary) Tokens() []string { return slices.Clone(v.tokens) }

// Tokeniser says what tokens are in this vocabulary.
func (v *Vocabulary) Tokeniser() Tokeniser { return v.split }

// Counts returns how often each token came in the text that the vocabulary was made
// from, by code; Unknown stands for all that have no code of their own. The 3/4th power
// of these is what word2vec draws its negative samples by.
func (v *Vocabulary) Counts() []int { return slices.Clone(v.counts) }

// Code returns the code of a token, that of Unknown if it has none of its own; ok
// is false if there is no Unknown either.
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

// Encode returns the codes of the tokens of a text, as Windows and Consecutive take
// them. A token that has none, without
// Unknown, is an *Error at its line and byte; so is what is not UTF-8.
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

// Decode returns the text of codes: characters side by side, words with a space between
// them. Encode gives the codes again, unless Unknown, which splits by the rules of any
// text, is among them. A code outside [0, Len) is an *Error.
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

// MarshalJSON gives the text form.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	v = input.OrZero(v)
	return json.Marshal(vocabularyJSON{v.split, v.tokens, v.counts})
}

// UnmarshalJSON reads the text form. What is no vocabulary (a token twice or that is
// none, no tokens, other counts than tokens, no Unknown among them) is an *Error and
// leaves v as it was.
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

// index finds what keeps v from being a vocabulary, and makes the way from tokens to codes.
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

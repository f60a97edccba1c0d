package text

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/data/internal/datatest"
	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

func TestReadText(t *testing.T) {
	for _, text := range []string{"", "a", "größe\r\n\x00\n", strings.Repeat("ab", encoding.Chunk)} {
		for _, r := range []io.Reader{strings.NewReader("\ufeff" + text), iotest.HalfReader(strings.NewReader(text))} {
			if got, err := Read("f.txt", r); err != nil || got != text {
				t.Errorf("got %q, %v; want %q", got, err, text)
			}
		}
	}
	for _, c := range []struct {
		text string
		opts []input.Option
		want string
	}{
		{"a\nb\xffc", nil, `f.txt:2: byte 3: "\xff" is not UTF-8 text`},
		{"a\ufffdb\xc3", nil, `f.txt:1: byte 5: "\xc3" is not UTF-8 text`},
		{"abc", []input.Option{data.MaxBytes(2)}, "f.txt: the file is longer than 2 bytes; MaxBytes sets the limit"},
		{"abc", []input.Option{data.MaxCells(2)}, "f.txt: MaxCells: this is an option for tables, edge lists and arrays, not for texts"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.HalfReader(strings.NewReader(c.text))} {
			_, err := Read("f.txt", r, c.opts...)
			datatest.WantError(t, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "f.txt")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Open(path); err != nil || got != "text" {
		t.Errorf("%q, %v", got, err)
	}
	_, err := Open("absent.txt")
	datatest.WantError(t, err, "absent.txt: no such file")
}

func TestConstitution(t *testing.T) {
	text := Constitution()
	v, err := Characters(text)
	if err != nil {
		t.Fatal(err)
	}
	// The figures are Python's: len(text), len(set(text)), text.count("e").
	e, _ := v.Code("e")
	if len(text) != 54676 || v.Len() != 74 || v.Counts()[e] != 6031 || v.Tokens()[0] != "\n" {
		t.Errorf("%d characters, %d different ones, %d times e, first %q", len(text), v.Len(), v.Counts()[e], v.Tokens()[0])
	}
	codes, err := v.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := v.Decode(codes); err != nil || again != text {
		t.Errorf("the text does not come back: %v", err)
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		tokens Tokeniser
		text   string
		want   []string
	}{
		{Tokeniser{}, "a é\n", []string{"a", " ", "é", "\n"}},
		{Tokeniser{Lower: true}, "aÉ", []string{"a", "é"}},
		{Tokeniser{}, "", nil},
		{Tokeniser{Words: true}, "Don't 'quote' me, x2!", []string{"Don't", "quote", "me", "x2"}},
		{Tokeniser{Words: true, Lower: true}, "We the People; of", []string{"we", "the", "people", "of"}},
		{Tokeniser{Words: true, Punctuation: true}, "rock 'n' roll--1.5", []string{"rock", "'", "n", "'", "roll", "-", "-", "1", ".", "5"}},
		{Tokeniser{Words: true}, "l’été cafe\u0301 ''a''b'", []string{"l’été", "cafe\u0301", "a", "b"}},
		{Tokeniser{Words: true, Punctuation: true}, "日本 €5\u00a0x", []string{"日本", "€", "5", "x"}},
	} {
		if got, err := c.tokens.Split(c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v of %q: %q, %v; want %q", c.tokens, c.text, got, err, c.want)
		}
	}
	_, err := Tokeniser{}.Split("a\n\xff")
	datatest.WantError(t, err, `line 2: byte 2: "\xff" is not UTF-8 text`)
}

func TestVocabulary(t *testing.T) {
	const text = "the cat the dog the end a cat!"
	words := Tokeniser{Words: true}
	for _, c := range []struct {
		name   string
		tokens Tokeniser
		list   []string
		counts []int
	}{
		{"characters", Tokeniser{}, strings.Split(" !acdeghnot", ""), []int{7, 1, 3, 2, 2, 4, 1, 3, 1, 1, 5}},
		{"characters, most frequent", Tokeniser{MaxSize: 3}, []string{" ", "e", "t"}, []int{7, 4, 5}},
		{"words", words, []string{"the", "cat", "a", "dog", "end"}, []int{3, 2, 1, 1, 1}},
		{"punctuation", Tokeniser{Words: true, Punctuation: true}, []string{"the", "cat", "!", "a", "dog", "end"}, []int{3, 2, 1, 1, 1, 1}},
		{"frequent", Tokeniser{Words: true, MinCount: 2, Unknown: "?"}, []string{"the", "cat", "?"}, []int{3, 2, 3}},
		{"few", Tokeniser{Words: true, MaxSize: 2, Unknown: "?"}, []string{"the", "?"}, []int{3, 5}},
		{"unknown of the text", Tokeniser{Words: true, MaxSize: 2, Unknown: "cat"}, []string{"the", "cat"}, []int{3, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.tokens.Vocabulary(text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v.Tokens(), c.list) || !slices.Equal(v.Counts(), c.counts) || v.Tokeniser() != c.tokens {
				t.Errorf("tokens %q, counts %v", v.Tokens(), v.Counts())
			}
			for k, token := range c.list {
				if code, ok := v.Code(token); code != k || !ok {
					t.Errorf("code of %q: %d, %t", token, code, ok)
				}
				if got, err := v.Token(k); got != token || err != nil {
					t.Errorf("token of %d: %q, %v", k, got, err)
				}
			}
		})
	}
	_, err := words.Vocabulary("., \n")
	datatest.WantError(t, err, "the text has no token that gets a code")
	_, err = Tokeniser{MinCount: 9}.Vocabulary(text)
	datatest.WantError(t, err, "the text has no token that gets a code")
	_, err = Tokeniser{Unknown: "\xff"}.Vocabulary(text)
	datatest.WantError(t, err, `the unknown token "\xff" is not UTF-8 text`)
	_, err = Characters("a\xff")
	datatest.WantError(t, err, `line 1: byte 1: "\xff" is not UTF-8 text`)
}

func TestEncode(t *testing.T) {
	v, err := Tokeniser{Words: true, Lower: true}.Vocabulary("We the people, the People")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := v.Encode("People: we")
	if err != nil || !slices.Equal(codes, []int32{0, 2}) {
		t.Errorf("%v, %v", codes, err)
	}
	if text, err := v.Decode(codes); err != nil || text != "people we" {
		t.Errorf("%q, %v", text, err)
	}
	_, err = v.Encode("we\nare the people")
	datatest.WantError(t, err, `line 2: byte 3: "are" is not in the vocabulary; Tokeniser.Unknown would stand for it`)
	if _, ok := v.Code("are"); ok {
		t.Error("a token without a code has one")
	}
	for _, code := range []int{-1, 3, math.MaxInt} {
		if _, err := v.Token(code); err == nil {
			t.Errorf("code %d has a token", code)
		}
	}
	_, err = v.Decode([]int32{0, 3})
	datatest.WantError(t, err, "at 1: code 3 is outside [0, 3)")
	if none, err := v.Encode(""); err != nil || len(none) != 0 {
		t.Errorf("codes of nothing: %v, %v", none, err)
	}
	known, err := Tokeniser{Unknown: "?"}.Vocabulary("ab")
	if err != nil {
		t.Fatal(err)
	}
	if codes, err := known.Encode("axb"); err != nil || !slices.Equal(codes, []int32{0, 2, 1}) {
		t.Errorf("%v, %v", codes, err)
	}
}

func TestVocabularyJSON(t *testing.T) {
	v, err := Tokeniser{Words: true, Lower: true, MaxSize: 3, Unknown: "<unk>"}.Vocabulary("The cat the dog")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"v":{"words":true,"lower":true,"max_size":3,"unknown":"\u003cunk\u003e","tokens":["the","cat","\u003cunk\u003e"],"counts":[2,1,1]}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	var again struct{ V *Vocabulary }
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again.V, v) {
		t.Errorf("read back: %+v, %v", again.V, err)
	}
	for _, c := range []struct{ text, want string }{
		{`{}`, "vocabulary: no tokens"},
		{`[]`, "vocabulary: json: cannot unmarshal array into Go value of type text.vocabularyJSON"},
		{`{"tokens":["a"],"counts":[]}`, "vocabulary: 0 counts of 1 tokens"},
		{`{"tokens":["a","a"],"counts":[1,1]}`, `vocabulary: two codes for "a"`},
		{`{"tokens":["a"],"counts":[-1]}`, `vocabulary: "a" came -1 times`},
		{`{"tokens":["ab"],"counts":[1]}`, `vocabulary: "ab" is not one token`},
		{`{"tokens":[""],"counts":[1]}`, `vocabulary: "" is not one token`},
		{`{"lower":true,"tokens":["A"],"counts":[1]}`, `vocabulary: "A" is not one token`},
		{`{"unknown":"b","tokens":["a"],"counts":[1]}`, `vocabulary: no code for the unknown token "b"`},
		{"{\"tokens\":[\"\xff\"],\"counts\":[1]}", "vocabulary: not UTF-8 text"},
	} {
		before := *v
		datatest.WantError(t, v.UnmarshalJSON([]byte(c.text)), c.want)
		if !reflect.DeepEqual(*v, before) {
			t.Fatalf("%s changed the vocabulary", c.text)
		}
	}
}

// FuzzVocabulary checks that whatever text gives a vocabulary is encoded by it, that
// Decode gives the text or at least the codes back, and that the text form is read
// back equal.
func FuzzVocabulary(f *testing.F) {
	for i, text := range []string{"a b", "Don't 'x' don’t", "Größe, 1.5", "\xff", "İ\u0307 ǅ", "\n\r\x00\ufeff", "ﬃ \u200b\u0301a", "a'b''c'"} {
		f.Add(text, byte(i), 0, "?")
		f.Add(text, byte(i), 2, "")
	}
	f.Fuzz(func(t *testing.T, text string, flags byte, size int, unknown string) {
		tokens := Tokeniser{Words: flags&1 != 0, Lower: flags&2 != 0, Punctuation: flags&4 != 0, MaxSize: size, Unknown: unknown}
		v, err := tokens.Vocabulary(text)
		if err != nil {
			if !datatest.IsLocated(err, "") {
				t.Fatal(err)
			}
			return
		}
		codes, err := v.Encode(text)
		if err != nil {
			if size <= 0 {
				t.Fatal(err)
			}
			return
		}
		decoded, err := v.Decode(codes)
		if err != nil {
			t.Fatal(err)
		}
		if unknown == "" {
			if again, err := v.Encode(decoded); err != nil || !slices.Equal(again, codes) {
				t.Fatalf("%q is decoded to %q, which has codes %v, not %v: %v", text, decoded, again, codes, err)
			}
			if !tokens.Words && !tokens.Lower && decoded != text {
				t.Fatalf("%q is decoded to %q", text, decoded)
			}
		}
		form, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again Vocabulary
		if err := json.Unmarshal(form, &again); err != nil || !reflect.DeepEqual(&again, v) {
			t.Fatalf("%s is read back as %+v: %v", form, again, err)
		}
	})
}

// FuzzReadVocabulary checks that no JSON makes a vocabulary that contradicts itself.
func FuzzReadVocabulary(f *testing.F) {
	f.Add(`{"words":true,"unknown":"?","tokens":["a","?"],"counts":[1,0]}`)
	f.Add(`{"tokens":["a","b"],"counts":[1,2]}`)
	f.Fuzz(func(t *testing.T, form string) {
		var v Vocabulary
		if err := v.UnmarshalJSON([]byte(form)); err != nil {
			if !datatest.IsLocated(err, "") || v.Len() != 0 {
				t.Fatal(v, err)
			}
			return
		}
		for k := range v.Len() {
			token, err := v.Token(k)
			if code, ok := v.Code(token); err != nil || code != k || !ok {
				t.Fatalf("code %d: %q, %d, %t, %v", k, token, code, ok, err)
			}
		}
	})
}

// FuzzReadText checks that nothing panics and that an error is one located line.
func FuzzReadText(f *testing.F) {
	for _, text := range []string{"", "a\nb", "\ufeffa", "\xff", "a\n\xc3"} {
		f.Add(text)
		f.Add(datatest.Gzipped(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Read("f.txt", strings.NewReader(text), data.MaxBytes(1000))
		if err != nil && !datatest.IsLocated(err, "f.txt:") {
			t.Fatal(err)
		}
		if z, packed := gzip.NewReader(strings.NewReader(text)); err == nil && packed == nil {
			held, err := io.ReadAll(z)
			if text = string(held); err != nil {
				t.Fatalf("%q is read, where gzip says %v", got, err)
			}
		}
		if err == nil && got != strings.TrimPrefix(text, "\ufeff") {
			t.Fatalf("%q is read as %q", text, got)
		}
	})
}

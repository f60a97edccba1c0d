package notation

import (
	"fmt"
	"sort"
)

// span is a part of the text, in bytes.
type span struct{ from, to int }

func (s span) with(t span) span { return span{s.from, t.to} }

// source is the text of a file with the mistakes found in it.
type source struct {
	name   string
	text   string
	starts []int // of the lines
	errors Errors
	at     map[int]bool // where mistakes were found
}

func newSource(name, text string) source {
	s := source{name: name, text: text, starts: []int{0}, at: map[int]bool{}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// line returns the number of the line that contains a byte, and where the line starts.
func (s *source) line(at int) (number, start int) {
	number = sort.SearchInts(s.starts, min(at, len(s.text))+1)
	return number, s.starts[number-1]
}

// full reports whether so many mistakes are known that more are only counted, so that no fix need
// be searched for.
func (s *source) full() bool { return len(s.errors) >= MaxErrors }

// fail records a mistake. Further mistakes at the same place are consequences, and ignored.
func (s *source) fail(at span, problem, fix, why string) {
	number, start := s.line(at.from)
	end := len(s.text)
	if number < len(s.starts) {
		end = s.starts[number] - 1
	}
	from := min(at.from, end)
	if s.at[from] {
		return
	}
	s.at[from] = true
	if s.full() {
		return
	}
	s.errors = append(s.errors, &Error{
		Pos:     Pos{s.name, number, 1 + len([]rune(s.text[start:from]))},
		Problem: brief(problem), Fix: brief(fix), Why: brief(why), Source: s.text[start:end],
		Width: len([]rune(s.text[from:max(from, min(at.to, end))])),
	})
}

// brief returns a text without its middle if it is long, for citing.
func brief(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most*2/3]) + " … " + string(runes[len(runes)-most/3:])
}

// mistakes returns the mistakes in order of their places; nil if there are none.
func (s *source) mistakes() error {
	if len(s.errors) == 0 {
		return nil
	}
	sort.SliceStable(s.errors, func(i, j int) bool {
		a, b := s.errors[i], s.errors[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	out := s.errors
	if more := len(s.at) - len(out); more > 0 {
		number, start := s.line(len(s.text))
		out = append(out, &Error{
			Pos:     Pos{s.name, number, 1 + len([]rune(s.text[start:]))},
			Problem: fmt.Sprintf("%d more mistakes", more), Fix: "fix those above first", Source: s.text[start:],
		})
	}
	return out
}

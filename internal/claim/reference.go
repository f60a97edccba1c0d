package claim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
)

// reference is a quantity as a statement reads it: elements of a node by the claim's indices.
type reference struct {
	w    *world
	n    *graph.Node
	subs []subscript // one for each axis of the node
	text string
}

// subscript is a sum of multiples of indices and a constant.
type subscript struct {
	terms []term
	plus  int
	sum   bool // whether it is written as a sum, as d+0 is
}

// term is a multiple of an index.
type term struct {
	times int
	index string
	size  int // of the index, where the subscript says it; otherwise 0
}

// alone returns the index of a subscript that is nothing else; "" if it is more.
func (s subscript) alone() string {
	if !s.sum && len(s.terms) == 1 && s.terms[0].times == 1 {
		return s.terms[0].index
	}
	return ""
}

var subscriptTerm = regexp.MustCompile(`^([+−-]?)(\d*)(?:([\p{L}_][\p{L}\p{Mn}\d_′']*)(?::(\d+))?)?`)

// parseSubscript reads a subscript such as 2i+a−1.
func parseSubscript(text string) (s subscript, err error) {
	for rest := strings.ReplaceAll(text, " ", ""); ; s.sum = true {
		m := subscriptTerm.FindStringSubmatch(rest)
		if m == nil || m[2]+m[3] == "" || s.sum && m[1] == "" {
			return s, fmt.Errorf("subscript %q: want a sum such as 2i+a−1", text)
		}
		times := 1
		if m[2] != "" {
			times, _ = strconv.Atoi(m[2])
		}
		if m[1] == "-" || m[1] == "−" {
			times = -times
		}
		if m[3] == "" {
			s.plus += times
		} else {
			size, _ := strconv.Atoi(m[4])
			s.terms = append(s.terms, term{times, strings.ReplaceAll(m[3], "'", "′"), size})
		}
		if rest = rest[len(m[0]):]; rest == "" {
			return s, nil
		}
	}
}

// same reports whether two references are the same elements.
func (r reference) same(o reference) bool {
	return r.n == o.n && r.w == o.w && slices.EqualFunc(r.subs, o.subs, func(a, b subscript) bool {
		return a.plus == b.plus && slices.Equal(a.terms, b.terms)
	})
}

// own gives the subscripts of a quantity without brackets: the names of its own axes. Axes of one
// element without a name are left out.
func own(n *graph.Node) (out []subscript, err error) {
	for _, a := range n.Shape().Axes() {
		switch {
		case a.Name != "":
			out = append(out, subscript{terms: []term{{times: 1, index: a.Name}}})
		case a.Size == 1:
			out = append(out, subscript{})
		default:
			return nil, fmt.Errorf("an axis of %v has no name: say which index it has, in brackets", n)
		}
	}
	return out, nil
}

// brackets reads the subscripts that a text begins with, and returns the number of bytes read.
func brackets(text string, n *graph.Node) (subs []subscript, read int, err error) {
	end := strings.IndexByte(text, ']')
	if end < 0 {
		return nil, 0, fmt.Errorf("%s: the bracket is not closed", text)
	}
	if inside := strings.TrimSpace(text[1:end]); inside != "" {
		for _, part := range strings.Split(inside, ",") {
			s, err := parseSubscript(part)
			if err != nil {
				return nil, 0, err
			}
			subs = append(subs, s)
		}
	}
	if len(subs) != n.Rank() {
		return nil, 0, fmt.Errorf("%s has %d subscripts, but %v has the axes %v", text[:end+1], len(subs), n.Label(), n.Shape())
	}
	return subs, end + 1, nil
}

// indices are the indices of the reference in order, each once.
func (r reference) indices() (out []string) {
	for _, s := range r.subs {
		for _, t := range s.terms {
			if !slices.Contains(out, t.index) {
				out = append(out, t.index)
			}
		}
	}
	return out
}

// sizes enters the sizes of indices that stand alone, or whose size is stated.
func (r reference) sizes(sizes map[string]int) error {
	enter := func(index string, size int) error {
		if old, ok := sizes[index]; ok && old != size {
			return fmt.Errorf("index %s is of size %d, but of size %d in %s: call one of them otherwise, in brackets", index, old, size, r.text)
		}
		sizes[index] = size
		return nil
	}
	for k, s := range r.subs {
		if index := s.alone(); index != "" {
			if err := enter(index, r.n.Dim(k)); err != nil {
				return err
			}
			continue
		}
		for _, t := range s.terms {
			if t.size == 0 {
				continue
			}
			if err := enter(t.index, t.size); err != nil {
				return err
			}
		}
	}
	return nil
}

// values returns the elements by index, 0 beyond the edges.
func (r reference) values(sizes map[string]int) ([]float64, error) {
	v, err := r.w.value(r.n)
	if err != nil {
		return nil, err
	}
	indices, count := r.indices(), 1
	for _, x := range indices {
		if sizes[x] == 0 {
			return nil, fmt.Errorf("nothing says how large index %s in %s is: it never stands alone", x, r.text)
		}
		count *= sizes[x]
	}
	out, at := make([]float64, count), map[string]int{}
	for p := range out {
		rest := p
		for _, x := range slices.Backward(indices) {
			at[x], rest = rest%sizes[x], rest/sizes[x]
		}
		place, inside := 0, true
		for k, s := range r.subs {
			i := s.plus
			for _, t := range s.terms {
				i += t.times * at[t.index]
			}
			inside = inside && i >= 0 && i < r.n.Dim(k)
			place = place*r.n.Dim(k) + i
		}
		if inside {
			out[p] = v.Data[place]
		}
	}
	return out, nil
}

// plain returns a text's letters and digits, with _ for the rest.
func plain(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	if !unicode.IsLetter(first) {
		text = "q" + text
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, text)
}

// Package subscript is the algebra of subscripts as drawings write them: t+1, 2t, and he for an axis that merges h
// and e. A subscript is a string whose parts no reader tells apart before [Text] has written it.
package subscript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What joins the parts of an index that is more than a name. Names of axes hold
// none of these, and no reader sees them.
const (
	joined  = "\x1f" // between the parts of the index of a merged axis
	shifted = "\x1e" // before what is added to an index
	opened  = "\x02"
	closed  = "\x03"
	literal = "\x04" // around what is no name: a number, or a factor
)

// Fixed is the index of one place: h_4.
func Fixed(place int) string { return literal + strconv.Itoa(place) + literal }

// Strided is the index of every step-th place from one on: 2t+1, or 4−t backwards.
func Strided(index string, from, step int) string {
	if index == "" {
		return ""
	}
	if strings.ContainsAny(index, joined+shifted+literal) {
		index = opened + index + closed
	}
	switch {
	case step == -1:
		return literal + strconv.Itoa(from) + "−" + literal + index
	case step < 0:
		return literal + strconv.Itoa(from) + "−" + strconv.Itoa(-step) + literal + index
	case step == 1:
		return Shifted(index, from)
	}
	return Shifted(literal+strconv.Itoa(step)+literal+index, from)
}

// Shifted is the index that lies by places behind another: t+1.
func Shifted(index string, by int) string {
	if index == "" || by == 0 {
		return index
	}
	if name, k, ok := plainShift(index); ok {
		if by += k; by == 0 {
			return name
		}
		return name + shifted + fmt.Sprintf("%+d", by)
	}
	if strings.ContainsAny(index, joined+shifted) {
		index = opened + index + closed
	}
	return index + shifted + fmt.Sprintf("%+d", by)
}

// plainShift takes t+1 apart into t and 1.
func plainShift(index string) (name string, by int, ok bool) {
	name, k, ok := strings.Cut(index, shifted)
	if !ok || strings.ContainsAny(index, joined+opened+closed+literal) {
		return "", 0, false
	}
	by, err := strconv.Atoi(k)
	return name, by, err == nil
}

// Joined is the index of an axis that merges others, in row-major order: he for
// h and e. Without one of its parts it is none.
func Joined(indices ...string) string {
	parts := make([]string, len(indices))
	for i, s := range indices {
		if s == "" {
			return ""
		}
		if parts[i] = s; len(indices) > 1 && strings.Contains(s, shifted) {
			parts[i] = opened + s + closed
		}
	}
	return strings.Join(parts, joined)
}

// Names lists the names that an index is made of: t of t+1, h and e of he.
func Names(index string) []string {
	var out []string
	eachName(index, func(name string) string {
		out = append(out, name)
		return name
	})
	return out
}

// Rename replaces the names within an index by indices; one that becomes ""
// takes the whole index with it.
func Rename(index string, to func(name string) string) string {
	if to == nil {
		return index
	}
	if name, by, ok := plainShift(index); ok {
		return Shifted(to(name), by)
	}
	gone := false
	s := eachName(index, func(name string) string {
		r := to(name)
		gone = gone || r == ""
		if index != name && (strings.Contains(r, shifted) || strings.Contains(r, joined) && strings.Contains(index, shifted)) {
			r = opened + r + closed
		}
		return r
	})
	if gone {
		return ""
	}
	return s
}

func eachName(index string, f func(string) string) string {
	var b strings.Builder
	const special = joined + shifted + opened + closed + literal
	for index != "" {
		end := strings.IndexAny(index, special)
		switch {
		case end == 0 && index[:1] == literal:
			end = 2 + strings.Index(index[1:], literal)
			b.WriteString(index[:end])
		case end < 0:
			end = len(index)
			b.WriteString(f(index))
		case end > 0:
			b.WriteString(f(index[:end]))
		default:
			end = 1
			if index[:1] == shifted {
				if end = 1 + strings.IndexAny(index[1:], special); end == 0 {
					end = len(index)
				}
			}
			b.WriteString(index[:end])
		}
		index = index[end:]
	}
	return b.String()
}

// Text is an index as it is read: he, or (head,e) where parts have longer
// names; t+1.
func Text(index string) string {
	if !strings.ContainsAny(index, joined+shifted+literal) {
		return index
	}
	between := ","
	if !slices.ContainsFunc(Names(index), func(s string) bool { return len([]rune(s)) > 1 }) && !strings.ContainsAny(index, shifted+literal) {
		between = ""
	} else if strings.Contains(index, joined) {
		index = opened + index + closed
	}
	return strings.NewReplacer(joined, between, literal, "", shifted, "", opened, "(", closed, ")", "-", "−").Replace(index)
}

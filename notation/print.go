package notation

import (
	"slices"
	"strings"
	"unicode"
)

// String prints the file in its canonical form, from which [Parse] makes an equal file: one
// statement a line, plain signs, brackets where precedence requires them, names and comments as
// they were written.
func (f *File) String() string {
	var b strings.Builder
	for i, s := range f.lines {
		line := s.String()
		if s.hasNote {
			if line != "" {
				line += strings.Repeat(" ", f.column(i)-width(line))
			}
			line += strings.TrimRight("# "+s.comment, " ")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// column returns the column of a line's comment, which is aligned with its neighbours'.
func (f *File) column(i int) int {
	beside := func(i int) bool { return i >= 0 && i < len(f.lines) && f.lines[i].kind != "" && f.lines[i].hasNote }
	for beside(i - 1) {
		i--
	}
	widest := 0
	for ; beside(i); i++ {
		widest = max(widest, width(f.lines[i].String()))
	}
	return widest + 2
}

// width returns the number of columns of a text; combining marks take none.
func width(text string) (n int) {
	for _, r := range text {
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
}

// String returns the statement without its comment.
func (s *statement) String() string {
	switch s.kind {
	case "":
		return ""
	case wordTitle:
		return wordTitle + ` "` + s.name + `"`
	case wordVersion, wordOutput, wordMinimise:
		return s.kind + " " + s.name
	case wordScalar:
		return wordScalar + " " + s.name + " = " + s.value.String()
	case signDefine:
		return s.name + brackets(namesOf(s.axes)) + " = " + s.value.String()
	case signUpdate:
		return s.name + " <- " + s.value.String()
	}
	var axes []string
	for _, a := range s.axes {
		if a.size != "" {
			a.name += "=" + a.size
		}
		axes = append(axes, a.name)
	}
	line := s.kind + " " + s.name
	if len(axes) > 0 {
		line += "[" + strings.Join(axes, ", ") + "]"
	}
	if s.value != nil {
		line += " ~ " + s.value.String()
	}
	return line
}

func namesOf(axes []axis) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.name
	}
	return out
}

// brackets returns [i,j], or nothing if there are no axes.
func brackets(axes []string) string {
	if len(axes) == 0 {
		return ""
	}
	return "[" + strings.Join(axes, ",") + "]"
}

// The precedences of the operators, weakest first.
const (
	precedenceCompare = iota
	precedenceSum
	precedenceProduct
	precedencePower
	precedenceAtom
)

func (e *expr) precedence() int {
	switch {
	case e.kind == exprNeg:
		return precedenceSum
	case e.kind != exprBinary:
		return precedenceAtom
	case e.text == "^":
		return precedencePower
	case e.text == "*" || e.text == "/":
		return precedenceProduct
	case e.text == "+" || e.text == "-":
		return precedenceSum
	}
	return precedenceCompare
}

// String prints the expression with the brackets that precedence requires.
func (e *expr) String() string {
	switch e.kind {
	case exprNumber:
		return e.text
	case exprName:
		var refs []string
		for _, r := range e.refs {
			if r.as != "" {
				r.axis += "→" + r.as
			}
			refs = append(refs, r.axis)
		}
		return e.text + brackets(refs)
	case exprCall:
		args := make([]string, len(e.args))
		for i, a := range e.args {
			args[i] = a.String()
		}
		return e.text + "(" + strings.Join(args, ", ") + ")"
	case exprNeg:
		return "-" + e.args[0].within(precedenceProduct)
	}
	p := e.precedence()
	left, right := p, p+1
	switch {
	case e.text == "^": // from the right, and −a^b is −(a^b)
		left, right = precedenceAtom, precedencePower
	case slices.Contains(comparisons, e.text):
		left, right = precedenceSum, precedenceSum
	}
	a, b := e.args[0].within(left), e.args[1].within(right)
	if p == precedenceSum || p == precedenceCompare {
		return a + " " + e.text + " " + b
	}
	return a + e.text + b
}

// within prints the expression, in brackets unless it binds at least as tightly as precedence.
func (e *expr) within(precedence int) string {
	if e.precedence() < precedence {
		return "(" + e.String() + ")"
	}
	return e.String()
}

package notation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/greek"
)

// kind is the kind of a value's elements.
type kind uint8

const (
	bad   kind = iota // a mistake was reported
	real              // numbers
	whole             // indices
	mask              // truth values
)

var kindNames = [...]string{"a mistake", "numbers", "indices", "a mask"}

func (k kind) String() string { return kindNames[k] }

// typ is the type of a value: its kind and axes, known before it is built.
type typ struct {
	kind kind
	axes []string
}

// quantity is a named value.
type quantity struct {
	*statement
	typ  typ
	line int
}

// isLeaf reports whether the statement declares an input, a parameter or a state.
func (s *statement) isLeaf() bool {
	return slices.Contains([]string{wordInput, wordIndex, wordParam, wordState}, s.kind)
}

// makes reports whether the statement makes a quantity.
func (s *statement) makes() bool {
	return s.name != "" && (s.isLeaf() || s.kind == wordScalar || s.kind == signDefine)
}

// check checks the statements and determines the types of the quantities.
func (f *File) check() {
	f.quantities = map[string]*quantity{}
	c := checker{File: f, makers: map[string]*statement{}, doubtful: map[string]bool{}}
	for _, s := range slices.Backward(f.lines) {
		if s.makes() {
			c.makers[greek.Symbol(s.name)] = s
		}
	}
	for _, s := range f.lines {
		c.statement(s)
	}
	c.examples()
	c.ends()
	c.settings()
}

// checker checks the statements in order.
type checker struct {
	*File
	makers  map[string]*statement // the first statement of each quantity
	present string                // the quantity that is being defined
	// doubtful has the names in broken lines so far. An unknown quantity of such a name is a
	// consequence, and not reported.
	doubtful map[string]bool
	input    *statement // the input whose examples are being checked; nil elsewhere
	updated  []string
	outputs  map[string]*statement
}

func (c *checker) statement(s *statement) {
	line, _ := c.line(s.from)
	for _, name := range s.mentions {
		c.doubtful[greek.Symbol(name)] = true
	}
	switch {
	case s.kind == "":
		return
	case s.broken && !s.makes():
		return
	case s.makes():
		key := greek.Symbol(s.name)
		q := &quantity{statement: s, line: line}
		if old := c.quantities[key]; old != nil {
			c.fail(s.named, s.name+" is already defined", "choose another name", fmt.Sprintf("as %s at line %d", old.name, old.line))
		} else {
			defer func() { c.quantities[key] = q }()
		}
		if !s.broken {
			q.typ = c.made(s)
		}
		return
	}
	switch s.kind {
	case wordTitle:
		if c.title != "" {
			c.fail(s.span, "a second title", "", "")
		}
		c.title = s.name
	case signUpdate:
		c.update(s)
	case wordOutput, wordMinimise:
		if c.outputs == nil {
			c.outputs = map[string]*statement{}
		}
		if c.outputs[s.kind] != nil {
			c.fail(s.span, "a second "+s.kind, "", "")
			return
		}
		c.outputs[s.kind] = s
	}
}

// made returns the type of the quantity that a statement defines.
func (c *checker) made(s *statement) typ {
	stated := typ{real, namesOf(s.axes)}
	switch s.kind {
	case wordScalar:
		return stated
	case signDefine:
		for i, a := range s.axes {
			if slices.Contains(stated.axes[:i], a.name) {
				c.fail(a.span, fmt.Sprintf("%s has axis %s twice", s.name, a.name), "an axis that is met twice has two names: x[i→k]", "")
				return typ{}
			}
		}
		c.present = greek.Symbol(s.name)
		t := c.expr(s.value)
		c.present = ""
		if t.kind == bad {
			return typ{} // silences consequences
		}
		c.mismatch(s.name, stated.axes, s.value)
		return typ{t.kind, stated.axes}
	}
	c.declareAxes(s)
	if s.kind == wordIndex {
		stated.kind = whole
	}
	if (s.kind == wordParam || s.kind == wordState) && s.value != nil {
		if _, err := c.initialiser(s); err != nil {
			c.fail(s.value.span, err.Error(), "", "")
		}
	}
	return stated
}

// initialiser reads the expression after the ~ of a parameter or state.
func (f *File) initialiser(s *statement) (initial.Init, error) {
	var init initial.Init
	e := s.value
	text := e.String()
	if e.kind == exprCall || e.kind == exprName && len(e.refs) == 0 {
		text = strings.ReplaceAll(e.text, "_", "-")
		if text == "rows" {
			return f.rows(s)
		}
		var numbers []string
		for _, a := range e.args {
			v, ok := literal(a)
			if !ok {
				return init, fmt.Errorf("%s is not an initialiser: want numbers in its brackets", e)
			}
			numbers = append(numbers, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if len(numbers) > 0 {
			text += "(" + strings.Join(numbers, ",") + ")"
		}
	}
	return init, init.UnmarshalText([]byte(text))
}

// rows reads rows(x), of an input above whose rows are like those of the parameter or state.
func (f *File) rows(s *statement) (initial.Init, error) {
	e := s.value
	if len(e.args) != 1 || e.args[0].kind != exprName || len(e.args[0].refs) > 0 {
		return initial.Init{}, fmt.Errorf("%s is not an initialiser: want the name of an input in its brackets", e)
	}
	x := f.quantities[greek.Symbol(e.args[0].text)]
	if x == nil || x.kind != wordInput {
		return initial.Init{}, fmt.Errorf("%s: there is no input %s above", e, e.args[0].text)
	}
	own, of := namesOf(s.axes), namesOf(x.axes)
	if len(own) == 0 || len(of) == 0 || !slices.Equal(own[1:], of[1:]) {
		return initial.Init{}, fmt.Errorf("%s: %s has axes [%s], and %s [%s]: those behind the first must be the same", e, s.name, strings.Join(own, ","), x.name, strings.Join(of, ","))
	}
	return initial.Rows(greek.Symbol(x.name)), nil
}

// literal returns the value of a number with or without a sign.
func literal(e *expr) (float64, bool) {
	switch e.kind {
	case exprNumber:
		v, err := strconv.ParseFloat(e.text, 64)
		return v, err == nil
	case exprNeg:
		v, ok := literal(e.args[0])
		return -v, ok
	}
	return 0, false
}

func (c *checker) update(s *statement) {
	t := c.expr(s.value)
	q := c.quantities[greek.Symbol(s.name)]
	switch {
	case q == nil:
		c.unknown(s.named, s.name)
		return
	case q.typ.kind == bad:
		return
	case q.kind != wordState:
		fix := "only a state is updated"
		if q.kind == wordParam {
			fix = fmt.Sprintf("a parameter is the optimiser's: make it a state at line %d", q.line)
		}
		c.fail(s.named, s.name+" cannot be updated", fix, "")
		return
	case slices.Contains(c.updated, greek.Symbol(s.name)):
		c.fail(s.named, "a second update of "+s.name, "", "")
		return
	}
	c.updated = append(c.updated, greek.Symbol(s.name))
	if t.kind != bad && t.kind != real {
		c.fail(s.value.span, fmt.Sprintf("%s cannot take %v", s.name, t.kind), "convert them with float(…)", "")
	} else if t.kind == real {
		c.mismatch(s.name, q.typ.axes, s.value)
	}
}

// examples checks the expressions after the ~ of inputs, once all sizes are known.
func (c *checker) examples() {
	for _, s := range c.lines {
		if s.broken || s.kind != wordInput && s.kind != wordIndex {
			continue
		}
		if s.value == nil {
			if s.kind == wordIndex {
				c.fail(s.named, "nothing says which indices "+s.name+" may hold", "~ integers(size(j)), or ~ integers(3)", "")
			}
			continue
		}
		c.input = s
		t := c.expr(s.value)
		want := real
		if s.kind == wordIndex {
			want = whole
		}
		switch t.kind {
		case bad:
		case want:
			if len(without(t.axes, namesOf(s.axes))) > 0 { // examples with fewer axes are repeated along the others
				c.mismatch(s.name, namesOf(s.axes), s.value)
			}
		default:
			fix := ""
			if t.kind == whole {
				fix = "an input of indices is declared by index"
			}
			c.fail(s.value.span, fmt.Sprintf("%s holds %v, not %v", s.name, want, t.kind), fix, "")
		}
	}
	c.input = nil
}

// ends finds the loss and the output.
func (c *checker) ends() {
	var last *quantity
	for _, s := range c.lines {
		if s.kind == signDefine && s.makes() {
			last = c.quantities[greek.Symbol(s.name)]
		}
	}
	named := func(word string) *quantity {
		s := c.outputs[word]
		if s == nil {
			return nil
		}
		q := c.quantities[greek.Symbol(s.name)]
		switch {
		case q == nil:
			c.unknown(s.named, s.name)
		case q.kind != signDefine && q.typ.kind != bad:
			c.fail(s.named, fmt.Sprintf("%s is not a computed quantity", s.name), "", "")
			return nil
		}
		return q
	}
	c.output = named(wordOutput)
	c.loss = named(wordMinimise)
	at := span{}
	if c.loss == nil && c.outputs[wordMinimise] == nil {
		if c.loss = c.quantities["loss"]; c.loss != nil && c.loss.kind != signDefine {
			c.loss = nil
		}
	}
	if s := c.outputs[wordMinimise]; s != nil {
		at = s.named
	} else if c.loss != nil {
		at = c.loss.named
	}
	if c.loss != nil && c.loss.typ.kind != bad {
		switch t := c.loss.typ; {
		case len(t.axes) > 0:
			c.fail(at, fmt.Sprintf("%s has axes %s, and a loss is one number", c.loss.name, brackets(t.axes)), fmt.Sprintf("mean over %s?", listed(t.axes)), "")
		case t.kind != real:
			c.fail(at, fmt.Sprintf("%s is %v, and a loss is a number", c.loss.name, t.kind), "", "")
		}
	}
	switch {
	case last == nil && len(c.errors) == 0:
		c.fail(span{len(c.text), len(c.text)}, "nothing is computed", "define a quantity, as in loss = mean(x^2)", "")
	case c.output == nil && c.loss == nil:
		c.output = last
	case c.output == nil:
		c.output = c.loss
	}
}

// settings reports two settings of one name.
func (c *checker) settings() {
	for _, s := range c.lines {
		if s.kind == wordScalar && !s.broken && c.axis(greek.Spelled(greek.Symbol(s.name))) != nil {
			c.fail(s.named, "a scalar and an axis are both called "+s.name, "rename one: both can be set by name", "")
		}
	}
}

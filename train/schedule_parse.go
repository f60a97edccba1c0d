package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseSchedule reads the text that [Schedule.String] returns:
//
//	0.1                          Constant
//	0.1..10                      Geometric: both ends positive
//	step(0.1,0.5,30)             StepDecay: value, factor, steps
//	exp(0.1,0.99)                Exponential: value, factor
//	cosine(0.1,200)              Cosine: value, steps, and optionally the least value
//	1/t(0.1,50)                  InverseTime: value, half
//	warmup(10,cosine(0.1,200))   Warmup: steps, schedule
//	hold(10,cosine(0.1,200))     Hold: steps, schedule
//	within(100,0.1..10)          Within: steps, schedule
//
// Spaces around words and numbers are allowed. Factors and half are positive, and schedules nest at
// most 8 deep. An error names the character, counted from 1, at which the text cannot be read.
func ParseSchedule(text string) (Schedule, error) {
	p := scheduleParser{text: text}
	s, err := p.schedule(0)
	if err == nil && p.at < len(text) {
		err = p.mistake(p.at, "want nothing after the schedule")
	}
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// form is a schedule that is written as a call with numbers.
type form struct {
	name  string
	want  string // the arguments, in words
	least int    // number of arguments
	kinds []func(float64) string
	make  func(v []float64) Schedule
}

// anyNumber, positive and wholeSteps say what is wrong with an argument; "" if nothing is.
func anyNumber(float64) string { return "" }

func positive(v float64) string {
	if !(v > 0) {
		return "want a positive number"
	}
	return ""
}

func wholeSteps(v float64) string {
	if v < 1 || v != math.Trunc(v) || v > min(1<<31, math.MaxInt) {
		return "want a whole number of steps"
	}
	return ""
}

type kinds = []func(float64) string

var forms = []form{
	{"step", "a value, a factor, a number of steps", 3, kinds{anyNumber, positive, wholeSteps},
		func(v []float64) Schedule { return StepDecay(v[0], v[1], int(v[2])) }},
	{"exp", "a value, a factor", 2, kinds{anyNumber, positive},
		func(v []float64) Schedule { return Exponential(v[0], v[1]) }},
	{"cosine", "a value, a number of steps, and perhaps the least value", 2, kinds{anyNumber, wholeSteps, anyNumber},
		func(v []float64) Schedule { return Cosine(v[0], int(v[1]), v[2:]...) }},
	{"1/t", "a value, the step in which half is left", 2, kinds{anyNumber, positive},
		func(v []float64) Schedule { return InverseTime(v[0], v[1]) }},
}

// nested are the schedules of a number of steps and another schedule.
var nested = []struct {
	name string
	of   func(steps int, s Schedule) Schedule
}{{"warmup", Warmup}, {"hold", Hold}, {"within", Within}}

// mostNested bounds the depth of nested schedules, and so that of the parser's recursion.
const mostNested = 8

type scheduleParser struct {
	text string
	at   int // the byte to read next
}

func (p *scheduleParser) mistake(at int, format string, args ...any) error {
	return fmt.Errorf("schedule %q, character %d: %s", p.text, len([]rune(p.text[:at]))+1, fmt.Sprintf(format, args...))
}

// word reads up to the character that ends a number or a name, and returns where it starts.
func (p *scheduleParser) word() (word string, at int) {
	rest := p.text[p.at:]
	if i := strings.IndexAny(rest, "(),"); i >= 0 {
		rest = rest[:i]
	}
	at = p.at + len(rest) - len(strings.TrimLeft(rest, " "))
	p.at += len(rest)
	return strings.Trim(rest, " "), at
}

// take skips spaces and then c, and reports whether c was there.
func (p *scheduleParser) take(c byte) bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *scheduleParser) schedule(depth int) (Schedule, error) {
	if depth > mostNested {
		return Schedule{}, p.mistake(p.at, "schedules nested more than %d deep", mostNested)
	}
	word, at := p.word()
	if p.take('(') {
		return p.call(word, at, depth)
	}
	from, to, ranged := strings.Cut(word, "..")
	a, ok := finite(from)
	if !ok {
		return Schedule{}, p.mistake(at, "want a number, from..to, or one of %s", callable())
	}
	if !ranged {
		return p.end(Constant(a))
	}
	b, ok := finite(to)
	if !ok {
		return Schedule{}, p.mistake(at+len(from)+2, "want the number where %s.. ends", from)
	}
	if a <= 0 || b <= 0 {
		return Schedule{}, p.mistake(at, "both ends must be positive")
	}
	return p.end(Geometric(a, b))
}

// end skips spaces after a schedule.
func (p *scheduleParser) end(s Schedule) (Schedule, error) {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	return s, nil
}

// call reads the arguments of a schedule, after the parenthesis.
func (p *scheduleParser) call(name string, at, depth int) (Schedule, error) {
	for _, f := range nested {
		if f.name == name {
			return p.nested(name, f.of, depth)
		}
	}
	for _, f := range forms {
		if f.name != name {
			continue
		}
		var v []float64
		for !p.take(')') {
			switch {
			case len(v) == len(f.kinds):
				return Schedule{}, p.mistake(p.at, "%s wants %s", name, f.want)
			case len(v) > 0 && !p.take(','):
				return Schedule{}, p.mistake(p.at, "want , or )")
			}
			x, err := p.number(f.kinds[len(v)], name+" wants "+f.want)
			if err != nil {
				return Schedule{}, err
			}
			v = append(v, x)
		}
		if len(v) < f.least {
			return Schedule{}, p.mistake(p.at-1, "%s wants %s", name, f.want)
		}
		return p.end(f.make(v))
	}
	return Schedule{}, p.mistake(at, "unknown schedule %q: want one of %s", name, callable())
}

func (p *scheduleParser) nested(name string, of func(steps int, s Schedule) Schedule, depth int) (Schedule, error) {
	want := name + " wants a number of steps, a schedule"
	k, err := p.number(wholeSteps, want)
	if err != nil {
		return Schedule{}, err
	}
	if !p.take(',') {
		return Schedule{}, p.mistake(p.at, "%s", want)
	}
	s, err := p.schedule(depth + 1)
	if err == nil && !p.take(')') {
		err = p.mistake(p.at, "want )")
	}
	if err != nil {
		return Schedule{}, err
	}
	return p.end(of(int(k), s))
}

// number reads a number that refuses has no objection to.
func (p *scheduleParser) number(refuses func(float64) string, want string) (float64, error) {
	word, at := p.word()
	v, ok := finite(word)
	if !ok {
		return 0, p.mistake(at, "%s", want)
	}
	if why := refuses(v); why != "" {
		return 0, p.mistake(at, "%s", why)
	}
	return v, nil
}

func finite(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// callable lists the names of the schedules that are written as calls.
func callable() string {
	var out []string
	for _, f := range nested {
		out = append(out, f.name)
	}
	for _, f := range forms {
		out = append(out, f.name)
	}
	return strings.Join(out, ", ")
}

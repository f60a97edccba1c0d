package inspect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
)

// Wants says in one line what [Session.ParseBreak] reads.
const Wants = "alpha, |α| > 0.9, loss < 0.4, |any| > 3, nan, inf, step 40, shape 150x3"

// ParseBreak reads a break:
//
//	alpha          at the quantity α; Greek letters may be spelled out
//	∂loss/∂r       at the derivative of the loss by a parameter or another quantity
//	loss < 0.4     at a quantity of which an element is below 0.4; >, <=, >=, = likewise
//	|α| > 0.9      at a quantity of which an element is beyond ±0.9
//	|any| > 3      at an instruction whose result has an element beyond ±3
//	nan            an element of any result is NaN
//	inf            an element of any result is infinite, or NaN
//	step 40        the beginning of training step 40
//	shape 150x3    a result of these sizes; shape alone is a scalar
//
// An element that is NaN is in no relation. The words any, nan, inf, step and shape are never
// names. An unknown quantity is an error that lists some of the known ones.
func (s *Session) ParseBreak(text string) (Break, error) {
	text = strings.TrimSpace(text)
	if b, is, err := s.parseBound(text); is || err != nil {
		return b, err
	}
	switch word, rest, _ := strings.Cut(text, " "); {
	case text == "":
		return Break{}, fmt.Errorf("break %q: want where to stop, such as %s", text, Wants)
	case text == "nan":
		return IsNaN(), nil
	case text == "inf":
		return NotFinite(), nil
	case word == "step":
		k, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil || k < 0 {
			return Break{}, fmt.Errorf("break %q: want the number of a training step, as in step 40", text)
		}
		return AtStep(k), nil
	case word == "shape":
		return parseShape(text, strings.TrimSpace(rest))
	}
	name, err := s.known(text, text)
	if err != nil {
		return Break{}, err
	}
	return OnNode(name), nil
}

// known returns the name in the program of a quantity that the break text names.
func (s *Session) known(text, name string) (string, error) {
	if err := s.whole(); err != nil {
		return "", err
	}
	for _, name := range []string{name, greek.Symbol(name)} {
		if len(s.named(name)) > 0 {
			return name, nil
		}
	}
	const shown = 12
	names, more := s.Names(), ""
	if len(names) > shown {
		names, more = names[:shown], ", …"
	}
	return "", fmt.Errorf("break %q: the program has no quantity %q: it has %s%s", text, name, strings.Join(names, ", "), more)
}

// parseBound reads a bound. It reports false if text has no relation.
func (s *Session) parseBound(text string) (b Break, is bool, err error) {
	at := strings.IndexAny(text, "<>=≤≥")
	if at < 0 {
		return Break{}, false, nil
	}
	left, right := strings.TrimSpace(text[:at]), text[at:]
	o := bound{name: left}
	for _, r := range relations {
		for _, spelling := range []string{r.other, r.text} {
			if rest, has := strings.CutPrefix(right, spelling); has && o.relation == "" {
				o.relation, right = r.text, strings.TrimSpace(rest)
			}
		}
	}
	if inner, has := strings.CutPrefix(left, "|"); has {
		if inner, has = strings.CutSuffix(inner, "|"); !has {
			return Break{}, false, fmt.Errorf("break %q: want a bar on either side, as in |α| > 0.9", text)
		}
		o.name, o.absolute = strings.TrimSpace(inner), true
	}
	if o.than, err = strconv.ParseFloat(strings.ReplaceAll(right, "−", "-"), 64); err != nil || math.IsNaN(o.than) {
		return Break{}, false, fmt.Errorf("break %q: want a number after %s, as in loss < 0.4", text, o.relation)
	}
	if o.name == "" {
		return Break{}, false, fmt.Errorf("break %q: want a quantity before %s, as in loss < 0.4, or any for any result", text, o.relation)
	}
	if slices.Contains([]string{"nan", "inf", "step", "shape"}, o.name) {
		return Break{}, false, fmt.Errorf("break %q: %s is not a quantity: want one of %s", text, o.name, Wants)
	}
	if o.name != anything {
		if o.name, err = s.known(text, o.name); err != nil {
			return Break{}, false, err
		}
	}
	return o.stop(), true, nil
}

func parseShape(text, sizes string) (Break, error) {
	var out []int
	for f := range strings.FieldsFuncSeq(sizes, func(r rune) bool { return r == 'x' || r == '×' || r == ' ' }) {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || len(out) == graph.MaxRank {
			return Break{}, fmt.Errorf("break %q: want at most %d sizes, as in shape 150x3", text, graph.MaxRank)
		}
		out = append(out, n)
	}
	return ShapeIs(out...), nil
}

package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// none stands for a missing number.
const none = "–"

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// number writes v as charts do.
func number(v float64) string {
	if !finite(v) {
		return none
	}
	return strings.ReplaceAll(chart.Format(v), "-", "−")
}

// precise writes v to seven digits, so that optima which lie close stay apart.
func precise(v float64) string {
	if !finite(v) {
		return none
	}
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 7, 64), "-", "−")
}

// percent writes a proportion.
func percent(v float64) string {
	if !finite(v) {
		return none
	}
	decimals := 1
	switch v := math.Abs(v * 100); {
	case v >= 100:
		decimals = 0
	case v < 1:
		decimals = 2
	}
	return strings.Replace(strconv.FormatFloat(v*100, 'f', decimals, 64), "-", "−", 1) + "\u00a0%"
}

// above says in words how far v is above the level.
func above(v, level float64) string {
	switch d := v/level - 1; {
	case !finite(d):
		return "not comparable"
	case math.Abs(d) < 1e-4:
		return "the same to within 0.01\u00a0%"
	case d < 0:
		return percent(-d) + " below"
	default:
		return percent(d) + " above"
	}
}

// times writes a ratio of at least 1 as "1.6 times".
func times(ratio float64) string {
	decimals := 1
	if ratio >= 10 {
		decimals = 0
	}
	return number(math.Round(ratio*math.Pow10(decimals))/math.Pow10(decimals)) + "\u00a0times"
}

// count returns a number with its noun, with a no-break space between them.
func count(n int, noun string) string {
	return number(float64(n)) + "\u00a0" + plural.Noun(n, noun)
}

// list joins words as in a sentence.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// capital begins a sentence.
func capital(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// clean removes from a text what would break the page or change the direction of the text around
// it.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.In(r, unicode.Zl, unicode.Zp), r == 0xfffe || r == 0xffff:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// label makes a name fit to be shown: on one line, and not too long to be read.
func label(s string) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if s == "" {
		return "unnamed"
	}
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
	}
	if strings.ContainsFunc(s, rightToLeft) {
		s = "\u2068" + s + "\u2069" // first strong isolate, and its end
	}
	return s
}

// unbroken prevents a line break within "k-means".
func unbroken(s string) string { return strings.ReplaceAll(s, "k-means", "k\u2011means") }

// rightToLeft reports whether r belongs to a script written from right to left.
func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// shown returns the page with all names and texts prepared for display.
func (p Page) shown() Page {
	for _, s := range []*string{&p.Title, &p.Data.Name} {
		if *s != "" {
			*s = label(*s)
		}
	}
	for _, s := range []*string{&p.Setup.Start, &p.Setup.Baselines, &p.Setup.Angle, &p.Task, &p.Drawing.Footer, &p.Difference.Words} {
		*s = unbroken(*s)
	}
	for _, s := range []*string{&p.Setup.Optimiser, &p.Setup.Start, &p.Setup.Schedule, &p.Setup.Baselines, &p.Setup.Angle, &p.Setup.Test, &p.Task, &p.Drawing.Footer,
		&p.Difference.Words, &p.Difference.LaTeX, &p.Made.Command, &p.Made.Version, &p.Made.Machine} {
		*s = clean(*s)
	}
	labels := func(names []string) []string {
		names = slices.Clone(names)
		for i, s := range names {
			names[i] = label(s)
		}
		return names
	}
	p.Difference.Identity = breakable(p.Difference.Identity)
	p.Data.Features, p.Data.Classes = labels(p.Data.Features), labels(p.Data.Classes)
	methods := func(ms []Method) []Method {
		ms = slices.Clone(ms)
		for i, m := range ms {
			ms[i].Name, ms[i].LaTeX, ms[i].Chain = unbroken(label(m.Name)), clean(m.LaTeX), slices.Clone(m.Chain)
			ms[i].Formula = breakable(m.Formula)
			for j, e := range m.Chain {
				ms[i].Chain[j] = Equation{breakable(e.Math), clean(e.Why)}
			}
		}
		return ms
	}
	p.Variants, p.Baselines = methods(p.Variants), methods(p.Baselines)
	lines := func(eqs []Equation) []Equation {
		eqs = slices.Clone(eqs)
		for i, e := range eqs {
			eqs[i] = Equation{breakable(e.Math), clean(e.Why)}
		}
		return eqs
	}
	p.Gradients, p.Weights, p.Stationary = slices.Clone(p.Gradients), slices.Clone(p.Weights), slices.Clone(p.Stationary)
	for i, g := range p.Gradients {
		g.Term, g.Identity, g.Lines, g.LaTeX = label(g.Term), breakable(g.Identity), lines(g.Lines), clean(g.LaTeX)
		p.Gradients[i] = g
	}
	for i, s := range p.Weights {
		s.Node, s.Held, s.Through, s.LaTeX, s.Words = label(s.Node), breakable(s.Held), breakable(s.Through), clean(s.LaTeX), unbroken(clean(s.Words))
		p.Weights[i] = s
	}
	for i, s := range p.Stationary {
		s.Points = slices.Clone(s.Points)
		for j := range s.Points {
			s.Points[j].Kind = clean(s.Points[j].Kind)
		}
		p.Stationary[i] = s
	}
	p.Drawings = slices.Clone(p.Drawings)
	for i, d := range p.Drawings {
		p.Drawings[i].Of, p.Drawings[i].Footer = unbroken(clean(d.Of)), clean(unbroken(d.Footer))
	}
	p.Drawing.Of = unbroken(clean(p.Drawing.Of))
	p.Matrix.Settings = labels(p.Matrix.Settings)
	p.Matrix.Metrics = slices.Clone(p.Matrix.Metrics)
	for i, y := range p.Matrix.Metrics {
		p.Matrix.Metrics[i].Name = unbroken(label(y.Name))
	}
	p.Sweeps = slices.Clone(p.Sweeps)
	for i, s := range p.Sweeps {
		p.Sweeps[i].Name = label(s.Name)
	}
	return p
}

// names returns the methods' names.
func names(ms []Method) []string {
	var out []string
	for _, m := range ms {
		out = append(out, m.Name)
	}
	return out
}

// eachSays joins what say returns for each method as "a …, b … and c …", skipping empty texts.
func eachSays(ms []Method, say func(Method) string) string {
	var said []string
	for _, m := range ms {
		if s := say(m); s != "" {
			said = append(said, s)
		}
	}
	return list(said)
}

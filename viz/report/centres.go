package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// centres shows where the best runs ended, centre by centre.
func (w *writer) centres(p Page) section {
	s := section{ID: "centres", Title: "Where the centres end"}
	var given []Method
	for _, m := range p.methods() {
		if m.Centres != nil {
			given = append(given, m)
		}
	}
	if len(given) == 0 || p.Setup.K == 0 || len(p.Data.Features) == 0 {
		return s
	}
	t := table{Caption: p.marked("The final centres of each method's best run, in the units of the data."), Head: append([]string{"method"}, p.Data.Features...)}
	for j := range p.Setup.K {
		g := group{Name: fmt.Sprint("centre ", j+1)}
		for _, m := range given {
			r := row{Name: m.Name}
			for _, v := range m.Centres[j] {
				r.add(p.placed(v))
			}
			g.Rows = append(g.Rows, r)
		}
		t.Groups = append(t.Groups, g)
	}
	s.Lead = []string{"Each centre of a method stands beside the centres of the others that it lies nearest to." + apart(given)}
	s.Body = []template.HTML{w.table(t)}
	return s
}

// placed returns a coordinate with enough digits to tell it from others of the data: to a
// ten-thousandth of the data's scale, also far from the origin.
func (p Page) placed(v float64) string {
	decimals := 4 - int(math.Floor(math.Log10(p.Data.Scale)))
	if !finite(v) || !(p.Data.Scale > 0) || math.Abs(v) < 100*p.Data.Scale {
		return number(v)
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', max(0, decimals), 64), "-", "−", 1)
}

// apart says how far matched centres are from those of the first method.
func apart(ms []Method) string {
	said := eachSays(ms[1:], func(m Method) string {
		var d []float64
		for j, c := range m.Centres {
			d = append(d, distance(c, ms[0].Centres[j]))
		}
		if d = finites(d); len(d) == 0 {
			return ""
		}
		if lo, hi := number(d[0]), number(d[len(d)-1]); lo != hi {
			return fmt.Sprintf("between %s and %s from those of %s", lo, hi, m.Name)
		}
		return fmt.Sprintf("%s from those of %s", number(d[0]), m.Name)
	})
	if said == "" {
		return ""
	}
	return fmt.Sprintf(" The centres of %s lie %s.", ms[0].Name, said)
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64((a[i] - b[i]) * (a[i] - b[i]))
	}
	return math.Sqrt(sum)
}

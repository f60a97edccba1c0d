package tape

import (
	"fmt"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// String returns the profile as tables: an instruction a line as in the listing, below a loop those
// of its body, marked ┆, with the figures of all its steps; then the user's
// lines, scopes if there are any, and quantities. Rates and the share of the roofline are those of
// a core that is at the instruction; in the last line rates are those of the whole run. ~ marks the
// traffic in scratch.
func (p *Profile) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "profile of %q: a run takes %s on %s, %s unseen; medians of %d runs\n",
		p.Graph, durationText(p.Wall), plural.Count(p.Workers, "core"), durationText(p.Unseen), p.Runs)
	fmt.Fprintf(&b, "a core reaches %v\n", p.Roofline)
	p.rows(&b)
	partsTable(&b, "line", p.Lines(), p.Wall)
	if scopes := p.Scopes(); len(scopes) > 1 || len(scopes) == 1 && scopes[0].Label != "" {
		partsTable(&b, "scope", scopes, p.Wall)
	}
	partsTable(&b, "quantity", p.Nodes(), p.Wall)
	return b.String()
}

func (p *Profile) rows(b *strings.Builder) {
	width := 6
	for _, r := range p.Rows {
		width = max(width, len([]rune(r.Result)))
	}
	width = min(width, 40)
	fmt.Fprintf(b, "%4s %9s %6s  %8s %6s %6s %6s %6s  %-*s  instruction\n",
		"#", "time", "share", "GFLOP/s", "GB/s", "~GB/s", "roof", "calls", width, "result")
	var busy, least time.Duration
	flops, traffic, scratch := int64(0), int64(0), int64(0)
	p.list(b, "", p.program, p.Rows, width)
	for _, r := range p.Rows {
		busy, least = busy+r.Busy, least+min(r.Least, r.Busy)
		flops, traffic, scratch = flops+r.FLOPs, traffic+r.Traffic, scratch+r.ScratchTraffic
	}
	fmt.Fprintf(b, "%15s %s  outside of the instructions\n", durationText(p.Other), percent(share(p.Other, p.Wall)))
	perSecond := func(n int64) float64 { return rate(n, p.Wall) / 1e9 }
	fmt.Fprintf(b, "%15s %s  %8.2f %6.1f %6.1f %s %6s  in all\n", durationText(p.Wall), percent(1),
		perSecond(flops), perSecond(traffic), perSecond(scratch), percent(share(least, busy)), "")
}

// list prints rows of a program, each line after a prefix; after a loop those of its body, marked ┆,
// and what the loop takes itself.
func (p *Profile) list(b *strings.Builder, prefix string, prog *Program, rows []Timing, width int) {
	for i := range rows {
		r, bracket, s := &rows[i], " ", &prog.stages[rows[i].Stage]
		if s.rows > 0 {
			bracket = "│"
			if i == 0 || rows[i-1].Stage != r.Stage {
				fmt.Fprintf(b, "%s     ╭ %s\n", prefix, s.text())
			}
		}
		fmt.Fprintf(b, "%s%4d %s%8s %s  %8.2f %6.1f %6.1f %s %6d  %s  %s %s  · %v\n",
			prefix, i, bracket, durationText(r.Time), percent(share(r.Time, p.Wall)), r.FLOPRate()/1e9, r.ByteRate()/1e9, r.ScratchRate()/1e9,
			percent(r.Roof()), r.Calls, pad(r.Result, width), r.Op, strings.Join(r.In, ", "), r.Pos)
		if s.rows > 0 && (i+1 == len(rows) || rows[i+1].Stage != r.Stage) {
			fmt.Fprintf(b, "%s     ╰\n", prefix)
		}
		if r.Within != nil {
			inner := prefix + "     ┆ "
			fmt.Fprintf(b, "%s%s run\n", inner, plural.Count(int(r.Steps), "step"))
			p.list(b, inner, r.Body, r.Within, width)
			fmt.Fprintf(b, "%s     %8s %s  of the loop itself, from step to step\n", inner, durationText(r.Own()), percent(share(r.Own(), p.Wall)))
		}
	}
}

// partsTable prints parts of a run, the longest first; those that nobody would look at are added
// up.
func partsTable(b *strings.Builder, what string, parts []Part, wall time.Duration) {
	fmt.Fprintf(b, "\n%9s %6s %9s  %s\n", "time", "share", "gradient", what)
	var few time.Duration
	n := 0
	for i, part := range parts {
		if i >= 10 && share(part.Time, wall) < 0.01 {
			few += part.Time
			n++
			continue
		}
		label := part.Label
		switch at := part.Pos.String(); {
		case label == "":
			label = "(none)"
		case at != "" && at != label:
			label += "  · " + at
		}
		fmt.Fprintf(b, "%9s %s %9s  %s\n", durationText(part.Time), percent(share(part.Time, wall)), durationText(part.Gradient), label)
	}
	if n > 0 {
		fmt.Fprintf(b, "%9s %s %9s  %d more\n", durationText(few), percent(share(few, wall)), "", n)
	}
}

// durationText writes a time as in 812 ns, 12.3 µs, 1.52 ms, 2.31 s.
func durationText(d time.Duration) string { return scaled(float64(d), "ns", "µs", "ms", "s") }

// rateText writes a rate as in 176 GFLOP/s, 2.31 TB/s.
func rateText(v float64, unit string) string {
	return scaled(v, unit, "k"+unit, "M"+unit, "G"+unit, "T"+unit)
}

// scaled writes a number to three places in the unit that suits it.
func scaled(v float64, units ...string) string {
	for len(units) > 1 && v >= 999.5 {
		v /= 1000
		units = units[1:]
	}
	if v >= 999.5 {
		return fmt.Sprintf("%.0f %s", v, units[0])
	}
	return fmt.Sprintf("%.3g %s", v, units[0])
}

// percent writes a share in six places.
func percent(v float64) string { return fmt.Sprintf("%5.1f%%", 100*v) }

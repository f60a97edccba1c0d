package lab

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/internal/table"
)

// textWidth is the number of columns that tables with names of usual length fit into.
const textWidth = 100

// String returns the comparison as tables: the loss at the end at every setting of every variant,
// what the best settings measure by all metrics, and which differences are larger than noise.
//
//	2 objectives × 2 optimisers × 10 seeds: 40 trainings of 200 steps
//
//	kmeans-softmax: 12 numbers trained; steps until the loss is down to 0.7219
//	  loss at the end  median  quartiles      steps
//	  adam(0.05)       0.5257  0.526 … 0.526     26  best
//	  sgd(0.1)          1.016  1.02 … 1.02    never  worse (p < 0.001)
func (c *Comparison) String() string {
	var b strings.Builder
	b.WriteString(c.Title() + "\n")
	if on := c.Data(); on != "" {
		b.WriteString("on " + on + "\n")
	}
	for _, v := range c.Variants {
		if v.Reads != "" {
			fmt.Fprintf(&b, "%s: %s\n", v.Name, v.Reads)
		}
		if v.Replaced {
			fmt.Fprintf(&b, "%s, which draws other examples by itself, has those of %s\n", v.Name, c.Variants[v.Task].Name)
		}
	}
	for v := range c.Variants {
		c.writeSettings(&b, v)
	}
	c.writeJudged(&b)
	c.writeDifferences(&b)
	c.writeMoving(&b)
	return b.String()
}

// writeSettings writes the table of the settings of a variant.
func (c *Comparison) writeSettings(b *strings.Builder, v int) {
	name := c.Variants[v].Name
	if t := c.Variants[v].Task; t != v && !c.oneTask() {
		name += ", on the examples of " + c.Variants[t].Name
	}
	if n := c.Variants[v].Cost.Params; n > 0 {
		name += fmt.Sprintf(": %d numbers trained", n)
	}
	if level := c.Level(v); !math.IsNaN(level) {
		until := "steps until the loss is down to " + figure(level)
		if utf8.RuneCountInString(name+until)+2 <= textWidth {
			name += "; " + until
		} else {
			name += ";\n" + until
		}
	}
	b.WriteString("\n" + name + "\n")
	rows := [][]string{{"loss at the end", "median", "quartiles", "steps", ""}}
	for _, o := range c.Outcomes(v, StudentT) {
		note := ""
		if len(c.Settings()) > 1 {
			note = o.Verdict()
		}
		if n := c.Config.Seeds; o.Moving > 0 {
			note = strings.TrimPrefix(fmt.Sprintf("%s, %d of %d converged", note, n-o.Moving, n), ", ")
		}
		if o.Diverged > 0 {
			note = strings.TrimPrefix(note+fmt.Sprintf(", %d of %d diverged", o.Diverged, c.Config.Seeds), ", ")
		}
		rows = append(rows, []string{c.SettingOf(v, o.Setting), figure(o.End.Median), table.Number(o.End.Q1, 3) + " … " + table.Number(o.End.Q3, 3), stepsText(o.Steps.Median), note})
	}
	writeTable(b, rows)
}

// writeTable writes rows in columns as wide as their texts: the second and the fourth, which hold
// numbers, right-aligned, the others left-aligned.
func writeTable(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, s := range r {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, r := range rows {
		line := ""
		for i, s := range r {
			if i == 1 || i == 3 {
				s = strings.Repeat(" ", width[i]-utf8.RuneCountInString(s)) + s
			}
			line += "  " + pad(s, width[i])
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// writeJudged writes the table of variants and metrics.
func (c *Comparison) writeJudged(b *strings.Builder) {
	type column struct {
		head   string
		metric int
	}
	var columns []column
	n := len(c.Variants)
	for k := range c.Metrics {
		head := c.Metrics[k].Name
		switch {
		case k == 0:
			continue
		case k <= n:
			head = fmt.Sprint("by ", k)
		}
		columns = append(columns, column{head, k})
	}
	fmt.Fprintf(b, "\nTrained by the row, judged by the column: median over the seeds at the best setting\n")
	width := 0
	for _, v := range c.Variants {
		width = max(width, 3+utf8.RuneCountInString(v.Name))
	}
	perLine := max(1, (textWidth-width-2)/13)
	for len(columns) > 0 {
		part := columns[:min(perLine, len(columns))]
		columns = columns[len(part):]
		line := "  " + pad("", width)
		for _, col := range part {
			line += " " + pad(shortened(col.head, 12), 12)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for v := range c.Variants {
			line := "  " + pad(fmt.Sprintf("%d  %s", v+1, c.Variants[v].Name), width)
			for _, col := range part {
				m := Summarise(c.Values(col.metric, v, c.Best(v))).Median
				line += " " + pad(figure(m)+" "+c.Marks(col.metric, StudentT)[v], 12)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	for _, why := range c.reasons() {
		b.WriteString("–: " + why + "\n")
	}
	if n > 1 && c.Config.Seeds > 1 {
		b.WriteString("In a column, what shares no letter differs by more than noise; a is among the best.\n")
	}
}

// reasons says of each metric why it does not apply to some variants.
func (c *Comparison) reasons() []string {
	var out []string
	for k := range c.Metrics {
		var names []string
		for v := range c.Variants {
			if c.Missing(k, v) != "" {
				names = append(names, c.Variants[v].Name)
			}
		}
		if len(names) > 0 {
			out = append(out, c.missingText(k, names))
		}
	}
	return out
}

// mostPairs is the largest number of variants whose pairs are listed for every metric.
const mostPairs = 3

// writeDifferences writes the differences between pairs of variants by each metric or, for many
// variants, by the loss at the end alone.
func (c *Comparison) writeDifferences(b *strings.Builder) {
	if len(c.Variants) < 2 {
		return
	}
	head := fmt.Sprintf("\nDifferences at the best settings, seed by seed: mean ± 95 %%; p by %v, Holm over all pairs\n", StudentT)
	for k, y := range c.Metrics {
		if k > 0 && len(c.Variants) > mostPairs {
			break
		}
		differences := c.Differences(k, StudentT)
		if len(differences) == 0 {
			continue
		}
		b.WriteString(head + y.Name + "\n")
		head = ""
		for _, d := range differences {
			fmt.Fprintf(b, "  %s − %s: %s, %s%s\n", c.Variants[d.B].Name, c.Variants[d.A].Name, plusMinus(d.Mean, d.Half), d.Verdict(), c.missing(d))
		}
	}
	if !c.oneTask() {
		b.WriteString("\nThe tasks differ: losses of different tasks are not comparable.\n")
	}
}

// writeMoving writes how many trainings have not converged, and the test.
func (c *Comparison) writeMoving(b *strings.Builder) {
	moving := 0
	for _, cell := range c.cells {
		if !cell.Rest.Converged() {
			moving++
		}
	}
	if moving == 0 {
		b.WriteString("\nAll trainings have converged.\n" + c.ConvergenceTest() + "\n")
		return
	}
	fmt.Fprintf(b, "\n%d of %d trainings have not converged: their numbers say where they were stopped, not where\nthe objective leads.\n%s\n", moving, len(c.cells), c.ConvergenceTest())
}

// ConvergenceTest returns the test for convergence in words, as the function of the same name does
// for the kind of models that were compared.
func (c *Comparison) ConvergenceTest() string {
	if len(c.Variants) == 0 {
		return ConvergenceTest(false)
	}
	return ConvergenceTest(c.Config.size(c.Variants[0].Model) > 0)
}

// oneTask reports whether all variants were trained on the same examples.
func (c *Comparison) oneTask() bool {
	for v := range c.Variants {
		if !c.SameTask(0, v) {
			return false
		}
	}
	return true
}

// Verdict says whether the difference is larger than noise: "exceeds the noise (p = 0.004)",
// "within the noise (p = 0.2)", or why that is not known.
func (d Difference) Verdict() string {
	switch {
	case d.N == 0:
		return "no seed came to an end under both"
	case math.IsNaN(d.Corrected):
		return "one seed tells nothing of the noise"
	case d.Beyond:
		return "exceeds the noise (" + pText(d.Corrected) + ")"
	}
	return "within the noise (" + pText(d.Corrected) + ")"
}

// missing says how many seeds a difference lacks, or nothing.
func (c *Comparison) missing(d Difference) string {
	if d.N == c.Config.Seeds {
		return ""
	}
	return fmt.Sprintf(", over the %d of %d seeds that did not diverge", d.N, c.Config.Seeds)
}

// pText returns a p-value as "p = 0.004" or "p < 0.001".
func pText(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// figure returns a number with four digits.
func figure(v float64) string { return table.Number(v, 4) }

// plusMinus returns "mean ± half", with as many decimals as half has, or the mean alone if half is
// NaN.
func plusMinus(mean, half float64) string {
	if math.IsNaN(half) {
		return figure(mean)
	}
	text := fmt.Sprintf("%s ± %.2g", figure(mean), half)
	if half > 0 && half < 1e4 && !math.IsInf(mean, 0) { // as many decimals as the interval has
		decimals := max(0, 1-int(math.Floor(math.Log10(half))))
		text = fmt.Sprintf("%.*f ± %.*f", decimals, mean, decimals, half)
	}
	return strings.Replace(text, "-", "−", 1)
}

// stepsText returns a number of steps, "never" if it is infinite, or a dash if it is NaN.
func stepsText(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "never"
	case math.IsNaN(v):
		return "–"
	}
	return fmt.Sprintf("%.0f", v)
}

// pad returns a text with blanks added up to a width.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// shortened returns a text cut to at most so many letters.
func shortened(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

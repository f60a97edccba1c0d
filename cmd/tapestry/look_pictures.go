package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// mostPanels is the largest number of charts in a picture.
const mostPanels = 12

// mostTokens is the largest number of queries and of keys in a chart.
const mostTokens = 32

// attentionPictures draws what each query attends to.
func attentionPictures(ctx context.Context, r *look.Run, tokens map[string][]string, query string) ([]picture, error) {
	all, err := r.Attention(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	type row struct {
		Name    string         `json:"name"`
		Queries []string       `json:"queries"`
		Keys    []string       `json:"keys"`
		Weights [][]jsonNumber `json:"weights"`
		Entropy jsonNumber     `json:"entropy"`
		Asked   []int          `json:"asked,omitempty"` // the queries that --query names, from 0
	}
	p := picture{file: "attention.svg", columns: min(len(all), 3)}
	rows := [][]string{{"head", "entropy", "query → key of most weight"}}
	var numbers []row
	asked := [][]string{}
	for i, a := range all {
		queries, keys := labelsOf(len(a.Weights), a.Queries, tokenNames(a, true, tokens)), labelsOf(len(a.Weights[0]), a.Keys, tokenNames(a, false, tokens))
		n := row{Name: a.Name, Queries: queries, Keys: keys, Entropy: jsonNumber(a.Entropy())}
		var most []string
		for q, w := range a.Weights {
			n.Weights = append(n.Weights, jsonNumbers(w))
			best := slices.Index(w, slices.Max(w))
			if len(most) < 6 && best >= 0 {
				most = append(most, fmt.Sprintf("%s→%s %.2f", queries[q], keys[best], w[best]))
			}
		}
		if query != "" {
			n.Asked = readAt(query, queries)
			for _, q := range n.Asked {
				asked = append(asked, []string{a.Name, fmt.Sprint(q + 1), heaviest(a.Weights[q], keys)})
			}
		}
		numbers = append(numbers, n)
		rows = append(rows, []string{a.Name, fmt.Sprintf("%.3f", a.Entropy()), strings.Join(most, "  ")})
		if i < mostPanels {
			p.charts = append(p.charts, heatmapOf(i, a, queries, keys))
		}
	}
	p.text = "weights of the first example; entropy 1 is equal weights, 0 a single key\n" + tabulated(rows, 9)
	if query != "" {
		if len(asked) == 0 {
			return nil, usagef("--query %q: the first example has it nowhere: it reads %s", query, strings.Join(numbers[0].Queries, " "))
		}
		p.text += fmt.Sprintf("what %q attends to: each key with its place and weight\n", query) + tabulated(append([][]string{{"head", "query", "keys"}}, asked...), 9)
	}
	if len(all) > mostPanels {
		p.text += fmt.Sprintf("the picture has the first %d of %d\n", mostPanels, len(all))
	}
	p.numbers = numbers
	return []picture{p}, nil
}

// readAt returns the places whose token is the query, or where the tokens one after the other end with
// it.
func readAt(query string, tokens []string) (out []int) {
	text := ""
	for i, token := range tokens {
		text += token
		if token == visible(query) || strings.HasSuffix(text, visible(query)) {
			out = append(out, i)
		}
	}
	return out
}

// heaviest returns the keys of most weight, up to five, with their places.
func heaviest(weights []float64, keys []string) string {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareFloats(weights[b], weights[a]) })
	var said []string
	for _, k := range order[:min(5, len(order))] {
		said = append(said, fmt.Sprintf("%s (%d) %.2f", keys[k], k+1, weights[k]))
	}
	return strings.Join(said, "  ")
}

// heatmapOf draws the weights of one head.
func heatmapOf(i int, a look.Attention, queries, keys []string) chart.Matrix {
	shown, across := min(len(queries), mostTokens), min(len(keys), mostTokens)
	m := chart.Matrix{Down: "query " + a.Query, Across: "key " + a.Key, Rows: queries[:shown], Columns: keys[:across], Bare: across > 8}
	m.ID, m.Title = fmt.Sprint("attention-", i), "Attention of "+a.Name
	if shown < len(queries) || across < len(keys) {
		m.Title += fmt.Sprintf(": the first %d queries and %d keys of %d and %d", shown, across, len(queries), len(keys))
	}
	for _, w := range a.Weights[:shown] {
		row := slices.Clone(w[:across])
		for k := range row {
			row[k] = math.Round(100*row[k]) / 100
		}
		m.Values = append(m.Values, row)
	}
	cell := 26.0
	for _, k := range keys[:across] {
		cell = max(cell, min(44, 8+8*float64(len([]rune(k)))))
	}
	if !m.Bare {
		cell = 44
	}
	m.Width = max(300, 110+cell*float64(across))
	return m
}

// tokenNames returns the vocabulary of the queries or the keys; nil where there is none.
func tokenNames(a look.Attention, queries bool, tokens map[string][]string) []string {
	q, k := a.TokenInputs()
	n := k
	if queries {
		n = q
	}
	if n == nil || len(tokens) == 0 {
		return nil
	}
	for input, names := range tokens {
		if look.ReadFrom(n, input) {
			return names
		}
	}
	return nil
}

// labelsOf names places: by their tokens, or by their numbers.
func labelsOf(n int, tokens []int, names []string) []string {
	out := make([]string, n)
	for i := range out {
		switch {
		case tokens == nil:
			out[i] = fmt.Sprint(i + 1)
		case tokens[i] >= 0 && tokens[i] < len(names):
			out[i] = visible(names[tokens[i]])
		default:
			out[i] = fmt.Sprint("#", tokens[i])
		}
	}
	return out
}

// visible returns a token with a character for spaces, which are not seen.
func visible(s string) string {
	return strings.NewReplacer(" ", "␣", "\n", "↵", "\t", "⇥").Replace(s)
}

// unitPictures draws how often units of ReLUs are active.
func unitPictures(ctx context.Context, r *look.Run) ([]picture, error) {
	all, err := r.Units(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	type row struct {
		Layer   string         `json:"layer"`
		Samples int            `json:"samples"`
		Steps   []int          `json:"steps"`
		Active  [][]jsonNumber `json:"active"`
		Dead    []int          `json:"dead"`
	}
	p := picture{file: "units.svg", columns: min(len(all), 3)}
	rows := [][]string{{"layer", "units", "inputs", "dead at start", "dead at end", "active at start", "active at end"}}
	var numbers []row
	for i, u := range all {
		n, last := row{Layer: u.Name, Samples: u.Samples, Steps: u.Steps}, len(u.Steps)-1
		c := chart.Lines{X: "units, the most active first", Y: "share of the inputs", Covers: [][2]float64{{1, 0}, {1, 1}}}
		c.ID, c.Title = fmt.Sprint("units-", i), fmt.Sprintf("ReLUs of %s: on how many of %s inputs each is active", u.Name, chart.Format(float64(u.Samples)))
		for k, active := range u.Active {
			n.Active, n.Dead = append(n.Active, jsonNumbers(active)), append(n.Dead, u.Dead(k))
			sorted := slices.Clone(active)
			slices.SortFunc(sorted, func(a, b float64) int { return compareFloats(b, a) })
			c.Series = append(c.Series, chart.Series{Name: fmt.Sprintf("step %d: %d dead", u.Steps[k], u.Dead(k)), X: count(len(sorted)), Y: sorted, Group: k})
		}
		if ticks := len(u.Active[0]); ticks <= 12 {
			c.XTicks = count(ticks)
		}
		numbers = append(numbers, n)
		rows = append(rows, []string{u.Name, fmt.Sprint(len(u.Active[0])), fmt.Sprint(u.Samples), fmt.Sprint(u.Dead(0)), fmt.Sprint(u.Dead(last)),
			fmt.Sprintf("%.3f", mean(u.Active[0])), fmt.Sprintf("%.3f", mean(u.Active[last]))})
		if i < mostPanels {
			p.charts = append(p.charts, c)
		}
	}
	p.text = tabulated(rows, 1)
	if len(all) > mostPanels {
		p.text += fmt.Sprintf("the picture has the first %d of %d layers\n", mostPanels, len(all))
	}
	p.numbers = numbers
	return []picture{p}, nil
}

// elbowPictures draws where the kinks of ReLUs of one number are, and what the net makes of them.
func elbowPictures(ctx context.Context, r *look.Run) ([]picture, error) {
	e, err := r.Elbows(ctx)
	if err != nil || e == nil {
		return nil, err
	}
	last, units := len(e.Steps)-1, len(e.At[0])
	reach := e.Range[1] - e.Range[0]
	lo, hi := e.Range[0]-reach/2, e.Range[1]+reach/2
	c := chart.Lines{X: "step", Y: "elbow −b/w", Rules: []chart.Rule{{Name: "largest input", Y: e.Range[1]}, {Name: "smallest input", Y: e.Range[0]}}, Height: 380}
	c.ID, c.Title = "elbows", "Elbows along training"
	outside := 0
	for h := range units {
		s := chart.Series{Name: fmt.Sprint("unit ", h+1)}
		if e.Dead[last][h] {
			s.Group, s.Name = 1, s.Name+", dead"
		}
		parts := elbowPath(e, h, lo, hi)
		if len(parts) == 0 {
			outside++
		}
		for i, part := range parts {
			s.X, s.Y, s.Faint = part[0], part[1], units > 12 || i < len(parts)-1
			c.Series = append(c.Series, s)
		}
	}
	if outside > 0 {
		c.Title += fmt.Sprintf("; %d of %s never in this range", outside, plural.Count(units, "unit"))
	}
	if units > 12 {
		c.Title += "; in the second colour what is dead at the end"
	}
	p := picture{file: "elbows.svg", columns: 2, charts: []drawn{c}}
	fit, err := r.Curve(ctx, e)
	if err != nil {
		return nil, err
	}
	if fit != nil {
		net := chart.Lines{X: "x", Y: "output", Height: 380}
		net.ID, net.Title = "net", "The net, and the elbows of its last step"
		if fit.Data != nil {
			net.Series = append(net.Series, chart.Series{Name: "data", Points: true, Group: 3, X: fit.DataX, Y: fit.Data})
		}
		for k, y := range fit.Y {
			net.Series = append(net.Series, chart.Series{Name: fmt.Sprint("step ", fit.Steps[k]), X: fit.X, Y: y, Group: k})
		}
		end := fit.Y[len(fit.Y)-1]
		for h := range units {
			if at := e.At[last][h]; at >= fit.X[0] && at <= fit.X[len(fit.X)-1] {
				net.Marks = append(net.Marks, chart.Mark{X: at, Y: heightAt(fit.X, end, at), Group: len(fit.Y) - 1})
			}
		}
		p.charts = append(p.charts, net)
	}
	type unit struct {
		Start jsonNumber `json:"start"`
		End   jsonNumber `json:"end"`
		Slope jsonNumber `json:"slope"`
		Dead  bool       `json:"dead"`
	}
	rows := [][]string{{"unit", "elbow at start", "at end", "slope w at start", "at end", "dead at start", "at end"}}
	var numbers []unit
	for h := range units {
		numbers = append(numbers, unit{jsonNumber(e.At[0][h]), jsonNumber(e.At[last][h]), jsonNumber(e.Slope[last][h]), e.Dead[last][h]})
		rows = append(rows, []string{fmt.Sprint(h + 1), fmt.Sprintf("%.3f", e.At[0][h]), fmt.Sprintf("%.3f", e.At[last][h]), fmt.Sprintf("%.3f", e.Slope[0][h]), fmt.Sprintf("%.3f", e.Slope[last][h]),
			yes(e.Dead[0][h]), yes(e.Dead[last][h])})
	}
	p.text = fmt.Sprintf("inputs from %.3g to %.3g\n", e.Range[0], e.Range[1]) + tabulated(rows, 1)
	p.numbers = numbers
	return []picture{p}, nil
}

// elbowPath returns the parts of the path of an elbow that are in a range: steps and places.
func elbowPath(e *look.Elbows, h int, lo, hi float64) (parts [][2][]float64) {
	inside := false
	for k, step := range e.Steps {
		at := e.At[k][h]
		if !(at >= lo && at <= hi) {
			inside = false
			continue
		}
		if !inside {
			parts = append(parts, [2][]float64{})
		}
		inside = true
		p := &parts[len(parts)-1]
		p[0], p[1] = append(p[0], float64(step)), append(p[1], at)
	}
	return parts
}

func yes(v bool) string {
	if v {
		return "dead"
	}
	return "–"
}

// heightAt returns the height of a polygon at x.
func heightAt(xs, ys []float64, x float64) float64 {
	i, _ := slices.BinarySearch(xs, x)
	if i == 0 {
		return ys[0]
	}
	f := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return ys[i-1] + f*(ys[i]-ys[i-1])
}

// cauchyPictures draws the elbows of fresh parameters beside the Cauchy distribution.
func cauchyPictures(ctx context.Context, r *look.Run) ([]picture, error) {
	c, err := r.Cauchy(ctx)
	if err != nil || c == nil {
		return nil, err
	}
	const bins = 32
	reach := 8 * c.Scale
	width := 2 * reach / bins
	var edges, heights, xs, density []float64
	for b := range bins {
		from := -reach + float64(b)*width
		n := 0
		for _, at := range c.At {
			if at >= from && at < from+width {
				n++
			}
		}
		h := float64(n) / float64(len(c.At)) / width
		edges, heights = append(edges, from, from+width), append(heights, h, h)
	}
	for i := range 161 {
		x := -reach + 2*reach*float64(i)/160
		xs, density = append(xs, x), append(density, c.Density(x))
	}
	l := chart.Lines{X: "elbow −b/w", Y: "density", Series: []chart.Series{{Name: "elbows", X: edges, Y: heights}, {Name: "Cauchy", X: xs, Y: density, Group: 1}}, Height: 320}
	l.ID, l.Title = "cauchy", fmt.Sprintf("%s elbows of fresh parameters, and the Cauchy distribution of scale %.3g", chart.Format(float64(len(c.At))), c.Scale)
	rows := [][]string{{"within", "elbows", "Cauchy"}}
	for _, f := range []float64{.5, 1, 2, 5, 20, 100} {
		got, want := c.Within(f * c.Scale)
		rows = append(rows, []string{fmt.Sprintf("±%.4g", f*c.Scale), fmt.Sprintf("%.4f", got), fmt.Sprintf("%.4f", want)})
	}
	verdict := "no more than chance"
	if c.Distance > c.Chance {
		verdict = "more than chance: this is another distribution"
	}
	text := fmt.Sprintf("%d elbows; b has mean %.3g and deviation %.3g, w %.3g and %.3g\n", len(c.At), c.BMean, c.BStd, c.WMean, c.WStd) + tabulated(rows, 1) +
		fmt.Sprintf("largest difference of the distribution functions %.4f; 1 sample of 20 exceeds %.4f: %s\n", c.Distance, c.Chance, verdict)
	numbers := map[string]any{"elbows": len(c.At), "scale": jsonNumber(c.Scale), "distance": jsonNumber(c.Distance), "chance": jsonNumber(c.Chance), "at": jsonNumbers(c.At)}
	return []picture{{file: "cauchy.svg", columns: 1, charts: []drawn{l}, text: text, numbers: numbers}}, nil
}

func count(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// tabulated returns rows as lines of columns, the first left ones aligned to the left.
func tabulated(rows [][]string, left int) string {
	var b strings.Builder
	tabulate(&b, rows, left)
	return b.String()
}

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// directionPictures draws gradient descent and ridge regression along singular directions.
func directionPictures(ctx context.Context, r *look.Run, rate float64) ([]picture, error) {
	q, err := r.Quadratic(ctx)
	if err != nil || q == nil || r.Trained == nil || rate == 0 {
		return nil, err
	}
	learned, err := q.Learned(ctx, rate)
	if err != nil {
		return nil, err
	}
	var lambda, strength, time []float64
	last := learned.Steps[len(learned.Steps)-1]
	lo, hi := 2*rate, 2*rate*float64(max(last, 2))
	for i := range 41 {
		s := lo * math.Pow(hi/lo, float64(i)/40)
		strength, lambda = append(strength, s), append(lambda, 1/s)
	}
	ridge, err := q.Ridge(ctx, lambda)
	if err != nil {
		return nil, err
	}
	for _, t := range learned.Steps {
		time = append(time, 2*rate*float64(t))
	}
	descent := chart.Lines{X: "2·rate·step", Y: "part of the solution", LogX: true, Covers: [][2]float64{{lo, 0}, {hi, 1}}}
	descent.ID, descent.Title = "descent", "Gradient descent, stopped early: how far it is along each singular direction"
	shrunk := chart.Lines{X: "1/λ", Y: "part of the solution", LogX: true, Covers: [][2]float64{{lo, 0}, {hi, 1}}}
	shrunk.ID, shrunk.Title = "ridge", "Ridge regression: what it leaves of each singular direction"
	rows := [][]string{{"σ", "length", "at end", "predicted", "ridge λ = 1/(2·rate·steps)"}}
	type direction struct {
		Sigma     jsonNumber   `json:"sigma"`
		Length    jsonNumber   `json:"length"`
		Descent   []jsonNumber `json:"descent"`
		Predicted []jsonNumber `json:"predicted"`
		Ridge     []jsonNumber `json:"ridge"`
	}
	var numbers []direction
	for k, σ := range q.Sigma {
		var part, predicted, left []float64
		for i := range learned.Steps {
			part, predicted = append(part, learned.Part[i][k]), append(predicted, learned.Predicted[i][k])
		}
		for i := range lambda {
			left = append(left, ridge.Part[i][k])
		}
		end := len(part) - 1
		numbers = append(numbers, direction{jsonNumber(σ), jsonNumber(q.Length[k]), jsonNumbers(part), jsonNumbers(predicted), jsonNumbers(left)})
		if shown(k, len(q.Sigma)) {
			name := fmt.Sprintf("σ = %.3g", σ)
			group := len(descent.Series)
			descent.Series = append(descent.Series, chart.Series{Name: name, X: time[1:], Y: part[1:], Group: group})
			shrunk.Series = append(shrunk.Series, chart.Series{Name: name, X: strength, Y: left, Group: group})
		}
		if k == mostRows {
			rows = append(rows, []string{"…"})
		}
		if k >= mostRows && k < len(q.Sigma)-1 {
			continue
		}
		rows = append(rows, []string{fmt.Sprintf("%.4g", σ), fmt.Sprintf("%.4g", q.Length[k]), fmt.Sprintf("%.4f", part[end]), fmt.Sprintf("%.4f", predicted[end]), fmt.Sprintf("%.4f", left[len(left)-1])})
	}
	p := picture{file: "directions.svg", columns: 3, charts: []drawn{descent, shrunk}}
	p.text = tabulated(rows, 1)
	out := map[string]any{"rate": jsonNumber(rate), "steps": learned.Steps, "lambda": jsonNumbers(lambda), "directions": numbers}
	if len(learned.Held) > 0 && learned.Held[0] > 0 {
		held := chart.Lines{X: "2·rate·step, and 1/λ", Y: "loss on rows not trained on", LogX: true, LogY: true,
			Series: []chart.Series{{Name: "gradient descent", X: time[1:], Y: learned.Held[1:]}, {Name: "ridge", X: strength, Y: ridge.Held, Group: 1}}}
		stop, best := learned.Best(), ridge.Best()
		held.ID = "held"
		held.Title = fmt.Sprintf("The loss on other rows: least at step %d, and by ridge regression at λ = %.3g", learned.Steps[stop], lambda[best])
		if stop > 0 {
			held.Marks = append(held.Marks, chart.Mark{X: time[stop], Y: learned.Held[stop]})
		}
		held.Marks = append(held.Marks, chart.Mark{X: strength[best], Y: ridge.Held[best], Group: 1})
		p.charts = append(p.charts, held)
		p.text += fmt.Sprintf("loss on rows not trained on: %.4g at step %d, where it is least, and %.4g at the end; by ridge regression %.4g at λ = %.3g\n",
			learned.Held[stop], learned.Steps[stop], learned.Held[len(learned.Held)-1], ridge.Held[best], lambda[best])
		out["held"], out["held_ridge"], out["stop"], out["best_lambda"] = jsonNumbers(learned.Held), jsonNumbers(ridge.Held), learned.Steps[stop], jsonNumber(lambda[best])
	}
	p.numbers = out
	return []picture{p}, nil
}

// mostRows is the number of singular directions in the table, but for the last.
const mostRows = 12

// mostCurves is the largest number of lines of a chart that can be told apart.
const mostCurves = 6

// shown reports whether line k of n is drawn: of many some that are spread over all.
func shown(k, n int) bool {
	if n <= mostCurves {
		return true
	}
	for i := range mostCurves {
		if k == i*(n-1)/(mostCurves-1) {
			return true
		}
	}
	return false
}

// mostColumns is the largest number of pixels beside each other that a picture of places has.
const mostColumns = 200

// thinned returns an image whose pixels stand for thin×thin places, or thin of a line: 1 where one
// of them is seen.
func thinned(values []float64, columns, thin int) []float64 {
	rows, wide := len(values)/columns, (columns+thin-1)/thin
	high := (rows + thin - 1) / thin
	out := make([]float64, high*wide)
	for i, v := range values {
		p := i/columns/thin*wide + i%columns/thin
		out[p] = max(out[p], v)
	}
	return out
}

// receptivePictures draws which places of the input a unit of each layer sees.
func receptivePictures(ctx context.Context, r *look.Run) ([]picture, error) {
	f, err := r.Receptive(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	p := picture{file: "receptive.svg", columns: 2}
	size := fmt.Sprint(f.Size[0])
	columns := f.Size[0]
	if len(f.Size) == 2 {
		size, columns = fmt.Sprintf("%d×%d", f.Size[0], f.Size[1]), f.Size[1]
	}
	thin := 1 + (columns-1)/mostColumns // places of a pixel
	images := chart.Images{Pixel: min(10, max(1.5, 120/float64(columns)))}
	images.ID, images.Title = "places", fmt.Sprintf("What the middle unit of each layer sees of %s (%s)", f.Input, size)
	growth := chart.Lines{X: "layer", Y: "places seen along an axis"}
	growth.ID, growth.Title = "growth", "The receptive field by layer"
	type row struct {
		Layer  string `json:"layer"`
		Kind   string `json:"kind"`
		Grid   []int  `json:"grid"`
		Unit   []int  `json:"unit"`
		Extent []int  `json:"extent"`
		Sees   int    `json:"sees"`
	}
	rows := [][]string{{"layer", "kind", "places", "sees", "of " + size}}
	var numbers []row
	along := make([][]float64, len(f.Size))
	one := chart.ImageRow{}
	for i, l := range f.Layers {
		n := 0
		values := make([]float64, len(l.Sees))
		for k, s := range l.Sees {
			if s {
				n++
				values[k] = 1
			}
		}
		if i < 24 {
			one.Images = append(one.Images, chart.Image{Caption: fmt.Sprintf("%d: %s", i+1, times(l.Extent)), Columns: (columns + thin - 1) / thin, Values: thinned(values, columns, thin), Full: 1})
		}
		for a, e := range l.Extent {
			along[a] = append(along[a], float64(e))
		}
		numbers = append(numbers, row{l.Name, l.Kind, l.Grid, l.Unit, l.Extent, n})
		rows = append(rows, []string{fmt.Sprintf("%d %s", i+1, l.Name), l.Kind, times(l.Grid), times(l.Extent), fmt.Sprintf("%.0f %%", 100*float64(n)/float64(len(l.Sees)))})
	}
	images.Rows = []chart.ImageRow{one}
	for a, y := range along {
		if a > 0 && slices.Equal(y, along[0]) {
			continue
		}
		name := "along " + f.Axes[a]
		if a == 0 && len(along) == 2 && slices.Equal(y, along[1]) {
			name = "either axis"
		}
		growth.Series = append(growth.Series, chart.Series{Name: name, X: count(len(y)), Y: y, Group: a})
	}
	growth.Covers = [][2]float64{{1, 0}}
	growth.Rules = []chart.Rule{{Name: "all of " + f.Axes[0], Y: float64(f.Size[0])}}
	if len(f.Layers) <= 16 {
		growth.XTicks = count(len(f.Layers))
	}
	p.charts = []drawn{images, growth}
	p.text, p.numbers = tabulated(rows, 9), map[string]any{"input": f.Input, "size": f.Size, "layers": numbers}
	return []picture{p}, nil
}

func times(v []int) string {
	var parts []string
	for _, n := range v {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, "×")
}

// spectrumPictures draws the eigenbasis of the graph that a model reads.
func spectrumPictures(ctx context.Context, r *look.Run) ([]picture, error) {
	s, err := r.Spectrum(ctx)
	if err != nil || s == nil {
		return nil, err
	}
	order := make([]int, s.Nodes)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareFloats(s.Vectors[1][a], s.Vectors[1][b]) })
	var links [][2]int
	for i := range s.Nodes {
		for j := range i {
			if s.A[i][j] != 0 {
				links = append(links, [2]int{j, i})
			}
		}
	}
	p := picture{file: "graph.svg", columns: 3}
	values := chart.Lines{X: "eigenvector", Y: "eigenvalue of L", Series: []chart.Series{{Name: "L = I − D^(−½)AD^(−½)", X: count(s.Nodes), Y: s.Values}}}
	values.ID, values.Title = "spectrum", fmt.Sprintf("Spectrum of the graph: %d nodes, %d links", s.Nodes, len(links))
	p.charts = append(p.charts, values)
	if len(s.Filters) > 0 {
		c := chart.Lines{X: "eigenvalue of L", Y: "|vᵀFv|"}
		c.ID, c.Title = "response", "What the filters make of each eigenvector"
		for i, f := range s.Filters {
			if i < mostCurves {
				c.Series = append(c.Series, chart.Series{Name: f.Name, X: s.Values, Y: f.Response, Group: i})
			}
		}
		p.charts = append(p.charts, c)
	}
	names := make([]string, s.Nodes)
	for i := range names {
		names[i] = fmt.Sprint(i + 1)
	}
	for k := range s.Nodes {
		if k > 3 && k != s.Nodes/2 && k != s.Nodes-1 { // the first ones vary least from node to node
			continue
		}
		n := chart.Network{Links: links, Values: s.Vectors[k], Order: order, Names: names}
		n.ID, n.Title = fmt.Sprint("eigenvector-", k+1), fmt.Sprintf("Eigenvector %d of %d, eigenvalue %.3f", k+1, s.Nodes, s.Values[k])
		n.Desc = "Positive values are circles, negative ones squares."
		p.charts = append(p.charts, n)
	}
	var eigenvalues []string
	for _, v := range s.Values {
		eigenvalues = append(eigenvalues, fmt.Sprintf("%.3f", v))
	}
	text := fmt.Sprintf("eigenvalues of L = I − D^(−½)AD^(−½): %s\n", strings.Join(eigenvalues[:min(12, len(eigenvalues))], " "))
	type filter struct {
		Name       string       `json:"name"`
		A          jsonNumber   `json:"a"`
		Normalised jsonNumber   `json:"normalised"`
		WithSelf   jsonNumber   `json:"with_self"`
		Response   []jsonNumber `json:"response"`
	}
	var filters []filter
	if len(s.Filters) > 0 {
		rows := [][]string{{"filter", "with A", "with D^(−½)AD^(−½)", "with that of A + I"}}
		for _, f := range s.Filters {
			filters = append(filters, filter{f.Name, jsonNumber(f.A), jsonNumber(f.Normalised), jsonNumber(f.WithSelf), jsonNumbers(f.Response)})
			rows = append(rows, []string{f.Name, apart(f.A), apart(f.Normalised), apart(f.WithSelf)})
		}
		text += "‖FM − MF‖/(2‖F‖‖M‖): 0 where filter and matrix commute, so that they share an eigenbasis\n" + tabulated(rows, 9)
	} else {
		text += "no map of the model is linear in the features of the nodes\n"
	}
	p.text = text
	p.numbers = map[string]any{"nodes": s.Nodes, "links": links, "eigenvalues": jsonNumbers(s.Values), "filters": filters}
	return []picture{p}, nil
}

// apart prints how far matrices are from commuting; what rounding leaves is 0.
func apart(v float64) string {
	if v < 1e-6 {
		return "0"
	}
	return fmt.Sprintf("%.4f", v)
}

// percent prints a share; a change of what was 0 has none.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// layerPictures draws how values and gradients go through a deep net.
func layerPictures(ctx context.Context, r *look.Run) ([]picture, error) {
	l, err := r.Layers(ctx)
	if err != nil || l == nil {
		return nil, err
	}
	p := picture{file: "layers.svg", columns: 2}
	draw := func(id, title string, by [][]float64) {
		c := chart.Lines{X: "layer", Y: "root mean square", LogY: true}
		c.ID, c.Title = id, title
		for k, v := range by {
			c.Series = append(c.Series, chart.Series{Name: fmt.Sprint("step ", l.Steps[k]), X: count(len(v)), Y: v, Group: k})
		}
		if len(l.Names) <= 16 {
			c.XTicks = count(len(l.Names))
		}
		p.charts = append(p.charts, c)
	}
	draw("values", "What the weights of each layer make", l.Values)
	rows := [][]string{{"layer", "", "values at start", "at end", "gradient at start", "at end", "weights moved by"}}
	if l.Gradient != nil {
		draw("gradients", "The derivative of the loss by that", l.Gradient)
	}
	last := len(l.Steps) - 1
	for i, name := range l.Names {
		row := []string{fmt.Sprint(i + 1), name, fmt.Sprintf("%.3g", l.Values[0][i]), fmt.Sprintf("%.3g", l.Values[last][i]), "–", "–", percent(l.Moved[i])}
		if l.Gradient != nil {
			row[4], row[5] = fmt.Sprintf("%.3g", l.Gradient[0][i]), fmt.Sprintf("%.3g", l.Gradient[last][i])
		}
		rows = append(rows, row)
	}
	p.text = tabulated(rows, 9)
	numbers := map[string]any{"layers": l.Names, "steps": l.Steps, "moved": jsonNumbers(l.Moved)}
	for name, by := range map[string][][]float64{"values": l.Values, "gradients": l.Gradient} {
		var out [][]jsonNumber
		for _, v := range by {
			out = append(out, jsonNumbers(v))
		}
		numbers[name] = out
	}
	p.numbers = numbers
	return []picture{p}, nil
}

package chart

import (
	"fmt"
	"io"
	"math"
)

// drawing is any chart.
type drawing interface{ SVG(w io.Writer) error }

// gallery is a set of charts that resemble those of a report, and hard cases.
func gallery() map[string]drawing {
	nan, inf := math.NaN(), math.Inf(1)
	long := "the goofy alternative with a rather long name"
	g := map[string]drawing{
		"inertia": Lines{Frame: Frame{Title: "Inertia per step",
			Desc: "Soft k-means reaches the optimum, the goofy alternative does not."},
			X: "step", Y: "inertia", LogY: true,
			Series: training(), Rules: []Rule{{"Lloyd 78.85", 78.851}},
			Marks: []Mark{{"converged", 60, 88, 0}, {"converged", 62, 90, 1}}},
		"linear": Lines{Frame: Frame{Title: "Loss"}, X: "step", Y: "loss", Series: training()},
		"legend": Lines{Frame: Frame{Title: "Names that are too long for the margin of a chart and a title that is too long for a line"},
			X: "step", Y: "loss", LogX: true, LogY: true, Series: []Series{
				{Name: long, X: []float64{1, 10, 1000}, Y: []float64{3e-9, 1e-4, 20}},
				{Name: long + ", again", X: []float64{1, 10, 1000}, Y: []float64{3e-9, 1e-6, 2}, Group: 1}},
			Rules: []Rule{{"a level", 1}}},
		"crowded": Lines{Frame: Frame{Title: "Fourteen lines"}, Series: sameEnd(14), Height: 180},
		"few":     Lines{Frame: Frame{Title: "Five lines", Width: 300}, X: "x", Y: "y", Series: sameEnd(5)},
		"band": Lines{Frame: Frame{Title: "A band with a gap"}, Series: []Series{{Name: "a", Y: []float64{1, 2, 3, 4, 5, 4},
			Lo: []float64{0, 1, nan, 3, 4, 3}, Hi: []float64{2, 3, 4, 5, 6, 5}}}},
		"gaps": Lines{Frame: Frame{Title: "Gaps & <marks>"}, X: "x", Y: "y", LogY: true,
			Series: []Series{{Name: "a<b & \"c\"\x00", Y: []float64{1, nan, 2, -1, 3, 4, inf, 5, 6}}},
			Marks:  []Mark{{"off", nan, 1, 0}}, Rules: []Rule{{"zero", 0}}},
		"ticks": Lines{Frame: Frame{Title: "Angles by count"}, X: "k", Y: "degrees", XTicks: []float64{2, 3, 4, 5}, YTicks: []float64{0, 45, 90, 135, 180},
			Series: []Series{{Name: "a", X: []float64{2, 3, 4, 5}, Y: []float64{20, 70, 95, 91}}}},
		"fit": Lines{Frame: Frame{Title: "A line and what it is fitted to"}, X: "x", Y: "y", Series: []Series{
			{Name: "data", Points: true, Group: 1, X: []float64{0, .5, 1, 1, nan, 2}, Y: []float64{.1, .4, 1.3, .7, 1, 2.2}},
			{Name: "the net", X: []float64{0, 2}, Y: []float64{0, 2}}}},
		"named": Scatter{Frame: Frame{Title: "Words", Width: 300}, X: "x", Y: "y", Points: [][2]float64{{0, 0}, {1, 1}, {2, nan}, {3, .2}, {3, .2}, {3.01, .2}, {3, .21}, {3, .19}, {2.9, .2}},
			Names: []string{"the", "a<b", "nowhere", "north", "no", "on", "", "of", "to"}},
		"point":    Lines{Frame: Frame{Title: "One point"}, Series: []Series{{Name: "a", Y: []float64{78.85}}}},
		"constant": Lines{Frame: Frame{Title: "Constant"}, Series: []Series{{Name: "a", Y: []float64{1e9, 1e9, 1e9}}}},
		"nan":      Lines{Frame: Frame{Title: "Nothing"}, Series: []Series{{Name: "a", Y: []float64{nan, inf}}}},
		"none":     Lines{Frame: Frame{Title: "No series at all"}, Rules: []Rule{{"a", 1}}},
		"extreme": Lines{Frame: Frame{Title: "Extremes", Width: 240},
			Series: []Series{{Name: "a", Y: []float64{-1e300, 1e300, 5e-324, 1.7e308}}}},
		"subnormal": Lines{Frame: Frame{Title: "Subnormal"}, Series: []Series{{Name: "a", Y: []float64{0, 5e-324}}}},
		"digits":    Lines{Frame: Frame{Title: "Differences in the last digits"}, Series: []Series{{Name: "a", Y: []float64{12345678.25, 12345678.5}}}},
		"iris":      scatter(true),
		"free":      scatter(false),
		"tall": Scatter{Frame: Frame{Title: "Tall and narrow"}, X: "x", Y: "y", EqualAspect: true,
			Points: [][2]float64{{0, -1e6}, {1, 1e6}, {nan, 2}}},
		"single": Scatter{Frame: Frame{Title: "One point"}, Points: [][2]float64{{3, 5}}, EqualAspect: true, Height: 200},
		"lost": Scatter{Frame: Frame{Title: "A path that is lost"}, Paths: []Path{{"a", 0, [][2]float64{{0, 0}, {1, 1}, {inf, nan}, {2, 1}}},
			{"b", 1, [][2]float64{{nan, nan}}}}},
		"vectors": Scatter{Frame: Frame{Title: "Where two forces pull a point, and their sum"}, X: "x", Y: "y", EqualAspect: true, Backdrop: [][2]float64{{0, 0}, {2, 1}, {2, 1}, {1.5, .2}, {1, nan}}, BackdropName: "others",
			Paths: []Path{{"a point", 0, [][2]float64{{1, .5}}}}, Vectors: []Vector{{"left", 1, [2]float64{1, .5}, [2]float64{0, .5}},
				{"up", 2, [2]float64{1, .5}, [2]float64{1, 1.2}}, {"both", 0, [2]float64{1, .5}, [2]float64{0, 1.2}}, {"up", 2, [2]float64{nan, 0}, [2]float64{1, 1}}, {"up", 2, [2]float64{2, 1}, [2]float64{2, 1}}}},
		"void": Scatter{Frame: Frame{Title: "No points"}, ClassNames: []string{"a"}},
		"costs": Bars{Frame: Frame{Title: "Cost of a step"}, Series: []string{"soft k-means", "goofy"}, OwnScale: true, Rows: []Row{
			{"nodes", "", []float64{41, 38}}, {"FLOPs", "", []float64{1166500, 1412000}}, {"time", "µs", []float64{12.3, 14.1}}}},
		"signed": Bars{Frame: Frame{Title: "Signed"}, Series: []string{"a", "b", "c"}, Rows: []Row{
			{"Δ", "%", []float64{-3.2, 4, 1}}, {"a very long name of a row, indeed", "%", []float64{nan, -1, 0}}}},
		"zeros":   Bars{Frame: Frame{Title: "Zeros"}, Series: []string{""}, Rows: []Row{{"a", "", []float64{0}}}},
		"no-bars": Bars{Frame: Frame{Title: "No bars"}, Series: []string{"a"}, Rows: []Row{{"a", "", []float64{nan}}}},
		"images": Images{Frame: Frame{Title: "Masked & restored"}, Rows: []ImageRow{
			{"image", []Image{ramp(8, 8, 0), ramp(8, 8, 0)}}, {"masked", []Image{ramp(8, 8, 3), ramp(8, 8, 1)}},
			{"a very long name of a row, indeed", []Image{ramp(3, 2, 0)}}}},
		"images-wrapped": Images{Frame: Frame{Title: "Many", Width: 240}, Pixel: 3, Rows: []ImageRow{{"", []Image{
			captioned("8, read as 3"), captioned("1, read as 7"), captioned("a caption that is too long for its image"), captioned("")}}}},
		"images-signed": Images{Frame: Frame{Title: "Filters"}, Pixel: 10, Rows: []ImageRow{{"w", []Image{
			{Columns: 3, Values: []float64{-1, 0, 1, -.5, .5, nan, inf, 2, -2}, Full: 1}, {Columns: 1, Values: []float64{0, 0}}}}}},
		"images-none": Images{Frame: Frame{Title: "No images"}, Rows: []ImageRow{{"a", nil}}},
		"matrix": Matrix{Frame: Frame{Title: "Read"}, Down: "digit", Across: "read as", Rows: []string{"0", "1", "8"}, Columns: []string{"0", "1", "8"},
			Values: [][]float64{{36, 0, 0}, {0, 33, 2}, {1, nan, -12345.678}}},
		"matrix-bare": Matrix{Frame: Frame{Title: "Attention"}, Bare: true, Rows: []string{"the", "a word that is too long for its place in the picture"},
			Columns: []string{"l", "e", "s", "mots"}, Values: [][]float64{{.1, .2, .3, .4}, {0, 0, 1, 0}}},
		"network":     Network{Frame: Frame{Title: "Eigenvector 2 of 5"}, Links: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, Values: []float64{-.6, -.3, 0, .3, nan}, Names: []string{"1", "2", "3", "a long name", "5"}},
		"matrix-none": Matrix{Frame: Frame{Title: "No rows"}, Columns: []string{"a"}},
		"spark":       Sparkline{Name: "loss", Y: []float64{5, 3, nan, 2, 1.5}, Log: true},
		"dark":        Sparkline{Y: []float64{nan}},
	}
	for id, d := range g {
		g[id] = withID(id, d)
	}
	return g
}

// withID gives a chart the identifier that it goes by in the gallery.
func withID(id string, d drawing) drawing {
	switch d := d.(type) {
	case Lines:
		d.ID = id
		return d
	case Scatter:
		d.ID = id
		return d
	case Bars:
		d.ID = id
		return d
	case Images:
		d.ID = id
		return d
	case Matrix:
		d.ID = id
		return d
	case Network:
		d.ID = id
		return d
	}
	return d
}

// training has five runs of each of two methods, and their medians.
func training() []Series {
	var all []Series
	for group, tau := range []float64{12, 25} {
		for run := range 5 {
			all = append(all, Series{Name: fmt.Sprint("run ", run), Group: group, Faint: true,
				Y: decay(121, 600+20*float64(run), 78.85+float64(8*group+run), tau+float64(run))})
		}
		all = append(all, Series{Name: []string{"soft k-means", "goofy"}[group], Group: group,
			Y: decay(121, 640, 78.85+float64(8*group), tau)})
	}
	return all
}

// decay falls from a to b.
func decay(n int, a, b, tau float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = b + (a-b)*math.Exp(-float64(i)/tau)
	}
	return y
}

// sameEnd is n lines that meet.
func sameEnd(n int) []Series {
	var all []Series
	for i := range n {
		all = append(all, Series{Name: fmt.Sprint("line ", i), Group: i, Y: []float64{float64(i), 7, 3}})
	}
	return all
}

// scatter is three classes, and three centres of two methods.
func scatter(equal bool) Scatter {
	s := Scatter{X: "component 1", Y: "component 2", ClassNames: []string{"setosa", "versicolor", "virginica"}, EqualAspect: equal}
	s.Title = "Iris, two principal components"
	for i := range 60 {
		class := i % 3
		turn := float64(i) * 2.4
		r := .1 * math.Sqrt(float64(i))
		s.Points = append(s.Points, [2]float64{2.3*float64(class-1) + r*math.Cos(turn), .5*float64(class%2) + r*math.Sin(turn)})
		s.Class = append(s.Class, class)
	}
	for group, name := range []string{"soft k-means", "goofy alternative"} {
		for centre := range 3 {
			var way [][2]float64
			for i := range 30 {
				t := 1 - math.Exp(-float64(i)/6)
				way = append(way, [2]float64{2.3*t*float64(centre-1) + .4*float64(group), t*t*float64(centre%2) - .3*float64(group)})
			}
			s.Paths = append(s.Paths, Path{name, group, way})
		}
	}
	return s
}

// ramp is an image that gets darker, with every n-th value missing; none if n is 0.
func ramp(columns, rows, n int) Image {
	one := Image{Columns: columns, Values: make([]float64, columns*rows)}
	for i := range one.Values {
		one.Values[i] = float64(i / 2)
		if n > 0 && i%n == 0 {
			one.Values[i] = math.NaN()
		}
	}
	return one
}

// captioned is an image with a caption.
func captioned(caption string) Image {
	one := ramp(8, 8, 0)
	one.Caption = caption
	return one
}

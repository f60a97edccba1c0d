// Package chart draws small SVG charts for HTML reports: [Lines], [Scatter], [Heatmap], [Bars],
// [Matrix], [Images] and [Sparkline]; [Panels] sets several in a file of their own.
//
// It takes plain slices of float64 and names. The SVG method of each chart writes one <svg>
// element, to be put inline into a page. [Style] returns the rules that all charts of the page
// share, to be written once into its <style>:
//
//	fmt.Fprintf(w, "<style>%s</style>", chart.Style())
//	err := chart.Lines{
//		Frame:  chart.Frame{ID: "loss", Title: "Loss per step"},
//		X:      "step",
//		Y:      "loss",
//		Series: []chart.Series{{Name: "soft k-means", Y: losses}},
//	}.SVG(w)
//
// The package guarantees:
//
//   - A chart needs no script, font or other file, and no CSS variable. Elements
//     carry the light colours themselves; Style only adds the dark ones.
//   - Series differ by dash and marker, bars by fill and classes by shape, as well
//     as by colour, for greyscale and colour-blind readers. Only faint lines, one
//     of many runs each, differ by colour alone.
//   - A screen reader finds a title and a description with figures.
//   - Equal charts give equal bytes. A curve takes no more bytes than can be seen:
//     it is thinned to a tenth of a pixel.
//   - No value panics. Values that cannot be drawn (NaN, infinities, magnitudes above
//     1e300, zero and negatives on a logarithmic axis) interrupt their line and are
//     counted in a note; a chart left with nothing to draw says "no finite data".
//     Contradictory input, such as slices of different lengths, is an error.
package chart

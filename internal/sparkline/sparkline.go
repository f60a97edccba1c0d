// Package sparkline draws numbers as a line of block characters, as high as a line of text:
//
//	▁▁▂▄▆█
//
// Tufte, Beautiful Evidence (2006), calls such a graphic the size of a word a sparkline.
package sparkline

import (
	"math"
	"slices"
	"strings"
)

const blocks = "▁▂▃▄▅▆▇█"

var levels = []rune(blocks)

// Curve draws a curve of finite numbers in at most width columns, each the mean of its part of the
// curve, from ▁ for the lowest column up to █ for the highest.
func Curve(v []float64, width int) string {
	width = min(width, len(v))
	if width <= 0 {
		return ""
	}
	parts := make([]float64, width)
	for i := range parts {
		part := v[i*len(v)/width : (i+1)*len(v)/width]
		for _, x := range part {
			parts[i] += x / float64(len(part))
		}
	}
	var b strings.Builder
	lo, hi := slices.Min(parts), slices.Max(parts)
	for _, x := range parts {
		level := 0
		if hi > lo {
			level = int(math.Round((x - lo) / (hi - lo) * float64(len(levels)-1)))
		}
		b.WriteRune(levels[level])
	}
	return b.String()
}

// Histogram draws counts, a column for each: a blank for 0, otherwise ▁ to █ by its share of the
// largest count.
func Histogram(counts []int) string {
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	var b strings.Builder
	for _, n := range counts {
		if n == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteRune(levels[(n*len(levels)-1)/most])
		}
	}
	return b.String()
}

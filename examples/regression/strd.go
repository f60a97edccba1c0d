package main

import (
	"bufio"
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// The 27 data sets for nonlinear regression of the Statistical Reference Datasets of the National
// Institute of Standards and Technology (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml),
// a work of the government of the United States that is in the public domain. They are as in the sources
// of Ceres Solver 2.1.0 (data/nist), but for the first certified value of Roszman1, 2.0196866396E-01,
// whose digits had slipped by a place there.
//
//go:embed testdata/*.dat
var files embed.FS

// dataset is one of them: observations, two places to start from, and certified results.
type dataset struct {
	name       string
	y          []float64
	x          [][]float64 // by predictor
	starts     [2][]float64
	certified  []float64 // parameters of least squares
	deviations []float64 // their standard deviations
	left       float64   // the sum of squares that is left
}

// read parses the file of a data set.
func read(name string) (dataset, error) {
	d := dataset{name: name}
	file, err := files.Open("testdata/" + name + ".dat")
	if err != nil {
		return d, err
	}
	defer file.Close()
	data := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		before, after, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "Data:"):
			data = strings.Contains(line, " x")
		case strings.HasPrefix(line, "Residual Sum of Squares:"):
			v, err := numbers(strings.TrimPrefix(line, "Residual Sum of Squares:"), 1)
			if err != nil {
				return d, err
			}
			d.left = v[0]
		case data && line != "":
			v, err := numbers(line, 0)
			if err != nil {
				return d, err
			}
			if d.x == nil {
				d.x = make([][]float64, len(v)-1)
			}
			d.y = append(d.y, v[0])
			for i, x := range v[1:] {
				d.x[i] = append(d.x[i], x)
			}
		case strings.TrimSpace(before) == fmt.Sprintf("b%d", len(d.certified)+1):
			v, err := numbers(after, 4)
			if err != nil {
				return d, err
			}
			d.starts[0], d.starts[1] = append(d.starts[0], v[0]), append(d.starts[1], v[1])
			d.certified, d.deviations = append(d.certified, v[2]), append(d.deviations, v[3])
		}
	}
	return d, nil
}

// numbers parses n numbers, or as many as there are for n = 0.
func numbers(text string, n int) ([]float64, error) {
	fields := strings.Fields(text)
	if n > 0 && len(fields) != n {
		return nil, fmt.Errorf("%q: want %d numbers", text, n)
	}
	out := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// side is how many codes lie along each axis of the plane that is drawn.
const side = 13

// plane draws where the codes of two numbers lie, and what is written for those on a grid.
func plane(ctx context.Context, l *lesson.Lesson, store *tape.Store, test *data.Set) error {
	images, labels := test.Column("x"), test.Column("y").Data().([]int32)
	g := graph.New("plane")
	a := newAutoencoder(g, 2)
	μ, _ := a.encode(binary(g, len(labels)))
	var grid []float64
	for row := range side {
		for column := range side {
			grid = append(grid, float64(column-side/2)/2.5, -float64(row-side/2)/2.5)
		}
	}
	ink := ops.Sigmoid(a.decode(g.Constant(graph.F32, grid, graph.Ax("n", side*side), graph.Ax("d", 2))))
	values, err := store.Eval(ctx, tape.Feed{g.Lookup("x"): images}, μ, ink)
	if err != nil {
		return err
	}
	codes := chart.Scatter{
		Frame: chart.Frame{ID: "codes", Title: "Codes of digits held out", Desc: "The mean of q(z|x) for each."}, X: "z₁", Y: "z₂", EqualAspect: true}
	for k := range 10 {
		codes.ClassNames = append(codes.ClassNames, fmt.Sprint(k))
	}
	for k, label := range labels {
		codes.Points, codes.Class = append(codes.Points, [2]float64(values[μ].Data[2*k:])), append(codes.Class, int(label))
	}
	written := chart.Images{Frame: chart.Frame{ID: "written", Title: "What is written for codes from −2.4 to 2.4", Width: 480}, Pixel: 3}
	for row := range side {
		written.Rows = append(written.Rows, chart.ImageRow{Images: pictures(values[ink].Data[row*side*64 : (row+1)*side*64])})
	}
	return l.Picture("plane.svg", func(w io.Writer) error { return chart.Panels(w, 2, codes, written) })
}

// writing draws digits held out, what is written for their codes, and what for codes of the prior.
func writing(ctx context.Context, l *lesson.Lesson, store *tape.Store, test *data.Set) error {
	const n = 13
	images := test.Column("x")
	g := graph.New("writing")
	x, a := binary(g, images.Shape()[0]), newAutoencoder(g, 10)
	seen := ops.Slice(x, "n", 0, n)
	μ, _ := a.encode(seen)
	again := ops.Sigmoid(a.decode(μ))
	drawn := ops.Sigmoid(a.decode(ops.RandomNormal(g, "prior", graph.F32, graph.Ax("n", 3*n), graph.Ax("d", 10))))
	values, err := store.Eval(ctx, tape.Feed{g.Lookup("x"): images}, seen, again, drawn)
	if err != nil {
		return err
	}
	return l.Picture("writing.svg", func(w io.Writer) error {
		return chart.Panels(w, 1, chart.Images{
			Frame: chart.Frame{ID: "writing", Title: "Digits by codes of ten numbers", Width: 820},
			Rows: []chart.ImageRow{
				{Name: "held out", Images: pictures(values[seen].Data)},
				{Name: "decoded", Images: pictures(values[again].Data)},
				{Name: "drawn", Images: pictures(values[drawn].Data)},
			},
		})
	})
}

// pictures are images[n 64] with ink from 0 to 1.
func pictures(ink []float64) (out []chart.Image) {
	for ; len(ink) > 0; ink = ink[64:] {
		out = append(out, chart.Image{Columns: 8, Values: ink[:64], Full: 1})
	}
	return out
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// clustered is a clustering of a table into so many clusters.
type clustered struct {
	K          int
	Inertia    float64
	Silhouette float64 // NaN of one cluster
	Groups     int
	Converged  int // runs
	Runs       int
	Assigned   []int
	Path       [][]float64 // the centres along the training of the run that is drawn, row-major [k d]
}

// clusters looks at a clustering for several numbers of clusters.
func (l *looking) clusters(cmd *cobra.Command, o *options, b builders.Builder, name string, bar *progress) (string, []picture, error) {
	if err := l.checkKs(); err != nil {
		return "", nil, err
	}
	if err := unused(cmd, movesItself(b), false, b); err != nil {
		return "", nil, err
	}
	if movesItself(b) {
		if err := idle(cmd, "Lloyd's algorithm begins --restarts times, and goes on until nothing moves", "seeds", "steps"); err != nil {
			return "", nil, err
		}
	}
	c, err := l.training.config(o, name)
	if err != nil {
		return "", nil, err
	}
	c.Progress, c.Stepped = bar.report(), bar.steps()
	var all []clustered
	how := fmt.Sprintf("the best of %s of %s", plural.Count(c.Seeds, "run"), plural.Count(c.Steps, "step"))
	switch {
	case l.params != "":
		one, err := l.givenCentres(cmd, b, c)
		if err != nil {
			return "", nil, err
		}
		all, how = []clustered{one}, "the centres of "+l.params
	case c.Start == lab.StartGiven:
		l.ks = []int{c.K}
		fallthrough
	default:
		if movesItself(b) {
			how = fmt.Sprintf("the best of %s", plural.Count(c.Restarts, "start"))
		}
		for _, k := range l.ks {
			c.K = k
			v, err := c.Repeat(cmd.Context(), name)
			if err != nil {
				return "", nil, err
			}
			best := v.Best()
			one := clustered{K: k, Inertia: best.Inertia(), Groups: best.Groups, Converged: len(v.Runs) - v.Moving(), Runs: len(v.Runs), Assigned: best.Assigned, Path: best.Path}
			if one.Silhouette, err = lab.Silhouette(c.Table, best.Assigned); err != nil {
				return "", nil, err
			}
			all = append(all, one)
		}
	}
	if l.params == "" {
		still, runs := 0, 0
		for _, one := range all {
			still, runs = still+one.Converged, runs+one.Runs
		}
		how += fmt.Sprintf(" for each k; converged: %d of %s", still, plural.Count(runs, "run"))
	}
	says := fmt.Sprintf("%s on %s%s, seed %d: %s", name, c.Table.Name, l.preparedText(), o.seed, how)
	p, err := clusterPicture(c.Table, all, l.params == "")
	return says, []picture{p}, err
}

// givenCentres assigns the rows to the centres of --params.
func (l *looking) givenCentres(cmd *cobra.Command, b builders.Builder, c lab.Config) (clustered, error) {
	f, err := readArrays(l.params)
	if err != nil {
		return clustered{}, err
	}
	m, err := b.Build(nil, c.DType)
	if err != nil {
		return clustered{}, err
	}
	d := len(c.Table.Columns)
	path := m.Centres().Path()
	a := f.take(path)
	if a == nil || len(a.shape) != 2 || a.shape[1] != d || a.shape[0] < 1 {
		return clustered{}, fmt.Errorf("%s: want the centres %s, rows of the %s of %s", l.params, path, plural.Count(d, "feature"), c.Table.Name)
	}
	if names := f.unused(); len(names) > 0 {
		return clustered{}, fmt.Errorf("%s: %s has no %s: it has %s", f.name, b.Name, strings.Join(names, ", "), path)
	}
	out := clustered{K: a.shape[0], Groups: a.shape[0], Path: [][]float64{a.data}}
	if out.Assigned, out.Inertia, err = lab.Assign(cmd.Context(), c.Table.X, a.data, d); err != nil {
		return out, err
	}
	out.Silhouette, err = lab.Silhouette(c.Table, out.Assigned)
	return out, err
}

// clusterPicture draws the points by cluster with the paths of the centres, one chart for each
// number of clusters, in the same plane.
func clusterPicture(t *data.Table, all []clustered, trained bool) (picture, error) {
	p := picture{file: "centres.svg", columns: min(3, len(all))}
	d := len(t.Columns)
	at := func(x []float64) [][2]float64 {
		var out [][2]float64
		for i := 0; i < len(x); i += d {
			y := 0.0
			if d > 1 {
				y = x[i+1]
			}
			out = append(out, [2]float64{x[i], y})
		}
		return out
	}
	x, y := t.Columns[0], ""
	if d == 2 {
		y = t.Columns[1]
	}
	if d > 2 {
		plane, err := linear.NewPlane(t)
		if err != nil {
			return p, err
		}
		at = plane.Points
		x = fmt.Sprintf("first principal component (%.0f %% of the variance)", 100*plane.Share[0])
		y = fmt.Sprintf("second (%.0f %%)", 100*plane.Share[1])
	}
	type row struct {
		K          int          `json:"k"`
		Inertia    jsonNumber   `json:"inertia"`
		Silhouette jsonNumber   `json:"silhouette"`
		Groups     int          `json:"groups"`
		Converged  int          `json:"converged_runs"`
		Runs       int          `json:"runs"`
		Assigned   []int        `json:"assigned"`
		Centres    []jsonNumber `json:"centres"`
	}
	var rows []row
	var text strings.Builder
	fmt.Fprintf(&text, "%4s %12s %12s %8s  %s\n", "k", "inertia", "silhouette", "groups", "converged")
	for _, one := range all {
		s := chart.Scatter{X: x, Y: y, Points: at(t.X), Class: one.Assigned, EqualAspect: d > 1}
		s.ID, s.Title = fmt.Sprint("k-", one.K), fmt.Sprintf("%s: inertia %s, silhouette %.2f", plural.Count(one.K, "cluster"), chart.Format(one.Inertia), one.Silhouette)
		for k := range one.K {
			s.ClassNames = append(s.ClassNames, fmt.Sprint("cluster ", k+1))
		}
		name := "centre, from its start"
		if !trained {
			name = "centre"
		}
		for k := range one.K {
			var path [][2]float64
			for _, centres := range one.Path {
				path = append(path, at(centres[k*d:(k+1)*d])...)
			}
			s.Paths = append(s.Paths, chart.Path{Name: name, Points: path})
		}
		p.charts = append(p.charts, s)
		settled := "–"
		if one.Runs > 0 {
			settled = fmt.Sprintf("%d of %s", one.Converged, plural.Count(one.Runs, "run"))
		}
		fmt.Fprintf(&text, "%4d %12.6g %12.4f %8d  %s\n", one.K, one.Inertia, one.Silhouette, one.Groups, settled)
		rows = append(rows, row{one.K, jsonNumber(one.Inertia), jsonNumber(one.Silhouette), one.Groups, one.Converged, one.Runs, one.Assigned, jsonNumbers(one.Path[len(one.Path)-1])})
	}
	p.text, p.numbers = text.String(), rows
	return p, nil
}

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
)

// arrayDifference says how an array differs between two checkpoints.
type arrayDifference struct {
	Path   string     `json:"path"`
	A      string     `json:"a,omitempty"` // the type, if it differs
	B      string     `json:"b,omitempty"`
	Differ int        `json:"differ"` // number of elements whose bits differ
	Of     int        `json:"of"`
	Most   jsonNumber `json:"most"`  // the largest |a − b|
	Share  jsonNumber `json:"share"` // ‖a − b‖ / ‖a‖
}

// diffCheckpoints prints a line for each array that differs, and reports whether all are equal.
func diffCheckpoints(w io.Writer, first, second string, asJSON bool) (equal bool, err error) {
	a, err := openCheckpoint(first)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := openCheckpoint(second)
	if err != nil {
		return false, err
	}
	defer b.Close()
	types := func(f *savedFile) map[string]string {
		out := map[string]string{}
		for _, info := range f.Infos() {
			out[info.Name] = fmt.Sprintf("%s%v", info.DType, info.Shape)
		}
		return out
	}
	inA, inB := types(a), types(b)
	names := slices.Clone(a.Infos())
	for _, info := range b.Infos() {
		if inA[info.Name] == "" {
			names = append(names, info)
		}
	}
	slices.SortFunc(names, func(x, y safetensors.Info) int { return strings.Compare(x.Name, y.Name) })
	var rows []arrayDifference
	for _, info := range names {
		d := arrayDifference{Path: info.Name}
		if inA[d.Path] != inB[d.Path] {
			d.A, d.B = inA[d.Path], inB[d.Path]
		} else if info.Size == 0 {
			continue
		} else if d, err = compareArrays(a, b, d.Path); err != nil {
			return false, err
		}
		if d.Differ > 0 || d.A != d.B {
			rows = append(rows, d)
		}
	}
	if asJSON {
		for _, d := range rows {
			if err := printJSON(w, d); err != nil {
				return false, err
			}
		}
		return rows == nil, nil
	}
	printDifferences(w, a, b, rows, len(names))
	return rows == nil, nil
}

// compareArrays compares one array of both files.
func compareArrays(a, b *savedFile, path string) (arrayDifference, error) {
	d := arrayDifference{Path: path}
	x, err := a.elements(path)
	if err != nil {
		return d, err
	}
	y, err := b.elements(path)
	if err != nil {
		return d, err
	}
	d.Of = x.Type.Shape.Len()
	apart, norm := 0.0, 0.0
	for i := range d.Of {
		u, v := x.At(i), y.At(i)
		norm += float64(u * u)
		if math.Float64bits(u) == math.Float64bits(v) && (x.I64 == nil || x.I64[i] == y.I64[i]) {
			continue
		}
		d.Differ++
		by := math.Abs(u - v)
		d.Most = jsonNumber(max(float64(d.Most), by))
		apart += float64(by * by)
	}
	d.Share = jsonNumber(math.Sqrt(apart) / math.Sqrt(norm))
	return d, nil
}

func printDifferences(w io.Writer, a, b *savedFile, rows []arrayDifference, all int) {
	for _, f := range []*savedFile{a, b} {
		fmt.Fprintf(w, "%s", f.path)
		if s := f.state; s != nil {
			fmt.Fprintf(w, ": %q after step %s, seed %d, fingerprint %.8s", s.Model.Name, stepText(s), s.Store.Seed(), s.Model.Fingerprint)
			if s.Data != "" {
				fmt.Fprintf(w, ", data %s", s.Data)
			}
		}
		fmt.Fprintln(w)
	}
	cells := [][]string{{"path", "differ", "most", "share"}}
	for _, d := range rows {
		switch {
		case d.A == d.B:
			cells = append(cells, []string{d.Path, fmt.Sprintf("%d of %d", d.Differ, d.Of), digits(float64(d.Most), 3), digits(float64(d.Share), 3)})
		case d.B == "":
			cells = append(cells, []string{d.Path, "only in the first: " + d.A})
		case d.A == "":
			cells = append(cells, []string{d.Path, "only in the second: " + d.B})
		default:
			cells = append(cells, []string{d.Path, d.A + ", " + d.B})
		}
	}
	if rows != nil {
		tabulate(w, cells, 2)
	}
	fmt.Fprintf(w, "%d of %s equal, bit for bit\n", all-len(rows), plural.Count(all, "array"))
}

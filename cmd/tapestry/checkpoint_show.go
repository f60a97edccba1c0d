package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// shownCheckpoint is the JSON that show prints.
type shownCheckpoint struct {
	File        string            `json:"file"`
	Checksum    bool              `json:"checksum"` // there is a checksum, and it is correct
	PassedOver  []string          `json:"passedOver,omitempty"`
	Model       string            `json:"model,omitempty"`
	Rows        int               `json:"rows,omitempty"`
	Lanes       int               `json:"lanes,omitempty"` // into which a batch is cut
	Fingerprint string            `json:"fingerprint,omitempty"`
	Seed        uint64            `json:"seed"`
	Step        uint64            `json:"step"`
	Runs        uint64            `json:"runs"` // runs since then that drew random numbers
	Epoch       int               `json:"epoch"`
	Batch       int               `json:"batch"`
	Batches     int               `json:"batches"`
	Data        string            `json:"data,omitempty"`
	Validation  *shownValidation  `json:"validation,omitempty"`
	Meta        map[string]string `json:"meta"`
	Arrays      []storedArray     `json:"arrays"`
}

type shownValidation struct {
	Step    int        `json:"step"`
	Best    jsonNumber `json:"best"`
	At      int        `json:"at"`
	Waiting int        `json:"waiting"`
}

// showCheckpoint prints a description of a file, reading one array at a time.
func showCheckpoint(ctx context.Context, w io.Writer, path string, asJSON bool) error {
	f, err := openCheckpoint(path)
	if err != nil {
		return err
	}
	defer f.Close()
	infos := f.Infos()
	rows := make([]storedArray, len(infos))
	for i, info := range infos {
		if err := ctx.Err(); err != nil {
			return err
		}
		if rows[i], err = f.array(info); err != nil {
			return err
		}
	}
	slices.SortFunc(rows, func(a, b storedArray) int { return strings.Compare(a.Path, b.Path) })
	if asJSON {
		return printJSON(w, f.shown(rows))
	}
	for _, p := range f.passed {
		fmt.Fprintf(w, "passed over: %s\n", p)
	}
	f.head(w)
	table(w, rows)
	return nil
}

func (f *savedFile) shown(rows []storedArray) shownCheckpoint {
	out := shownCheckpoint{File: filepath.ToSlash(f.path), Checksum: f.whole, PassedOver: f.passed, Meta: f.Metadata(), Arrays: rows}
	if s := f.state; s != nil {
		out.Model, out.Rows, out.Lanes, out.Fingerprint = s.Model.Name, s.Model.Rows, s.Model.Lanes, s.Model.Fingerprint
		out.Seed, out.Step, out.Runs = s.Store.Seed(), s.Store.Step(), s.Store.Runs()
		out.Epoch, out.Batch, out.Batches = s.Position.Epoch, s.Position.Batch, s.Batches
		out.Data, out.Meta = s.Data, s.Meta
		if v := s.Validation; v != nil {
			out.Validation = &shownValidation{v.Step, jsonNumber(v.Best), v.At, v.Waiting}
		}
	}
	return out
}

// head prints everything before the table.
func (f *savedFile) head(w io.Writer) {
	sum := "checksum right"
	if !f.whole {
		sum = "no checksum"
	}
	s := f.state
	if s == nil {
		fmt.Fprintf(w, "%s: a safetensors file, not a checkpoint; %s\n", f.path, sum)
		metadata(w, f.Metadata())
		return
	}
	fmt.Fprintf(w, "%s: checkpoint of %q; %s\n", f.path, s.Model.Name, sum)
	of := ""
	if s.Batches > 0 {
		of = fmt.Sprintf(" of %d", s.Batches)
	}
	fmt.Fprintf(w, "  after step   %s\n  data         %v%s is next\n  seed         %d\n", stepText(s), s.Position, of, s.Store.Seed())
	if s.Data != "" {
		fmt.Fprintf(w, "  source       %s\n", s.Data)
	}
	if v := s.Validation; v != nil {
		fmt.Fprintf(w, "  validation   %s\n", validationText(v))
	}
	lanes := ""
	if s.Model.Lanes > 0 {
		lanes = " in " + plural.Count(s.Model.Lanes, "lane")
	}
	fmt.Fprintf(w, "  fingerprint  %.16s of batches of %s%s\n", s.Model.Fingerprint, plural.Count(s.Model.Rows, "row"), lanes)
	metadata(w, s.Meta)
}

// stepText says at which step a checkpoint was saved, and what was drawn since.
func stepText(s *checkpoint.State) string {
	runs := s.Store.Runs()
	if runs == 0 {
		return fmt.Sprint(s.Store.Step())
	}
	return fmt.Sprintf("%d and %s that drew random numbers", s.Store.Step(), plural.Count(runs, "run"))
}

// metadata prints the metadata beside the arrays: short texts whole, otherwise their length.
func metadata(w io.Writer, meta map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		text := meta[key]
		if utf8.RuneCountInString(text) > 60 || strings.ContainsAny(text, "\n\r\t") {
			text = plural.Count(len(text), "byte")
		}
		fmt.Fprintf(w, "  %-12s %s\n", key, text)
	}
	fmt.Fprintln(w)
}

func validationText(v *checkpoint.Validation) string {
	if math.IsNaN(v.Best) {
		return fmt.Sprintf("last after step %d, never a number", v.Step)
	}
	return fmt.Sprintf("last after step %d; best %s after step %d, none better in %s since", v.Step, digits(v.Best, 6), v.At, plural.Count(v.Waiting, "measurement"))
}

// table prints a row for each array.
func table(w io.Writer, rows []storedArray) {
	cells := [][]string{{"path", "role", "type", "bytes", "min", "mean", "max", "norm"}}
	total := int64(0)
	for _, r := range rows {
		line := []string{r.Path, r.Role, r.Type, fmt.Sprint(r.Bytes)}
		for _, v := range []jsonNumber{r.Min, r.Mean, r.Max, r.Norm} {
			line = append(line, digits(float64(v), 4))
		}
		if r.Bad > 0 {
			line = append(line, fmt.Sprintf("%d not finite", r.Bad))
		}
		cells = append(cells, line)
		total += r.Bytes
	}
	tabulate(w, cells, 3)
	fmt.Fprintf(w, "%s, %d bytes\n", plural.Count(len(rows), "array"), total)
}

// columns aligns cells in columns: the first left ones to the left, the others to the right.
func tabulate(w io.Writer, cells [][]string, left int) {
	var width []int
	for _, line := range cells {
		for i, c := range line {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i < left {
				b.WriteString("  " + c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

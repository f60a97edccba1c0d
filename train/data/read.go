package data

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Open reads the file at path, as [ReadCSV] does. The error for a file that does not exist
// satisfies errors.Is(err, fs.ErrNotExist).
func Open(path string, opts ...Option) (*Table, error) { return input.Open(path, ReadCSV, opts) }

// ReadCSV reads a table from CSV text. Errors call it name. The text is UTF-8, with or without a
// byte order mark; lines end in LF or CRLF; gzip may have compressed it. Quoting is that of
// encoding/csv. White space around a cell is dropped, and blank lines are skipped.
//
//   - The delimiter is the most frequent of comma, semicolon and tab in the first line, the earlier
//     of these if there is a tie. [Delimiter] sets it.
//   - The first row is a header if it holds text in some column where the row below holds a number,
//     or if it holds no number at all. [Header] overrides this. Without a header the columns are
//     called x1, x2, ….
//   - The last column holds labels if it is called label, class, target, species, digit, cultivar
//     or y, in capitals or not, or if none of its cells is a number; but not if it is the only
//     column, if its first number has a fraction, or if it is y beside an x. [Label], [NoLabel] and
//     [Targets] override this.
//   - Every other cell must be a finite number. [Ignore] leaves columns out, and [Missing] says
//     which cells stand for no value.
//
// The result is a whole table of at least one row and one feature, or nil and an *Error.
func ReadCSV(name string, r io.Reader, opts ...Option) (*Table, error) {
	rows, err := input.NewRows(name, r, input.NewConfig(input.Tables, opts))
	if err != nil {
		return nil, err
	}
	s, known, err := rows.Begin()
	if err != nil {
		return nil, err
	}
	b := newBuilder(rows, s)
	if err := rows.Each(known, b.add); err != nil {
		return nil, err
	}
	return &b.t, nil
}

// builder appends rows to a table.
type builder struct {
	*input.Schema
	cfg    *input.Config
	t      Table
	labels input.Interned
}

func newBuilder(r *input.Rows, s *input.Schema) *builder {
	b := &builder{Schema: s, cfg: &r.Config, labels: input.Interned{}}
	b.t.Name = r.File
	b.t.Columns, b.t.LabelName = s.Features()
	if targets := r.Config.Targets; targets != nil {
		b.t.Targets = &Table{Name: r.File, Columns: slices.Clone(targets)}
	}
	return b
}

func (b *builder) add(r input.Row) error {
	var targets []float64 // of this row
	if y := b.t.Targets; y != nil {
		n := len(y.X)
		y.X = append(y.X, make([]float64, len(y.Columns))...)
		targets = y.X[n:]
	}
	for j, cell := range r.Cells {
		if b.Role[j] == input.Ignored {
			continue
		}
		v, isNumber := input.Number(cell)
		msg := ""
		switch {
		case b.Role[j] == input.Feature && b.cfg.IsMissing(cell):
			b.t.X = append(b.t.X, math.NaN())
		case cell == "":
			msg = "empty cell"
		case b.Role[j] == input.Label && isNumber && b.TextLabels:
			msg = fmt.Sprintf("%s is a number but the labels above are not; name the label %s to allow both", input.Quote(cell), input.Quote(b.Names[j]))
		case b.Role[j] == input.Label:
			b.t.Labels = append(b.t.Labels, b.labels.Intern(cell))
		case !isNumber:
			msg = input.Quote(cell) + " is not a number"
			if len(b.t.Lines) == 0 && b.Role[j] == input.Feature {
				msg += fmt.Sprintf("; ignore %s to leave the column out", input.Quote(b.Names[j]))
			}
		case math.IsNaN(v) || math.IsInf(v, 0):
			msg = input.Quote(cell) + " is not finite"
		case b.Role[j] == input.Target:
			targets[b.Place[j]] = v
		default:
			b.t.X = append(b.t.X, v)
		}
		if msg != "" {
			usual := input.IsUsuallyMissing(cell)
			if b.Role[j] == input.Target && (usual || b.cfg.IsMissing(cell)) {
				msg += "; every row needs its target"
			}
			missing := b.Role[j] == input.Feature && usual || b.Role[j] == input.Label && b.Doubtful
			return &Error{File: b.t.Name, Line: r.Line, Column: b.Names[j], Msg: msg, Missing: missing && b.cfg.Missing == nil}
		}
	}
	b.t.Lines = append(b.t.Lines, r.Line)
	if b.t.Targets != nil {
		b.t.Targets.Lines = b.t.Lines
	}
	return nil
}

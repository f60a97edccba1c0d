package watch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// Limits on what is read of a log.
const (
	MaxLine    = 1 << 20    // bytes of a line
	MaxRecords = 10_000_000 // of ReadLog
)

// Record is a line of a log: an event and its time, which is zero if the log has none.
type Record struct {
	train.Event
	Time     time.Time
	Settings map[string]string // of a training that begins; nil if the log has none
	Folder   string            // from which its relative paths are read, as [In] has it; "" if the log has none
}

// Error is a mistake in a line of a log.
type Error struct {
	Name string // of the log
	Line int    // from 1
	Err  error
}

// Error returns NAME:LINE: and what is wrong.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrCut is the cause if the last line of a log is incomplete, as a run that was killed leaves it.
var ErrCut = errors.New("the line is cut short")

// ReadLog reads a whole log, which errors call name. If a line cannot be read, it returns the
// records before it and an [*Error].
func ReadLog(name string, r io.Reader) ([]Record, error) {
	var out []Record
	lines := NewReader(name, r)
	for {
		record, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, lines.end()
		case err != nil:
			return out, err
		case len(out) == MaxRecords:
			return out, &Error{name, lines.line, fmt.Errorf("more than %d records", MaxRecords)}
		}
		out = append(out, record)
	}
}

// Reader reads a log record by record, also while it is being written.
type Reader struct {
	name    string
	r       *bufio.Reader
	line    int    // the number of the line that was read last
	half    []byte // a line whose end is not written yet
	tooLong bool
}

// NewReader returns a reader at the beginning of a log, which errors call name.
func NewReader(name string, r io.Reader) *Reader {
	if r == nil {
		return &Reader{name: name}
	}
	return &Reader{name: name, r: bufio.NewReaderSize(r, 8<<10)}
}

// Next returns the next record. At the end of what has been written it returns io.EOF, and it may
// be called again when there is more. A line that is not a record is an [*Error]; the next call
// goes on with the line after it. Any other error is that of the file.
func (r *Reader) Next() (Record, error) {
	if r == nil {
		r = new(Reader)
	}
	if r.r == nil {
		return Record{}, &Error{r.name, 0, errors.New("there is no reader to read from")}
	}
	for {
		part, err := r.r.ReadSlice('\n')
		if r.tooLong = r.tooLong || len(r.half)+len(part) > MaxLine; r.tooLong {
			r.half = r.half[:0]
		} else {
			r.half = append(r.half, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return Record{}, io.EOF
		case err != nil:
			return Record{}, fmt.Errorf("%s: %w", r.name, err)
		}
		line, tooLong := bytes.TrimSpace(r.half), r.tooLong
		r.half, r.tooLong = r.half[:0], false
		r.line++
		if tooLong {
			return Record{}, &Error{r.name, r.line, fmt.Errorf("more than %d bytes in a line", MaxLine)}
		}
		if len(line) == 0 {
			continue
		}
		record, err := parse(line)
		if err != nil {
			return Record{}, &Error{r.name, r.line, err}
		}
		return record, nil
	}
}

// end returns an error if the log ends in an incomplete line.
func (r *Reader) end() error {
	if len(bytes.TrimSpace(r.half)) == 0 && !r.tooLong {
		return nil
	}
	return &Error{r.name, r.line + 1, ErrCut}
}

// parse parses a line.
func parse(line []byte) (Record, error) {
	var v struct {
		Event   string `json:"event"`
		Version *int   `json:"version"`
		Step    *int   `json:"step"`
		Epoch   int    `json:"epoch"`
		Batch   int    `json:"batch"`
		Steps   int    `json:"steps"`
		Epochs  int    `json:"epochs"`
		Loss    number `json:"loss"`
		Rate    number `json:"rate"`
		Scores  scores `json:"scores"`
		Path    string `json:"path"`
		Error   string `json:"error"`
		Time    string `json:"time"`

		Settings map[string]string `json:"settings"`
		Folder   string            `json:"folder"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		wrong, broken := new(json.UnmarshalTypeError), new(json.SyntaxError)
		switch {
		case errors.As(err, &wrong) && wrong.Field != "":
			return Record{}, fmt.Errorf("%s is a %s", wrong.Field, wrong.Value)
		case errors.As(err, &wrong):
			return Record{}, fmt.Errorf("a JSON %s: want an object", wrong.Value)
		case errors.As(err, &broken):
			return Record{}, fmt.Errorf("no JSON object: %w", err)
		}
		return Record{}, err
	}
	kind, known := kindOf(v.Event)
	switch {
	case !known:
		return Record{}, fmt.Errorf("event %.40q: want begun, stepped, validated, saved or ended", v.Event)
	case v.Version != nil && *v.Version != Version:
		return Record{}, fmt.Errorf("a log of version %d: want %d", *v.Version, Version)
	case v.Step == nil:
		return Record{}, errors.New("no step")
	case min(*v.Step, v.Epoch, v.Batch, v.Steps, v.Epochs) < 0:
		return Record{}, errors.New("a negative number of steps, epochs or batches")
	}
	out := Record{Event: train.Event{Kind: kind, Step: *v.Step, Steps: v.Steps, Epochs: v.Epochs,
		Position: data.Position{Epoch: v.Epoch, Batch: v.Batch}, Loss: float64(v.Loss), Rate: float64(v.Rate), Scores: metric.Scores(v.Scores), Path: v.Path}}
	if kind == train.Begun {
		out.Settings, out.Folder = v.Settings, v.Folder
	}
	if v.Error != "" {
		out.Err = errors.New(v.Error)
	}
	if v.Time != "" {
		var err error
		if out.Time, err = time.Parse(time.RFC3339Nano, v.Time); err != nil {
			return Record{}, fmt.Errorf("time %.40q: want one as %s", v.Time, stamp)
		}
	}
	return out, nil
}

// kindOf returns the kind of event of that name.
func kindOf(name string) (k train.EventKind, ok bool) {
	for k.String() != "" {
		if k.String() == name {
			return k, true
		}
		k++
	}
	return 0, false
}

// number is a number as JSON, or as a string if JSON lacks it.
type number float64

// UnmarshalJSON parses either.
func (n *number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*n = number(math.NaN())
	case `"+Inf"`:
		*n = number(math.Inf(1))
	case `"-Inf"`:
		*n = number(math.Inf(-1))
	default:
		var v float64
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%.40s: want a number, or \"NaN\", \"+Inf\" or \"-Inf\"", text)
		}
		*n = number(v)
	}
	return nil
}

// scores is a JSON object whose order counts.
type scores metric.Scores

// UnmarshalJSON parses the names and numbers, in their order.
func (s *scores) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("scores: want an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var v number
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("score %.40q: %w", name, err)
		}
		*s = append(*s, metric.Score{Name: fmt.Sprint(name), Value: float64(v)})
	}
	return nil
}

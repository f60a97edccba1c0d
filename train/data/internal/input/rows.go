package input

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Row is one row of a file. Its cells are valid until the next one is read.
type Row struct {
	Line  int   // line of the file on which it starts
	Start int64 // byte of the file at which the row before ends
	Cells []string
}

// Rows reads a file row by row, within limits. All rows must have the same number of cells.
type Rows struct {
	File      string
	Config    Config
	limit     *limiter
	CSV       *csv.Reader
	origin    int64 // bytes before what csv reads: a byte order mark
	Width     int   // of every row; 0 before the first
	WidthLine int   // of the row that set it
	cells     int   // read so far

	Compressed bool // the file is compressed by gzip
}

// NewRows returns a reader of the rows of r and finds their delimiter.
func NewRows(file string, r io.Reader, cfg Config) (*Rows, error) {
	if cfg.Err == "" && r == nil {
		cfg.Err = "there is no reader to read from"
	}
	if cfg.Err != "" {
		return nil, &Error{File: file, Msg: cfg.Err}
	}
	r, compressed, err := unpacked(file, r, cfg)
	if err != nil {
		return nil, err
	}
	limit := &limiter{r: r, file: file, maxLine: cfg.MaxLine, maxBytes: cfg.MaxBytes, comment: cfg.Comment, line: 1}
	const window = 64 << 10 // what detecting the delimiter looks at
	text := bufio.NewReaderSize(limit, window)
	bom, origin := []byte("\ufeff"), int64(0)
	if start, _ := text.Peek(len(bom)); bytes.Equal(start, bom) {
		text.Discard(len(bom))
		origin = int64(len(bom))
	}
	p := &Rows{Compressed: compressed, origin: origin, File: file, Config: cfg, limit: limit, CSV: csv.NewReader(text)}
	p.CSV.ReuseRecord = true
	p.CSV.FieldsPerRecord = -1 // next checks, with a better message
	p.CSV.Comma, p.CSV.Comment = cfg.Delimiter, rune(cfg.Comment)
	if p.CSV.Comma == 0 {
		start, _ := text.Peek(window) // shorter at the end of the file or at its first error
		p.CSV.Comma = cfg.detectDelimiter(start)
	}
	if p.CSV.Comma == p.CSV.Comment {
		return nil, &Error{File: file, Msg: fmt.Sprintf("%q cannot both separate cells and begin comments", p.CSV.Comma)}
	}
	p.CSV.TrimLeadingSpace = p.CSV.Comma == ' ' // many spaces are one
	return p, nil
}

// Next returns the next row that is not blank, or io.EOF. Cells are trimmed, and checked to be
// text.
func (r *Rows) Next() (Row, error) {
	for {
		start := r.origin + r.CSV.InputOffset()
		cells, err := r.CSV.Read()
		if err == io.EOF {
			return Row{}, err
		}
		if err != nil {
			return Row{}, r.explain(err)
		}
		line, _ := r.CSV.FieldPos(0)
		// encoding/csv skips empty lines; this skips those of white space alone.
		if len(cells) == 1 && cells[0] != "" && strings.TrimSpace(cells[0]) == "" {
			continue
		}
		if r.CSV.Comma == ' ' && len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1] // spaces at the end of the line
		}
		for j, cell := range cells {
			cells[j] = strings.TrimSpace(cell)
			if msg := malformed(cells[j]); msg != "" {
				return Row{}, &Error{File: r.File, Line: line, Msg: fmt.Sprintf("cell %d: %s", j+1, msg)}
			}
		}
		if r.Width == 0 {
			r.Width, r.WidthLine = len(cells), line
		}
		msg := ""
		if len(cells) != r.Width {
			msg = fmt.Sprintf("the number of cells is %d, not %d as in line %d", len(cells), r.Width, r.WidthLine)
		} else if r.cells += len(cells); r.cells > r.Config.MaxCells {
			msg = fmt.Sprintf("more than %d cells; MaxCells sets the limit", r.Config.MaxCells)
		}
		if msg != "" {
			return Row{}, &Error{File: r.File, Line: line, Msg: msg}
		}
		return Row{line, start, cells}, nil
	}
}

// Start reads the first two rows, or the only one. A file without rows is an error.
func (r *Rows) Start() ([]Row, error) {
	first, err := r.Next()
	if err == io.EOF {
		return nil, &Error{File: r.File, Msg: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	first.Cells = slices.Clone(first.Cells) // the next row overwrites them
	second, err := r.Next()
	switch err {
	case nil:
		return []Row{first, second}, nil
	case io.EOF:
		return []Row{first}, nil
	}
	return nil, err
}

// Each calls add with the rows that were read before, known, and then with all others.
func (r *Rows) Each(known []Row, add func(Row) error) error {
	for _, row := range known {
		if err := add(row); err != nil {
			return err
		}
	}
	for {
		row, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = add(row)
		}
		if err != nil {
			return err
		}
	}
}

// explain turns an error of the CSV reader into an *Error. The limiter reads ahead, so its error
// counts only once the parser has reached the same line.
func (r *Rows) explain(err error) error {
	var parse *csv.ParseError
	isParse := errors.As(err, &parse)
	if r.limit.err != nil && r.limit.err != io.EOF && (!isParse || parse.Line >= r.limit.line) {
		return r.limit.err
	}
	e := &Error{File: r.File, Msg: err.Error(), Err: err}
	if isParse {
		e.Line = parse.Line
		switch {
		case errors.Is(err, csv.ErrBareQuote):
			e.Msg = "quote inside a cell that is not quoted"
		case errors.Is(err, csv.ErrQuote):
			e.Line = parse.StartLine
			e.Msg = "quoted cell that is not closed or that text follows"
		}
	}
	return e
}

// detectDelimiter returns the most frequent candidate outside quotes in the first line of text that
// is not a comment, or a space for an edge list that has none.
func (c *Config) detectDelimiter(text []byte) rune {
	const candidates = ",;\t"
	var count [len(candidates)]int
	text = bytes.TrimLeft(text, "\r\n")
	for c.Comment != 0 && len(text) > 0 && text[0] == c.Comment {
		_, text, _ = bytes.Cut(text, []byte("\n"))
		text = bytes.TrimLeft(text, "\r\n")
	}
	quoted := false
	for _, b := range text {
		if b == '"' {
			quoted = !quoted
		}
		if quoted {
			continue
		}
		if b == '\n' {
			break
		}
		if k := strings.IndexByte(candidates, b); k >= 0 {
			count[k]++
		}
	}
	best := 0
	for k := range count {
		if count[k] > count[best] {
			best = k
		}
	}
	if count[best] == 0 && c.reads == Edges {
		return ' '
	}
	return rune(candidates[best])
}

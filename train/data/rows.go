package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// row is one row of a file. Its cells are valid until the next one is read.
type row struct {
	line  int   // on which it starts
	start int64 // byte of the file, behind the row before
	cells []string
}

// rows reads a file row by row, all of one width, within limits.
type rows struct {
	file      string
	cfg       config
	limit     *limiter
	csv       *csv.Reader
	origin    int64 // bytes before what csv reads: a byte order mark
	width     int   // of every row; 0 before the first
	widthLine int   // of the row that set it
	cells     int   // read so far

	compressed bool // the file
}

func newRows(file string, r io.Reader, cfg config) (*rows, error) {
	if cfg.err == "" && r == nil {
		cfg.err = "there is no reader to read from"
	}
	if cfg.err != "" {
		return nil, &Error{File: file, Msg: cfg.err}
	}
	r, compressed, err := unpacked(file, r, cfg)
	if err != nil {
		return nil, err
	}
	limit := &limiter{r: r, file: file, maxLine: cfg.maxLine, maxBytes: cfg.maxBytes, comment: cfg.comment, line: 1}
	const window = 64 << 10 // what detecting the delimiter looks at
	text := bufio.NewReaderSize(limit, window)
	bom, origin := []byte("\ufeff"), int64(0)
	if start, _ := text.Peek(len(bom)); bytes.Equal(start, bom) {
		text.Discard(len(bom))
		origin = int64(len(bom))
	}
	p := &rows{compressed: compressed, origin: origin, file: file, cfg: cfg, limit: limit, csv: csv.NewReader(text)}
	p.csv.ReuseRecord = true
	p.csv.FieldsPerRecord = -1 // next checks, with a better message
	p.csv.Comma, p.csv.Comment = cfg.delimiter, rune(cfg.comment)
	if p.csv.Comma == 0 {
		start, _ := text.Peek(window) // shorter at the end of the file or at its first error
		p.csv.Comma = cfg.detectDelimiter(start)
	}
	if p.csv.Comma == p.csv.Comment {
		return nil, &Error{File: file, Msg: fmt.Sprintf("%q cannot both separate cells and begin comments", p.csv.Comma)}
	}
	p.csv.TrimLeadingSpace = p.csv.Comma == ' ' // many spaces are one
	return p, nil
}

// next returns the next row that is not blank, with cells trimmed and checked to
// be text, or io.EOF.
func (r *rows) next() (row, error) {
	for {
		start := r.origin + r.csv.InputOffset()
		cells, err := r.csv.Read()
		if err == io.EOF {
			return row{}, err
		}
		if err != nil {
			return row{}, r.explain(err)
		}
		line, _ := r.csv.FieldPos(0)
		// encoding/csv skips empty lines; this skips those of white space alone.
		if len(cells) == 1 && cells[0] != "" && strings.TrimSpace(cells[0]) == "" {
			continue
		}
		if r.csv.Comma == ' ' && len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1] // spaces at the end of the line
		}
		for j, cell := range cells {
			cells[j] = strings.TrimSpace(cell)
			if msg := malformed(cells[j]); msg != "" {
				return row{}, &Error{File: r.file, Line: line, Msg: fmt.Sprintf("cell %d: %s", j+1, msg)}
			}
		}
		if r.width == 0 {
			r.width, r.widthLine = len(cells), line
		}
		msg := ""
		if len(cells) != r.width {
			msg = fmt.Sprintf("the number of cells is %d, not %d as in line %d", len(cells), r.width, r.widthLine)
		} else if r.cells += len(cells); r.cells > r.cfg.maxCells {
			msg = fmt.Sprintf("more than %d cells; MaxCells sets the limit", r.cfg.maxCells)
		}
		if msg != "" {
			return row{}, &Error{File: r.file, Line: line, Msg: msg}
		}
		return row{line, start, cells}, nil
	}
}

// explain turns an error of the CSV reader into an *Error. The limiter reads
// ahead, so its complaint counts only if the parser has come to the same line.
func (r *rows) explain(err error) error {
	var parse *csv.ParseError
	isParse := errors.As(err, &parse)
	if r.limit.err != nil && r.limit.err != io.EOF && (!isParse || parse.Line >= r.limit.line) {
		return r.limit.err
	}
	e := &Error{File: r.file, Msg: err.Error(), Err: err}
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

// detectDelimiter returns the most frequent candidate outside quotes in the first
// line of text that is no comment; in an edge list without any, a space.
func (c *config) detectDelimiter(text []byte) rune {
	const candidates = ",;\t"
	var count [len(candidates)]int
	text = bytes.TrimLeft(text, "\r\n")
	for c.comment != 0 && len(text) > 0 && text[0] == c.comment {
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
	if count[best] == 0 && c.reads == edges {
		return ' '
	}
	return rune(candidates[best])
}

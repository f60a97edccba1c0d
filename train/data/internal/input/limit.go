package input

import (
	"fmt"
	"io"
)

// limiter passes a stream on until it exceeds a limit or proves not to be a text file. It sits
// below the CSV parser, so that an endless line or an unclosed quote stops before the parser has
// buffered it. Once it has failed, it keeps failing.
type limiter struct {
	r        io.Reader
	file     string
	maxLine  int
	maxBytes int64
	comment  byte // begins a line in which quotes mean nothing; 0: there is none

	total  int64
	line   int  // line being read, from 1
	length int  // bytes of the record so far; a quoted cell may span lines
	quoted bool // within quotes, which the parity of quotes decides (RFC 4180)
	note   bool // within a comment
	cr     bool // the last byte was a carriage return
	err    error
}

func (l *limiter) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(p)
	for i, c := range p[:n] {
		if msg := l.step(c); msg != "" {
			l.err = &Error{File: l.file, Line: l.line, Msg: msg}
			return i, l.err
		}
	}
	if err != nil && err != io.EOF {
		err = &Error{File: l.file, Line: l.line, Msg: "cannot read: " + err.Error(), Err: err}
	}
	l.err = err
	return n, err
}

// step accepts one byte and returns what is wrong with it, or "".
func (l *limiter) step(c byte) string {
	if l.total++; l.total > l.maxBytes {
		return fmt.Sprintf("the file is longer than %d bytes; MaxBytes sets the limit", l.maxBytes)
	}
	if mark := "\ufeff"; l.total <= 3 && c == mark[l.total-1] {
		return "" // a byte order mark, or soon found not to be text
	}
	if l.cr && c != '\n' {
		return "lone carriage return; lines must end in LF or CRLF"
	}
	l.cr = c == '\r'
	if l.length == 0 && c == l.comment && c != 0 {
		l.note = true
	}
	switch c {
	case 0:
		return "not a text file: it holds a NUL byte"
	case '"':
		if !l.note {
			l.quoted = !l.quoted
		}
	case '\n':
		l.note = false
		l.line++
		if !l.quoted {
			l.length = 0
			return ""
		}
	}
	if l.length++; l.length <= l.maxLine || l.cr { // a CR belongs to the line's end
		return ""
	}
	if l.quoted {
		return fmt.Sprintf("a quoted cell makes the row longer than %d bytes; is a quote not closed? MaxLine sets the limit", l.maxLine)
	}
	return fmt.Sprintf("the line is longer than %d bytes; MaxLine sets the limit", l.maxLine)
}

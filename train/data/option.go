package data

import (
	"fmt"
	"unicode/utf8"
)

// Option changes how ReadCSV and Open read a file.
type Option func(*config)

type config struct {
	label     string // name of the label column, where mode says so
	labelMode labelMode
	ignore    []string
	delimiter rune  // 0: detected
	header    *bool // nil: detected
	maxLine   int
	maxBytes  int64
	maxCells  int
	err       string // the first senseless option
}

type labelMode int

const (
	detectLabel labelMode = iota
	namedLabel
	noLabel
)

func newConfig(opts []Option) config {
	c := config{maxLine: 1 << 20, maxBytes: 1 << 30, maxCells: 1 << 26}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// refuse records the first senseless option, which ReadCSV then reports.
func (c *config) refuse(bad bool, format string, args ...any) {
	if bad && c.err == "" {
		c.err = fmt.Sprintf(format, args...)
	}
}

// Label takes the named column as labels, whatever its place and content.
func Label(name string) Option {
	return func(c *config) { c.label, c.labelMode = name, namedLabel }
}

// NoLabel takes every column as a feature.
func NoLabel() Option {
	return func(c *config) { c.label, c.labelMode = "", noLabel }
}

// Ignore leaves the named columns out; their cells may hold anything. A name
// that the file lacks is an error. Ignore("") leaves out columns without a name.
func Ignore(names ...string) Option {
	return func(c *config) { c.ignore = append(c.ignore, names...) }
}

// Header says whether the first row holds names, instead of detecting it.
func Header(present bool) Option {
	return func(c *config) { c.header = &present }
}

// Delimiter sets the character between cells, instead of detecting it.
func Delimiter(r rune) Option {
	return func(c *config) {
		bad := r <= 0 || r == '"' || r == '\r' || r == '\n' || r == utf8.RuneError || !utf8.ValidRune(r)
		c.refuse(bad, "Delimiter(%q): this character cannot separate cells", r)
		c.delimiter = r
	}
}

// MaxLine limits a row to n bytes, a quoted cell over several lines included.
// The default is 1 MiB.
func MaxLine(n int) Option {
	return func(c *config) { c.refuse(n < 1, "MaxLine(%d): the limit must be positive", n); c.maxLine = n }
}

// MaxBytes limits the file to n bytes. The default is 1 GiB.
func MaxBytes(n int64) Option {
	return func(c *config) { c.refuse(n < 1, "MaxBytes(%d): the limit must be positive", n); c.maxBytes = n }
}

// MaxCells limits the number of cells read, header and labels included. The
// default is 2²⁶, which is 512 MiB of float64.
func MaxCells(n int) Option {
	return func(c *config) { c.refuse(n < 1, "MaxCells(%d): the limit must be positive", n); c.maxCells = n }
}

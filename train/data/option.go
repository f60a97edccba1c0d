package data

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Option changes how a file is read. Which readers take it is said with each; the
// others refuse it.
type Option func(*config)

type config struct {
	reads     format
	label     string // name of the label column, where mode says so
	labelMode labelMode
	targets   []string
	ignore    []string
	missing   map[string]bool // cells, in lower case, that stand for no value; nil: there are none
	delimiter rune            // 0: detected
	header    *bool           // nil: detected
	comment   byte            // what begins a line to skip; 0: nothing
	maxLine   int
	maxBytes  int64
	trusted   bool // MaxBytes was given
	maxCells  int
	edges     edgeConfig
	err       string // the first senseless option
}

// format is what a reader reads, or several that an option is for.
type format int

const (
	tables format = 1 << iota
	edges
	arrays
	texts
)

func (f format) String() string {
	return map[format]string{tables: "tables", edges: "edge lists", arrays: "arrays", texts: "texts", tables | edges: "tables and edge lists",
		tables | edges | arrays: "tables, edge lists and arrays"}[f]
}

type labelMode int

const (
	detectLabel labelMode = iota
	namedLabel
	noLabel
)

func newConfig(reads format, opts []Option) config {
	c := config{reads: reads, maxLine: 1 << 20, maxBytes: 1 << 30, maxCells: 1 << 26}
	if reads == edges {
		c.comment = '#'
	}
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

// only refuses an option that the reader at hand does not take.
func (c *config) only(readers format, option string) {
	c.refuse(c.reads&readers == 0, "%s: this is an option for %v, not for %v", option, readers, c.reads)
}

// Label, of a table, takes the named column as labels, whatever its place and content.
func Label(name string) Option {
	return func(c *config) { c.only(tables, "Label"); c.label, c.labelMode = name, namedLabel }
}

// Targets, of a table, takes the named columns as the numbers that a model is to predict,
// in that order: they are no features, but [Table.Set] and [OpenCSV] give them as y[n k] of
// k columns, of the type of the features, where a table with labels has their codes. A
// target is a finite number in every row: Missing says nothing of it, and a table has
// labels or targets. With targets no label is looked for.
func Targets(names ...string) Option {
	return func(c *config) {
		c.only(tables, "Targets")
		c.refuse(len(names) == 0, "Targets(): want the name of a column")
		c.targets = append(c.targets, names...)
	}
}

// NoLabel, of a table, takes every column as a feature, as where one that is a target is to
// be standardised or filled with the others first: see [Table.Take].
func NoLabel() Option {
	return func(c *config) { c.only(tables, "NoLabel"); c.label, c.labelMode = "", noLabel }
}

// Ignore, of tables and edge lists, leaves the named columns out; their cells may hold anything. A name
// that the file lacks is an error. Ignore("") leaves out columns without a name.
func Ignore(names ...string) Option {
	return func(c *config) { c.only(tables|edges, "Ignore"); c.ignore = append(c.ignore, names...) }
}

// Missing, of a table, says which cells of a feature stand for no value: the given
// ones or, if none are given, empty cells, NA, ? and NaN, in capitals or not. Such
// a value is NaN in the Table, and [Table.Dense] refuses it: [FillMean],
// [FillMedian], [Fill] or [Table.DropMissing] come first. Labels and targets are not affected.
func Missing(cells ...string) Option {
	return func(c *config) {
		c.only(tables, "Missing")
		if len(cells) == 0 {
			cells = usuallyMissing
		}
		c.missing = make(map[string]bool)
		for _, cell := range cells {
			c.missing[strings.ToLower(strings.TrimSpace(cell))] = true
		}
	}
}

// usuallyMissing are the cells that Missing means without arguments.
var usuallyMissing = []string{"", "na", "?", "nan"}

// Header, of tables and edge lists, says whether the first row holds names,
// instead of detecting it.
func Header(present bool) Option {
	return func(c *config) { c.only(tables|edges, "Header"); c.header = &present }
}

// Delimiter, of tables and edge lists, sets the character between cells, instead of
// detecting it. A space stands for any number of them.
func Delimiter(r rune) Option {
	return func(c *config) {
		c.only(tables|edges, "Delimiter")
		bad := r <= 0 || r == '"' || r == '\r' || r == '\n' || r == utf8.RuneError || !utf8.ValidRune(r)
		c.refuse(bad, "Delimiter(%q): this character cannot separate cells", r)
		c.delimiter = r
	}
}

// Comment, of tables and edge lists, sets the ASCII character that begins a line
// to skip; 0 means that there is none. Edge lists have #, tables none.
func Comment(r rune) Option {
	return func(c *config) {
		c.only(tables|edges, "Comment")
		c.refuse(r < 0 || r >= utf8.RuneSelf || r == '"' || r == '\r' || r == '\n', "Comment(%q): this character cannot begin a comment", r)
		c.comment = byte(r)
	}
}

// MaxLine, of tables and edge lists, limits a row to n bytes, a quoted cell over
// several lines included. The default is 1 MiB.
func MaxLine(n int) Option {
	return func(c *config) {
		c.only(tables|edges, "MaxLine")
		c.refuse(n < 1, "MaxLine(%d): the limit must be positive", n)
		c.maxLine = n
	}
}

// MaxBytes limits the file to n bytes; of a compressed one, what comes out of it
// as well. The default is 1 GiB, and of a compressed file also 100 times the bytes that it
// was read from, or 16 MiB if that is more: a small file cannot take all memory.
func MaxBytes(n int64) Option {
	return func(c *config) {
		c.refuse(n < 1, "MaxBytes(%d): the limit must be positive", n)
		c.maxBytes, c.trusted = n, true
	}
}

// MaxCells limits the number of cells read, header and labels included; of an
// array, the number of its elements. The default is 2²⁶, which is 512 MiB of float64.
func MaxCells(n int) Option {
	return func(c *config) {
		c.only(tables|edges|arrays, "MaxCells")
		c.refuse(n < 1, "MaxCells(%d): the limit must be positive", n)
		c.maxCells = n
	}
}

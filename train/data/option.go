package data

import (
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Label, of a table, takes the named column as labels, whatever its place and content.
func Label(name string) Option {
	return func(c *input.Config) { c.Only(input.Tables, "Label"); c.Label, c.LabelMode = name, input.NamedLabel }
}

// Targets, of a table, takes the named columns as the numbers that a model is to predict,
// in that order: they are no features, but [Table.Set] and [OpenCSV] give them as y[n k] of
// k columns, of the type of the features, where a table with labels has their codes. A
// target is a finite number in every row: Missing says nothing of it, and a table has
// labels or targets. With targets no label is looked for.
func Targets(names ...string) Option {
	return func(c *input.Config) {
		c.Only(input.Tables, "Targets")
		c.Refuse(len(names) == 0, "Targets(): want the name of a column")
		c.Targets = append(c.Targets, names...)
	}
}

// NoLabel, of a table, takes every column as a feature, as where one that is a target is to
// be standardised or filled with the others first: see [Table.Take].
func NoLabel() Option {
	return func(c *input.Config) { c.Only(input.Tables, "NoLabel"); c.Label, c.LabelMode = "", input.NoLabel }
}

// Ignore, of tables and edge lists, leaves the named columns out; their cells may hold anything. A name
// that the file lacks is an error. Ignore("") leaves out columns without a name.
func Ignore(names ...string) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Ignore")
		c.Ignore = append(c.Ignore, names...)
	}
}

// Missing, of a table, says which cells of a feature stand for no value: the given
// ones or, if none are given, empty cells, NA, ? and NaN, in capitals or not. Such
// a value is NaN in the Table, and [Table.Dense] refuses it: [FillMean],
// [FillMedian], [Fill] or [Table.DropMissing] come first. Labels and targets are not affected.
func Missing(cells ...string) Option {
	return func(c *input.Config) {
		c.Only(input.Tables, "Missing")
		if len(cells) == 0 {
			cells = input.UsuallyMissing
		}
		c.Missing = make(map[string]bool)
		for _, cell := range cells {
			c.Missing[strings.ToLower(strings.TrimSpace(cell))] = true
		}
	}
}

// Header, of tables and edge lists, says whether the first row holds names,
// instead of detecting it.
func Header(present bool) Option {
	return func(c *input.Config) { c.Only(input.Tables|input.Edges, "Header"); c.Header = &present }
}

// Delimiter, of tables and edge lists, sets the character between cells, instead of
// detecting it. A space stands for any number of them.
func Delimiter(r rune) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Delimiter")
		bad := r <= 0 || r == '"' || r == '\r' || r == '\n' || r == utf8.RuneError || !utf8.ValidRune(r)
		c.Refuse(bad, "Delimiter(%q): this character cannot separate cells", r)
		c.Delimiter = r
	}
}

// Comment, of tables and edge lists, sets the ASCII character that begins a line
// to skip; 0 means that there is none. Edge lists have #, tables none.
func Comment(r rune) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Comment")
		c.Refuse(r < 0 || r >= utf8.RuneSelf || r == '"' || r == '\r' || r == '\n', "Comment(%q): this character cannot begin a comment", r)
		c.Comment = byte(r)
	}
}

// MaxLine, of tables and edge lists, limits a row to n bytes, a quoted cell over
// several lines included. The default is 1 MiB.
func MaxLine(n int) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "MaxLine")
		c.Refuse(n < 1, "MaxLine(%d): the limit must be positive", n)
		c.MaxLine = n
	}
}

// MaxBytes limits the file to n bytes; of a compressed one, what comes out of it
// as well. The default is 1 GiB, and of a compressed file also 100 times the bytes that it
// was read from, or 16 MiB if that is more: a small file cannot take all memory.
func MaxBytes(n int64) Option {
	return func(c *input.Config) {
		c.Refuse(n < 1, "MaxBytes(%d): the limit must be positive", n)
		c.MaxBytes, c.Trusted = n, true
	}
}

// MaxCells limits the number of cells read, header and labels included; of an
// array, the number of its elements. The default is 2²⁶, which is 512 MiB of float64.
func MaxCells(n int) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges|input.Arrays, "MaxCells")
		c.Refuse(n < 1, "MaxCells(%d): the limit must be positive", n)
		c.MaxCells = n
	}
}

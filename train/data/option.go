package data

import (
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Label makes the named column of a table its labels, wherever it stands and whatever it holds.
func Label(name string) Option {
	return func(c *input.Config) { c.Only(input.Tables, "Label"); c.Label, c.LabelMode = name, input.NamedLabel }
}

// Targets makes the named columns of a table its targets: the numbers that a model predicts, in
// that order, and not features. [Table.Set] and [OpenCSV] return the k targets as y[n k], of the
// type of the features. A target is a finite number in every row, whatever [Missing] says. A table
// cannot have both labels and targets, and with targets no label is looked for.
func Targets(names ...string) Option {
	return func(c *input.Config) {
		c.Only(input.Tables, "Targets")
		c.Refuse(len(names) == 0, "Targets(): want the name of a column")
		c.Targets = append(c.Targets, names...)
	}
}

// NoLabel makes every column of a table a feature, for example to standardise or fill a target
// along with the features before [Table.Take] separates them.
func NoLabel() Option {
	return func(c *input.Config) { c.Only(input.Tables, "NoLabel"); c.Label, c.LabelMode = "", input.NoLabel }
}

// Ignore leaves the named columns of a table or an edge list out; their cells may hold anything. A
// name that the file lacks is an *Error. Ignore("") leaves out columns without a name.
func Ignore(names ...string) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Ignore")
		c.Ignore = append(c.Ignore, names...)
	}
}

// Missing allows for missing values among the features of a table: the given cells, or if none are
// given, empty cells, NA, ? and NaN, in capitals or not. Such a value is NaN in the Table, which
// [Table.Dense] refuses: call [FillMean], [FillMedian], [Fill] or [Table.DropMissing] first. Labels
// and targets are not affected.
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

// Header says whether the first row of a table or an edge list holds names, which otherwise is
// detected.
func Header(present bool) Option {
	return func(c *input.Config) { c.Only(input.Tables|input.Edges, "Header"); c.Header = &present }
}

// Delimiter sets the character between the cells of a table or an edge list, which otherwise is
// detected. A space stands for any number of spaces.
func Delimiter(r rune) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Delimiter")
		bad := r <= 0 || r == '"' || r == '\r' || r == '\n' || r == utf8.RuneError || !utf8.ValidRune(r)
		c.Refuse(bad, "Delimiter(%q): this character cannot separate cells", r)
		c.Delimiter = r
	}
}

// Comment sets the ASCII character that begins a line to skip in a table or an edge list; 0 means
// that no line is skipped. The default is # for edge lists and 0 for tables.
func Comment(r rune) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "Comment")
		c.Refuse(r < 0 || r >= utf8.RuneSelf || r == '"' || r == '\r' || r == '\n', "Comment(%q): this character cannot begin a comment", r)
		c.Comment = byte(r)
	}
}

// MaxLine limits each row of a table or an edge list to n bytes, including quoted cells of several
// lines. The default is 1 MiB.
func MaxLine(n int) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges, "MaxLine")
		c.Refuse(n < 1, "MaxLine(%d): the limit must be positive", n)
		c.MaxLine = n
	}
}

// MaxBytes limits a file to n bytes, before and after decompression. The default is 1 GiB, and for
// a compressed file also 100 times its compressed bytes or 16 MiB, whichever is larger, so that a
// small file cannot exhaust memory.
func MaxBytes(n int64) Option {
	return func(c *input.Config) {
		c.Refuse(n < 1, "MaxBytes(%d): the limit must be positive", n)
		c.MaxBytes, c.Trusted = n, true
	}
}

// MaxCells limits the number of cells of a table or an edge list, header and labels included, or of
// elements of an array. The default is 2²⁶, which is 512 MiB of float64.
func MaxCells(n int) Option {
	return func(c *input.Config) {
		c.Only(input.Tables|input.Edges|input.Arrays, "MaxCells")
		c.Refuse(n < 1, "MaxCells(%d): the limit must be positive", n)
		c.MaxCells = n
	}
}

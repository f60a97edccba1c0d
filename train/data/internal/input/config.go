package input

import (
	"fmt"
	"slices"
	"strings"
)

// Option changes how a file is read.
type Option func(*Config)

// Config holds what the options of a reader say.
type Config struct {
	reads     format
	Label     string // name of the label column, for NamedLabel
	LabelMode labelMode
	Targets   []string
	Ignore    []string
	Missing   map[string]bool // cells, in lower case, that stand for no value; nil: there are none
	Delimiter rune            // 0: detected
	Header    *bool           // nil: detected
	Comment   byte            // what begins a line to skip; 0: nothing
	MaxLine   int
	MaxBytes  int64
	Trusted   bool // MaxBytes was given
	MaxCells  int
	Edges     edgeConfig
	Err       string // what is wrong with the first bad option
}

// format is a kind of file, or a set of them.
type format int

// Kinds of files.
const (
	Tables format = 1 << iota
	Edges
	Arrays
	Texts
)

func (f format) String() string {
	return map[format]string{Tables: "tables", Edges: "edge lists", Arrays: "arrays", Texts: "texts", Tables | Edges: "tables and edge lists",
		Tables | Edges | Arrays: "tables, edge lists and arrays"}[f]
}

type labelMode int

// How the column of labels is found.
const (
	detectLabel labelMode = iota
	NamedLabel
	NoLabel
)

// NewConfig returns the defaults of a reader, changed by options.
func NewConfig(reads format, opts []Option) Config {
	c := Config{reads: reads, MaxLine: 1 << 20, MaxBytes: 1 << 30, MaxCells: 1 << 26}
	if reads == Edges {
		c.Comment = '#'
	}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Refuse records what is wrong with an option if bad; a reader reports the first.
func (c *Config) Refuse(bad bool, format string, args ...any) {
	if bad && c.Err == "" {
		c.Err = fmt.Sprintf(format, args...)
	}
}

// Only refuses an option that is not for the kind of file being read.
func (c *Config) Only(readers format, option string) {
	c.Refuse(c.reads&readers == 0, "%s: this is an option for %v, not for %v", option, readers, c.reads)
}

// edgeConfig holds what the options of edge lists say.
type edgeConfig struct {
	Directed   bool
	Names      bool
	Nodes      int // 0: as many as have edges
	Loops      repeated
	Duplicates repeated
}

// repeated says what to do with an edge that may be a mistake.
type repeated int

// What to do with self-loops and duplicates.
const (
	Refused repeated = iota
	Kept
	Dropped
	Added
)

// UsuallyMissing lists the cells that the option Missing means without arguments.
var UsuallyMissing = []string{"", "na", "?", "nan"}

// IsText reports whether a cell is neither a number nor missing.
func (c *Config) IsText(cell string) bool { return IsText(cell) && !c.IsMissing(cell) }

// IsMissing reports whether a cell stands for no value, by the option Missing.
func (c *Config) IsMissing(cell string) bool {
	return c.Missing != nil && c.Missing[strings.ToLower(cell)]
}

// IsUsuallyMissing reports whether a cell is one of UsuallyMissing, in capitals or not.
func IsUsuallyMissing(cell string) bool {
	return slices.Contains(UsuallyMissing, strings.ToLower(cell))
}

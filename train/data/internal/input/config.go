package input

import (
	"fmt"
	"slices"
	"strings"
)

// Option changes how a file is read.
type Option func(*Config)

type Config struct {
	reads     format
	Label     string // name of the label column, where mode says so
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
	Err       string // the first senseless option
}

// format is what a reader reads, or several that an option is for.
type format int

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

const (
	detectLabel labelMode = iota
	NamedLabel
	NoLabel
)

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

// Refuse records the first senseless option, which ReadCSV then reports.
func (c *Config) Refuse(bad bool, format string, args ...any) {
	if bad && c.Err == "" {
		c.Err = fmt.Sprintf(format, args...)
	}
}

// Only refuses an option that the reader at hand does not take.
func (c *Config) Only(readers format, option string) {
	c.Refuse(c.reads&readers == 0, "%s: this is an option for %v, not for %v", option, readers, c.reads)
}

// edgeConfig is what the options of edge lists say.
type edgeConfig struct {
	Directed   bool
	Names      bool
	Nodes      int // 0: as many as have edges
	Loops      repeated
	Duplicates repeated
}

// repeated is what to do with an edge that may be a mistake.
type repeated int

const (
	Refused repeated = iota
	Kept
	Dropped
	Added
)

// UsuallyMissing are the cells that Missing means without arguments.
var UsuallyMissing = []string{"", "na", "?", "nan"}

// IsText says whether a cell is neither a number nor in the place of one.
func (c *Config) IsText(cell string) bool { return IsText(cell) && !c.IsMissing(cell) }

func (c *Config) IsMissing(cell string) bool {
	return c.Missing != nil && c.Missing[strings.ToLower(cell)]
}

func IsUsuallyMissing(cell string) bool {
	return slices.Contains(UsuallyMissing, strings.ToLower(cell))
}

package notation

import (
	"path"
	"strings"
)

// Extension is the ending of the names of files in the notation.
const Extension = ".tapestry"

// File is an objective that was read without mistakes. It must not be changed; any number of
// goroutines may build models of it.
type File struct {
	source
	title      string
	lines      []*statement
	quantities map[string]*quantity // by symbol
	axes       []sized              // in order of declaration
	renames    []rename
	loss       *quantity // nil if there is none
	output     *quantity
}

// Name returns the name that the file was read by.
func (f *File) Name() string { return f.name }

// Title returns the title that the file states, or else the file's name without its ending.
func (f *File) Title() string {
	if f.title != "" {
		return f.title
	}
	return base(f.name)
}

// base returns the name of a file without its directory and ending.
func base(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if short := strings.TrimSuffix(name, Extension); short != "" {
		return short
	}
	return name
}

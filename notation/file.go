package notation

import (
	"path"
	"strings"
)

// Extension is how the name of a file in the notation ends.
const Extension = ".tapestry"

// File is an objective that was read and found right. It must not be changed; any
// number of goroutines may build models of it.
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

// Name is the name that the file was read by.
func (f *File) Name() string { return f.name }

// Title is what the file calls its objective, or the file's name without its ending.
func (f *File) Title() string {
	if f.title != "" {
		return f.title
	}
	return base(f.name)
}

// base is the name of a file without its directory and ending.
func base(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if short := strings.TrimSuffix(name, Extension); short != "" {
		return short
	}
	return name
}

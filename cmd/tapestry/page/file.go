package page

import (
	"path"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// file is an answer other than JSON.
type file struct {
	kind  string // its type
	name  string // to be saved under; "" to be shown
	text  []byte
	stays bool   // the same as long as the program runs
	sent  func() // called after it was sent; may be nil
}

const svgType = "image/svg+xml"

// maxName is the length of a file's name, in characters, without its ending.
const maxName = 80

// fileName returns a name that is safe to save a file under: without separators of folders or
// characters special to a terminal or a file system, and not too long. It keeps the extension.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !terminal.Shows(r) || strings.ContainsRune("\n\t<>:\"|?*/", r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	ending := path.Ext(name)
	if len(ending) > 10 || ending == "." {
		ending = ""
	}
	stem := []rune(strings.TrimLeft(strings.TrimSuffix(name, ending), ". "))
	if len(stem) == 0 {
		stem = []rune("objective")
	}
	return string(stem[:min(len(stem), maxName)]) + ending
}

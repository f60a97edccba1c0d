// Package docs holds the pages of this folder that programs show.
package docs

import _ "embed"

// NotesMap is notes-map.md, the way from the lecture notes to the code.
//
//go:embed notes-map.md
var NotesMap string

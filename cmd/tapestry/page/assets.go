package page

import (
	"io/fs"
	"path"
)

// Assets returns the files of the page itself, of which index.html is the page.
func Assets() fs.FS {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return files
}

// kinds maps the extensions of assets to their media types. Files of other types are not served.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/json",
}

// index answers with the page.
func (s *Service) index(*request) (any, error) { return asset("index.html") }

// asset answers with an embedded file.
func (s *Service) asset(r *request) (any, error) { return asset(r.place("name")) }

func asset(name string) (any, error) {
	kind, known := kinds[path.Ext(name)]
	if !known || path.Base(name) != name {
		return nil, failf(notFound, "no such file")
	}
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return nil, failf(notFound, "no such file")
	}
	return &file{kind: kind, text: text, stays: true}, nil
}

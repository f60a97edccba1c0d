package page

import (
	"embed"
	"net/http"
	"path"
)

//go:embed assets
var assets embed.FS

// kinds maps the extensions of assets to their media types. Files of other types are not served.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/json",
}

// serveAsset writes an embedded file of that name.
func serveAsset(w http.ResponseWriter, name string) error {
	kind, known := kinds[path.Ext(name)]
	if !known || path.Base(name) != name {
		return failf(http.StatusNotFound, "no such file")
	}
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return failf(http.StatusNotFound, "no such file")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(text) // the client may have gone
	return nil
}

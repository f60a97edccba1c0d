package page

import (
	"bytes"
	"mime"
	"net/http"
)

// file is an answer that is no JSON.
type file struct {
	kind string // its type
	name string // to be saved under; "" to be shown
	text []byte
}

const svgType = "image/svg+xml"

func (f *file) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", f.kind)
	if f.name != "" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	}
	_, _ = w.Write(f.text) // a reader that has gone is no mistake of ours
}

// write makes a file of what f writes.
func write(kind, name string, f func(w *bytes.Buffer) error) (*file, error) {
	var b bytes.Buffer
	if err := f(&b); err != nil {
		return nil, err
	}
	return &file{kind, name, b.Bytes()}, nil
}

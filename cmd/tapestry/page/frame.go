package page

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Limits of a frame.
const (
	maxFrameParts = 64
	maxFrameBytes = 64 << 20
)

// partHead begins the answer to a part of a frame, as it would be to a request by itself.
type partHead struct {
	Status int    `json:"status"`
	Kind   string `json:"kind"` // the media type
}

// frame answers several GET requests at once, in their order, as JSON: {"parts": [{status, kind,
// body}]}, where the body is the JSON of an answer, or a text. So the page draws what belongs to one
// step at once, after one request. A part that fails has its own status; the others do not depend on
// it. A frame is answered as long as somebody waits for it, and ends with the part under way.
func (s *Service) frame(r *request) (any, error) {
	var q struct {
		Parts []string `json:"parts"` // addresses relative to the page
	}
	if err := body(r, &q); err != nil {
		return nil, err
	}
	if len(q.Parts) == 0 || len(q.Parts) > maxFrameParts {
		return nil, badf("%d parts: want from 1 to %d", len(q.Parts), maxFrameParts)
	}
	var text bytes.Buffer
	text.WriteString(`{"parts":[`)
	for i, part := range q.Parts {
		if s.options.Between != nil {
			s.options.Between()
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		if err := s.writePart(r, part, &text); err != nil {
			return nil, err
		}
		if text.Len() > maxFrameBytes {
			return nil, failf(tooLarge, "the answers to %d of %d parts have more than %d bytes", i+1, len(q.Parts), maxFrameBytes)
		}
	}
	text.WriteString("]}\n")
	return &file{kind: jsonType, text: text.Bytes()}, nil
}

// writePart answers one part.
func (s *Service) writePart(r *request, part string, to *bytes.Buffer) error {
	path, query, _ := strings.Cut(part, "?")
	if !strings.HasPrefix(path, "api/") || strings.Contains(path, "/download/") {
		return badf("part %.40q: want an address that begins with api/, of nothing to download", part)
	}
	a := s.Answer(r.ctx, Request{Method: "GET", Path: "/" + path, Query: query})
	if a.Sent != nil {
		defer a.Sent()
	}
	head, err := json.Marshal(partHead{a.Status, a.Kind})
	if err != nil {
		return err
	}
	to.Write(bytes.TrimSuffix(head, []byte("}")))
	to.WriteString(`,"body":`)
	if a.Kind == jsonType {
		to.Write(bytes.TrimSpace(a.Text))
	} else {
		quoted, err := encode(string(a.Text))
		if err != nil {
			return err
		}
		to.Write(bytes.TrimSpace(quoted))
	}
	to.WriteByte('}')
	return nil
}

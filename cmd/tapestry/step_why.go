package main

import (
	"context"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// mostParts is how many parts are listed of a value.
const mostParts = 8

// reasons is what an element is made of, what is behind it and what comes of it.
type reasons struct {
	inspect.Reason
	sources, effects []inspect.Share
}

// why explains an element in the present training step.
func why(ctx context.Context, session *inspect.Session, text string) (*reasons, error) {
	n, at, err := session.ParseElement(text)
	if err != nil {
		return nil, usagef("--why: %w", err)
	}
	record, err := session.Record(ctx)
	if err != nil {
		return nil, err
	}
	var boxes []*graph.Node
	for _, x := range record.Nodes() {
		if x.Name() != "" {
			boxes = append(boxes, x)
		}
	}
	reason, err := record.Why(ctx, n, at, mostParts, boxes...)
	if err != nil {
		return nil, usagef("--why: %w", err)
	}
	out := &reasons{Reason: *reason}
	sources, err := record.Sources(ctx, n, at, mostParts)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		if s.Node.NumIn() == 0 {
			out.sources = append(out.sources, s)
		}
	}
	effects, err := record.Effects(ctx, n, at, mostParts)
	if err != nil {
		return nil, err
	}
	for _, s := range effects {
		if s.Node.Name() != "" && !s.Node.IsBackward() {
			out.effects = append(out.effects, s)
		}
	}
	return out, nil
}

func (r *reasons) print(w io.Writer, title string, step int) error {
	_, err := fmt.Fprintf(w, "%s · training step %d\n\n%v", title, step, r.Reason)
	for _, part := range []struct {
		title  string
		shares []inspect.Share
	}{{"behind it", r.sources}, {"what it contributes", r.effects}} {
		if len(part.shares) > 0 && err == nil {
			_, err = fmt.Fprintf(w, "\n%s\n", part.title)
		}
		for _, s := range part.shares {
			if err == nil {
				_, err = fmt.Fprint(w, s)
			}
		}
	}
	return err
}

// The JSON of a reason.
type (
	reasonJSON struct {
		Model    string      `json:"model"`
		Step     int         `json:"training_step"`
		Element  string      `json:"element"`
		Value    jsonNumber  `json:"value"`
		Operands []shareJSON `json:"operands"`
		Sources  []shareJSON `json:"sources"` // inputs, parameters and states
		Effects  []shareJSON `json:"effects"` // named quantities that are computed from it
	}
	shareJSON struct {
		Name  string             `json:"name"`
		Exact bool               `json:"exact"`
		None  string             `json:"none,omitempty"`
		Total jsonNumber         `json:"total"`
		Count int                `json:"count"`
		Parts []contributionJSON `json:"parts"`
		Rows  []contributionJSON `json:"rows"`
	}
	contributionJSON struct {
		Element      string     `json:"element"`
		Value        jsonNumber `json:"value"`
		Contribution jsonNumber `json:"contribution"`
	}
)

func (r *reasons) json(model string, step int) reasonJSON {
	parts := func(of []inspect.Part) []contributionJSON {
		out := []contributionJSON{}
		for _, p := range of {
			out = append(out, contributionJSON{p.Place(), jsonNumber(p.Value), jsonNumber(p.Contribution)})
		}
		return out
	}
	shares := func(of []inspect.Share) []shareJSON {
		out := []shareJSON{}
		for _, s := range of {
			out = append(out, shareJSON{s.Node.Label(), s.Exact, s.None, jsonNumber(s.Total), s.Count, parts(s.Parts), parts(s.Rows)})
		}
		return out
	}
	return reasonJSON{model, step, r.Place(), jsonNumber(r.Value), shares(r.Operands), shares(r.sources), shares(r.effects)}
}

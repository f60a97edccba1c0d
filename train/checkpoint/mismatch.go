package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Mismatch is the error for a checkpoint whose parameters and states are not the model's.
type Mismatch struct {
	Path    string // of the checkpoint
	Missing []Leaf // in the model but not in the checkpoint
	Extra   []Leaf // in the checkpoint but not in the model
	Other   []Pair // in both, with different types
}

// Pair is one path with two types.
type Pair struct {
	Path              string
	Checkpoint, Model graph.Type
}

// listed is the number of differing paths that a message shows.
const listed = 20

// Error lists up to 20 paths that differ, in one line: "run/step-00000010.safetensors is of another
// model: it has no fc3/b f32[10]; the model has no fc2/b f32[64]; fc1/w is f32[64 128] there,
// f32[64 256] in the model".
func (e *Mismatch) Error() string {
	left, hidden := listed, 0
	var parts []string
	add := func(head string, n int, text func(i int) string) {
		var list []string
		for i := range n {
			if left == 0 {
				hidden++
				continue
			}
			left--
			list = append(list, text(i))
		}
		if list != nil {
			parts = append(parts, head+strings.Join(list, ", "))
		}
	}
	leaf := func(l Leaf) string { return fmt.Sprintf("%s %v", l.Path, l.Type) }
	add("it has no ", len(e.Missing), func(i int) string { return leaf(e.Missing[i]) })
	add("the model has no ", len(e.Extra), func(i int) string { return leaf(e.Extra[i]) })
	add("", len(e.Other), func(i int) string {
		return fmt.Sprintf("%s is %v there, %v in the model", e.Other[i].Path, e.Other[i].Checkpoint, e.Other[i].Model)
	})
	if hidden > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", hidden))
	}
	return e.Path + " is of another model: " + strings.Join(parts, "; ")
}

// Changed is the error for a checkpoint that has the model's parameters and states, but from which
// training would not go on as it began.
type Changed struct {
	Path string // of the checkpoint
	What string // what has changed
}

// Error says in one line what has changed.
func (e *Changed) Error() string {
	return fmt.Sprintf("%s fits the model, but %s: training would not go on as it began", e.Path, e.What)
}

// Check compares the checkpoint with a model to train, and with its data: the number of batches in
// an epoch, and what [data.Describe] says of them, each if both are known. It returns nil, a
// [*Mismatch] or a [*Changed].
func (s *State) Check(model Identity, batches int, source string) error {
	if s == nil {
		return errors.New("the state is nil")
	}
	m := &Mismatch{Path: s.Path}
	m.compare(s.Model.Leaves, model.Leaves)
	if m.Missing != nil || m.Extra != nil || m.Other != nil {
		return m
	}
	switch {
	case s.Model.Lanes != model.Lanes:
		return &Changed{s.Path, fmt.Sprintf("its batches were cut into %s, these are cut into %s", lanes(s.Model.Lanes), lanes(model.Lanes))}
	case s.Model.Fingerprint != model.Fingerprint:
		return &Changed{s.Path, fmt.Sprintf("the training graph computes something else (fingerprint %.8s there, %.8s here)", s.Model.Fingerprint, model.Fingerprint)}
	case s.Batches != batches && s.Batches > 0 && batches > 0:
		return &Changed{s.Path, fmt.Sprintf("its data had %d batches an epoch, these have %d", s.Batches, batches)}
	case s.Data != source && s.Data != "" && source != "":
		return &Changed{s.Path, fmt.Sprintf("its data were %q, these are %q", s.Data, source)}
	}
	return nil
}

// lanes returns the text of a number of lanes.
func lanes(n int) string {
	if n == 0 {
		return "no lanes"
	}
	return plural.Count(n, "lane")
}

// CheckUse compares the checkpoint with a model that uses some of its values, for example to
// predict. It returns a [*Mismatch] if one is missing or has another type, and nil otherwise.
func (s *State) CheckUse(model Identity) error {
	if err := s.whole(); err != nil {
		return err
	}
	var stored []Leaf
	for _, path := range s.Store.Paths() {
		typ, _ := s.Store.Type(path)
		stored = append(stored, Leaf{Path: path, Type: typ})
	}
	m := &Mismatch{Path: s.Path}
	m.compare(stored, model.Leaves)
	if m.Extra = nil; m.Missing != nil || m.Other != nil {
		return m
	}
	return nil
}

// compare compares two lists that are sorted by path.
func (e *Mismatch) compare(checkpoint, model []Leaf) {
	for len(checkpoint)+len(model) > 0 {
		switch {
		case len(model) == 0 || len(checkpoint) > 0 && checkpoint[0].Path < model[0].Path:
			e.Extra, checkpoint = append(e.Extra, checkpoint[0]), checkpoint[1:]
		case len(checkpoint) == 0 || model[0].Path < checkpoint[0].Path:
			e.Missing, model = append(e.Missing, model[0]), model[1:]
		default:
			if a, b := checkpoint[0], model[0]; !sameType(a.Type, b.Type) {
				e.Other = append(e.Other, Pair{a.Path, a.Type, b.Type})
			}
			checkpoint, model = checkpoint[1:], model[1:]
		}
	}
}

package infer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// The names of the texts in a checkpoint that say how to use it. train.Trainer writes the nets; the
// caller gives the others to train.Checkpoints.Meta.
const (
	MetaNet        = "predict"    // Forward.Text of the net for a batch; further nets are predict.1, predict.2, …
	MetaGenerator  = "speak"      // Model.Text
	MetaVocabulary = "vocabulary" // the tokens of a generator: text.Vocabulary as JSON
	MetaColumns    = "columns"    // the features of the only input of a net, in order: a JSON list of names
	MetaClasses    = "classes"    // the classes of the last axis of the output, in order: a JSON list of names
)

// ErrNoModel is wrapped by the error for a checkpoint that holds values, but not the requested
// model.
var ErrNoModel = errors.New("only values, and no model")

// ForwardMeta returns the texts of nets for a checkpoint, the first under [MetaNet].
func ForwardMeta(nets ...Forward) map[string]string {
	meta := map[string]string{}
	for i, n := range nets {
		name := MetaNet
		if i > 0 {
			name = fmt.Sprintf("%s.%d", MetaNet, i)
		}
		meta[name] = n.Text()
	}
	return meta
}

// GeneratorMeta returns the texts of a language model and of its vocabulary for a checkpoint. A
// model that lacks a part is an error.
func GeneratorMeta(m Model, v *text.Vocabulary) (map[string]string, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	if n := m.Logits.Dim(1); v.Len() != n {
		return nil, fmt.Errorf("generator: %d logits for a vocabulary of %d tokens", n, v.Len())
	}
	tokens, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return map[string]string{MetaGenerator: text, MetaVocabulary: string(tokens)}, nil
}

var errNoState = errors.New("the checkpoint is nil (checkpoint.Load reads one)")

// LoadPredictor returns a predictor of a checkpoint, whose store it uses, on at most workers cores;
// 0 stands for all. Functions may change each net before it is compiled, such as by setting Mixed.
// The error for a checkpoint without nets wraps [ErrNoModel]. When ctx ends, it stops compiling.
func LoadPredictor(ctx context.Context, s *checkpoint.State, workers int, change ...func(*Forward)) (*Predictor, error) {
	if s == nil {
		return nil, errNoState
	}
	nets, err := forwards(s)
	if err != nil {
		return nil, err
	}
	for i := range nets {
		for _, f := range change {
			if f != nil {
				f(&nets[i])
			}
		}
	}
	p, err := NewPredictor(ctx, s.Store, workers, nets...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	return p, nil
}

// forwards returns the nets of a checkpoint, which has at least one.
func forwards(s *checkpoint.State) (nets []Forward, err error) {
	for _, name := range s.Keys() {
		if !isNet(name) {
			continue
		}
		n, err := ParseForward(s.Meta[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Path, name, err)
		}
		nets = append(nets, n)
	}
	if nets == nil {
		return nil, fmt.Errorf("%s: %w", s.Path, ErrNoModel)
	}
	return nets, nil
}

// isNet reports whether a text of a checkpoint is that of a net.
func isNet(name string) bool { return name == MetaNet || strings.HasPrefix(name, MetaNet+".") }

// LoadGenerator returns a generator of a checkpoint, whose store it uses, and the vocabulary of its
// tokens. The error for a checkpoint without a language model wraps [ErrNoModel]. When ctx ends, it
// stops compiling.
func LoadGenerator(ctx context.Context, s *checkpoint.State, sampling Sampling) (*Generator, *text.Vocabulary, error) {
	if s == nil {
		return nil, nil, errNoState
	}
	for _, name := range []string{MetaGenerator, MetaVocabulary} {
		if s.Meta[name] == "" {
			return nil, nil, fmt.Errorf("%s: %w that generates texts", s.Path, ErrNoModel)
		}
	}
	v := new(text.Vocabulary)
	if err := json.Unmarshal([]byte(s.Meta[MetaVocabulary]), v); err != nil {
		return nil, nil, fmt.Errorf("%s: %s: %w", s.Path, MetaVocabulary, err)
	}
	m, err := ParseModel(s.Meta[MetaGenerator])
	if err == nil && m.Logits.Dim(1) != v.Len() {
		err = fmt.Errorf("%d logits for a vocabulary of %d tokens", m.Logits.Dim(1), v.Len())
	}
	if err == nil {
		err = has(s.Store, m.Logits, graph.RoleParam)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %s: %w", s.Path, MetaGenerator, err)
	}
	generator, err := NewGenerator(ctx, m, s.Store, sampling)
	if err != nil {
		return nil, nil, err
	}
	return generator, v, nil
}

// Classes returns the names of the classes that a checkpoint's predictor scores; nil if it has
// none.
func Classes(s *checkpoint.State) ([]string, error) { return names(s, MetaClasses) }

// Columns returns the names of the features that a checkpoint's predictor reads; nil if it has
// none.
func Columns(s *checkpoint.State) ([]string, error) { return names(s, MetaColumns) }

func names(s *checkpoint.State, key string) (names []string, err error) {
	if s == nil {
		return nil, errNoState
	}
	text, ok := s.Meta[key]
	if !ok {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &names); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.Path, key, err)
	}
	return names, nil
}

// NamesMeta returns the text of names for a checkpoint, for [MetaClasses] and [MetaColumns].
func NamesMeta(names []string) string {
	text, _ := json.Marshal(names) // which never fails for strings
	return string(text)
}

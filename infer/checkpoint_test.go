package infer_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data/text"
)

// vocabulary is of so many letters.
func vocabulary(t *testing.T, n int) *text.Vocabulary {
	t.Helper()
	v, err := text.Characters("abcdefghijkl"[:n])
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLoadGenerator: a generator of a checkpoint generates the same as one of the same model and
// store.
func TestLoadGenerator(t *testing.T) {
	for _, make := range []func(g *graph.Graph) net{gpt(8, graph.F32), lstm(graph.F64)} {
		m, sampling := modelOf(make), infer.Sampling{Temperature: 1, Seed: 3}
		meta, err := infer.GeneratorMeta(m, vocabulary(t, words))
		if err != nil {
			t.Fatal(err)
		}
		trained := tape.NewStore(m.Token.Graph(), tape.Seed(5))
		want := say(t, generator(t, m, trained.Clone(), sampling), 30, 1, 2)
		s, v, err := infer.LoadGenerator(t.Context(), &checkpoint.State{Store: trained.Clone(), Meta: meta}, sampling)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if got := say(t, s, 30, 1, 2); !slices.Equal(got, want) || v.Len() != words {
			t.Errorf("it says %v, want %v", got, want)
		}
	}
}

func TestLoadMistakes(t *testing.T) {
	m := modelOf(gpt(4, graph.F32))
	store := tape.NewStore(m.Token.Graph())
	meta, err := infer.GeneratorMeta(m, vocabulary(t, words))
	if err != nil {
		t.Fatal(err)
	}
	with := func(key, text string) map[string]string {
		changed := maps.Clone(meta)
		changed[key] = text
		return changed
	}
	load := map[string]func(s *checkpoint.State) error{
		"generator": func(s *checkpoint.State) error {
			_, _, err := infer.LoadGenerator(t.Context(), s, infer.Sampling{})
			return err
		},
		"predictor": func(s *checkpoint.State) error { _, err := infer.LoadPredictor(t.Context(), s, 1); return err },
		"classes":   func(s *checkpoint.State) error { _, err := infer.Classes(s); return err },
		"columns":   func(s *checkpoint.State) error { _, err := infer.Columns(s); return err },
	}
	for _, c := range []struct {
		what  string
		store *tape.Store
		meta  map[string]string
		want  string
	}{
		{"generator", store, nil, "run.safetensors: only values, and no model that generates texts"},
		{"generator", store, with(infer.MetaVocabulary, ""), "run.safetensors: only values, and no model that generates texts"},
		{"generator", store, with(infer.MetaVocabulary, "{"), "run.safetensors: vocabulary: "},
		{"generator", store, with(infer.MetaVocabulary, `{"tokens":["a","b"],"counts":[1,1]}`), "run.safetensors: speak: 7 logits for a vocabulary of 2 tokens"},
		{"generator", store, with(infer.MetaGenerator, "speak up"), `run.safetensors: speak: model: line 1: got "speak up", want `},
		{"generator", tape.NewStore(nil), meta, "run.safetensors: speak: there is no value for "},
		{"predictor", store, meta, "run.safetensors: only values, and no model"},
		{"predictor", store, infer.ForwardMeta(affine(2)), "run.safetensors: predictor: there is no value for w"},
		{"predictor", store, map[string]string{"predict.1": "predict"}, `run.safetensors: predict.1: model: line 1: got "predict", want "predict rows 0 output %0"`},
		{"classes", store, map[string]string{infer.MetaClasses: "a,b"}, "run.safetensors: classes: invalid character 'a'"},
		{"columns", store, map[string]string{infer.MetaColumns: "[1]"}, "run.safetensors: columns: json: cannot unmarshal number"},
	} {
		err := load[c.what](&checkpoint.State{Store: c.store, Meta: c.meta, Path: "run.safetensors"})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got  %v\nwant %s", c.what, err, c.want)
		}
		if strings.Contains(c.want, "only values") != errors.Is(err, infer.ErrNoModel) {
			t.Errorf("%v: errors.Is ErrNoModel is wrong", err)
		}
	}
	if _, err := infer.GeneratorMeta(m, vocabulary(t, 3)); err == nil || err.Error() != "generator: 7 logits for a vocabulary of 3 tokens" {
		t.Errorf("a vocabulary too small: %v", err)
	}
	s := &checkpoint.State{Meta: map[string]string{infer.MetaClasses: infer.NamesMeta([]string{"a", "ü\n"})}}
	if names, err := infer.Classes(s); err != nil || !slices.Equal(names, []string{"a", "ü\n"}) {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := infer.Columns(s); names != nil || err != nil {
		t.Errorf("columns that were not kept: %q, %v", names, err)
	}
}

package builders

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Model is a whole graph made by the registry.
type Model struct {
	Builder  Builder
	Settings Settings // as used: with the defaults
	Graph    *graph.Graph
	Input    *graph.Node // the points, fed each run
	Centres  *graph.Node // the parameter or state that is learnt
	Gamma    *graph.Node // the temperature, a scalar input; nil if the model has none
	Loss     *graph.Node
	KMeans   KMeans
	Step     graph.Step // what the model updates by itself; empty if it is trained by an optimiser
}

// Builder is one entry of the registry.
type Builder struct {
	Name    string // kmeans-softmax
	Title   string
	Notes   string // where in the lecture notes it stands
	Formula string // one line, in the notes' symbols
	Sizes   []Size
	make    func(s Settings, dt graph.DType, m *Model)
}

// Size is one setting of a builder.
type Size struct {
	Name    string
	Default float64
	Doc     string
	Whole   bool // a count: a whole number of at least 1
}

// Settings gives sizes and other numbers by name; what is missing takes its default.
type Settings map[string]float64

// Int is a setting that is a count.
func (s Settings) Int(name string) int { return int(s[name]) }

// All lists the registry in the order of the notes.
func All() []Builder {
	return []Builder{lloyd, hardSGD, softmaxKMeans, goofyKMeans}
}

// Names lists the names of the registry.
func Names() []string {
	var out []string
	for _, b := range All() {
		out = append(out, b.Name)
	}
	return out
}

// ErrUnknown is the cause of an error about a name that is not in the registry.
var ErrUnknown = errors.New("unknown model")

// Lookup finds a builder. The error of an unknown name suggests the nearest.
func Lookup(name string) (Builder, error) {
	for _, b := range All() {
		if b.Name == name {
			return b, nil
		}
	}
	return Builder{}, fmt.Errorf("%w %q: did you mean %q? (tapestry list shows all)", ErrUnknown, name, Nearest(name, Names()))
}

// Build makes the model called name with the given settings, in float32 or
// float64. Unknown settings and counts that are no whole numbers of at least 1
// are errors.
func Build(name string, settings Settings, dt graph.DType) (*Model, error) {
	b, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	return b.Build(settings, dt)
}

// Build makes the model; see [Build].
func (b Builder) Build(settings Settings, dt graph.DType) (*Model, error) {
	s := Settings{}
	known := make([]string, len(b.Sizes))
	for i, z := range b.Sizes {
		s[z.Name] = z.Default
		known[i] = z.Name
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if _, ok := s[name]; !ok {
			return nil, fmt.Errorf("%s has no setting %q: it has %s", b.Name, name, strings.Join(known, ", "))
		}
		s[name] = settings[name]
	}
	for _, z := range b.Sizes {
		if v := s[z.Name]; z.Whole && (v < 1 || v != math.Trunc(v) || v > 1<<31) || math.IsNaN(v) || math.IsInf(v, 0) {
			want := "a finite number"
			if z.Whole {
				want = "a whole number of at least 1"
			}
			return nil, fmt.Errorf("%s: %s = %v: want %s", b.Name, z.Name, v, want)
		}
	}
	if !dt.IsFloat() {
		return nil, fmt.Errorf("%s: element type %v: want f32 or f64", b.Name, dt)
	}
	m := &Model{Builder: b, Settings: s, Graph: graph.New(b.Title)}
	b.make(s, dt, m)
	return m, m.Graph.Err()
}

// Nearest is the candidate with the smallest edit distance to name.
func Nearest(name string, candidates []string) string {
	best, least := "", math.MaxInt
	for _, c := range candidates {
		if d := editDistance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions and replacements of runes
// (Levenshtein, 1966).
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := range s {
		diagonal := row[0]
		row[0]++
		for j := range t {
			next := min(row[j]+1, row[j+1]+1, diagonal)
			if s[i] != t[j] {
				next = min(row[j]+1, row[j+1]+1, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(t)]
}

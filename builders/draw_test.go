package builders_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// drawing are the functions of the package that draw, on images.
var drawing = map[string]func(a album, p *graph.Node) *graph.Node{
	"Dropout":         func(a album, p *graph.Node) *graph.Node { return builders.Dropout(a.x, p) },
	"GaussianNoise":   func(a album, p *graph.Node) *graph.Node { return builders.GaussianNoise(a.x, p) },
	"UniformNoise":    func(a album, p *graph.Node) *graph.Node { return builders.UniformNoise(a.x, p) },
	"StochasticDepth": func(a album, p *graph.Node) *graph.Node { return builders.StochasticDepth(a.x, p) },
	"Corrupt":         func(a album, p *graph.Node) *graph.Node { return builders.Corrupt(a.x, p) },
	"Missing": func(a album, p *graph.Node) *graph.Node {
		return ops.Cast(builders.Missing(a.x, p), graph.F64)
	},
	"RandomBeta": func(a album, p *graph.Node) *graph.Node {
		return builders.RandomBeta(a.Graph, "λ", p, graph.Ax("k", 9))
	},
	"Negatives": func(a album, _ *graph.Node) *graph.Node {
		counts := []float64{3, 1, 4, 1, 5, 9, 2, 6}
		return ops.Cast(builders.Negatives(a.Graph, graph.F64, graph.Ax("w", 8), counts, graph.Ax("k", 40)), graph.F64)
	},
	"DropConnect": func(a album, p *graph.Node) *graph.Node {
		l := builders.NewLinear(a.Graph, "fc", graph.F64, graph.Ax("c", a.c), graph.Ax("o", 20))
		a.feed[l.W], a.feed[l.B] = computedValue(l.W.Type(), func(i int) float64 { return 1 + float64(i) }), computedValue(l.B.Type(), func(int) float64 { return 0 })
		return builders.DropConnect(l, p).Of(a.x)
	},
	"RandomFlip":         augmentations["flip"],
	"RandomRotation":     augmentations["rotate"],
	"RandomTranslation":  augmentations["translate"],
	"RandomCrop":         augmentations["crop"],
	"RandomAutocontrast": augmentations["autocontrast"],
	"RandomPosterise":    augmentations["posterise"],
	"RandomCutout":       augmentations["cutout"],
	"Mixup":              augmentations["mixup"],
	"CutMix":             augmentations["cutmix"],
	"PixMix":             augmentations["pixmix"],
}

// TestEveryDrawIsListed: the table has every exported function of the package that draws, itself
// or through another, as its source says.
func TestEveryDrawIsListed(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	known := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}} // without imports, it knows the package's own functions
	config.Check("builders", set, files, &known)
	calls := map[string][]string{} // what a function uses
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := known.Defs[f.Name].(*types.Func).FullName()
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if used, ok := known.Uses[n].(*types.Func); ok {
						calls[name] = append(calls[name], used.FullName())
					}
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "ops" {
						calls[name] = append(calls[name], "ops."+n.Sel.Name)
					}
				}
				return true
			})
		}
	}
	draws := map[string]bool{"ops.RandomUniform": true, "ops.RandomNormal": true}
	for more := true; more; {
		more = false
		for f, called := range calls {
			if !draws[f] && slices.ContainsFunc(called, func(c string) bool { return draws[c] }) {
				draws[f], more = true, true
			}
		}
	}
	var found []string
	for f := range draws {
		if f = strings.TrimPrefix(f, "builders."); ast.IsExported(f[strings.LastIndex(f, ".")+1:]) && !strings.HasPrefix(f, "ops.") {
			found = append(found, f)
		}
	}
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(drawing)); !slices.Equal(found, want) {
		t.Errorf("the functions that draw are %v, listed are %v", found, want)
	}
}

// drawsAnew runs a node several times, and compares each run with the definition and with the
// others.
func drawsAnew(t *testing.T, name string, feed ref.Feed, y *graph.Node) {
	t.Helper()
	const seed = 3
	nodes := []*graph.Node{y}
	for _, n := range graph.Reachable(y) {
		if match.Is(n, match.Random) {
			nodes = append(nodes, n)
		}
	}
	got, err := reftest.Runs(3, seed, feed, nodes)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for k := range got {
		want, err := ref.Eval(graph.Env{Seed: seed, Runs: uint64(k)}, feed, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range nodes {
			tolerance := 0.0
			if i == 0 {
				tolerance = 1e-9 * (1 + reftest.Largest(want[0].Data))
			}
			if err := reftest.Near(got[k][i].Data, want[i].Data, tolerance); err != nil {
				t.Errorf("%s, run %d: %v: %v", name, k, n, err)
			}
			for _, before := range got[:k] {
				if slices.Equal(got[k][i].Data, before[i].Data) {
					t.Errorf("%s, run %d: %v is what it was before", name, k, n)
				}
			}
		}
	}
}

// TestLayersDrawAnew: every function that draws gives another result in each run of a VM that
// updates nothing, which is the one that the definition has there.
func TestLayersDrawAnew(t *testing.T) {
	for name, f := range drawing {
		a := newAlbum(24, 5, 6, 1)
		p := a.Graph.Scalar("p", 0.5, graph.F64)
		drawsAnew(t, name, a.feed, f(a, p))
	}
}

// TestModelsDrawAnew: so does every model of the registry that draws, as it is trained.
func TestModelsDrawAnew(t *testing.T) {
	found := 0
	for _, b := range builders.All() {
		m := build(t, b.Name, nil)
		if !slices.ContainsFunc(m.Graph.Nodes(), func(n *graph.Node) bool { return match.Is(n, match.Random) }) {
			continue
		}
		found++
		rng := rand.New(rand.NewPCG(4, 4))
		feed := filled(m.Graph, rng)
		if m.Examples != nil {
			maps.Copy(feed, m.Examples(rng))
		}
		drawsAnew(t, b.Name, feed, m.Result())
	}
	if found < 10 {
		t.Errorf("%d models draw, want those of the regularisation, augmentation and self-supervision families", found)
	}
}

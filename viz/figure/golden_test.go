package figure

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGoldens(t *testing.T) {
	for name, f := range map[string]*Figure{"kmeans": kmeans(), "training": training(), "empty": {}} {
		var svg, dot bytes.Buffer
		if err := errors.Join(f.SVG(&svg), f.DOT(&dot)); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".svg", svg.Bytes())
		golden(t, name+".dot", dot.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is drawn now; look at it, then run with -update", path)
	}
}

func TestDrawingIsDeterministic(t *testing.T) {
	for _, f := range []*Figure{kmeans(), layered(40, 2, true), network(96, 1)} {
		want := draw(t, f)
		var wantDOT bytes.Buffer
		if err := f.DOT(&wantDOT); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					var svg, dot bytes.Buffer
					if err := errors.Join(f.SVG(&svg), f.DOT(&dot)); err != nil {
						t.Error(err)
					}
					if !bytes.Equal(svg.Bytes(), want) || !bytes.Equal(dot.Bytes(), wantDOT.Bytes()) {
						t.Errorf("%s: another drawing", f.Title)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// A drawing needs no program and no directory.
func TestDrawingNeedsNoEnvironment(t *testing.T) {
	want := draw(t, kmeans())
	t.Setenv("PATH", "")
	t.Setenv("HOME", filepath.Join(t.TempDir(), "none"))
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if !bytes.Equal(draw(t, kmeans()), want) {
		t.Error("the drawing depends on the environment")
	}
}

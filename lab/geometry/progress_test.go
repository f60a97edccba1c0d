package geometry_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train"
)

// TestWorkIsTold: whatever is done at sites tells of each piece once, and of how many.
func TestWorkIsTold(t *testing.T) {
	var mu sync.Mutex
	told := map[string]map[int]int{} // by what, then by how much was done: how often it was told
	var most int
	stepped := func(done, of int, what string) {
		mu.Lock()
		defer mu.Unlock()
		if told[what] == nil {
			told[what] = map[int]int{}
		}
		told[what][done]++
		most = of
	}
	soft, goofy := irisSite(t, "kmeans-softmax", 1), irisSite(t, "kmeans-goofy", 1)
	soft.Stepped, goofy.Stepped = stepped, stepped
	check := func(what string, atMost bool, do func() error) {
		t.Helper()
		clear(told)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		steps := slices.Sorted(maps.Keys(told[what]))
		if len(told) != 1 || len(steps) == 0 {
			t.Fatalf("%s: told is %v", what, told)
		}
		for i, done := range steps {
			if done != i+1 || told[what][done] != 1 {
				t.Errorf("%s: piece %d is told %d times as %d", what, i+1, told[what][done], done)
			}
		}
		if len(steps) > most || !atMost && len(steps) != most {
			t.Errorf("%s: %d pieces of %d", what, len(steps), most)
		}
	}
	var track *geometry.Trajectory
	check("kmeans-softmax, training", false, func() (err error) {
		track, err = soft.Train(t.Context(), train.Adam(0.1), 12)
		return err
	})
	check("kmeans-softmax, curvature", true, func() error { _, err := track.Site.Curvature(t.Context(), geometry.CurvatureConfig{}); return err })
	check("kmeans-softmax, curvature", true, func() error {
		_, err := track.Site.Curvature(t.Context(), geometry.CurvatureConfig{MaxProducts: 2})
		return err
	})
	check("kmeans-softmax, symmetries", false, func() error { _, err := soft.Invariance(t.Context(), geometry.InvarianceConfig{}); return err })
	check("kmeans-softmax, collapse", false, func() error { _, err := soft.Collapse(t.Context(), track.Path); return err })
	check("angles", false, func() error { _, err := geometry.Angles(t.Context(), track.Path, soft, goofy); return err })
	check("surface", false, func() error {
		_, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 5}, soft, goofy)
		return err
	})
	check("field", false, func() error {
		_, err := geometry.Field(t.Context(), geometry.FieldConfig{Cells: 5}, soft, goofy)
		return err
	})
}

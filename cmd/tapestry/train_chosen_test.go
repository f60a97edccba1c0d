package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/tapestry-ml/tapestry/train/watch"
)

// TestLogsBeginWithTheirSettings: those that were given, the seed and the numbers, and not where a
// training is written to.
func TestLogsBeginWithTheirSettings(t *testing.T) {
	for command, want := range map[string]map[string]string{
		"train regression-relu --steps 2 --seeds 1 --rate 0.5 --set h=3": {"model": "regression-relu", "steps": "2", "seeds": "1", "rate": "0.5", "set h": "3", "dtype": "f64", "seed": "0"},
		"train kmeans-softmax --steps 2 --seeds 1 --seed 4 --k 2":        {"model": "kmeans-softmax", "steps": "2", "seeds": "1", "k": "2", "dtype": "f64", "seed": "4"},
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		ok(t, arguments(command+" --log FILE", "FILE", path)...)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		records, err := watch.ReadLog(path, f)
		f.Close()
		if err != nil || !maps.Equal(records[0].Settings, want) {
			t.Errorf("%s: %v, the log begins with %v, want %v", command, err, records[0].Settings, want)
		}
	}
}

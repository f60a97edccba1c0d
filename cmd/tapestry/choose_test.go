package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestChooseK: every number of clusters is shown, and training is with the best one.
func TestChooseK(t *testing.T) {
	args := []string{"train", "kmeans-lloyd", "--data", "iris", "--choose-k", "2..4", "--restarts", "5"}
	code, out, errOut := tapestry(t, args...)
	if code != 0 || errOut != "" || !strings.Contains(out, "\n   3      78.851441       0.5528\n") || !strings.Contains(out, "centres") {
		t.Errorf("exit code %d, %q, printed\n%s", code, errOut, out)
	}
	_, out, _ = tapestry(t, append(args, "--json")...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var trials struct {
		Tried []struct {
			K          int
			Silhouette float64
		}
	}
	var best struct{ Centres [][]float64 }
	if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &trials) != nil || json.Unmarshal([]byte(lines[1]), &best) != nil {
		t.Fatalf("printed\n%s", out)
	}
	if len(trials.Tried) != 3 || trials.Tried[0].K != 2 || len(best.Centres) != 2 {
		t.Errorf("tried %+v, trained with %d centres", trials, len(best.Centres))
	}
}

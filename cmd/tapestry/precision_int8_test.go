package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPrecisionInt8: every product is told with what it loses, those that are kept too, and what does
// not go together is refused.
func TestPrecisionInt8(t *testing.T) {
	out := ok(t, "precision", "conv-2d", "--int8", "--keep", "conv1")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 5 || !strings.HasPrefix(lines[0], "conv1/w ") ||
		!strings.HasSuffix(lines[0], "stays float") || strings.HasSuffix(lines[1], "stays float") || !strings.HasPrefix(lines[4], "output ") {
		t.Errorf("printed\n%s", out)
	}
	var got struct {
		Products []struct {
			Weights string
			Error   float64 `json:"relative_error"`
		}
		Results []struct {
			Error float64 `json:"relative_error"`
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "precision", "conv-2d", "--int8", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Products) != 3 || got.Products[2].Weights != "head/w" || len(got.Results) != 2 || got.Results[0].Error <= 0 || got.Results[0].Error > 0.02 {
		t.Errorf("%+v", got)
	}
	for want, args := range map[string][]string{
		"tapestry: --int8: want no --mixed, --svg or --top with it\n":                            {"precision", "conv-2d", "--int8", "--mixed"},
		"tapestry: --keep: want --int8 with it\n":                                                {"precision", "conv-2d", "--keep", "head"},
		"tapestry: quantise: the net has no product of floats by weights of its own\n":           {"precision", "kmeans-sgd", "--int8"},
		"tapestry: quantise: no weights of a product have a path that begins with \"nothere\"\n": {"precision", "conv-2d", "--int8", "--keep", "nothere"},
	} {
		if _, _, errOut := tapestry(t, args...); !strings.HasPrefix(errOut, want) {
			t.Errorf("%v: %s, want %s", args, errOut, want)
		}
	}
}

package main

import (
	"strings"
	"testing"
)

// TestNothingIsIgnored checks that a flag without effect is refused, with the reason.
func TestNothingIsIgnored(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ line, want string }{
		{"train kmeans-lloyd --rate 3", "--rate: Lloyd's algorithm takes steps of its own"},
		{"train kmeans-lloyd --optimiser sgd", "--optimiser: Lloyd's algorithm takes steps of its own"},
		{"train kmeans-lloyd --clip-norm 1", "--clip-norm: Lloyd's algorithm takes steps of its own"},
		{"train kmeans-lloyd --gamma 3", "--gamma: kmeans-lloyd has no temperature"},
		{"train kmeans-lloyd --steps 3", "--steps: Lloyd's algorithm begins --restarts times"},
		{"train kmeans-lloyd --seeds 3", "--seeds: Lloyd's algorithm begins --restarts times"},
		{"train kmeans-lloyd --choose-k 2..3 --k 2", "--k: --choose-k says which are tried"},
		{"train kmeans-softmax --restarts 3", "--restarts: Lloyd's algorithm alone has restarts"},
		{"train kmeans-lloyd --batch 3", "--batch: kmeans-lloyd is trained on all rows at once"},
		{"train kmeans-sgd --gamma 3", "--gamma: kmeans-sgd has no temperature"},
		{"train kmeans-softmax --rate 0", "--rate 0: want a positive number"},
		{"step kmeans-softmax --rate 0", "--rate 0: want a positive number"},
		{"step kmeans-softmax --restarts 3", "--restarts: Lloyd's algorithm alone has restarts"},
		{"step kmeans-lloyd --rate 3", "--rate: Lloyd's algorithm takes steps of its own"},
		{"step kmeans-softmax --back --print", "--back needs --break"},
		{"compare --rate 0 kmeans-softmax", "--rate 0: want a positive number"},
		{"compare kmeans-softmax kmeans-goofy --restarts 3", "--restarts: Lloyd's algorithm alone has restarts"},
		{"compare kmeans-lloyd --batch 3", "--batch: kmeans-lloyd is trained on all rows at once"},
		{"compare kmeans-lloyd --optimiser sgd", "--optimiser: Lloyd's algorithm takes steps of its own"},
		{"compare --optimisers adam --restarts 3", "--restarts: a matrix of settings has no baselines"},
		{"geometry kmeans-softmax --rate 0", "--rate 0: want a positive number"},
		{"geometry kmeans-softmax --cells 5", "--cells: want --surface or --field, too"},
		{"geometry kmeans-softmax --field f.svg --reach 5", "--reach: want --surface, too"},
		{"geometry kmeans-softmax --surface f.svg --prototype 2", "--prototype: want --field, too"},
		{"tape kmeans-softmax --steps 5", "--steps: want --profile, too"},
		{"tape kmeans-softmax --threads 2", "--threads: want --profile or --trace, too"},
		{"bench --gemm --workloads mlp", "--workloads: --gemm and --vec time kernels"},
		{"bench --vec --profile", "--profile: --gemm and --vec time kernels"},
		{"draw kmeans-goofy --format text --level ops", "--level ops: the text form has every node"},
		{"draw kmeans-goofy --format text --no-saved", "--no-saved: the text form has every node"},
		{"draw kmeans-goofy --format dot --theme dark", "--theme: --format dot leaves it to whoever draws"},
		{"draw kmeans-goofy --engine dot --theme dark", "--theme: --engine dot draws in light colours"},
		{"serve --optimiser sgd", "--optimiser: want a MODEL that is opened with it"},
		{"serve kmeans-goofy --rate 0", "--rate 0: want a positive number"},
	} {
		code, out, errOut := tapestry(t, strings.Fields(c.line)...)
		if code != 2 || out != "" || !strings.HasPrefix(errOut, "tapestry: "+c.want) {
			t.Errorf("%s: exit code %d, %q, %q", c.line, code, out, errOut)
		}
	}
}

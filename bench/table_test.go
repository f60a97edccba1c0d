package main

import (
	"strings"
	"testing"
)

// TestTables: medians, the faster PyTorch, what others disturbed left out, a dash where
// nothing is.
func TestTables(t *testing.T) {
	of := func(training, peer string, seconds, others float64) run {
		return run{Training: training, Peer: peer, Threads: 1, Steps: 10, Seconds: seconds, Whole: seconds + 1, CPU: 2 * seconds, Others: others, Result: 0.97214}
	}
	var b strings.Builder
	err := tables(&b, []run{
		of("digits-mlp", "tapestry", 1, 0), of("digits-mlp", "tapestry", 2, 0), of("digits-mlp", "tapestry", 0.5, 0.2),
		of("digits-mlp", "torch", 5, 0), of("digits-mlp", "torch", 4, 0), of("digits-mlp", "torch", 9, 0), of("digits-mlp", "torch-avx512", 3, 0),
		of("karate-gcn", "tapestry", 0.0123, 0),
	}, 0.1)
	const want = `Threads: 1. Seconds.

| training | steps | Tapestry | PyTorch | ratio | CPU time, ratio | Tapestry, whole program | PyTorch, whole program | ratio | result | PyTorch's |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
| digits, perceptron | 10 | 1.5 | 3 | 0.5 | 0.5 | 2.5 | 4 | 0.62 | 0.9721 | 0.9721 |
| karate club, GCN | 10 | 0.0123 | – | – | – | 1.012 | – | – | 0.9721 | – |

8 runs, 1 of them left out because others had more than 10 % of the cores.
`
	if err != nil || b.String() != want {
		t.Errorf("error %v, and\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestTablesRefuseOtherSteps(t *testing.T) {
	err := tables(&strings.Builder{}, []run{{Training: "digits-cnn", Peer: "tapestry", Steps: 460}, {Training: "digits-cnn", Peer: "torch", Steps: 440}}, 1)
	if want := "digits-cnn: tapestry took 460 steps, torch 440"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

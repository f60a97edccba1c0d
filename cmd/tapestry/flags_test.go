package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagValues are values of flags other than their defaults.
var flagValues = map[string]string{
	"gamma": "3", "rate": "0.02", "optimiser": "sgd", "steps": "7", "seeds": "3", "batch": "5", "restarts": "3", "ema": "0.5",
	"clip-norm": "0.001", "weight-decay": "0.5", "l1": "0.1", "k": "2", "start": "points", "centres": "c.csv", "data": "wine", "label": "a", "ignore": "a", "missing": "mean",
	"set": "nothing=1", "batches": "one", "engine": "gorgonia", "choose-k": "2..3", "predict": "c.csv", "rule": "x", "level": "ops",
	"format": "dot", "theme": "dark", "wrt": "x", "loop": "1", "expand": "x", "params": "inside", "apart": "i", "against": "kmeans-goofy", "threads": "1", "budget": "300B",
	"directions": "random", "reach": "3", "cells": "7", "prototype": "2", "top": "1", "step": "2", "at": "2", "node": "loss",
	"bind": "x=sepal_length,sepal_width", "validation": "0.25", "epochs": "2", "patience": "1", "from": "nothere", "part": "features",
	"train": "2", "break": "step 3", "values": "1,1", "iteration": "1", "why": "loss", "html": "f.html", "symbolic": "N", "begin": "b.onnx", "draws": "runtime", "optimisers": "sgd:0.1", "starts": "2", "rates": "cosine(0.03,3)", "pair": "kmeans-softmax,kmeans-goofy",
	"lanes": "4", "ranks": "tcp://127.0.0.1:7070", "rank": "0/2", "ranks-key-file": "key", "ranks-timeout": "3s", "of": "2", "keep": "x", "wasm": "e.wasm",
}

// flagsWithoutTrace has the flags that only affect a file, the time taken, or other runs.
var flagsWithoutTrace = []string{"help", "json", "seed", "out", "svg", "html", "live", "log", "checkpoint", "resume", "trace", "field", "surface",
	"memory", "print", "profile", "watch-nan"}

// withoutTrace has the flags that make no difference to some model, because of its nature.
var withoutTrace = map[string]string{
	"draw kmeans-softmax --no-saved":                                                               "there are no derivatives",
	"draw kmeans-softmax --unfold":                                                                 "no blocks are alike",
	"draw kmeans-softmax --format dot --grad --unfold":                                             "no blocks are alike",
	"grad kmeans-softmax --dtype":                                                                  "formulas have no types",
	"tape kmeans-softmax --fast-math":                                                              "the arrays are small",
	"rewrite kmeans-softmax --fast-math":                                                           "the arrays are small",
	"autopsy kmeans-softmax --step 2 --dtype":                                                      "all is finite",
	"autopsy kmeans-softmax --step 2 --rate":                                                       "all is finite",
	"autopsy kmeans-softmax --step 2 --optimiser":                                                  "all is finite",
	"compare test-perceptron --seeds 2 --steps 3 --out r.html --dtype":                             "the digits that are shown are the same",
	"compare kmeans-softmax kmeans-goofy --starts 1 --seeds 2 --steps 3 --out r.html --dtype":      "the digits that are shown are the same",
	"compare kmeans-softmax kmeans-goofy --starts 1 --seeds 2 --steps 3 --out r.html --pair":       "it is for the page",
	"autopsy net.tapestry --data iris --step 2 --dtype":                                            "all is finite",
	"autopsy net.tapestry --data iris --step 2 --rate":                                             "all is finite",
	"autopsy net.tapestry --data iris --step 2 --optimiser":                                        "all is finite",
	"compare net.tapestry loss-cross-entropy --data iris --seeds 2 --steps 3 --out r.html --dtype": "the digits that are shown are the same",
	"export kmeans-softmax --step -o a.onnx --draws":                                               "nothing is drawn",
	"export kmeans-softmax --gradients -o a.onnx --draws":                                          "nothing is drawn",
	"list kmeans-softmax --verbose":                                                                "all is shown of a model that is named",
}

// TestNoFlagIsIgnored checks that no command runs as if a flag were absent: each flag has an
// effect or is refused.
func TestNoFlagIsIgnored(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("net.tapestry", []byte(netOnRows), 0o600); err != nil {
		t.Fatal(err)
	}
	times := regexp.MustCompile(`(?m)[0-9.]+ (ns|µs|ms|s)\b`)
	for _, line := range []string{
		"train kmeans-lloyd --json", "train kmeans-sgd --steps 5 --seeds 2 --json", "train kmeans-softmax --steps 5 --seeds 2 --json",
		"train test-perceptron --steps 5 --seeds 1 --json", "step kmeans-softmax --print --train 5", "step kmeans-lloyd --print", "step rnn-lstm --print --train 5",
		"draw kmeans-softmax", "draw kmeans-softmax --format text", "draw kmeans-softmax --format dot --grad", "grad kmeans-softmax", "export kmeans-softmax --step -o a.onnx", "export dropout -o a.onnx", "export kmeans-softmax --gradients -o a.onnx",
		"tape kmeans-softmax", "tape test-perceptron --lanes 4", "precision kmeans-goofy --step 3", "autopsy kmeans-softmax --step 2", "geometry kmeans-softmax --steps 2", "geometry attention-self --steps 2",
		"rewrite kmeans-softmax", "list kmeans-softmax", "compare kmeans-softmax kmeans-goofy --starts 1 --seeds 2 --steps 3 --out r.html",
		"compare test-perceptron --seeds 2 --steps 3 --out r.html", "train net.tapestry --data iris --validation 0.2 --steps 50 --rate 1 --seeds 1 --json",
		"step net.tapestry --data iris --print --train 5", "autopsy net.tapestry --data iris --step 2", "precision net.tapestry --data iris --step 2", "geometry net.tapestry --data iris --steps 2",
		"compare net.tapestry loss-cross-entropy --data iris --seeds 2 --steps 3 --out r.html",
	} {
		args := strings.Fields(line)
		run := func(more ...string) (int, string) {
			code, out, errOut := tapestry(t, append(slices.Clone(args), more...)...)
			return code, times.ReplaceAllString(out+errOut, "")
		}
		code, want := run()
		_, again := run()
		if code != 0 || again != want {
			t.Fatalf("tapestry %s: %s, and then %s", line, want, again)
		}
		eachCommand(newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{}), func(c *cobra.Command) {
			if c.Name() != args[0] {
				return
			}
			c.Flags().VisitAll(func(f *pflag.Flag) {
				name := "--" + f.Name
				if slices.Contains(flagsWithoutTrace, f.Name) || slices.Contains(args, name) || withoutTrace[line+" "+name] != "" {
					return
				}
				given := []string{name}
				if f.Value.Type() != "bool" {
					value, has := flagValues[f.Name]
					if f.Name == "dtype" {
						value, has = map[string]string{"f32": "f64", "f64": "f32"}[f.DefValue], true
					}
					if value == f.DefValue {
						value = "adam" // of --optimiser
					}
					if !has {
						t.Errorf("the test has no value for --%s of %s", f.Name, c.Name())
						return
					}
					given = append(given, value)
				}
				if code, got := run(given...); code == 0 && got == want {
					t.Errorf("tapestry %s %s says the same as without", line, strings.Join(given, " "))
				}
			})
		})
	}
}

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

// TestTrainFrom: a training with --from begins with what another has learnt: features of another
// task, all arrays or a part of them, and the encoder of an autoencoder; what is frozen stays.
func TestTrainFrom(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	read := func(folder, array string) string {
		s, _, err := checkpoint.Folder{Dir: path(folder)}.Latest()
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Store.Get(array)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v.Data())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ source, model, array, sizes, task string }{
		{"regression-transfer", "regression-transfer", "features/w", "d=12,h=6", "task=1"},
		{"autoencoder", "autoencoder-classifier", "encoder/W₁", "d=8,h=16", "classes=3"},
	} {
		sizes := strings.Split(c.sizes, ",")
		ok(t, "train", c.source, "--set", sizes[0], "--set", sizes[1], "--steps", "3000", "--checkpoint", path(c.source))
		learnt := read(c.source, c.array)
		part, _, _ := strings.Cut(c.array, "/")
		end := func(frozen string, more ...string) float64 {
			return learn(t, append([]string{c.model, "--set", sizes[0], "--set", sizes[1], "--set", c.task, "--set", "frozen=" + frozen, "--seeds", "1", "--seed", "5", "--rate", "0.02"}, more...)...).Runs[0].End
		}
		from := []string{"--from", path(c.source), "--part", part}
		if with, without := end("1", from...), end("1"); !(with < 0.9*without) {
			t.Errorf("%s: the loss with frozen features ends at %v, with random ones at %v", c.model, with, without)
		}
		for frozen, stays := range map[string]bool{"1": true, "0": false} {
			folder := c.model + frozen + "-kept"
			end(frozen, append([]string{"--checkpoint", path(folder), "--steps", "3"}, from...)...)
			if same := read(folder, c.array) == learnt; same != stays {
				t.Errorf("%s, frozen=%s: %s is what it was: %v, want %v", c.model, frozen, c.array, same, stays)
			}
		}
	}
	// All of it: the loss goes on from where it ended.
	first := learn(t, "regression-transfer", "--set", "d=12", "--set", "h=6", "--seeds", "1", "--steps", "20").Runs[0]
	on := learn(t, "regression-transfer", "--set", "d=12", "--set", "h=6", "--seeds", "1", "--steps", "3", "--from", path("regression-transfer")).Runs[0]
	if !(on.Loss[0] < 0.2*first.Loss[0]) {
		t.Errorf("the loss begins with %v, and with all arrays of a training with %v", first.Loss[0], on.Loss[0])
	}
	if out := ok(t, "train", "regression-transfer", "--set", "d=12", "--set", "h=6", "--steps", "1", "--from", path("regression-transfer"), "--part", "features"); !strings.Contains(out, "\nbegins with features/b, features/w of "+path("regression-transfer")) {
		t.Errorf("it says\n%s", out)
	}
	for args, want := range map[string]string{
		"--part features": "--part features: want --from, too",
		"--from FROM --resume --checkpoint " + path("other"): "--from and --resume exclude each other: what is resumed has begun already",
		"--from nothere":             "--from: nothere: ",
		"--from FROM --part nothere": "--part nothere: regression-transfer and FROM/step-00003000.safetensors have nothing of that name in common: the checkpoint has features/b, features/w, head/b, head/w\n",
		"--from FROM --set h=3":      "--from: features/w of FROM/step-00003000.safetensors has type f64[12 6], regression-transfer wants f64[d=12 h=3]: take other arrays with --part, or set the sizes alike\n",
	} {
		from := path("regression-transfer")
		code, _, errOut := tapestry(t, append([]string{"train", "regression-transfer", "--set", "d=12", "--set", "h=6"}, strings.Fields(strings.ReplaceAll(args, "FROM", from))...)...)
		if code == 0 || !strings.HasPrefix(errOut, "tapestry: "+strings.ReplaceAll(want, "FROM", from)) {
			t.Errorf("%s: %q, want %q", args, errOut, want)
		}
	}
	if code, _, errOut := tapestry(t, "train", "rnn-lstm", "--from", path("autoencoder")); code == 0 || !strings.Contains(errOut, "rnn-lstm and ") || !strings.Contains(errOut, "have no array in common: the checkpoint has decoder/W₃") {
		t.Errorf("from another model: %q", errOut)
	}
	if code, _, errOut := tapestry(t, "train", "kmeans-softmax", "--from", path("autoencoder")); code == 0 || !strings.Contains(errOut, "--from: a clustering begins with centres") {
		t.Errorf("a clustering: %q", errOut)
	}
}

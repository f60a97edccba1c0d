package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlacesToWrite: a file where a folder is wanted, and a folder where a file is, are refused
// before anything is trained or written; a folder that is not there yet is made.
func TestPlacesToWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	train := []string{"train", "regression-relu", "--steps", "3"}
	const isFile = ": this is the name of a file: want a folder, in which every checkpoint becomes a file NUMBER.safetensors\n"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{append(train[:4:4], "--checkpoint", "c1.safetensors"), 2, "tapestry: --checkpoint c1.safetensors" + isFile},
		{append(train[:4:4], "--checkpoint", "c.txt"), 2, "tapestry: --checkpoint c.txt" + isFile},
		{append(train[:4:4], "--checkpoint", "folder/ck.ckpt"), 2, "tapestry: --checkpoint folder/ck.ckpt" + isFile},
		{[]string{"train", "kmeans-softmax", "--steps", "3", "--checkpoint", "c.json"}, 2, "tapestry: --checkpoint c.json" + isFile},
		{append(train[:4:4], "--checkpoint", "file"), 2, "tapestry: --checkpoint file" + isFile},
		{append(train[:4:4], "--checkpoint", filepath.Join("file", "x")), 1, "not a directory\n"},
		{append(train[:4:4], "--resume"), 2, "tapestry: --resume: want --checkpoint DIR, too\n"},
		{append(train[:4:4], "--log", "folder"), 1, "tapestry: folder: this is a directory, not a file\n"},
		{append(train[:4:4], "--log", "none/log"), 1, "tapestry: none/log: no such file or directory\n"},
		{append(train[:4:4], "--out", "folder"), 1, "tapestry: folder: this is a directory, not a file\n"},
		{append(train[:4:4], "--out", "none/out"), 1, "tapestry: none/out: no such file or directory\n"},
		{[]string{"compare", "--steps", "2", "--out", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
		{[]string{"draw", "kmeans-softmax", "--out", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
		{[]string{"grad", "kmeans-softmax", "--out", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
		{[]string{"precision", "kmeans-softmax", "--svg", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
		{[]string{"autopsy", "kmeans-softmax", "--svg", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
		{[]string{"rewrite", "kmeans-softmax", "--html", "folder"}, 1, "tapestry: folder: this is a directory, not a file\n"},
	} {
		code, out, errOut := tapestry(t, c.args...)
		if code != c.code || out != "" || !strings.HasSuffix(errOut, c.want) || strings.Count(errOut, "\n") != 1 {
			t.Errorf("%q: exit code %d, %s%s", c.args, code, out, errOut)
		}
	}
	left, err := os.ReadDir(".")
	if text, other := os.ReadFile("file"); err != nil || other != nil || len(left) != 2 || string(text) != "mine" {
		t.Errorf("there are %v, and the file has %q: %v, %v", left, text, err, other)
	}
	ok(t, append(train[:4:4], "--resume", "--checkpoint", "begun")...)
	ok(t, append(train[:4:4], "--checkpoint", "run-v1.2")...) // a version is no extension
	if kept, err := filepath.Glob("begun/*" + checkpointExtension); err != nil || len(kept) == 0 {
		t.Errorf("--resume of a folder that was not there began none: %v, %v", kept, err)
	}
}

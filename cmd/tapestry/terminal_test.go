package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"gorgonia.org/tensor"
)

// hostileName gives a terminal orders: to clear itself, to change its title, to turn the
// writing direction, to hide a letter.
const hostileName = "a\x1b[2J\x1b]0;t\a\u009b31m\u202eb\u200b\rc"

// TestTerminal: whatever stands in files, no command gives a terminal an order by it.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Skipf("no such name here: %v", err)
		}
		return path
	}
	var stored bytes.Buffer
	err := safetensors.Write(&stored, &safetensors.File{
		Metadata: map[string]string{hostileName: hostileName},
		Tensors:  []safetensors.Tensor{{Name: hostileName, Data: tensor.New(tensor.WithShape(2), tensor.WithBacking([]float64{1, 2}))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	saved := file(hostileName+".safetensors", stored.String())
	table := file(hostileName+".csv", hostileName+",y\n1,2\n3,4\n5,6\n7,8\n")
	wrong := file("wrong.csv", "x,y\n1,"+hostileName+"\n2,3\n")
	text := file("bad.tapestry", "objective \""+hostileName+"\"\ny = x"+hostileName+"\n")
	comment := file(hostileName+".tapestry", "input x[i=3] # "+hostileName+"\nloss = mean(x^2)\n")
	for _, args := range [][]string{
		{"checkpoint", "show", saved}, {"checkpoint", "show", saved, "--json"}, {"checkpoint", "verify", saved}, {"checkpoint", "verify", saved, "--json"},
		{"checkpoint", "diff", saved, saved}, {"checkpoint", "show", filepath.Join(dir, hostileName)}, {"checkpoint", hostileName},
		{"train", "kmeans-softmax", "--data", table, "--k", "2", "--steps", "2"}, {"train", "kmeans-softmax", "--data", table, "--k", "2", "--steps", "2", "--json"},
		{"train", "kmeans-softmax", "--data", wrong, "--label", "x"}, {"train", "kmeans-softmax", "--data", hostileName}, {"train", hostileName}, {"compare", "kmeans-softmax", hostileName},
		{"fmt", text}, {"fmt", comment}, {"check", text}, {"grad", comment}, {"draw", comment}, {"draw", comment, "--format", "dot"}, {"tape", comment}, {"rewrite", comment}, {"list", hostileName}, {"predict", saved}, {"step", comment, "--print"},
		{hostileName}, {"draw", "--" + hostileName}, {"serve", "--addr", hostileName},
	} {
		_, out, errOut := tapestry(t, args...)
		for _, r := range out + errOut {
			if !terminal.Shows(r) {
				t.Errorf("%q prints %U", args, r)
				break
			}
		}
		if out+errOut == "" {
			t.Errorf("%q prints nothing", args)
		}
	}
	var shown shownCheckpoint
	if _, out, _ := tapestry(t, "checkpoint", "show", saved, "--json"); json.Unmarshal([]byte(out), &shown) != nil || shown.Arrays[0].Path != hostileName || shown.Meta[hostileName] != hostileName {
		t.Errorf("JSON loses what it tells: %q", out)
	}
	if !strings.Contains(ok(t, "checkpoint", "show", saved), "a\uFFFD[2J") {
		t.Error("a name is not recognised any more")
	}
}

// TestEscapedJSON checks that escaping does not change the text for readers of JSON.
func TestEscapedJSON(t *testing.T) {
	for _, s := range []string{"", "plain ü 数", hostileName, "\U000E0001\U0001F600", "\u2028\u2029\x7f"} {
		var b bytes.Buffer
		if err := printJSON(&b, s); err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != s || terminal.Clean(b.String()) != b.String() {
			t.Errorf("%q is printed as %q and read as %q, %v", s, b.String(), back, err)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReadmeIsTrue checks that the README's pictures and outputs are those of the commands.
func TestReadmeIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := ok(t, "grad", "kmeans-softmax", "--wrt", "r"); !strings.Contains(string(readme), "$ tapestry grad kmeans-softmax --wrt r\n"+out) {
		t.Errorf("the README does not show the output of grad:\n%s", out)
	}
	picture, err := os.ReadFile("../../docs/kmeans-diff.svg")
	if err != nil {
		t.Fatal(err)
	}
	if out := ok(t, "draw", "kmeans-softmax", "--against", "kmeans-goofy"); out != string(picture) {
		t.Error("docs/kmeans-diff.svg is old: tapestry draw kmeans-softmax --against kmeans-goofy -o docs/kmeans-diff.svg")
	}
}

// TestReadmePictureIsLegible: at the width that GitHub gives a picture, the smallest letters of
// the README's first one are of 7 pixels at least.
func TestReadmePictureIsLegible(t *testing.T) {
	const column, least = 830.0, 7.0
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`!\[[^\]]+\]\((\S+\.svg)\)`).FindSubmatch(readme)
	if first == nil {
		t.Fatal("the README has no picture")
	}
	picture, err := os.ReadFile(filepath.Join("../..", string(first[1])))
	if err != nil {
		t.Fatal(err)
	}
	number := func(pattern string) (all []float64) {
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(picture, -1) {
			v, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	width, sizes := number(`<svg [^>]*?width="([\d.]+)"`), number(`font-size="([\d.]+)"`)
	if len(width) == 0 || len(sizes) == 0 {
		t.Fatalf("%s: %d widths, %d sizes of letters", first[1], len(width), len(sizes))
	}
	if shown := slices.Min(sizes) * min(1, column/width[0]); shown < least {
		t.Errorf("%s is %g wide: its letters are of %.1f pixels in a column of %g", first[1], width[0], shown, column)
	}
}

// TestReadmeNamesTheCommands: the README has every command, and no command or flag that is not
// there.
func TestReadmeNamesTheCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{})
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)(?:`tapestry|^\\$ tapestry) ([^`\n]+)").FindAllStringSubmatch(string(readme), -1) {
		args := strings.Fields(m[1])
		c, _, err := root.Find(args)
		if err != nil {
			t.Errorf("tapestry %s: %v", m[1], err)
			continue
		}
		for _, arg := range args {
			flag, is := strings.CutPrefix(arg, "--")
			if is && c.Flag(flag) == nil {
				t.Errorf("tapestry %s: %s has no flag --%s", m[1], c.Name(), flag)
			}
		}
		for c != root {
			named[c.Name()] = true
			c = c.Parent()
		}
	}
	for _, m := range regexp.MustCompile("`([a-z]+) [^`]*`").FindAllStringSubmatch(string(readme), -1) {
		named[m[1]] = true
	}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" && !named[c.Name()] {
			t.Errorf("the README does not name tapestry %s", c.Name())
		}
	}
}

// TestPositionsAreTheBuilders: a line of this program on every node would say nothing.
func TestPositionsAreTheBuilders(t *testing.T) {
	out := ok(t, "draw", "kmeans-softmax", "--format", "text", "--grad")
	if strings.Contains(out, "@cmd/") || !strings.Contains(out, "@builders/kmeans.go:") {
		t.Errorf("positions in\n%s", out)
	}
}

package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// examplesNotRun has parts of the examples that a test cannot run.
var examplesNotRun = map[string]string{
	"^tapestry$":                     "takes no flags; it is tapestry compare, which is run",
	"flowers.csv":                    "needs a file of the user's",
	"objective.tapestry":             "needs a file of the user's",
	"mine.tapestry":                  "needs files of the user's; TestCrossing runs the like",
	"tapestry checkpoint ":           "needs the folder of a training",
	"tapestry predict ":              "needs the folder of a training",
	"tapestry eval kmeans-goofy --p": "needs files, and is run by TestEval",
	"tapestry docs":                  "wants the source of this module, and is run by TestDocsWritesThePages",
	"tapestry serve":                 "runs until it is interrupted",
	"tapestry page":                  "compiles for a minute, and is run by the tests in the browser",
	"tapestry step kmeans-softmax$":  "asks for a terminal",
	"tapestry check --all":           "takes minutes, and is run by the tests of package check",
	"tapestry bench --gemm":          "takes minutes",
}

// examplesShortened are further flags, which make an example end soon.
var examplesShortened = map[string][]string{
	"tapestry compare":            {"--seeds", "1", "--steps", "3"},
	"tapestry train kmeans-lloyd": {"--restarts", "2"},
	"transformer-gpt --steps":     {"--steps", "2"},
	"tapestry bench":              {"--seconds", "0.01"},
	"tapestry geometry":           {"--steps", "2"},
	"tapestry look":               {"--steps", "2"},
	"n=4096,d=64,k=64":            {"--set", "n=64,d=8,k=4"},
}

// TestHelpExamplesRun checks that the examples in the help of a command run as shown.
func TestHelpExamplesRun(t *testing.T) {
	listed := func(line string, keys []string) string {
		for _, key := range keys {
			if strings.Contains("^"+line+"$", key) {
				return key
			}
		}
		return ""
	}
	var skips, shorts []string
	for key := range examplesNotRun {
		skips = append(skips, key)
	}
	for key := range examplesShortened {
		shorts = append(shorts, key)
	}
	used := map[string]bool{}
	word := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	eachCommand(newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{}), func(c *cobra.Command) {
		for _, line := range strings.Split(c.Example, "\n") {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			if key := listed(line, skips); key != "" {
				used[key] = true
				continue
			}
			t.Run(line, func(t *testing.T) {
				t.Chdir(t.TempDir())
				args := word.FindAllString(line, -1)[1:]
				for i, a := range args {
					args[i] = strings.Trim(a, `'"`)
				}
				key := listed(line, shorts)
				used[key] = true
				if code, _, errOut := tapestry(t, append(args, examplesShortened[key]...)...); code != 0 {
					t.Errorf("exit code %d: %s", code, errOut)
				}
			})
		}
	})
	for _, key := range slices.Concat(skips, shorts) {
		if !used[key] {
			t.Errorf("no example has %q", key)
		}
	}
}

// TestDTypeSaysItsDefault: where commands have other defaults of --dtype, the help of each says so.
func TestDTypeSaysItsDefault(t *testing.T) {
	of := map[string][]string{}
	eachCommand(newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{}), func(c *cobra.Command) {
		if f := c.Flags().Lookup("dtype"); f != nil {
			of[f.DefValue] = append(of[f.DefValue], c.Name())
			if want := map[string]string{"f32": showingDType, "f64": trainingDType}[f.DefValue]; f.Usage != want {
				t.Errorf("%s: --dtype is %s by default: %s", c.Name(), f.DefValue, f.Usage)
			}
		}
	})
	for _, name := range of["f64"] {
		if !strings.Contains(showingDType, name) || !strings.Contains(trainingDType, name) {
			t.Errorf("%s has f64, and no help of --dtype says so", name)
		}
	}
	if len(of["f64"]) != 6 {
		t.Errorf("%q have f64: want those that the help lists", of["f64"])
	}
}

// eachCommand calls do for a command and all below it.
func eachCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, below := range c.Commands() {
		eachCommand(below, do)
	}
}

// TestFlagHelpExamplesRun checks that the values that the help of a flag gives as examples are taken.
func TestFlagHelpExamplesRun(t *testing.T) {
	dir := t.TempDir()
	own := written(t, ownText)
	for _, c := range []struct {
		line, flag, from string // the examples begin after from in the help of the flag
		each             bool   // they are several, parted by commas
	}{
		{"step kmeans-softmax --print", "node", "quantity: ", true},
		{"step kmeans-softmax --print", "break", "holds: ", true},
		{"step kmeans-softmax --print", "values", "axis: ", false},
		{"train attention-dot --seeds 1 --steps 5", "rate", "schedule of it: ", false},
		{"train kmeans-softmax --seeds 1 --steps 5", "gamma", "constant, ", false},
		{"train attention-dot --seeds 1 --steps 5", "ema", "decay, as ", false},
		{"train kmeans-softmax --seeds 1 --steps 5", "choose-k", "try, as in ", false},
		{"compare OWN attention-dot --seeds 1 --steps 3 -o PAGE", "optimisers", "rates, as ", false},
		{"compare OWN attention-dot --seeds 1 --steps 3 -o PAGE", "rates", "optimiser, as ", false},
		{"compare OWN attention-dot --seeds 1 --steps 3 -o PAGE", "starts", "initialisers, as ", false},
	} {
		args := arguments(c.line, "OWN", own, "PAGE", dir+"/r.html")
		found, _, err := newRoot(nil, &bytes.Buffer{}, &bytes.Buffer{}).Find(args)
		if err != nil {
			t.Fatal(err)
		}
		usage := found.Flags().Lookup(c.flag).Usage
		_, text, has := strings.Cut(usage, c.from)
		if !has {
			t.Errorf("the help of --%s has no %q: %s", c.flag, c.from, usage)
			continue
		}
		text, _, _ = strings.Cut(text, " (default")
		text, _, _ = strings.Cut(text, " to anneal")
		text, _, _ = strings.Cut(strings.Trim(text, "'"), ": the one")
		text, _, _ = strings.Cut(text, "; ")
		examples := []string{text}
		if c.each {
			examples = strings.Split(text, ", ")
		}
		for _, e := range examples {
			if c.flag == "values" {
				args = append(arguments(c.line), "--node", "alpha")
			}
			if code, _, errOut := tapestry(t, append(slices.Clone(args), "--"+c.flag, strings.Trim(e, "'"))...); code != 0 {
				t.Errorf("%s --%s %s: exit code %d, %s", c.line, c.flag, e, code, errOut)
			}
		}
	}
}

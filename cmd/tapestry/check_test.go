package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestCheckAll: every model and every operation has its lines, none fails, and the
// last line counts them.
func TestCheckAll(t *testing.T) {
	out := ok(t, "check", "--all")
	has := func(subject, check string) {
		t.Helper()
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(subject) + ` +` + check + ` +(ok|n/a)\b`).MatchString(out) {
			t.Errorf("%s is not checked for %s", subject, check)
		}
	}
	names, _ := check.Kinds()
	for _, b := range builders.Names() {
		for _, c := range append(names, "gorgonia") {
			has(b, c)
		}
	}
	for _, op := range ops.List() {
		has("op "+op.Name(), "cases")
	}
	for _, parity := range []string{`kmeans-softmax +gorgonia +ok`, `kmeans-goofy +gorgonia +ok`} {
		if !regexp.MustCompile(parity).MatchString(out) {
			t.Errorf("no %q", parity)
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := regexp.MustCompile(`^\d+ models and \d+ operations: \d+ checks ok, \d+ not applicable, 0 failed$`)
	if last := lines[len(lines)-1]; !want.MatchString(last) {
		t.Errorf("the last line is %q", last)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestCheckFails: a failed check is counted, and is the command's error.
func TestCheckFails(t *testing.T) {
	var b strings.Builder
	all := tally{w: &b, models: 1, width: 16}
	for _, v := range []check.Verdict{{Check: "gradient", Err: errors.New("off by 1")}, {Check: "gorgonia", Err: errors.New("no"), Skipped: true}, {Check: "tape"}} {
		if err := all.add("net", "model", v); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.end(); err == nil || err.Error() != "1 check failed" {
		t.Errorf("error %v", err)
	}
	want := "net              gradient  FAILED off by 1\n" +
		"net              gorgonia  n/a    no\n" +
		"net              tape      ok\n" +
		"1 model: 1 check ok, 1 not applicable, 1 failed\n"
	if b.String() != want {
		t.Errorf("printed\n%swant\n%s", b.String(), want)
	}
}

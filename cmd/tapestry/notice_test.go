package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestNotice: the NOTICE has every module that the command links on some system, and no other,
// each with the licence that lies in it.
func TestNotice(t *testing.T) {
	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(notice), "\nLinked into the command")
	if !found {
		t.Fatal("the NOTICE does not say what is linked")
	}
	said := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^  (\S+) +(\S+) {2,}\S`).FindAllStringSubmatch(table, -1) {
		said[row[1]] = row[2]
	}
	linked, all := map[string]string{}, true // the folder of each module
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", ".")
		var complaints bytes.Buffer
		cmd.Env, cmd.Stderr = append(os.Environ(), "GOOS="+system), &complaints
		out, err := cmd.Output()
		if err != nil && system != runtime.GOOS { // a module of another system that cannot be fetched
			t.Logf("go list for %s: %v\n%s", system, err, complaints.String())
			all = false
			continue
		}
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, complaints.String())
		}
		for line := range strings.Lines(string(out)) {
			if module, dir, is := strings.Cut(strings.TrimSuffix(line, "\n"), " "); is {
				linked[module] = dir
			}
		}
	}
	if len(linked) < 20 {
		t.Fatalf("%d modules linked: not all were found", len(linked))
	}
	for _, module := range slices.Sorted(maps.Keys(said)) {
		if all && linked[module] == "" {
			t.Errorf("the NOTICE has %s, which is not linked", module)
		}
	}
	for _, module := range slices.Sorted(maps.Keys(linked)) {
		switch licence := licenceIn(t, linked[module]); {
		case said[module] == "":
			t.Errorf("the NOTICE lacks %s, %s", module, licence)
		case licence != "" && licence != said[module]:
			t.Errorf("%s is under %s, and not %s as the NOTICE says", module, licence, said[module])
		}
	}
}

// licenceIn returns the name of the licence whose text lies in a folder; "" if there is none.
func licenceIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "LICEN[CS]E*"))
	if err != nil || len(files) == 0 {
		return ""
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct{ name, has string }{
		{"Apache-2.0", `Apache License`},
		{"MIT", `Permission is hereby granted, free of charge`},
		{"BSD-3-Clause", `endorse\s+or\s+promote`},
		{"BSD-2-Clause", `Redistribution and use in source and binary forms`},
	} {
		if regexp.MustCompile(l.has).Match(text) {
			return l.name
		}
	}
	return "a licence that the test does not know"
}

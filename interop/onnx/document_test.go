package onnx_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/importer"
)

// TestDocument: docs/onnx.md lists the operators that are read, and how many of ONNX's tests pass.
func TestDocument(t *testing.T) {
	const document = "../../docs/onnx.md"
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for name, content := range map[string]string{"operators": operators(), "suite": suite(t)} {
		begin := "<!-- " + name + " -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, "<!-- end -->")
		if !found || !closed {
			t.Fatalf("%s has no place for %s", document, name)
		}
		text = before + begin + content + "<!-- end -->" + after
	}
	if text == string(page) {
		return
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date: go test ./interop/onnx -run TestDocument -update", document)
}

// operators lists the standard operators, and those of other domains, as paragraphs.
func operators() string {
	domains := map[string][]string{}
	var order []string
	for _, name := range importer.Operators() {
		domain := ""
		if i := strings.LastIndex(name, "."); i >= 0 {
			domain, name = name[:i], name[i+1:]
		}
		if domains[domain] == nil {
			order = append(order, domain)
		}
		domains[domain] = append(domains[domain], name)
	}
	var b strings.Builder
	for _, domain := range order {
		line := ""
		if domain != "" {
			line = "`" + domain + "`:"
		}
		for i, name := range domains[domain] {
			if name += ","; i == len(domains[domain])-1 {
				name = strings.TrimSuffix(name, ",") + "."
			}
			if len(line)+1+len(name) > 130 {
				b.WriteString(line + "\n")
				line = ""
			}
			line = strings.TrimPrefix(line+" "+name, " ")
		}
		b.WriteString(line + "\n\n")
	}
	return b.String()
}

// suite is the list of ONNX's tests that do not pass, as tables.
func suite(t *testing.T) string {
	list, err := os.ReadFile("internal/importer/testdata/suite.txt")
	if err != nil {
		t.Fatal(err)
	}
	var counts, rows strings.Builder
	counts.WriteString("| tests | pass |\n|---|---|\n")
	rows.WriteString("\n| test | why not |\n|---|---|\n")
	for line := range strings.Lines(string(list)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, " ") {
			fmt.Fprintf(&rows, "| %s | %s |\n", name, strings.ReplaceAll(rest, "|", `\|`))
		} else {
			fmt.Fprintf(&counts, "| %s | %s |\n", name, rest)
		}
	}
	return counts.String() + rows.String()
}

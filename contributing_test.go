package tapestry_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestContributing: CONTRIBUTING.md names every environment variable, every flag of a test with
// the packages that have it, and every tool that .ci/run installs, and no other.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`TAPESTRY_[A-Z]+`)
	variables := map[string]bool{}
	for _, v := range variable.FindAllString(string(ci), -1) {
		variables[v] = true
	}
	flagged := map[string][]string{} // the packages that have a flag
	declared := regexp.MustCompile(`flag\.(?:Bool|BoolFunc|Duration|Float64|Func|Int|Int64|String|Text|Uint|Uint64)?(?:Var)?\((?:&\w+, )?"([\w-]+)"`)
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || path == "contributing_test.go":
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, v := range variable.FindAllString(string(source), -1) {
			variables[v] = true
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
			flagged["-"+m[1]] = append(flagged["-"+m[1]], filepath.ToSlash(filepath.Dir(path)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := func(heading string) map[string]string {
		_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		table := map[string]string{}
		for _, m := range regexp.MustCompile("(?m)^\\| `?([^|`]+?)`? \\| ([^|]+) \\|").FindAllStringSubmatch(section, -1) {
			table[m[1]] = m[2]
		}
		return table
	}
	same := func(what string, said, is []string) {
		for _, s := range said {
			if !slices.Contains(is, s) {
				t.Errorf("CONTRIBUTING.md has the %s %s, which is not there", what, s)
			}
		}
		for _, s := range is {
			if !slices.Contains(said, s) {
				t.Errorf("CONTRIBUTING.md lacks the %s %s", what, s)
			}
		}
	}
	table := rows("Environment variables")
	delete(table, "variable")
	same("variable", slices.Sorted(maps.Keys(table)), slices.Sorted(maps.Keys(variables)))

	table = rows("Flags of tests")
	for _, flag := range []string{"flag", "-short", "-tags noasm", "-tags mpi", "-tags onnxruntime"} { // those but the first are the go command's
		delete(table, flag)
	}
	same("flag", slices.Sorted(maps.Keys(table)), slices.Sorted(maps.Keys(flagged)))
	for flag, packages := range table {
		same("package of "+flag, strings.Split(packages, ", "), slices.Compact(slices.Sorted(slices.Values(flagged[flag]))))
	}

	var tools []string
	for _, m := range regexp.MustCompile(`(?m)\bneed \S+ (\S+) "`).FindAllStringSubmatch(string(ci), -1) {
		tools = append(tools, m[1])
	}
	table = rows("Tools")
	for _, tool := range []string{"tool", "a C compiler"} {
		delete(table, tool)
	}
	if len(tools) < 4 || len(variables) < 6 || len(flagged) == 0 {
		t.Errorf("%d tools, %d variables, %d flags: not all were found", len(tools), len(variables), len(flagged))
	}
	same("tool", slices.Sorted(maps.Keys(table)), tools)
}

package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesHaveAPolicy checks that a browser loads nothing of a page that a command writes, and
// runs only the scripts that the policy names by their hashes.
func TestPagesHaveAPolicy(t *testing.T) {
	policies := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)"/>`)
	scripts := regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)
	styles := regexp.MustCompile(`(?s)<style[^>]*>(.*?)</style>`)
	for name, args := range map[string][]string{
		"report":  {"compare", "--seeds", "1", "--steps", "3", "--restarts", "1", "--out"},
		"grad":    {"grad", "kmeans-softmax", "--rules", "--format", "html", "--out"},
		"rewrite": {"rewrite", "kmeans-softmax", "--html"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.html")
			if code, _, errOut := tapestry(t, append(args, path)...); code != 0 {
				t.Fatal(errOut)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := string(text)
			m := policies.FindAllStringSubmatchIndex(page, -1)
			if len(m) != 1 || m[0][0] > strings.Index(page, "<style") {
				t.Fatalf("%d policies, or one behind what it is to judge", len(m))
			}
			sources := map[string]string{}
			for _, directive := range strings.Split(page[m[0][2]:m[0][3]], "; ") {
				kind, from, _ := strings.Cut(directive, " ")
				sources[kind] = " " + from + " "
			}
			if sources["default-src"] != " 'none' " || strings.Contains(sources["script-src"]+sources["style-src"], "unsafe-inline") || sources["script-src"] == "" {
				t.Errorf("the policy allows too much: %q", sources)
			}
			count := 0
			for _, s := range scripts.FindAllStringSubmatch(page, -1) {
				if strings.Contains(s[1], "application/json") { // is no script
					continue
				}
				if count++; !strings.Contains(sources["script-src"], base64.StdEncoding.EncodeToString(hashOf(s[2]))) {
					t.Errorf("the policy lacks the script %.60q", s[2])
				}
			}
			if have := strings.Count(sources["script-src"], "sha256-"); have != count {
				t.Errorf("%d scripts are allowed, and %d are there", have, count)
			}
			for _, s := range styles.FindAllStringSubmatch(page, -1) {
				if !strings.Contains(sources["style-src"], base64.StdEncoding.EncodeToString(hashOf(s[1]))) {
					t.Errorf("the policy lacks the style sheet %.60q", s[1])
				}
			}
		})
	}
}

// Package csp writes content-security policies into pages that stand alone: files that a
// browser opens without a server.
package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
)

var (
	styleElement   = regexp.MustCompile(`(?s)<style[^>]*>(.*?)</style>`)
	styleAttribute = regexp.MustCompile(`\sstyle=(?:"([^"]*)"|'([^']*)')`)
)

// Seal returns the page with a policy before its title. A browser that follows it loads
// nothing, runs the given scripts alone, each of which is all that stands between its tags,
// and applies the style sheets and style attributes that the page has now.
//
// The policy names them by their hashes (https://www.w3.org/TR/CSP3/): what gets into a text
// or a drawing of the page, by whatever mistake, is no script that runs.
func Seal(page string, scripts ...string) string {
	var styles, attributes []string
	for _, m := range styleElement.FindAllStringSubmatch(page, -1) {
		// The text of a style sheet in a drawing may be escaped, that of one in HTML is not.
		styles = append(styles, m[1], html.UnescapeString(m[1]))
	}
	for _, m := range styleAttribute.FindAllStringSubmatch(page, -1) {
		attributes = append(attributes, html.UnescapeString(m[1]+m[2]))
	}
	style := sources(append(styles, attributes...))
	if len(attributes) > 0 {
		style = "'unsafe-hashes' " + style // hashes are those of attributes, too
	}
	policy := "default-src 'none'; style-src " + style + "; script-src " + sources(scripts) + "; base-uri 'none'; form-action 'none'"
	return strings.Replace(page, "<title>", `<meta http-equiv="Content-Security-Policy" content="`+policy+"\"/>\n<title>", 1)
}

// sources lists the hashes of texts, each once.
func sources(texts []string) string {
	var out []string
	seen := map[string]bool{}
	for _, text := range texts {
		h := hash(text)
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return "'none'"
	}
	return strings.Join(out, " ")
}

// hash is that of a text as a browser reads it, with lines that end in LF.
func hash(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

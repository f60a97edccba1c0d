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
	return with(page, "style-src "+style+"; script-src "+sources(scripts))
}

// program is what a page may do that computes and draws: have any style, make pictures, start
// workers whose code it has, and compile WebAssembly. Modules stand in its import map as data: URLs.
const program = "style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:; script-src data: 'wasm-unsafe-eval' "

// SealProgram returns a page that is a program with a policy before its title. A browser that
// follows it loads nothing, and runs the given scripts, each of which is all that stands between
// its tags, the modules of its import map, which is one of the scripts, and WebAssembly.
func SealProgram(page string, scripts ...string) string {
	return with(page, program+sources(scripts))
}

// SealAround is Seal for a page that opens inner, which SealProgram has returned, in a frame made
// of its text. Browsers hold a frame without an address to the policy of the page around it too,
// so that has all that inner's has.
func SealAround(page, inner string, scripts ...string) string {
	_, rest, _ := strings.Cut(inner, program)
	own, _, _ := strings.Cut(rest, ";")
	return with(page, "frame-src blob:; "+program+strings.TrimSpace(own+" "+sources(scripts)))
}

// with returns the page with a policy of nothing but the directives.
func with(page, directives string) string {
	policy := "default-src 'none'; " + directives + "; base-uri 'none'; form-action 'none'"
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

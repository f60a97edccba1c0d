package claim

import (
	"fmt"
	"regexp"
	"strings"
)

// Row is a row of docs/notes-map.md: a topic of the notes, where it is in the code, and what is
// claimed of it.
type Row struct {
	Section, Topic, Where string
	Claims                []string
}

var (
	header = "| topic | where | claim |"
	span   = regexp.MustCompile("`([^`]+)`")
)

// Rows reads the rows of the page: those of its tables of three columns. Sections are the headings
// of the second and third level.
func Rows(page string) ([]Row, error) {
	var rows []Row
	section, inside := "", false
	for _, line := range strings.Split(page, "\n") {
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			section = strings.TrimLeft(line, "# ")
		}
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		if line == header {
			inside = true
			continue
		}
		if !inside || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			return nil, fmt.Errorf("%q has %d cells, want a topic, where it is, and what is claimed", line, len(cells))
		}
		r := Row{Section: section, Topic: strings.TrimSpace(cells[0]), Where: strings.TrimSpace(cells[1])}
		for _, m := range span.FindAllStringSubmatch(cells[2], -1) {
			r.Claims = append(r.Claims, m[1])
		}
		rows = append(rows, r)
	}
	return rows, nil
}

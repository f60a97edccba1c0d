package main

import (
	"strings"

	"github.com/tapestry-ml/tapestry/docs"
	"github.com/tapestry-ml/tapestry/internal/claim"
)

// claimSection returns the section of a model's page that has what the notes claim of it, as the map
// of the notes says; "" if it says nothing.
func claimSection(model string) (string, error) {
	rows, err := claim.Rows(docs.NotesMap)
	if err != nil {
		return "", err
	}
	var table [][]string
	for _, r := range rows {
		var of []string
		for _, text := range r.Claims {
			c, err := claim.Parse(text)
			if err != nil {
				return "", err
			}
			if c.Model() == model {
				of = append(of, "`"+text+"`")
			}
		}
		if len(of) > 0 {
			table = append(table, []string{r.Topic, strings.Join(of, "<br>")})
		}
	}
	if len(table) == 0 {
		return "", nil
	}
	return "\n## What the notes claim of it\n\nA test checks each claim; [the map of the notes](../../notes-map.md) says how to read them.\n\n" +
		markdownTable([]string{"topic", "claim"}, table), nil
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
)

func newList(o *options) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the models, their formulas and settings",
		Example: "  tapestry list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			for i, b := range builders.All() {
				if o.json {
					type size struct {
						Name    string  `json:"name"`
						Default float64 `json:"default"`
						Doc     string  `json:"doc"`
					}
					row := struct {
						Name    string `json:"name"`
						Title   string `json:"title"`
						Notes   string `json:"notes"`
						Formula string `json:"formula"`
						Sizes   []size `json:"settings"`
					}{b.Name, b.Title, b.Notes, b.Formula, nil}
					for _, s := range b.Sizes {
						row.Sizes = append(row.Sizes, size{s.Name, s.Default, s.Doc})
					}
					if err := printJSON(out, row); err != nil {
						return err
					}
					continue
				}
				if i > 0 {
					fmt.Fprintln(out)
				}
				fmt.Fprintf(out, "%-16s %s (%s)\n    %s\n   ", b.Name, b.Title, b.Notes, b.Formula)
				for _, s := range b.Sizes {
					fmt.Fprintf(out, " %s=%v", s.Name, s.Default)
				}
				fmt.Fprintln(out)
			}
			return nil
		},
	}
}

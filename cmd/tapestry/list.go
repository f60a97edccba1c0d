package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
)

// listWidth is the number of columns of a list.
const listWidth = 100

func newList(o *options) *cobra.Command {
	var verbose bool
	cmd := &cobra.Command{
		Use:     "list [MODEL...]",
		Short:   "List the models, or show the formula and settings of some",
		Example: "  tapestry list\n  tapestry list kmeans-softmax",
		RunE: func(cmd *cobra.Command, args []string) error {
			shown, err := listed(args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case o.json:
				return listJSON(out, shown)
			case verbose || len(args) > 0:
				listDetails(out, shown)
			default:
				listNames(out, shown)
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the formulas and settings of all")
	return cmd
}

// listed returns the families with the named models alone, or with all if names is empty.
// Families without any are left out.
func listed(names []string) ([]builders.Family, error) {
	wanted := map[string][]builders.Builder{} // by the name without settings
	files := builders.Family{Name: "files"}
	var known []builders.Builder
	for _, name := range names {
		b, err := lookup(name)
		if err != nil {
			return nil, err
		}
		base, _, _ := cutSettings(name)
		switch {
		case slices.ContainsFunc(known, func(other builders.Builder) bool { return sameModel(other, b) }):
		case isFile(name):
			files.Builders = append(files.Builders, b)
		default:
			wanted[base] = append(wanted[base], b)
		}
		known = append(known, b)
	}
	var out []builders.Family
	for _, f := range families() {
		part := builders.Family{Name: f.Name}
		for _, b := range f.Builders {
			if len(names) == 0 {
				part.Builders = append(part.Builders, b)
			}
			part.Builders = append(part.Builders, wanted[b.Name]...)
		}
		if len(part.Builders) > 0 {
			out = append(out, part)
		}
	}
	if len(files.Builders) > 0 {
		out = append(out, files)
	}
	return out, nil
}

// listNames prints a line for each model.
func listNames(w io.Writer, shown []builders.Family) {
	widest := 0
	for _, f := range shown {
		for _, b := range f.Builders {
			widest = max(widest, utf8.RuneCountInString(b.Name))
		}
	}
	for _, f := range shown {
		fmt.Fprintln(w, f.Name)
		for _, b := range f.Builders {
			head := fmt.Sprintf("  %-*s  ", widest, b.Name)
			fmt.Fprintln(w, head+wrapped(b.Title, len([]rune(head))))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "tapestry list MODEL shows its formula and settings.")
}

// listDetails prints all that is known of the models.
func listDetails(w io.Writer, shown []builders.Family) {
	first := true
	for _, f := range shown {
		for _, b := range f.Builders {
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			fmt.Fprintf(w, "%s: %s\n", b.Name, wrapped(b.Title, utf8.RuneCountInString(b.Name)+2))
			fmt.Fprintf(w, "    %s\n    family  %s\n    notes   %s\n", wrapped(b.Formula, 4), f.Name, wrapped(b.Notes, 12))
			if b.AsNotes.Differs() {
				fmt.Fprintf(w, "    differs %s\n", wrapped("the notes have "+b.AsNotes.Says+" (--as-notes)", 12))
			}
			widest := 0
			for _, s := range b.Hyperparameters {
				widest = max(widest, utf8.RuneCountInString(setting(s)))
			}
			for _, s := range b.Hyperparameters {
				head := fmt.Sprintf("    --set %-*s  ", widest, setting(s))
				fmt.Fprintln(w, head+wrapped(settingDoc(s), utf8.RuneCountInString(head)))
			}
		}
	}
}

// setting returns the flag value that sets a size to its default.
func setting(s builders.Hyperparameter) string { return s.Name + "=" + s.Format(s.Default) }

// settingDoc explains a size and its allowed values.
func settingDoc(s builders.Hyperparameter) string {
	switch s.Kind {
	case builders.Flag:
		return s.Doc + " (0 or 1)"
	case builders.Choice:
		return s.Doc + " (" + strings.Join(s.Choices, ", ") + ")"
	}
	return s.Doc
}

// wrapped breaks a text between words into lines that begin at the indent and stay within the
// width of a list.
func wrapped(text string, indent int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > listWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// listJSON prints a line for each model.
func listJSON(w io.Writer, shown []builders.Family) error {
	type size struct {
		Name    string   `json:"name"`
		Default float64  `json:"default"`
		Set     string   `json:"set"` // the default, as --set takes it
		Doc     string   `json:"doc"`
		Kind    string   `json:"kind"`
		Choices []string `json:"choices,omitempty"`
	}
	for _, f := range shown {
		for _, b := range f.Builders {
			row := struct {
				Family  string `json:"family"`
				Name    string `json:"name"`
				Title   string `json:"title"`
				Notes   string `json:"notes"`
				Formula string `json:"formula"`
				AsNotes string `json:"as_notes,omitempty"` // what the notes have where the defaults differ
				Sizes   []size `json:"settings"`
			}{f.Name, b.Name, b.Title, b.Notes, b.Formula, b.AsNotes.Says, nil}
			for _, s := range b.Hyperparameters {
				row.Sizes = append(row.Sizes, size{s.Name, s.Default, setting(s), s.Doc, s.Kind.String(), s.Choices})
			}
			if err := printJSON(w, row); err != nil {
				return err
			}
		}
	}
	return nil
}

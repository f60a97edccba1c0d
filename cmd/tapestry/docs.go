package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/ops"
)

// docsCommand regenerates the reference pages of this repository.
const docsCommand = "go run ./cmd/tapestry docs --out docs/reference"

func newDocs() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "docs --out DIRECTORY",
		Short:   "Write the reference pages of all operations and models",
		Example: "  tapestry docs --out docs/reference",
		Hidden:  true,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("docs: want --out DIRECTORY")
			}
			pages, err := reference(cmd.Context(), builders.Families())
			if err != nil {
				return err
			}
			for _, p := range pages {
				path := filepath.Join(out, filepath.FromSlash(p.path))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte(p.text), 0o644); err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s in %s\n", plural.Count(len(pages), "file"), out)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "directory to write to; pages of removed operations and models stay there")
	return cmd
}

// referencePage is a file in the directory of the reference.
type referencePage struct{ path, text string }

// reference makes all pages. The same operations and models make the same bytes.
func reference(ctx context.Context, families []builders.Family) ([]referencePage, error) {
	code, err := readGo()
	if err != nil {
		return nil, err
	}
	pages := append([]referencePage{{"README.md", referenceIndex(families, code)}}, code.goPages()...)
	views, err := viewsPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("page of the five views: %w", err)
	}
	pages = append(pages, views...)
	for _, op := range ops.List() {
		own, err := opPages(ctx, op, code)
		if err != nil {
			return nil, fmt.Errorf("page of %s: %w", op.Name(), err)
		}
		pages = append(pages, own...)
	}
	for _, f := range families {
		for _, b := range f.Builders {
			own, err := modelPages(ctx, f, b)
			if err != nil {
				return nil, fmt.Errorf("page of %s: %w", b.Name, err)
			}
			pages = append(pages, own...)
		}
	}
	return pages, nil
}

// generated is the first line of a page.
const generated = "<!-- Generated: " + docsCommand + " -->\n\n"

// referenceIndex lists the models by family, the operations, and the functions made of them.
func referenceIndex(families []builders.Family, code *goReference) string {
	var b strings.Builder
	b.WriteString(generated + "# Reference\n\nOne page for every model, every operation, and every function and layer made of operations, from the code. [Soft k-means in five views](soft-kmeans.md)\nis the place to begin.\n\n## Models\n")
	for _, f := range families {
		if len(f.Builders) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n| model | is |\n|---|---|\n", capitalised(f.Name))
		for _, m := range f.Builders {
			fmt.Fprintf(&b, "| [%s](models/%s.md) | %s |\n", m.Name, m.Name, inCell(m.Title))
		}
	}
	b.WriteString("\n## Operations\n\n| operation | in Go | computes |\n|---|---|---|\n")
	var kinks []string
	for _, op := range ops.List() {
		fmt.Fprintf(&b, "| [%s](ops/%s.md) | %s | %s |\n", op.Name(), op.Name(), strings.Join(code.onOp[op.Name()], ", "), inCell(op.Doc()))
		if text := convention(op); text != "" {
			kinks = append(kinks, fmt.Sprintf("| [%s](ops/%s.md) | %s |\n", op.Name(), op.Name(), inCell(text)))
		}
	}
	b.WriteString("\n## Conventions at kinks\n\nWhere a function has no derivative, its operation uses these values. Comparisons, argmax, one-hot and casts to integers have no derivative anywhere.\n\n| operation | convention |\n|---|---|\n")
	b.WriteString(strings.Join(kinks, "") + code.index())
	return b.String()
}

// inCell escapes a text for a cell of a Markdown table.
func inCell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// block returns lines of mathematics as a code block.
func block(lines []string) string { return "```\n" + strings.Join(lines, "\n") + "\n```\n" }

// markdownTable returns a Markdown table without duplicate rows.
func markdownTable(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	var seen []string
	for _, r := range rows {
		for i := range r {
			r[i] = inCell(r[i])
		}
		if key := strings.Join(r, "\x00"); !slices.Contains(seen, key) {
			seen = append(seen, key)
			line(r)
		}
	}
	return b.String()
}

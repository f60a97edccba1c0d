package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/notation"
)

// templates holds the files that new writes; in them NAME stands for the name given.
//
//go:embed templates
var templates embed.FS

// objectiveName matches the names allowed for an objective, and so for its file or folder.
var objectiveName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_. -]*$`)

func newNew() *cobra.Command {
	var goProgram bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write an objective of your own to start from",
		Long: `Writes NAME.tapestry, an objective in the notation with every line explained; it
can be checked, drawn, trained and compared as it is. With --go it writes NAME/main.go,
a program that trains an objective and soft k-means. An existing file is never
overwritten.`,
		Example: "  tapestry new spread\n  tapestry new spread --go",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("new: want one name, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, name := filepath.Split(strings.TrimSuffix(args[0], notation.Extension))
			if !objectiveName.MatchString(name) {
				return usagef("new %q: want a name of letters, digits, - and _", args[0])
			}
			file, template, next := filepath.Join(dir, name+notation.Extension), "templates/objective.tapestry", nextFile
			if goProgram {
				file, template, next = filepath.Join(dir, name, "main.go"), "templates/main.go.txt", nextProgram
			}
			text, err := templates.ReadFile(template)
			if err != nil {
				return err
			}
			if goProgram {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					return fmt.Errorf("%s: %w", filepath.Dir(file), cause(err))
				}
			}
			if err := writeNew(file, strings.ReplaceAll(string(text), "NAME", name)); err != nil {
				return err
			}
			shown := file
			if goProgram {
				shown = filepath.Dir(file)
			}
			if !plainWord.MatchString(shown) {
				shown = "'" + shown + "'"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n\nNext:\n%s", file, nextText(next, shown))
			return err
		},
	}
	cmd.Flags().BoolVar(&goProgram, "go", false, "write a Go program")
	return cmd
}

// command is a command to run next, with what it does; NAME stands for the file or folder.
type command struct{ line, does string }

var nextFile = []command{
	{"tapestry check NAME", "derivatives, tape and rewrites"},
	{"tapestry grad NAME --wrt r", "the derivative as a formula"},
	{"tapestry draw NAME --grad -o drawing.svg", "the graph with its gradient"},
	{"tapestry train NAME --data iris", "train it"},
	{"tapestry compare NAME kmeans-softmax", "both side by side, in report.html"},
}

var nextProgram = []command{
	{"cd NAME", ""},
	{"go mod init objective", "unless it lies in a module of yours"},
	{"go get github.com/tapestry-ml/tapestry@latest", ""},
	{"go run .", "train both, and print what they make of iris"},
}

// nextText lists the commands, with what they do in a column.
func nextText(commands []command, name string) string {
	widest := 0
	lines := make([]string, len(commands))
	for i, c := range commands {
		lines[i] = strings.ReplaceAll(c.line, "NAME", name)
		widest = max(widest, utf8.RuneCountInString(lines[i]))
	}
	var b strings.Builder
	for i, c := range commands {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", widest, lines[i], c.does), " ") + "\n")
	}
	return b.String()
}

// writeNew writes a file that must not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: choose another name", path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

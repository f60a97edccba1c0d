package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/notation"
)

func newFormat() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:     "fmt FILE...",
		Short:   "Print a file in the notation in its canonical form",
		Long:    "Prints files in the notation in their canonical form: plain signs, single spaces,\nbrackets where precedence requires them. Names and comments are kept.\n\nThe functions of the notation:\n\n" + notation.Reference(),
		Example: "  tapestry fmt objective.tapestry\n  tapestry fmt -w objective.tapestry",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("fmt: want a file in the notation, NAME%s", notation.Extension)
			}
			for _, name := range args {
				if isONNX(name) {
					return usagef("fmt: %s is an ONNX model: want a file in the notation, NAME%s", name, notation.Extension)
				}
				f, err := readObjective(name)
				if err != nil {
					return err
				}
				text := f.String()
				if !write {
					if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
						return err
					}
					continue
				}
				if old, err := os.ReadFile(name); err == nil && string(old) == text {
					continue
				}
				err = writeOutput(name, nil, func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write each file in place")
	return cmd
}

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/page/static"
)

func newStatic(o *options) *cobra.Command {
	var dir, wasm string
	cmd := &cobra.Command{
		Use:   "page --static FOLDER|FILE.html",
		Short: "Write the page as files that need no server: it computes in the browser",
		Long: `Writes the page of serve into a folder, for any host of files: its engine is compiled to
WebAssembly and runs in the reader's browser. The page asks no server and contacts no
other machine. It has the models of list and texts in the notation, and everything but
what needs files of the machine: logs, tables of yours, ONNX models and the report.
The folder works at any address over HTTP, below any path, and in a frame of another page.

With a name that ends with .html the page is one file, a third larger than what a browser loads
of the folder: it needs no host, and opens from a disk or out of a mail.

The engine is compiled by the Go command, from the source of this program; --wasm takes
one that was written before instead, FOLDER/assets/tapestry.wasm.`,
		Example: "  tapestry page --static out\n  tapestry page --static page.html\n  tapestry page --static out --wasm other/assets/tapestry.wasm",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("page: want no arguments, got %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usagef("page: want --static with the folder or file to write")
			}
			e, err := engineOf(cmd.Context(), wasm)
			if err != nil {
				return err
			}
			if isPage(dir) {
				return writeOne(cmd, o, dir, e)
			}
			w, err := static.Write(dir, e)
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(cmd.OutOrStdout(), struct {
					Folder string `json:"folder"`
					Files  int    `json:"files"`
					Bytes  int    `json:"bytes"`
					Loaded int    `json:"loaded"`
				}{dir, w.Files, w.Bytes, w.Loaded})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files, of which a browser loads %.1f MB; any host of files serves them\n", dir, w.Files, float64(w.Loaded)/1e6)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "static", "", "folder to write the page into, which is made if there is none; or one file, whose name ends with .html")
	cmd.Flags().StringVar(&wasm, "wasm", "", "engine that was compiled before (default: compile it with the Go command)")
	return cmd
}

// isPage reports whether a name is that of one file.
func isPage(name string) bool {
	return strings.EqualFold(filepath.Ext(name), ".html") || strings.EqualFold(filepath.Ext(name), ".htm")
}

// writeOne writes the page as one file, and says so.
func writeOne(cmd *cobra.Command, o *options, name string, e static.Engine) error {
	text, err := static.One(e)
	if err != nil {
		return err
	}
	if err := writeOutput(name, cmd.OutOrStdout(), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), struct {
			File  string `json:"file"`
			Bytes int    `json:"bytes"`
		}{name, len(text)})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %.1f MB; open it in a browser\n", name, float64(len(text))/1e6)
	return err
}

// engineOf returns the engine in a file, or compiles it.
func engineOf(ctx context.Context, file string) (static.Engine, error) {
	if file != "" {
		return static.Read(ctx, file)
	}
	return static.Build(ctx)
}

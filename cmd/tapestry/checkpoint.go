package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
)

func newCheckpoint(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkpoint COMMAND",
		Short: "Show, verify and compare checkpoints",
		Long: `Reads checkpoints of trainings, and safetensors files of any other origin. A DIR stands
for the newest intact checkpoint in it.`,
		Example: "  tapestry checkpoint show runs/gpt\n  tapestry checkpoint verify runs/gpt\n  tapestry checkpoint diff runs/gpt/best.safetensors runs/gpt",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("checkpoint: want show, verify or diff")
			}
			return usagef("checkpoint: unknown command %q: want show, verify or diff", args[0])
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:     "show FILE|DIR",
			Short:   "Describe a checkpoint and list its arrays",
			Example: "  tapestry checkpoint show runs/gpt\n  tapestry checkpoint show model.safetensors --json",
			Args:    wants(1, "checkpoint show: want a file or a folder"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return showCheckpoint(cmd.Context(), cmd.OutOrStdout(), args[0], o.json)
			},
		},
		&cobra.Command{
			Use:     "verify FILE|DIR...",
			Short:   "Check that checkpoints are intact, all of a folder",
			Example: "  tapestry checkpoint verify runs/gpt",
			Args:    wants(-1, "checkpoint verify: want files or folders"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return verifyCheckpoints(cmd.OutOrStdout(), args, o.json)
			},
		},
		&cobra.Command{
			Use:   "diff A B",
			Short: "Show which arrays of two checkpoints differ, and by how much",
			Long: `Shows which arrays of two checkpoints differ, and by how much. As for diff, the exit
code is 0 if all arrays are equal, bit for bit, 1 if some differ, and 2 on an error.`,
			Example: "  tapestry checkpoint diff runs/gpt/best.safetensors runs/gpt",
			Args:    wants(2, "checkpoint diff: want two files or folders"),
			RunE: func(cmd *cobra.Command, args []string) error {
				out := &checkedWriter{Writer: cmd.OutOrStdout()}
				equal, err := diffCheckpoints(out, args[0], args[1], o.json)
				if err == nil {
					err = out.failed()
				}
				switch {
				case err != nil:
					return exitError{err, 2, false}
				case !equal:
					return exitError{errors.New("the checkpoints differ"), 1, true}
				}
				return nil
			},
		})
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// wants requires n arguments, or at least one if n is −1.
func wants(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if n < 0 && len(args) > 0 || len(args) == n {
			return nil
		}
		return usagef("%s, got %d", what, len(args))
	}
}

// savedFile is a safetensors file whose arrays are read one by one.
type savedFile struct {
	*safetensors.Reader
	path   string
	state  *checkpoint.State          // nil if the file is not a checkpoint
	leaves map[string]checkpoint.Leaf // the model's leaves by path
	whole  bool                       // it has a correct checksum; a file without one is shown, too
	passed []string                   // why newer files of the folder were passed over
}

// openCheckpoint opens a file, or the newest file of a folder that is whole.
func openCheckpoint(path string) (*savedFile, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return openFile(path)
	}
	paths, err := checkpoint.Folder{Dir: path}.Paths()
	if err != nil {
		return nil, err
	}
	var passed []string
	for _, p := range paths {
		f, err := openFile(p)
		if err == nil {
			f.passed = passed
			return f, nil
		}
		passed = append(passed, err.Error())
	}
	if passed != nil {
		return nil, fmt.Errorf("%s: no checkpoint is intact; the newest: %s", path, passed[0])
	}
	return nil, fmt.Errorf("%s: %w", path, checkpoint.ErrNone)
}

func openFile(path string) (*savedFile, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	f := &savedFile{Reader: r, path: path}
	if _, f.whole = r.Metadata()[safetensors.Checksum]; f.whole {
		err = r.Verify()
	}
	if err == nil {
		f.state, err = checkpoint.Describe(r.Metadata())
		if err == nil {
			f.leaves = map[string]checkpoint.Leaf{}
			for _, l := range f.state.Model.Leaves {
				f.leaves[l.Path] = l
			}
		}
		if errors.Is(err, checkpoint.ErrForeign) {
			err = nil
		} else if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return f, nil
}

// storedArray is a row of the table.
type storedArray struct {
	Path  string     `json:"path"`
	Role  string     `json:"role,omitempty"` // param or state, if known
	Type  string     `json:"type"`
	Bytes int64      `json:"bytes"`
	Min   jsonNumber `json:"min"`
	Mean  jsonNumber `json:"mean"`
	Max   jsonNumber `json:"max"`
	Norm  jsonNumber `json:"norm"` // √Σx²
	Bad   int        `json:"notFinite,omitempty"`
}

// elements reads one array.
func (f *savedFile) elements(name string) (tape.Array, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return tape.Array{}, err
	}
	s := tape.NewStore(nil)
	if err := s.Add(name, t); err != nil {
		return tape.Array{}, fmt.Errorf("%s: %w", f.path, err)
	}
	typ, _ := s.Type(name)
	return tape.ArrayOf(typ, t)
}

// array reads one array and summarises it.
func (f *savedFile) array(info safetensors.Info) (storedArray, error) {
	row := storedArray{Path: info.Name, Type: fmt.Sprintf("%s%v", info.DType, info.Shape), Bytes: info.Size}
	if l, known := f.leaves[info.Name]; known {
		row.Role, row.Type = l.Role, l.Type.String()
	}
	if info.Size == 0 { // possible in files of other programs
		none := jsonNumber(math.NaN())
		row.Min, row.Mean, row.Max = none, none, none
		return row, nil
	}
	a, err := f.elements(info.Name)
	if err != nil {
		return row, err
	}
	s := inspect.StatisticsOf(a, 1)
	squares := 0.0
	for i := range s.Count {
		x := a.At(i)
		squares += float64(x * x)
	}
	row.Min, row.Mean, row.Max, row.Norm = jsonNumber(s.Min), jsonNumber(s.Mean), jsonNumber(s.Max), jsonNumber(math.Sqrt(squares))
	row.Bad = s.Count - s.Finite
	return row, nil
}

// verifyCheckpoints reads whole files, and prints a line for each that is intact.
func verifyCheckpoints(w io.Writer, args []string, asJSON bool) error {
	var damaged error
	for _, arg := range args {
		paths := []string{arg}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			if paths, err = (checkpoint.Folder{Dir: arg}).Paths(); err != nil {
				return err
			}
			if len(paths) == 0 {
				return fmt.Errorf("%s: %w", arg, checkpoint.ErrNone)
			}
		}
		for _, path := range paths {
			s, err := checkpoint.Load(path)
			row := struct {
				File  string `json:"file"`
				Step  uint64 `json:"step,omitempty"`
				Whole bool   `json:"whole"`
				Error string `json:"error,omitempty"`
			}{File: filepath.ToSlash(path), Whole: err == nil}
			if err != nil {
				row.Error = err.Error()
				damaged = errors.Join(damaged, err)
			} else {
				row.Step = s.Store.Step()
			}
			switch {
			case asJSON:
				if err := printJSON(w, row); err != nil {
					return err
				}
			case err == nil:
				fmt.Fprintf(w, "%s: intact, step %d\n", path, row.Step)
			}
		}
	}
	return damaged
}

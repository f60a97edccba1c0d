package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
)

// asNotes is the flag that takes models as the lecture notes have them.
type asNotes struct {
	on     bool
	stderr func() io.Writer // where commands that only show models say it
	told   map[string]bool  // by model
}

func (n *asNotes) flags(cmd *cobra.Command) {
	n.stderr, n.told = cmd.ErrOrStderr, map[string]bool{}
	n.add(cmd)
}

func (n *asNotes) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&n.on, "as-notes", false, "take the model as the lecture notes have it, where its defaults differ (tapestry list MODEL says so) and no flag says otherwise")
}

// trainingFlags adds the flag to a command that trains.
func (n *asNotes) trainingFlags(cmd *cobra.Command) {
	n.add(cmd)
	cmd.Flags().Lookup("as-notes").Usage += ": single points, plain descent, fixed γ and so on; momentum is then smoothed-momentum, and nesterov nesterov-peek"
}

// lookup finds a model as [lookup] does, with the settings of the notes as defaults if the flag is
// set.
func (n asNotes) lookup(name string) (builders.Builder, error) {
	b, err := lookup(name)
	if err == nil && n.on {
		b = b.ByNotes()
	}
	return b, err
}

// tell says once, where the flag is set and nothing is trained, which settings a model has of the
// notes.
func (n asNotes) tell(m *builders.Model) {
	name := m.Builder.Name
	if !n.on || n.stderr == nil || n.told[name] {
		return
	}
	n.told[name] = true
	if taken := n.taken(m, nil); len(taken) > 0 {
		fmt.Fprintf(n.stderr(), "tapestry: %s has the settings of the notes: %s\n", name, strings.Join(taken, ", "))
	} else {
		fmt.Fprintf(n.stderr(), "tapestry: %s has the settings of the notes by default\n", name)
	}
}

// check returns an error if the flag is set and the notes have none of the models.
func (n asNotes) check(names ...string) error {
	if !n.on || len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !isFile(name) }) {
		return nil
	}
	return usagef("--as-notes: the notes do not have %s: a file is as it says", strings.Join(names, ", "))
}

// named returns the name of an optimiser that a flag names: with --as-notes that of the form which
// the notes have.
func (n asNotes) named(name string) string {
	if own, is := notesForm[name]; is && n.on {
		return own
	}
	return name
}

// notesForm has the form of an optimiser that the notes have, by the name that they give it: a
// smoothed gradient, and a look to where momentum leads.
var notesForm = map[string]string{"momentum": "smoothed-momentum", "nesterov": "nesterov-peek"}

// taken lists what a model has as the notes have it and not by default ([lab.Config.Taken]). It is nil
// without the flag, and empty where nothing differs. Without a configuration only settings count.
func (n asNotes) taken(m *builders.Model, c *lab.Config) []string {
	switch {
	case !n.on:
		return nil
	case c == nil:
		c = new(lab.Config)
	}
	return c.Taken(m)
}

// print prints what is taken of the notes, in a line.
func (n asNotes) print(w io.Writer, taken []string) {
	if !n.on {
		return
	}
	fmt.Fprintln(w, notesText(taken))
}

// text says what is taken of the notes; "" without the flag.
func (n asNotes) text(taken []string) string {
	if !n.on {
		return ""
	}
	return notesText(taken)
}

// notesText says what is taken of the notes.
func notesText(taken []string) string {
	if len(taken) == 0 {
		return "as the notes have it, which is as by default"
	}
	return "as the notes have it: " + strings.Join(taken, ", ")
}

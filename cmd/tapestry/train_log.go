package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/interop/safetensors"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// toldByLog is what a log tells of the training that is to go on in it.
type toldByLog struct {
	begun    bool
	settings map[string]string // nil where it has none
	step     int               // the furthest
	saved    string            // the newest checkpoint, "" for none
}

// mayChange lists the settings that a resumed training may have otherwise than it had begun. The
// data are compared by what a checkpoint says of them, as they may have been moved.
var mayChange = []string{"bind", "data", "epochs", "from", "gamma", "patience", "rate", "steps"}

// fits returns an error if the training that is resumed, with these settings, is not that of the
// log that is there: it would be written on as if it were. It says on w if training begins anew in
// it.
func (k *keeping) fits(w io.Writer, m *builders.Model, settings map[string]string) error {
	if k.log == "" || !k.resume || !k.shared.first() {
		return nil
	}
	l, err := readTold(k.log)
	if err != nil || !l.begun {
		return err
	}
	refused := func(format string, args ...any) error {
		return fmt.Errorf("--log %s: %s: give another file, or repeat the command that it was begun with", k.log, fmt.Sprintf(format, args...))
	}
	if was := l.settings["model"]; l.settings != nil && was != settings["model"] {
		return refused("it is the log of a training of %s, and this is one of %s", was, settings["model"])
	}
	for _, name := range slices.Sorted(maps.Keys(l.settings)) {
		was := l.settings[name]
		if is := settingOf(name, was, m, settings); was != is && !slices.Contains(mayChange, name) {
			return refused("it is the log of another training: --%s was %s and is %s", name, was, is)
		}
	}
	newest, has, err := checkpoint.Folder{Dir: k.dir}.Newest()
	switch {
	case err != nil:
		return fmt.Errorf("resume: %w", err)
	case has && int(newest) > l.step:
		return refused("it goes to step %d, and %s to step %d: it is not the log of these steps, or has lost its end", l.step, k.dir, newest)
	case !has && l.saved != "":
		return refused("it tells of a checkpoint, %s, and %s has none", l.saved, k.dir)
	case !has:
		fmt.Fprintf(w, "tapestry: %s has no checkpoint to go on from: the training begins anew, in %s too\n", k.dir, k.log)
	case int(newest) < l.step:
		fmt.Fprintf(w, "tapestry: %s goes to step %d, and training goes on from step %d: what follows takes the place of the steps between\n", k.log, l.step, newest)
	}
	return nil
}

// settingOf returns a setting, as a log has it, of a training with the given ones. One of which
// only the log tells is as it was, unless the model has another.
func settingOf(name, was string, m *builders.Model, given map[string]string) string {
	if v, is := given[name]; is {
		return v
	}
	own, isSet := strings.CutPrefix(name, "set ")
	if v, has := m.Settings[own]; isSet && has {
		if x, err := strconv.ParseFloat(was, 64); err == nil && x != v {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return was
}

// readTold reads a log as far as it goes. A file that is missing or empty tells nothing; one that
// is no log is an error.
func readTold(path string) (l toldByLog, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, fmt.Errorf("--log %s: %w", path, cause(err))
	case !info.Mode().IsRegular(): // a pipe, which cannot be read
		return l, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return l, fmt.Errorf("--log %s: %w", path, cause(err))
	}
	defer f.Close() // it was only read
	lines := watch.NewReader(path, f)
	for {
		r, err := lines.Next()
		wrong := new(watch.Error)
		switch {
		case errors.Is(err, io.EOF):
			return l, nil
		case errors.As(err, &wrong) && l.begun: // a training that was killed leaves half a line
			continue
		case err != nil:
			return l, fmt.Errorf("--log: this is not the log of a training, in which one could go on: %w: give another file", err)
		}
		l.begun = true
		if r.Kind == train.Begun {
			l.settings, l.step = r.Settings, 0
			if r.Step == 0 {
				l.saved = ""
			}
		}
		if r.Kind == train.Saved {
			l.saved = r.Path
		}
		l.step = max(l.step, r.Step)
	}
}

// passedOver says on w which newer checkpoints could not be read, where training goes on from an
// older one.
func passedOver(w io.Writer) train.Observer {
	return train.ObserverFunc(func(e train.Event) error {
		if e.Kind == train.Begun && e.Err != nil {
			for line := range strings.Lines(e.Err.Error()) {
				fmt.Fprintf(w, "tapestry: passed over, because it cannot be read: %s\n", strings.TrimSpace(line))
			}
			fmt.Fprintf(w, "tapestry: goes on from %s, after %s\n", e.Path, plural.Count(e.Step, "step"))
		}
		return nil
	})
}

// unreadable says what to do about a checkpoint to go on from that cannot be read.
func (k *keeping) unreadable(err error) error {
	if k.resume && (errors.Is(err, safetensors.ErrFormat) || errors.Is(err, safetensors.ErrChecksum) || errors.Is(err, fs.ErrPermission)) {
		return fmt.Errorf("%w: nothing is trained and nothing written; to begin anew, give another folder", err)
	}
	return err
}

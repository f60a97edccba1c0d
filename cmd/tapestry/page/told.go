package page

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// told is what a log tells of its training.
type told struct {
	name     string
	settings map[string]string
	folder   string // from which relative paths are read; "" for the one in which the page runs
	saved    string // the newest checkpoint, as the log has it; "" for none
	savedAt  int    // the step of that checkpoint
	step     int
	failure  string // why it stopped, if it did and nobody wanted it
	changed  string // how the training was set up before it was resumed, in words; "" where it was the same
	length   string // how long it was to be before it was resumed, likewise
}

// tells returns what the log of the run with this name or id tells.
func (s *Service) tells(name string) (t told, err error) {
	one := s.logs.called(name)
	if one == nil {
		return t, failf(notFound, "there is no run %.200q", name)
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	room := recordsAtOnce
	one.refresh(&room)
	c := &one.course
	if c.settings["model"] == "" {
		err = failf(unprocessable, "%s does not say of which model it is: it was written before logs began with their settings, or not by tapestry train", one.name)
	}
	t = told{name: one.name, settings: c.settings, folder: one.folder(), saved: c.saved, savedAt: c.savedAt, step: c.step, changed: c.changed, length: c.length}
	if one.stands() == failed {
		t.failure = c.failure
	}
	return t, err
}

// folder returns the folder from which the relative paths of the log are read: where its training ran,
// which the log has relative to its own folder. It is "" where the log does not say.
func (r *run) folder() string {
	f := filepath.FromSlash(r.course.folder)
	if f == "" || filepath.IsAbs(f) {
		return f
	}
	at, err := filepath.EvalSymlinks(r.path)
	if err != nil {
		at = r.path // it was read, and is gone
	}
	return filepath.Join(filepath.Dir(at), f)
}

// Within returns a path as it is read from a folder: itself where it is absolute or there is no folder.
func Within(folder, path string) string {
	if folder == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// changedSettings says in words in which settings a training was resumed otherwise than it had begun, and
// apart from these in which that say how long it is.
func changedSettings(before, now map[string]string) (changed, length string) {
	names := namesOf(before)
	maps.Copy(names, namesOf(now))
	var said, lengths []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := before[name], now[name]
		text := fmt.Sprintf("%s was %s and is %s", flagName(name), usualIf(was), usualIf(is))
		switch {
		case was == is || name == "patience":
		case name == "steps" || name == "epochs":
			lengths = append(lengths, text)
		default:
			said = append(said, text)
		}
	}
	return strings.Join(said, ", "), strings.Join(lengths, ", ")
}

func namesOf(settings map[string]string) map[string]bool {
	out := map[string]bool{}
	for name := range settings {
		out[name] = true
	}
	return out
}

// flagName is the flag of a setting of a log.
func flagName(setting string) string {
	if own, isSet := strings.CutPrefix(setting, "set "); isSet {
		return "--set " + own
	}
	return "--" + setting
}

func usualIf(value string) string {
	if value == "" {
		return "the usual one"
	}
	return value
}

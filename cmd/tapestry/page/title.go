package page

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// title returns the title of a document's model, or its name. Where something was asked of it that is
// not as usual, that follows in brackets, in the place of what the title explains after a colon, as
// in GPT (layers=12, rate 0.1): so that documents of one model that differ have titles that differ.
func (d *document) title() string {
	title, unusual := d.model.Builder.Title, d.unusual()
	if title == "" {
		title = d.model.Builder.Name
	}
	if len(unusual) > 0 {
		title, _, _ = strings.Cut(title, ": ")
	}
	return bracketed(title, unusual)
}

// titleAmong returns the title of a document, with its id if another of the documents has the same.
func titleAmong(d *document, docs []*document) string {
	title := d.title()
	if slices.ContainsFunc(docs, func(x *document) bool { return x != d && x.title() == title }) {
		return title + " (" + d.id + ")"
	}
	return title
}

// nameAmong returns the name of a document's model and, if another of the documents has the same,
// what was asked of it too, or its id if that is the same as well.
func nameAmong(d *document, docs []*document) string {
	name := d.model.Builder.Name
	own := bracketed(name, d.unusual())
	for _, x := range docs {
		switch {
		case x == d || x.model.Builder.Name != d.model.Builder.Name:
		case slices.Equal(x.unusual(), d.unusual()):
			return own + " (" + d.id + ")"
		default:
			name = own
		}
	}
	return name
}

func bracketed(name string, parts []string) string {
	if len(parts) == 0 {
		return name
	}
	return name + " (" + strings.Join(parts, ", ") + ")"
}

// unusual lists what was asked of a document that is not as the page's form has it.
func (d *document) unusual() []string {
	q := d.request
	if q.Run != "" {
		return []string{"run " + q.Run}
	}
	given, err := settingsOf(d.model.Builder, q.Settings)
	if err != nil {
		return nil // no document is made of them
	}
	var out []string
	for _, z := range d.model.Builder.Hyperparameters {
		if v, is := given[z.Name]; is && v != z.Default {
			out = append(out, z.Name+"="+z.Format(v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Scalars)) {
		out = append(out, name+"="+written(q.Scalars[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Courses)) {
		out = append(out, name+" "+q.Courses[name])
	}
	if q.Optimiser != "" {
		out = append(out, q.Optimiser)
	}
	switch {
	case q.Schedule != "":
		out = append(out, "rate "+q.Schedule)
	case q.Rate != 0:
		out = append(out, "rate "+written(q.Rate))
	}
	if q.Seed > usualSeed {
		out = append(out, fmt.Sprintf("seed %d", q.Seed))
	}
	if q.DType != "" && q.DType != graph.F32.String() {
		out = append(out, q.DType)
	}
	switch name := d.asked.Data; {
	case d.model.Centres() == nil || name == usualData:
	case name == "":
		out = append(out, "its own examples")
	default:
		out = append(out, name)
	}
	if q.AsNotes {
		out = append(out, "as the notes have it")
	}
	return out
}

// What the form of the page has where nothing else is chosen.
const (
	usualSeed = 1
	usualData = "iris"
)

func written(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

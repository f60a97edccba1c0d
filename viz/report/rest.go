package report

import (
	"fmt"
	"strings"
)

// moving counts the runs that have not converged.
func (m Method) moving() int {
	n := 0
	for _, r := range m.Runs {
		if r.Unsettled != "" {
			n++
		}
	}
	return n
}

// diverged counts the runs whose loss exploded or became NaN.
func (m Method) diverged() int {
	n := 0
	for _, r := range m.Runs {
		if r.Diverged {
			n++
		}
	}
	return n
}

// tested reports whether the runs were tested for convergence.
func (p Page) tested() bool { return p.Setup.Test != "" }

// converged returns the table cell that says how many runs have converged.
func (m Method) converged() string { return ofRuns(len(m.Runs)-m.moving(), len(m.Runs)) }

func ofRuns(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }

// unsettled says which methods have runs that have not converged, and how that affects their
// numbers; it is empty if all have.
func (p Page) unsettled() string {
	said := eachSays(p.methods(), func(m Method) string {
		if m.moving() == 0 {
			return ""
		}
		return fmt.Sprintf("%s in %s runs", m.Name, m.converged())
	})
	if said == "" {
		return ""
	}
	var whole []string // methods all of whose runs have converged
	for _, m := range p.methods() {
		if m.moving() == 0 {
			whole = append(whole, m.Name)
		}
	}
	rest := ""
	if len(whole) > 0 {
		rest = fmt.Sprintf("; %s in all", list(whole))
	}
	return fmt.Sprintf("Not everything has come to rest. Converged has %s%s. The numbers of a run that has not converged, and all that is compared with them, "+
		"say where it was stopped, not where the objective leads: more steps, or a smaller rate, may change them.", said, rest) + p.fled()
}

// fled says which methods have runs that diverged.
func (p Page) fled() string {
	said := eachSays(p.methods(), func(m Method) string {
		if m.diverged() == 0 {
			return ""
		}
		return fmt.Sprintf("%s in %s runs", m.Name, ofRuns(m.diverged(), len(m.Runs)))
	})
	if said == "" {
		return ""
	}
	return fmt.Sprintf(" Diverged has %s: the loss exploded, or was no number any more. Such a run has no end, and counts as worse than all others.", said)
}

// rest describes in words how far all methods have converged.
func (p Page) rest() string {
	if !p.tested() {
		return ""
	}
	if said := p.unsettled(); said != "" {
		return said
	}
	return "All runs have converged."
}

// collapsed counts the runs of a method that end with fewer groups of points than centres.
func (p Page) collapsed(m Method) int {
	n := 0
	for _, r := range m.Runs {
		if r.Groups > 0 && r.Groups < p.Setup.K && !r.Diverged {
			n++
		}
	}
	return n
}

// collapse says which methods have such runs; it is empty if none has.
func (p Page) collapse() string {
	said := eachSays(p.methods(), func(m Method) string {
		if p.collapsed(m) == 0 {
			return ""
		}
		return fmt.Sprintf("%s in %s runs", m.Name, ofRuns(p.collapsed(m), len(m.Runs)))
	})
	if said == "" {
		return ""
	}
	return fmt.Sprintf("Not all centres are in use: fewer groups of points than centres has %s. There centres lie on each other, or no point is nearest to them, "+
		"and the inertia and the spread are not those of %s.", said, count(p.Setup.K, "group"))
}

// marked returns a caption, with a note if what it shows has not converged.
func (p Page) marked(caption string) string {
	if p.unsettled() == "" {
		return caption
	}
	return caption + " Not all runs have converged."
}

// optima says where the runs of a method ended: "24 of 50 runs of A came to rest at 78.85144 and
// 22 at 78.85567".
func (m Method) optima() string {
	const most = 3
	var said []string
	rest := 0
	for i, o := range m.Optima {
		switch {
		case i >= most:
			rest += o.Runs
		case i == 0:
			said = append(said, fmt.Sprintf("%s runs of %s came to rest at %s", ofRuns(o.Runs, len(m.Runs)), m.Name, precise(o.Inertia)))
		default:
			said = append(said, fmt.Sprintf("%d at %s", o.Runs, precise(o.Inertia)))
		}
	}
	if rest > 0 {
		said = append(said, fmt.Sprintf("%d at %s more", rest, count(len(m.Optima)-most, "optimum")))
	}
	return strings.ReplaceAll(list(said), "optimums", "optima")
}

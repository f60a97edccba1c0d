package main

import (
	"context"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// comparison holds the flags of the compare command.
type comparison struct {
	*options
	training
	learning
	matrixFlags
	live
	out      string
	fragment bool
	named    []string // the models, as typed
}

func newCompare(o *options) *cobra.Command {
	c := &comparison{options: o}
	cmd := &cobra.Command{
		Use:   "compare [A B...]",
		Short: "Train models side by side and write one HTML page on how they differ",
		Long: `Trains clusterings on the same data from the same start centres, measures them by
the same metric, and writes one self-contained HTML page: formulas and
derivatives, the aligned drawing of both graphs, the term they differ by measured
during training, the gradient of one as that of the other and of that term, where
gradients vanish from many starts (at most --restarts), curves, the data with both
sets of centres, tables and sweeps.
Without names it compares kmeans-softmax and kmeans-goofy, and sets two baselines
beside them: Lloyd's algorithm with restarts, and SGD on the nearest centre.

` + lab.ConvergenceTest(true) + `
Where a run has not converged, the page and the terminal say so.

Other models are trained from the same seeds, with --data on the same rows of it, cut
into the same batches, and otherwise on the same examples where their inputs correspond
one to one: in element type and sizes, whatever the axes are called, and in what they are,
targets or not; names decide between several. The examples are those of the model that
serves most, the first of equals. With --validation they are measured on rows held out. The
page has their formulas, the aligned drawing, the curves of the losses, what they
cost, how what one objective leaves measures by the others, and which differences
exceed the noise of the seeds.

Beside clusterings others are trained on the same rows: one of a single input reads them
as these do, and attention reads a row for each query, looks up the rows at which centres
start, and is to find the row itself. What cannot be measured, as the inertia of a model
without centres, is a dash with a reason. Where a model takes no rows, each has examples
of its own.

Two settings of one model are two names, as in the third example.

With --optimisers, --rates or --starts every objective is trained at every setting of a
matrix, all with the same seeds; clusterings, too.

With --fragment the report is an element for another page. A cell of a notebook shows it by
HTML(filename="report-fragment.html") of IPython.display, beside others.

With --live the page of "tapestry page" lies inside the report, some 8 MB, and opens the
models at the press of a button: a reader changes, trains and steps them in the browser.`,
		Example: "  tapestry compare\n  tapestry compare kmeans-softmax kmeans-goofy --data flowers.csv --k 3 --out report.html\n" +
			"  tapestry compare 'init{weights=he}' 'init{weights=xavier}'\n" +
			"  tapestry compare kmeans-softmax kmeans-goofy kmeans-sgd --optimisers adam:0.05,sgd:0.1 --starts 0.5,1,2\n" +
			"  tapestry compare transformer-gpt 'transformer-gpt{norm=post}' --rates '0.01,warmup(20,cosine(0.01,180))'",
		RunE: c.run,
	}
	c.training.flags(cmd)
	c.learning.flags(cmd)
	c.matrixFlags.flags(cmd)
	cmd.Flags().IntVar(&c.seeds, "seeds", 10, "runs of each objective")
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "the page to write (default: "+reportName+", or report-2.html and so on where that is a file of others)")
	c.live.flags(cmd)
	cmd.Flags().BoolVar(&c.fragment, "fragment", false, "write an element for a cell of a notebook, or another page, with the whole report inside (default file: "+fragmentName+")")
	return cmd
}

// Default files of the report.
const (
	reportName   = "report.html"
	fragmentName = "report-fragment.html"
)

// written says where the report is.
func (c *comparison) written() string {
	if c.fragment {
		return "The report is in " + c.out + ", as an element for another page"
	}
	return "The report is in " + c.out
}

// writes returns what writes a report as it was asked for.
func (c *comparison) writes(p report.Page) func(io.Writer) error {
	if c.fragment {
		return p.WriteFragment
	}
	return p.Write
}

// run compares clusterings, or models of any kind if others are named or a matrix of settings is
// asked for.
func (c *comparison) run(cmd *cobra.Command, names []string) error {
	c.several, c.named = len(names) > 1, names
	if err := c.notes.check(names...); err != nil {
		return err
	}
	if err := c.parseRate(); err != nil {
		return err
	}
	clusterings, others, rows, err := c.kinds(cmd, names)
	if err != nil {
		return err
	}
	if c.out == "" {
		c.out = ownOrFree(reportName, report.Mark)
		if c.fragment {
			c.out = ownOrFree(fragmentName, report.FragmentMark)
		}
	}
	if toStdout(c.out) && c.json {
		return usagef("--json: the page itself goes to standard output; want --out FILE")
	}
	if err := checkOutput(c.out); err != nil {
		return err
	}
	alone := len(names) > 0 // baselines are for those who name nothing
	if !alone {
		names, clusterings = []string{"kmeans-softmax", "kmeans-goofy"}, true
	}
	if err := c.checkPair(names); err != nil {
		return err
	}
	if err := c.live.prepare(cmd.Context(), c, names, rows); err != nil {
		return err
	}
	if len(others) > 0 || c.asked(cmd) || slices.ContainsFunc(names, ownTemperature) {
		return c.beside(cmd, names, rows || clusterings)
	}
	config, err := c.training.config(c.options, names...)
	if err != nil {
		return err
	}
	config.Objectives, config.Alone = names, alone
	bar := newProgress(cmd.ErrOrStderr())
	config.Progress, config.Stepped = bar.report(), bar.steps()
	res, err := lab.Cluster(cmd.Context(), config)
	bar.end()
	if err != nil {
		return err
	}
	page, err := newPage(cmd.Context(), res, typed(c.args))
	if err == nil {
		err = c.geometry(cmd.Context(), res, &page)
	}
	c.prepared(&page.Data)
	page.Live = c.live.inside
	page.Task = strings.Join(c.takenLines(res), "; ")
	for _, m := range slices.Concat(page.Variants, page.Baselines) {
		for j := range m.Centres {
			m.Centres[j] = c.unscaled(m.Centres[j])
		}
	}
	if err == nil && len(names) > 2 {
		page.Drawings, err = c.drawings(names, shownMethods(page), func(id string, a, b int) (report.Drawing, error) {
			return compareDrawing(cmd.Context(), id, res, a, b)
		})
	}
	if err != nil {
		return err
	}
	if err := writeOutput(c.out, cmd.OutOrStdout(), c.writes(page)); err != nil {
		return err
	}
	if toStdout(c.out) {
		return nil
	}
	return c.summary(cmd.OutOrStdout(), res)
}

// geometry adds to the page what the losses look like around the trainings.
func (c *comparison) geometry(ctx context.Context, res *lab.Clusterings, p *report.Page) error {
	s, err := newShape(res)
	if err != nil {
		return err
	}
	return s.page(ctx, p, c.pairs(len(res.Variants)))
}

// pairs returns the pairs that are looked at side by side: the one that was asked for, or the first
// model with each other one.
func (c *comparison) pairs(models int) [][2]int {
	if c.drawn != nil {
		return c.drawn
	}
	var out [][2]int
	for b := 1; b < models; b++ {
		out = append(out, [2]int{0, b})
	}
	return out
}

// kinds reports whether clusterings are among the names, which names are other models, and whether
// these are trained on the rows of the data. A clustering can be compared with another model only
// if that takes the same rows and nothing else.
func (c *comparison) kinds(cmd *cobra.Command, names []string) (clusterings bool, others []string, rows bool, err error) {
	var known []builders.Builder
	for _, name := range names {
		b, err := lookup(name)
		switch {
		case err != nil:
			return false, nil, false, err
		case slices.ContainsFunc(known, func(other builders.Builder) bool { return sameModel(other, b) }):
			return false, nil, false, usagef("compare: %s is named twice", name)
		case isClustering(b):
			clusterings = true
		default:
			others = append(others, name)
		}
		known = append(known, b)
	}
	if len(others) == 0 && len(names) > 0 {
		if err := unused(cmd, false, !slices.ContainsFunc(known, fixesTemperature), known...); err != nil {
			return false, nil, false, err
		}
	}
	if len(names) == 0 && c.asked(cmd) {
		if err := idle(cmd, "a matrix of settings has no baselines", "restarts", "batch"); err != nil {
			return false, nil, false, err
		}
	}
	rows = len(others) > 0 && clusterings
	if rows {
		err := c.takeRows(cmd, others)
		if err == nil || c.hasData() || changed(cmd, clusteringFlags) != "" || changed(cmd, dataFlags) != "" {
			return clusterings, others, rows, err
		}
		// Nothing has to be of the data: each is trained on examples of its own.
		return false, names, false, nil
	}
	for _, b := range known {
		if err := foreign(cmd, b); err != nil {
			return false, nil, false, err
		}
	}
	return clusterings, others, rows, nil
}

// ownTemperature reports whether the named model is a clustering with a temperature of its own,
// which no sweep over the temperature changes.
func ownTemperature(name string) bool {
	b, err := lookup(name)
	return err == nil && isClustering(b) && fixesTemperature(b)
}

// takeRows returns an error for the first model that cannot be trained on the rows of the data.
func (c *comparison) takeRows(cmd *cobra.Command, names []string) error {
	if changed(cmd, []string{"batches"}) != "" {
		return usagef("--batches: the rows of the data are the examples")
	}
	table, err := c.rows(c.seed)
	if err != nil {
		return err
	}
	builds, err := c.builds(names, true)
	if err != nil {
		return err
	}
	for _, build := range builds {
		m, err := build()
		if err != nil {
			return err
		}
		switch err := lab.TakesRows(m, table); {
		case err != nil:
			return usagef("compare: %w", err)
		}
	}
	return nil
}

// shownMethods returns the names of the variants on the page.
func shownMethods(p report.Page) []string {
	var out []string
	for _, m := range p.Variants {
		out = append(out, m.Name)
	}
	return out
}

// shortly formats a number for a table, and a missing one as a dash.
func shortly(v jsonNumber) string {
	if f := float64(v); !math.IsNaN(f) {
		return chart.Format(f)
	}
	return "–"
}

var plainWord = regexp.MustCompile(`^[\pL\pN_@%+=:,./-]+$`)

// typed returns the command line, with its arguments quoted for a shell.
func typed(args []string) string {
	words := []string{"tapestry"}
	for _, a := range args {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// quoted returns an argument, quoted for a shell if it must be.
func quoted(a string) string {
	if plainWord.MatchString(a) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

package page

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Trained reads the settings with which the log of a training begins, and returns that training.
// Relative paths among them are read from the folder, where that is not "".
type Trained func(ctx context.Context, settings map[string]string, folder string) (Training, error)

// Training is a training that a log tells of.
type Training struct {
	lab.Task
	Table   *data.Table // whose rows a clustering groups; nil for other models
	Differs []string    // what of it the page does in another way, in words
}

// resumed is the training of a run that the page goes on with.
type resumed struct {
	Training
	of       told
	settings map[string]string // with what is asked for otherwise
	from     string            // the checkpoint; "" for its beginning
	first    int               // its step that is step 0 of the page
	store    *tape.Store       // what step 0 begins with
}

// resume returns the training of a run as it stands at its newest checkpoint, or as it begins. What is asked for
// otherwise takes the place of the run's own settings.
func (s *Service) resume(ctx context.Context, q opening) (*resumed, error) {
	of, err := s.tells(q.Run)
	switch {
	case err != nil:
		return nil, err
	case s.options.Trained == nil:
		return nil, failf(notImplemented, "there is nothing here that reads the settings of %s", of.name)
	case of.saved == "" && !q.Anew:
		return nil, failf(unprocessable, "%s has no checkpoint", of.name)
	}
	settings := maps.Clone(of.settings)
	if q.Optimiser != "" {
		settings["optimiser"] = q.Optimiser
	}
	switch {
	case q.Schedule != "":
		settings["rate"] = q.Schedule
	case q.Rate > 0:
		settings["rate"] = strconv.FormatFloat(q.Rate, 'g', -1, 64)
	case q.Rate != 0:
		return nil, badf("rate %v: want a positive number", q.Rate)
	}
	for path, text := range q.Courses {
		if path != "γ" {
			return nil, badf("%s: of a run, only γ can have another schedule", path)
		}
		settings["gamma"] = text
	}
	t, err := s.options.Trained(ctx, settings, of.folder)
	if err != nil {
		return nil, failf(unprocessable, "%w", err)
	}
	if t.Optimiser.Searches() {
		return nil, badf("optimiser %s finds the length of each step by a line search, and the page walks through the step alone", t.Optimiser.Name())
	}
	r := &resumed{Training: t, of: of, settings: settings, store: t.Store}
	if q.Anew {
		if said := r.setOtherwise(); said != "" {
			r.Differs = append(r.Differs, fmt.Sprintf("The run was resumed with other settings: %s. Anew, all of it is trained with the last.", said))
		}
		return r, nil
	}
	r.from = of.saved
	return r, s.load(r, Within(of.folder, of.saved), q.Optimiser == "" && q.Rate == 0 && q.Schedule == "")
}

// setOtherwise says in words with which settings the run had begun before it was resumed; "" where its
// steps are the same with those that it has now. How long it is to be counts where something is fed by
// a schedule, which may go over that.
func (r *resumed) setOtherwise() string {
	if r.of.changed == "" && len(r.Scheduled) > 0 {
		return r.of.length
	}
	return r.of.changed
}

// resumeModel makes the model of a run and what feeds it.
func (s *Service) resumeModel(ctx context.Context, d *document) (*feeder, error) {
	r, err := s.resume(ctx, d.asked)
	if err != nil {
		return nil, err
	}
	d.model, d.settings = r.Model, r.Model.Settings
	if d.asked.Data = r.settings["data"]; r.Table != nil {
		d.asked.Data = r.Table.Name
	}
	f, err := r.feeder(r.store.Seed())
	if err != nil {
		return nil, err
	}
	return f, f.fix(d.asked.Scalars)
}

// load fills in the store from a checkpoint. All parameters have to be in it, and all states if the
// training is the one that it was written by.
func (s *Service) load(r *resumed, path string, same bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return failf(unprocessable, "%s: %s", path, plainly(err))
	case !info.Mode().IsRegular(): // reading a pipe might never end
		return failf(unprocessable, "%s: not a regular file", path)
	case info.Size() > int64(s.options.Memory):
		return failf(tooLarge, "%s has %d bytes, more than the %d that the page may hold", path, info.Size(), s.options.Memory)
	}
	state, err := checkpoint.Load(path)
	if err != nil {
		return failf(unprocessable, "%w", err)
	}
	r.store, r.first = r.Store.Clone(), int(state.Store.Step())
	if r.first != r.of.savedAt {
		r.Differs = append(r.Differs, fmt.Sprintf("%s is of step %d, and the log of the run says that it is of step %d: another training has written it since, or the log is that of another.", path, r.first, r.of.savedAt))
	}
	var anew []string
	for _, n := range r.Model.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		has, ok := state.Store.Type(n.Path())
		switch {
		case !ok && n.Role() == graph.RoleState:
			anew = append(anew, n.Path())
			continue
		case !ok:
			return failf(unprocessable, "%s has no %s", path, n.Path())
		case !has.Shape.SameSizes(n.Shape()) || has.DType != n.DType():
			return failf(unprocessable, "%s of %s has type %v, and the model wants %v", n.Path(), path, has, n.Type())
		}
		v, err := state.Store.Get(n.Path())
		if err == nil {
			err = r.store.Set(n.Path(), v)
		}
		if err != nil {
			return err
		}
	}
	if len(anew) > 0 && same {
		r.Differs = append(r.Differs, fmt.Sprintf("%s has no %s, which %s as in step 0.", path, strings.Join(anew[:min(3, len(anew))], ", "), map[bool]string{true: "begins", false: "begin"}[len(anew) == 1]))
	}
	if id := checkpoint.Identify(state.Model.Rows, r.Model.Loss, r.Step); same && state.Model.Lanes == 0 && id.Fingerprint != state.Model.Fingerprint {
		r.Differs = append(r.Differs, fmt.Sprintf("%s was written by a training that computes something else: the model or a setting has changed since.", path))
	}
	if v := state.Validation; v != nil && same {
		if patience, err := strconv.Atoi(r.settings["patience"]); err == nil && v.Waiting > patience {
			r.Differs = append(r.Differs, fmt.Sprintf("Patience ended the run at step %d, with the weights of step %d, of the least loss on the rows held out, which are in best.safetensors beside this checkpoint.", v.Step, v.At))
		}
	}
	r.store.Resume(state.Store.Seed(), state.Store.Step(), state.Store.Runs())
	return nil
}

// view tells the page of it.
func (r *resumed) view() *resumedView { return &resumedView{r.from, r.first, r.Differs} }

// resumedView is where a document goes on with a run.
type resumedView struct {
	From    string   `json:"from"` // the checkpoint; "" for its beginning
	Step    int      `json:"step"` // of the run, which is step 0 of the page
	Differs []string `json:"differs,omitempty"`
}

// feeder returns what feeds the steps from there on.
func (r *resumed) feeder(seed uint64) (f *feeder, err error) {
	f = &feeder{model: r.Model, seed: seed, begins: lab.PlusPlus, table: r.Table, courses: map[*graph.Node]schedule{}, scalars: map[*graph.Node]float64{}, gone: r}
	rate := r.Optimiser.Rate(r.Model.Graph)
	for n, scheduled := range r.Scheduled {
		if n == rate {
			f.rate = n
		}
		f.courses[n] = schedule{Schedule: scheduled, over: r.Steps, first: r.first}
	}
	if r.Table != nil {
		f.plane, err = linear.NewPlane(r.Table)
	}
	return f, err
}

package train_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// globalNorm is a net whose loss has sums over lanes within: those of a norm.
func globalNorm(rows int, mode train.Mode) *train.Net {
	g := graph.New("global norm")
	n, h := graph.Ax("n", rows), graph.Ax("h", 16)
	v := nn.NewLinear(g, "fc1", graph.F32, graph.Ax("d", 64), h).Of(g.Input("x", graph.F32, n, graph.Ax("d", 64)))
	norm := nn.NewBatchNorm(g, "norm", graph.F32, h)
	norm.Global = true
	var step graph.Step
	if mode == train.Training {
		v, step = norm.OfTrain(v)
	} else {
		v = norm.Of(v)
	}
	z := nn.NewLinear(g, "fc2", graph.F32, h, graph.Ax("k", 10)).Of(ops.Tanh(v))
	return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)), Output: z, Step: step}
}

// onTrainers calls f on each of some ranks, with the trainer of a net and the rank's rows of a batch of
// 24. It is an error if f changes the trainer's store.
func onTrainers(t *testing.T, build train.Build, ranks int, shard bool, f func(tr *train.Trainer, b data.Batch) error) {
	t.Helper()
	set := points(t, graph.F32, 24)
	errs := onRanks(t, ranks, parallel.Config{Lanes: 8, Shard: shard}, func(r *parallel.Ranks) error {
		tr := &train.Trainer{Build: build, Optimiser: train.Adam(1e-3), Seed: 3, Workers: 2, Ranks: r}
		defer tr.Close()
		from, to := r.Own()
		first, _ := r.Rows(from, 24)
		_, end := r.Rows(to-1, 24)
		b, err := data.Share(data.InOrder(set, 24), func(int) (int, int) { return first, end }).Next(context.Background())
		if err != nil {
			return err
		}
		s, err := tr.Prepare(context.Background(), 24)
		if err != nil {
			return err
		}
		was := hash(t, s)
		if err := f(tr, b); err != nil {
			return err
		}
		if hash(t, s) != was {
			return errors.New("the store changed")
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestProfileLanes: a profile has the time of both programs and of the sum, with its arrays and bytes,
// on any number of ranks, and takes no step.
func TestProfileLanes(t *testing.T) {
	mlp := lanedModels(t, graph.F32)["mlp"].build
	for _, c := range []struct {
		name  string
		build train.Build
		ranks int
		shard bool
		rows  []string // of the table
	}{
		{"one rank", mlp, 1, false, []string{"8 lanes", "sum over lanes: 5 arrays, 9.4 KiB of each lane", "update"}},
		{"two ranks", mlp, 2, false, []string{"4 lanes", "sum over lanes and ranks: 5 arrays, 9.4 KiB of each lane", "update"}},
		{"shared states", mlp, 2, true, []string{"4 lanes", "sum over lanes and ranks: 5 arrays, 9.4 KiB of each lane", "update", "parameters to all ranks"}},
		{"sums within", globalNorm, 2, false, []string{"4 lanes", "sum over lanes and ranks: 10 arrays, 5.0 KiB of each lane", "update"}},
	} {
		onTrainers(t, c.build, c.ranks, c.shard, func(tr *train.Trainer, b data.Batch) error {
			p, err := tr.ProfileLanes(context.Background(), b, 3)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if p.Runs != 3 || p.Terms <= 0 || p.Sum <= 0 || p.Updates <= 0 || p.Time() != p.Terms+p.Sum+p.Updates+p.Parameters || len(p.Lane.Rows) == 0 || len(p.Update.Rows) == 0 {
				return fmt.Errorf("%s: %+v", c.name, p)
			}
			table, _, _ := strings.Cut(p.String(), "\n\n")
			var rows []string
			for _, m := range regexp.MustCompile(`(?m)^ *[0-9.]+ µs +[0-9.]+%  (.*)$`).FindAllStringSubmatch(table, -1) {
				rows = append(rows, m[1])
			}
			if !strings.HasPrefix(table, "a step takes ") || !slices.Equal(rows, c.rows) {
				return fmt.Errorf("%s: want the rows %q:\n%s", c.name, c.rows, table)
			}
			return nil
		})
	}
}

// TestTraceLanes: a trace has in each run the lanes of the rank on their workers, each with adding its
// terms; behind all of them the sum with its bytes; then the update. Sums within the loss lie in their
// lanes. Nothing overlaps on a worker but what encloses.
func TestTraceLanes(t *testing.T) {
	type event struct {
		Name, Cat, Ph string
		Ts, Dur       float64
		Pid, Tid      int
		Args          map[string]any
	}
	for _, c := range []struct {
		build train.Build
		ranks int
		shard bool
		bytes float64
	}{
		{lanedModels(t, graph.F32)["mlp"].build, 1, false, 9644},
		{lanedModels(t, graph.F32)["mlp"].build, 2, true, 9644},
		{globalNorm, 2, false, 5104},
	} {
		onTrainers(t, c.build, c.ranks, c.shard, func(tr *train.Trainer, b data.Batch) error {
			var file bytes.Buffer
			if err := tr.TraceLanes(context.Background(), b, 2, &file); err != nil {
				return err
			}
			var trace struct{ TraceEvents []event }
			if err := json.Unmarshal(file.Bytes(), &trace); err != nil {
				return err
			}
			count := map[string]int{}
			open := map[int][]event{} // by worker
			last := 0.0               // end of the lanes
			for _, e := range trace.TraceEvents {
				if e.Pid != tr.Ranks.Rank()+1 {
					return fmt.Errorf("%+v on rank %d", e, tr.Ranks.Rank())
				}
				if e.Ph == "M" {
					continue
				}
				end := e.Ts + e.Dur
				for n := len(open[e.Tid]); n > 0 && open[e.Tid][n-1].Ts+open[e.Tid][n-1].Dur < e.Ts+1e-3; n-- {
					open[e.Tid] = open[e.Tid][:n-1]
				}
				if n := len(open[e.Tid]); n > 0 && end > open[e.Tid][n-1].Ts+open[e.Tid][n-1].Dur+1e-3 {
					return fmt.Errorf("%+v is not within %+v", e, open[e.Tid][n-1])
				}
				what := e.Cat
				switch {
				case e.Cat == "lane":
					last = max(last, end)
				case strings.HasPrefix(e.Name, "sum over lanes"), e.Cat == "update":
					if e.Ts < last-1e-3 {
						return fmt.Errorf("%+v before the lanes end at %v", e, last)
					}
					last = end
				}
				if e.Cat == "sum over lanes" {
					what, _, _ = strings.Cut(e.Name, " ")
					switch in := open[e.Tid][len(open[e.Tid])-1]; {
					case e.Args["lane"] == nil:
						what = e.Name
					case in.Cat != "lane" || in.Args["lane"] != e.Args["lane"]:
						return fmt.Errorf("%+v in %+v", e, in)
					}
					if bytes, _ := e.Args["bytes"].(float64); bytes != c.bytes && what != "sum" || bytes <= 0 {
						return fmt.Errorf("%+v: want %v bytes", e, c.bytes)
					}
				}
				open[e.Tid] = append(open[e.Tid], e)
				count[what]++
			}
			own := 8 / c.ranks
			want := map[string]int{"run": 2, "lane": 2 * own, "add": 2 * own, "sum over lanes": 2, "update": 2}
			if c.ranks > 1 {
				want["sum over lanes and ranks"] = want["sum over lanes"]
				delete(want, "sum over lanes")
			}
			if c.shard {
				want["parameters"] = 2
			}
			l, err := tr.Lanes(context.Background(), 24)
			if err != nil {
				return err
			}
			for _, row := range l.Lane.Rows() {
				if row.Lanes {
					want["sum"] += 2 * own
				}
			}
			if fmt.Sprint(count) != fmt.Sprint(want) {
				return fmt.Errorf("events %v, want %v", count, want)
			}
			return nil
		})
	}
}

// TestMeasureLanesBadUse: mistakes are errors.
func TestMeasureLanesBadUse(t *testing.T) {
	m := lanedModels(t, graph.F32)["mlp"]
	b, err := m.data(24).Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tr := &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3), Ranks: alone(t, 8)}
	defer tr.Close()
	ended, end := context.WithCancel(context.Background())
	end()
	missing, short, behind := b, b, b
	missing.Values = nil
	short.Values = map[string]*tensor.Dense{"x": array(t, graph.F32, make([]float64, 10*64), 10, 64), "y": b.Values["y"]}
	behind.From, behind.Of = 12, 24
	for want, c := range map[string]struct {
		ctx  context.Context
		tr   *train.Trainer
		b    data.Batch
		runs int
	}{
		"the trainer is nil": {context.Background(), nil, b, 1},
		"Ranks is nil":       {context.Background(), &train.Trainer{Build: m.build, Optimiser: train.Adam(1e-3)}, b, 1},
		"0 runs":             {context.Background(), tr, b, 0},
		"without rows":       {context.Background(), tr, data.Batch{}, 1},
		"canceled":           {ended, tr, b, 1},
		"the data have":      {context.Background(), tr, missing, 1},
		"got shape (10, 64)": {context.Background(), tr, short, 1},
		"rows from -12 on":   {context.Background(), tr, behind, 1},
	} {
		_, err := c.tr.ProfileLanes(c.ctx, c.b, c.runs)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ProfileLanes: %v, want %s", err, want)
		}
		var file bytes.Buffer
		err = c.tr.TraceLanes(c.ctx, c.b, c.runs, &file)
		if err == nil || !strings.Contains(err.Error(), want) || file.Len() > 0 {
			t.Errorf("TraceLanes: %v, want %s", err, want)
		}
	}
	if err := tr.TraceLanes(context.Background(), b, 1, nil); err == nil {
		t.Error("a trace without a writer")
	}
	// A mistake on one rank is an error on all.
	onTrainers(t, m.build, 2, false, func(tr *train.Trainer, b data.Batch) error {
		if tr.Ranks.Rank() == 1 {
			b.Values = nil
		}
		if _, err := tr.ProfileLanes(context.Background(), b, 1); err == nil || !strings.Contains(err.Error(), "the data have") {
			return fmt.Errorf("rank %d: %v", tr.Ranks.Rank(), err)
		}
		return nil
	})
}

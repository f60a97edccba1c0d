package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/simd"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// protocol is the number of what ranks say to each other while they train. It rises when that
// changes.
const protocol = 2

// disagreement is the error of ranks that are not to do the same.
type disagreement struct{ error }

func (d *disagreement) Unwrap() error { return d.error }

// agree compares facts with the other ranks. Where one differs, all get an error that names it.
func (t *Trainer) agree(ctx context.Context, facts ...parallel.Fact) error {
	if err := t.Ranks.Agree(endless(ctx), facts...); err != nil {
		return &told{&disagreement{fmt.Errorf("train: %w", err)}, true}
	}
	return nil
}

// programFacts are those of the program and its machine on which the bits of a result depend: its
// version, what it was compiled by and for, and the instruction set that it runs with.
func programFacts() []parallel.Fact {
	version, target := "unknown", []string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Path + " " + info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" || s.Key == "vcs.modified":
				version += " " + s.Value
			case strings.HasPrefix(s.Key, "GO") && s.Key != "GOOS" && s.Key != "GOARCH":
				target = append(target, s.Key+"="+s.Value)
			}
		}
	}
	return []parallel.Fact{
		{Name: "protocol", Value: fmt.Sprint(protocol)},
		{Name: "version", Value: version},
		{Name: "compiler", Value: strings.Join(append([]string{runtime.Version(), runtime.GOARCH}, target...), " ")},
		{Name: "instruction set", Value: simd.Active().String()},
	}
}

// facts are those of a run that must be the same on all ranks before its first step.
func (r *Run) facts() []parallel.Fact {
	t := r.Trainer
	scheduled := make([]string, 0, len(r.Scheduled))
	for _, path := range slices.Sorted(maps.Keys(r.Scheduled)) {
		scheduled = append(scheduled, path+" "+r.Scheduled[path].String())
	}
	return append(programFacts(),
		parallel.Fact{Name: "optimiser", Value: t.Optimiser.Under(r.Rate)},
		parallel.Fact{Name: "schedules", Value: strings.Join(scheduled, ", ")},
		parallel.Fact{Name: "seed", Value: fmt.Sprint(t.Store().Seed())},
		parallel.Fact{Name: "data", Value: data.Describe(r.Data)},
		parallel.Fact{Name: "batches of an epoch", Value: fmt.Sprint(r.Data.Batches())},
		parallel.Fact{Name: "epochs", Value: fmt.Sprint(r.Epochs)},
		parallel.Fact{Name: "steps", Value: fmt.Sprint(r.Steps)},
		parallel.Fact{Name: "checking updates", Value: fmt.Sprint(t.CheckUpdates)},
		parallel.Fact{Name: "mixed", Value: fmt.Sprint(t.Mixed)},
	)
}

// facts are those of a plan besides the run's.
func (p *Plan) facts() []parallel.Fact {
	c := &p.Checkpoints
	return []parallel.Fact{
		{Name: "validation", Value: fmt.Sprintf("%v, every %d steps, patience %d", p.Validate != nil, p.Every, p.Patience)},
		{Name: "checkpoints", Value: fmt.Sprintf("%v, every %d steps and %v", c.Dir != "", c.Every, c.Interval)},
		{Name: "resuming", Value: fmt.Sprintf("%v, of another training %v", p.Resume != "", p.ResumeChanged)},
	}
}

// begin compares with the other ranks what is known when the first batch of the run is: its
// position, the model, and the values from which training goes on, but for states that ranks have
// shared out.
func (r *Run) begin(ctx context.Context, at data.Position, s size, p *program) error {
	t := r.Trainer
	model, err := t.identify(s)
	if err != nil {
		return err
	}
	store := t.Store()
	paths := store.Paths()
	if t.Ranks.Sharded() {
		apart := map[string]bool{}
		for state := range p.of {
			apart[state.Path()] = true
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return apart[path] })
	}
	values, err := checksum(store, paths)
	if err != nil {
		return err
	}
	return t.agree(ctx, append(r.facts(),
		parallel.Fact{Name: "position in the data", Value: at.String()},
		parallel.Fact{Name: "batch", Value: s.String()},
		parallel.Fact{Name: "model", Value: fmt.Sprintf("%s %.16s", model.Name, model.Fingerprint)},
		parallel.Fact{Name: "steps done", Value: fmt.Sprint(store.Step())},
		parallel.Fact{Name: "parameters and states", Value: values},
	)...)
}

// checksum returns digits that tell stores with other values under some paths apart.
func checksum(s *tape.Store, paths []string) (string, error) {
	sum, table := sha256.New(), crc32.MakeTable(crc32.Castagnoli)
	for _, path := range paths {
		v, err := s.View(path)
		if err != nil {
			return "", err
		}
		typ, _ := s.Type(path)
		fmt.Fprintln(sum, path, typ.DType, typ.Shape.Sizes(), crc32.Checksum(v.Raw, table))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

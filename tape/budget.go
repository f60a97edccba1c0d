package tape

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/memory"
)

// Budget makes the program fit its arena into so many bytes ([Program.Arena]): where too many
// values are live at a time, some are dropped after a use and computed again before the next, cheap
// ones first and products last. Random draws keep their bits; results and the user's own operations
// are never computed again. Where that does not suffice or takes long, sums over rows are added up
// on one core, or nothing is fused. Values made element by element keep their bits, and so do all
// under [Unfused]; a sum over the rows of a group may be rounded otherwise. If nothing fits,
// Compile returns an error that names the smallest arena found and the values that fill it.
// [Program.Recomputed] tells what it costs: with 64 layers of tanh and their gradient, a quarter of
// the memory takes a fifth more arithmetic, a tenth takes half as much again. The listing marks
// what is computed again. The search compiles the program up to some dozens of times.
func Budget(bytes int) Option {
	return func(r *request) { r.limited, r.budget = true, bytes }
}

// A search for a program that fits ends after a number of rounds, or of rounds without gain, or
// when the program has become so many times longer. All searches together end when they have
// planned so many instructions: a multiple of the program's, plus a constant.
const (
	mostRounds = 64
	idleRounds = 6
	mostGrowth = 4
	mostEffort = 32
	freeEffort = 1 << 18
)

// manner holds the settings of a search.
type manner struct {
	// pace limits how far a round goes, as a part of the peak: straight for the budget (0), or in
	// steps, which nests better.
	pace float64
	// blocks also drops values that the stage at the peak reads, if its blocks can compute their
	// own rows of them.
	blocks bool
}

var manners = []manner{{}, {pace: 0.75}, {blocks: true}, {pace: 0.75, blocks: true}}

// enough bounds how much longer a run may take than without a budget, by estimate, for the search
// to stop there.
const enough = 1.2

// within applies the phases, with values computed again as often as it takes for the arena to fit
// into the budget. Besides, sums over rows may be added up in one part, which takes one core, and
// nothing may be fused: the program that is fastest by estimate is taken.
func (l *lowered) within(r *request) (*Program, error) {
	p := advance[*planned](l, l.how)
	budget := min(r.budget, l.how.tooLong-1)
	switch {
	case !r.limited && p.tooLarge() && !l.how.once:
		return nil, p.errTooLarge("tape.Budget computes values again")
	case !p.tooLarge() && (!r.limited || p.arena <= budget):
		return advance[*Program](p, l.how), nil
	case l.how.once: // what is kept from run to run may be what is too much
		every, how := l.clone(), *l.how
		how.once = false
		every.how = &how
		return every.within(r)
	}
	least, most := p, enough*p.nanos()
	effort := mostEffort*len(l.instrs) + freeEffort
	undivided, separate := *l.how, *l.how
	undivided.sizes.parts, separate.separate = 1, true
	ways := []*settings{l.how, &undivided, &separate}
	if r.separate {
		ways = ways[:1]
	}
	var best *planned
	for _, how := range ways {
		way := l.clone()
		way.how = how
		for _, m := range manners {
			if m.blocks && how.separate || effort < 0 {
				continue
			}
			q := search(way, budget, m, &effort)
			if q.arena < least.arena {
				least = q
			}
			if q.arena <= budget && !q.tooLarge() && (best == nil || q.nanos() < best.nanos()) {
				best = q
			}
			if best != nil && best.nanos() <= most {
				return advance[*Program](best, best.how), nil
			}
		}
	}
	if best != nil {
		return advance[*Program](best, best.how), nil
	}
	if least.tooLarge() {
		return nil, least.errTooLarge()
	}
	holders, help := least.lifetimes(true).list(), ""
	if i := slices.IndexFunc(holders, func(h holder) bool { return h.loop }); i >= 0 && 2*holders[i].bytes >= int64(least.arena) {
		help = " (give the loop a Checkpoint: it keeps fewer carries)"
	}
	return nil, fmt.Errorf("tape: budget of %s: the least found is %s, held by %s%s",
		memory.Text(int64(r.budget)), memory.Text(int64(least.arena)), holdersText(holders), help)
}

// errTooLarge returns the error of a program that no machine has the memory for, with the values
// that it holds at a time.
func (p *planned) errTooLarge(help ...string) error {
	holders := p.lifetimes(false).list()
	if slices.ContainsFunc(holders, func(h holder) bool { return h.loop }) {
		help = append(help, "Checkpoint keeps fewer carries of the loop")
	}
	fix := ""
	if len(help) > 0 {
		fix = " (" + strings.Join(help, ", ") + ")"
	}
	return fmt.Errorf("tape: program %q has arrays of more than %s at a time, and no machine of %d bits has more: the largest are %s%s",
		p.source.Name(), memory.Text(int64(p.how.tooLong)), strconv.IntSize, holdersText(holders), fix)
}

// search returns a plan that fits, or the one with the smallest arena that it finds. It takes from
// effort the instructions that it plans.
func search(l *lowered, budget int, m manner, effort *int) *planned {
	p := advance[*planned](l, l.how)
	least, length := p, len(l.instrs)
	*effort -= length
	for round, idle := 0, 0; least.arena > budget && round < mostRounds && idle < idleRounds && *effort > 0; round++ {
		next, changed := thin(l, p, budget, m)
		if *effort -= len(next.instrs); !changed || len(next.instrs) > mostGrowth*length {
			break
		}
		l, p = next, advance[*planned](next, next.how)
		idle++
		if p.arena < least.arena {
			least, idle = p, 0
		}
	}
	return least
}

// Recomputed lists the instructions that are there a second time, to fit into the [Budget], and the
// arithmetic operations that they add to a run.
func (p *Program) Recomputed() (rows []Row, flops int64) {
	for _, r := range p.Rows() {
		if r.Again > 0 {
			rows = append(rows, r)
			flops += r.FLOPs
		}
	}
	return rows, flops
}

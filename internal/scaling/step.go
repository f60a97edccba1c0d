package scaling

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// Job is a training on many ranks.
type Job struct {
	Net      *Net
	Network  Network
	Schedule Schedule
	Ranks    int
	Lanes    int // in all; a multiple of the ranks
	Rows     int // of a batch
	Shard    bool
	Noise    Noise
	Speed    float64 // how many times as fast as measured a rank computes, adds and updates; 1 for 0
	Cache    int     // bytes of a node's cache: what its ranks hold stays in it if it fits
	Add      float64 // bytes a second that a core adds to others, as measured
	Seed     uint64  // of the delays
	Steps    int     // how many to average over; 100 for 0
	// Overlap sends each array of gradients as soon as the rank's last lane has it.
	Overlap bool
}

// Step is what a step takes: seconds, on average over ranks and steps.
type Step struct {
	Ranks    int     `json:"ranks"`
	Lanes    int     `json:"lanes"`
	Rows     int     `json:"rows"`
	Compute  float64 `json:"compute_s"`  // of the rank's lanes, and the addition of their terms
	Exchange float64 `json:"exchange_s"` // if all ranks came at once, with the additions on the way
	Wait     float64 `json:"wait_s"`     // for ranks that are late
	Update   float64 `json:"update_s"`
	Total    float64 `json:"step_s"`
	Memory   float64 `json:"memory_bytes"` // of a rank
	Sent     float64 `json:"sent_bytes"`   // by a rank, at most
	Read     float64 `json:"read_bytes_s"` // of data, by all ranks, a second
}

// RowsPerSecond returns how many rows a second all ranks train on.
func (s Step) RowsPerSecond() float64 { return float64(s.Rows) / s.Total }

// Efficiency returns the rows a second of a rank as a part of those of one rank alone.
func (s Step) Efficiency(alone Step) float64 {
	return s.RowsPerSecond() / (float64(s.Ranks) / float64(alone.Ranks) * alone.RowsPerSecond())
}

// Check returns an error for a job that cannot be.
func (j *Job) Check() error {
	if err := errors.Join(j.Net.Check(), j.Network.Check(), j.Noise.Check()); err != nil {
		return err
	}
	switch {
	case j.Ranks < 1:
		return fmt.Errorf("%d ranks: want at least 1", j.Ranks)
	case j.Lanes < 1 || j.Lanes%j.Ranks != 0:
		return fmt.Errorf("%d ranks do not divide %d lanes", j.Ranks, j.Lanes)
	case j.Rows < j.Lanes:
		return fmt.Errorf("%d lanes have no more than %d rows", j.Lanes, j.Rows)
	case j.Shard && j.Schedule.Shards == nil:
		return fmt.Errorf("schedule %s cannot be sharded: no rank has a part of the sum before all have it", j.Schedule.Name)
	case !(j.Speed >= 0) || !(j.Add > 0):
		return fmt.Errorf("speed %v and additions of %v bytes a second: want positive ones", j.Speed, j.Add)
	}
	return nil
}

// Beyond reports whether the job has more lanes than package train/parallel allows.
func (j *Job) Beyond() bool { return j.Lanes > parallel.MaxLanes }

// Step predicts a step of the job.
func (j *Job) Step() (Step, error) {
	if err := j.Check(); err != nil {
		return Step{}, err
	}
	speed, steps := j.Speed, j.Steps
	if speed == 0 {
		speed = 1
	}
	if steps == 0 {
		steps = 100
	}
	if j.Noise == (Noise{}) {
		steps = 1
	}
	own := j.Lanes / j.Ranks
	slow, puts := 1/speed, 1/speed // lanes and sums
	if j.Network.Cores > 0 && j.Ranks > 1 {
		slow, puts = slow*j.Net.Busy, puts*j.Net.BusyPut
	}
	work := j.works(own, slow, puts)
	warm := j.memory(own)*float64(min(j.Ranks, max(1, j.Network.PerNode))) <= float64(j.Cache)
	for r := range work {
		if !warm {
			work[r] += j.Net.Cold * puts
		}
	}
	add := puts / j.Add
	update := j.Net.Update * puts
	if warm {
		update -= j.Net.Warm * puts
	}
	phases := j.Schedule.Phases(j.Ranks, own, float64(j.Net.Bucket))
	if j.Shard && j.Ranks > 1 {
		parts := j.parts()
		update *= slices.Max(parts) / max(1, total(parts))
		update += copying * total(parts) * add // own parameters to the bucket, and those of others from it
		phases = j.Schedule.Shards(own, parts)
	}
	together := clocks{make([]float64, j.Ranks)}
	j.Network.add(together[0], update)
	update = latest(together[0])
	clear(together[0])

	late := make(clocks, steps)
	rng := rand.New(rand.NewPCG(j.Seed, 0x7461706573747279))
	out := Step{Ranks: j.Ranks, Lanes: j.Lanes, Rows: j.Rows, Update: update}
	for s := range late {
		delayed := make([]float64, j.Ranks)
		for r := range delayed {
			delayed[r] = work[r] * (1 + j.Noise.draw(rng))
		}
		late[s] = j.Network.finish(delayed)
		for _, t := range late[s] {
			out.Compute += t / float64(steps*j.Ranks)
		}
	}
	hidden := 0.0
	if j.Overlap {
		hidden = j.hidden(own, slow, add)
	}
	out.Sent = j.Network.run(phases, add, late, together)
	for _, c := range late {
		out.Total += latest(c) / float64(steps)
	}
	out.Exchange = latest(together[0]) - hidden
	out.Total += update - hidden
	out.Wait = max(0, out.Total-out.Compute-out.Exchange-out.Update)
	out.Memory = j.memory(own)
	out.Read = float64(j.Rows) * float64(j.Net.Row) / out.Total
	return out, nil
}

// works returns the seconds of a core that the ranks' lanes take: some have a row more.
func (j *Job) works(own int, slow, puts float64) []float64 {
	few, more := j.Rows/j.Lanes, j.Rows%j.Lanes
	short := j.Net.lane(few).Seconds*slow + j.Net.Put*puts
	long := short
	if more > 0 {
		long = j.Net.lane(few+1).Seconds*slow + j.Net.Put*puts
	}
	work := make([]float64, j.Ranks)
	for r := range work {
		longer := min(own, max(0, more-r*own))
		work[r] = float64(longer)*long + float64(own-longer)*short
	}
	return work
}

// parts returns how many bytes of parameters each rank owns: they are shared out whole.
func (j *Job) parts() []float64 {
	parts := make([]float64, j.Ranks)
	for i, rank := range lanes.Owners(j.Net.Arrays, j.Ranks) {
		parts[rank] += float64(j.Net.Arrays[i])
	}
	return parts
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// memory returns the bytes of a rank: parameters, states, the sum and the terms that wait for it, and
// the arena of one lane.
func (j *Job) memory(own int) float64 {
	n := j.Net
	states := float64(n.States)
	if j.Shard {
		parts := j.parts()
		states *= slices.Max(parts) / max(1, total(parts))
	}
	waiting := 2 // the sum, and what a rank receives
	for k := own; k > 1; k /= 2 {
		waiting++
	}
	rows := (j.Rows + j.Lanes - 1) / j.Lanes
	return float64(n.Held) + states + float64(waiting*n.Bucket) + float64(n.lane(rows).Arena)
}

func latest(clock []float64) float64 {
	last := 0.0
	for _, t := range clock {
		last = max(last, t)
	}
	return last
}

// hidden returns how many seconds of the exchange pass while the last lane still computes, where its
// gradients are sent array by array as they are complete.
func (j *Job) hidden(own int, slow, add float64) float64 {
	if len(j.Net.Layers) == 0 || j.Ranks == 1 {
		return 0
	}
	alone := func(bytes float64) float64 {
		c := clocks{make([]float64, j.Ranks)}
		j.Network.run(j.Schedule.Phases(j.Ranks, own, bytes), add, c)
		return latest(c[0])
	}
	lane := j.Net.lane((j.Rows+j.Lanes-1)/j.Lanes).Seconds * slow
	whole, end := alone(float64(j.Net.Bucket)), 0.0
	bytes, sent := 0.0, 0.0
	for i, l := range j.Net.Layers {
		bytes += float64(l.Bytes)
		if last := i == len(j.Net.Layers)-1; !last && bytes < bucketful {
			continue
		}
		end = max(end, l.At*lane) + alone(bytes)
		sent, bytes = sent+bytes, 0
	}
	if sent == 0 {
		return 0
	}
	return max(0, lane+whole-max(end, lane))
}

// bucketful is how many bytes of gradients are sent at once: as many as in Li et al. (2020).
const bucketful = 25 << 20

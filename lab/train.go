package lab

import "context"

// Train trains one model from Seeds seeds and keeps every run; the best by
// inertia is [Clustering.Best]. Curves are recorded.
func (c Config) Train(ctx context.Context, name string) (Clustering, error) {
	c.Objectives = []string{name}
	c, err := c.forCluster()
	if err != nil {
		return Clustering{}, err
	}
	done := 0
	return c.variant(ctx, name, func(what string) {
		done++
		if c.Progress != nil {
			c.Progress(done, c.Seeds, what)
		}
	})
}

// Repeat trains one model as often as suits it: one whose centres move by a step of their own from
// Restarts starts until nothing moves, as [Config.Lloyd] does, others as
// [Config.Train].
func (c Config) Repeat(ctx context.Context, name string) (Clustering, error) {
	c.Objectives = []string{name}
	c, err := c.forCluster()
	if err != nil {
		return Clustering{}, err
	}
	m, err := c.build(name, c.K, c.DType)
	switch {
	case err != nil:
		return Clustering{}, err
	case m.OwnStep():
		return c.restarted(ctx, name)
	}
	return c.Train(ctx, name)
}

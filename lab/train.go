package lab

import "context"

// Train trains the named clustering from every seed and keeps every run with its curves; see
// [Clustering.Best]. A loss that is not finite ends it with an error, which wraps a
// [tape.NotFinite].
func (c Config) Train(ctx context.Context, name string) (Clustering, error) {
	c.Objectives = []string{name}
	c, err := c.forCluster()
	if err != nil {
		return Clustering{}, err
	}
	done := 0
	return c.trainEach(ctx, name, func(what string) {
		done++
		if c.Progress != nil {
			c.Progress(done, c.Seeds, what)
		}
	})
}

// Repeat trains the named clustering from every seed as [Config.Train] does or, if its centres move
// by a step of their own, from Restarts start centres as [Config.Lloyd] does.
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

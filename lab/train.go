package lab

import "context"

// Train trains one model from Seeds seeds and keeps every run; the best by
// inertia is [Clustering.Best]. Curves are recorded.
func (c ClusterConfig) Train(ctx context.Context, name string) (Clustering, error) {
	c.Objectives = []string{name}
	c, err := c.withDefaults()
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

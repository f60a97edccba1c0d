package page

// cache keeps the last few results computed of variants, or of what else can be compared, at states, because scrubbing goes back and
// forth.
type cache[T any] struct {
	kept []kept[T]
	most int // how many are kept, at least 1
}

type kept[T any] struct {
	of   any
	step int
	what T
}

// A cache keeps up to maxKept results within cacheRoom bytes, but at least one.
const (
	maxKept   = 4
	cacheRoom = 64 << 20
)

// find returns the result kept of a variant at a step.
func (c *cache[T]) find(of any, step int) (what T, found bool) {
	for i, k := range c.kept {
		if k.of == of && k.step == step {
			c.kept = append(append(c.kept[:i:i], c.kept[i+1:]...), k)
			return k.what, true
		}
	}
	return what, false
}

// get returns the kept result, or computes and keeps it.
func (c *cache[T]) get(of any, step int, compute func() (T, error)) (T, error) {
	if what, found := c.find(of, step); found {
		return what, nil
	}
	what, err := compute()
	if err != nil {
		return what, err
	}
	for len(c.kept) > 0 && len(c.kept) >= c.most {
		c.kept = append([]kept[T]{}, c.kept[1:]...)
	}
	c.kept = append(c.kept, kept[T]{of, step, what})
	return what, nil
}

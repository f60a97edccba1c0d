package page

// cache keeps what was computed of a variant at a state, the last few: scrubbing goes
// back and forth.
type cache[T any] struct {
	kept []kept[T]
	most int // how many are kept, at least 1
}

type kept[T any] struct {
	of   *variant
	step int
	what T
}

// maxKept is how many a cache keeps, and cacheRoom how many bytes unless one takes more.
const (
	maxKept   = 4
	cacheRoom = 64 << 20
)

// find gives what is kept.
func (c *cache[T]) find(of *variant, step int) (what T, found bool) {
	for i, k := range c.kept {
		if k.of == of && k.step == step {
			c.kept = append(append(c.kept[:i:i], c.kept[i+1:]...), k)
			return k.what, true
		}
	}
	return what, false
}

// get gives what is kept, or makes and keeps it.
func (c *cache[T]) get(of *variant, step int, compute func() (T, error)) (T, error) {
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

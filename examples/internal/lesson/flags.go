package lesson

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Count is a flag for a number, with a least value. Any other value ends the example with exit code
// 2 and a line on standard error, as flags do.
func Count(name string, least, value int, usage string) *int {
	c := &count{value, least}
	flag.Var(c, name, usage)
	return &c.n
}

// count is the flag.Value of [Count].
type count struct{ n, least int }

// most is far more than anyone waits for; sums and products of a few of them fit an int.
const most = math.MaxInt32

func (c *count) String() string { return strconv.Itoa(c.n) }

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < c.least || n > most {
		return fmt.Errorf("want a whole number from %d to %d", c.least, most)
	}
	c.n = n
	return nil
}

// Choice is a flag for one of some values, the first unless it is given.
func Choice(name string, values []string, usage string) *string {
	c := &choice{values[0], values}
	flag.Var(c, name, usage)
	return &c.value
}

// choice is the flag.Value of [Choice].
type choice struct {
	value  string
	values []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.values, s) {
		return fmt.Errorf("want one of %s", strings.Join(c.values, ", "))
	}
	c.value = s
	return nil
}

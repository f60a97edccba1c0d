package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/tape"
)

// byteSize is a flag for a number of bytes: 4096, 512KiB, 1.5MiB, 2GiB.
type byteSize struct {
	bytes int
	text  string // "" if the flag is not given
}

var byteUnits = []struct {
	suffix string
	bytes  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

// Set reads a number with its unit, by default bytes.
func (b *byteSize) Set(text string) error {
	number, unit := strings.TrimSpace(text), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !(v >= 0 && v < math.MaxInt32*unit && v < min(1<<62, math.MaxInt)) {
		return fmt.Errorf("want a number of bytes, as in 4096, 512KiB or 1.5MiB")
	}
	b.bytes, b.text = int(v), text
	return nil
}

func (b *byteSize) String() string { return b.text }

// Type returns the name of the value in the help.
func (b *byteSize) Type() string { return "bytes" }

// options returns the option to compile a program within the budget, if there is one.
func (b *byteSize) options() []tape.Option {
	if b.text == "" {
		return nil
	}
	return []tape.Option{tape.Budget(b.bytes)}
}

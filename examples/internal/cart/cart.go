// Package cart simulates carts with poles on them, which an example learns to balance.
package cart

import (
	"math"
	"math/rand/v2"
)

// Cart is a cart on a track with a pole that stands on it: x, ẋ, θ and θ̇, in metres, radians and
// seconds. These are the equations and constants of Barto, Sutton & Anderson (1983).
type Cart [4]float64

// Push applies a force in newtons for some seconds.
func (c *Cart) Push(force, seconds float64) {
	const (
		gravity    = 9.8
		cart, pole = 1.0, 0.1     // kilograms
		half       = 0.5          // metres, of the pole
		track, pin = 0.0005, 2e-6 // friction of the cart, and of the pole on it
	)
	dx, θ, dθ := c[1], c[2], c[3]
	sin, cos := math.Sincos(θ)
	along := force + pole*half*dθ*dθ*sin - math.Copysign(track, dx)
	ddθ := (gravity*sin - cos*along/(cart+pole) - pin*dθ/(pole*half)) / (half * (4.0/3 - pole*cos*cos/(cart+pole)))
	ddx := (along - pole*half*ddθ*cos) / (cart + pole)
	for i, v := range [...]float64{dx, ddx, dθ, ddθ} {
		c[i] += seconds * v
	}
}

// Down reports whether the pole leans by more than 12 degrees, or the cart has left the track.
func (c *Cart) Down() bool { return math.Abs(c[0]) > 2.4 || math.Abs(c[2]) > 12*math.Pi/180 }

// start puts it in the middle, nearly still.
func (c *Cart) start(rng *rand.Rand) {
	for i := range c {
		c[i] = -0.05 + 0.1*rng.Float64()
	}
}

// Trial is an episode of each of some carts, which ends when it is down or after so many pushes.
type Trial struct {
	States []float32 // [push cart 4]
	Pushes []int32   // [push cart]: 0 to the left, 1 to the right
	Made   []bool    // [push cart]: whether the episode had not ended
	Length float64   // of the episodes, on average
}

// Try lets carts run, of which choose pushes each to the left, 0, or to the right, 1, for all their
// states[cart 4], fifty times a second. Where they start depends on the seed and the number of the trial.
func Try(seed uint64, trial, carts, pushes int, choose func(states []float32) ([]float64, error)) (Trial, error) {
	rng := rand.New(rand.NewPCG(seed, uint64(trial)))
	all, rows := make([]Cart, carts), carts*pushes
	for i := range all {
		all[i].start(rng)
	}
	t := Trial{States: make([]float32, 4*rows), Pushes: make([]int32, rows), Made: make([]bool, rows)}
	for at, stand := 0, carts; at < rows && stand > 0; at += carts {
		now := t.States[4*at : 4*(at+carts)]
		for i, c := range all {
			for k, v := range c {
				now[4*i+k] = float32(v)
			}
		}
		chosen, err := choose(now)
		if err != nil {
			return t, err
		}
		stand = 0
		for i := range all {
			if !all[i].Down() {
				all[i].Push(20*chosen[i]-10, 0.02)
				t.Pushes[at+i], t.Made[at+i] = int32(chosen[i]), true
				stand++
			}
		}
		t.Length += float64(stand) / float64(carts)
	}
	return t, nil
}

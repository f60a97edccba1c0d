package cart

import (
	"errors"
	"math"
	"testing"
)

// TestPush: without a force the pole falls as the linear equation has it, and total momentum changes
// by friction alone.
func TestPush(t *testing.T) {
	const dt, start, until = 1e-5, 0.01, 0.5
	c := Cart{0, 0, start, 0}
	for range int(until / dt) {
		c.Push(0, dt)
	}
	λ := math.Sqrt(9.8 / (0.5 * (4.0/3 - 0.1/1.1)))
	if want := start * math.Cosh(λ*until); math.Abs(c[2]/want-1) > 1e-2 {
		t.Errorf("the pole leans by %g after half a second: want %g", c[2], want)
	}
	if momentum := 1.1*c[1] + 0.1*0.5*c[3]*math.Cos(c[2]); math.Abs(momentum) > 0.0006*until {
		t.Errorf("momentum %g without a force", momentum)
	}
	c = Cart{}
	c.Push(10, 0.02)
	c.Push(10, 0.02)
	if c[0] <= 0 || c[2] >= 0 {
		t.Errorf("pushed to the right the cart is at %g and the pole leans by %g", c[0], c[2])
	}
}

// TestDown: an episode ends at 12 degrees or 2.4 metres, on both sides.
func TestDown(t *testing.T) {
	for _, c := range []struct {
		Cart
		down bool
	}{
		{Cart{2.3, 9, 0.2, 9}, false}, {Cart{-2.3, 0, -0.2, 0}, false},
		{Cart{2.5, 0, 0, 0}, true}, {Cart{-2.5, 0, 0, 0}, true}, {Cart{0, 0, 0.21, 0}, true}, {Cart{0, 0, -0.21, 0}, true},
	} {
		if c.Cart.Down() != c.down {
			t.Errorf("%v: down is %v", c.Cart, !c.down)
		}
	}
}

// TestTry: a trial ends when the last pole is down, and pushes are those that were chosen.
func TestTry(t *testing.T) {
	const carts, most = 3, 100
	trial, err := Try(1, 0, carts, most, func(states []float32) ([]float64, error) {
		return []float64{1, 0, 1}, nil // always to the same side
	})
	made := 0
	for at, ok := range trial.Made {
		if ok {
			made++
			if want := int32(1 - at%carts%2); trial.Pushes[at] != want {
				t.Fatalf("push %d is %d, want %d", at, trial.Pushes[at], want)
			}
		}
	}
	if err != nil || made < 5*carts || made > 20*carts || math.Abs(trial.Length*carts-float64(made)) > 1e-9 {
		t.Errorf("%d pushes, %g of each cart (%v): want from 5 to 20 until a pole is down", made, trial.Length, err)
	}
	broken := errors.New("broken")
	if _, err := Try(1, 0, carts, most, func([]float32) ([]float64, error) { return nil, broken }); err != broken {
		t.Errorf("%v, want the error of choose", err)
	}
}

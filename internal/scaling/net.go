package scaling

import (
	"errors"
	"fmt"
	"math"
)

// Net is a model as it was measured on one core.
type Net struct {
	Name       string  `json:"name"`
	What       string  `json:"what"`
	Rows       int     `json:"rows"`           // of a rank where nobody says
	Parameters int     `json:"parameters"`     // how many
	Arrays     []int   `json:"array_bytes"`    // by parameter, in their order
	Held       int     `json:"held_bytes"`     // of parameters, and states that all ranks need
	States     int     `json:"state_bytes"`    // of the optimiser
	Bucket     int     `json:"bucket_bytes"`   // of one lane's terms of the sum
	Row        int     `json:"row_bytes"`      // as it is stored
	Lanes      []Lane  `json:"lanes"`          // by their rows, ascending
	Put        float64 `json:"put_seconds"`    // to add one lane's terms to the rank's
	Update     float64 `json:"update_seconds"` // of all parameters
	Warm       float64 `json:"warm_s"`         // how much shorter the update is if caches hold what it reads
	Cold       float64 `json:"cold_s"`         // how much longer the first lane of a step is if they do not
	Busy       float64 `json:"busy"`           // how many times as long lanes take while all cores compute
	BusyPut    float64 `json:"busy_put"`       // likewise, of additions and updates
	// Layers are the arrays of gradients in the order in which the lane program completes them.
	Layers []Layer `json:"layers,omitempty"`
}

// Lane is how long the loss and the gradients of so many rows take.
type Lane struct {
	Rows    int     `json:"rows"`
	Seconds float64 `json:"seconds"`
	Arena   int     `json:"arena_bytes"`
}

// Layer is an array of gradients, complete when At of the lane's time has passed.
type Layer struct {
	Bytes int     `json:"bytes"`
	At    float64 `json:"at"`
}

// Check returns an error where a figure is missing.
func (n *Net) Check() error {
	switch {
	case n == nil:
		return errors.New("no net")
	case len(n.Lanes) == 0:
		return fmt.Errorf("%s: no lanes", n.Name)
	case n.Bucket < 1 || !(n.Update >= 0) || !(n.Put >= 0) || !(n.Busy >= 1 && n.BusyPut >= 1):
		return fmt.Errorf("%s: bucket of %d bytes, update %v s, put %v s, busy %v and %v", n.Name, n.Bucket, n.Update, n.Put, n.Busy, n.BusyPut)
	}
	for i, l := range n.Lanes {
		if l.Rows < 1 || !(l.Seconds > 0) || i > 0 && l.Rows <= n.Lanes[i-1].Rows {
			return fmt.Errorf("%s: lane %d of %d rows in %v s", n.Name, i, l.Rows, l.Seconds)
		}
	}
	return nil
}

// lane returns the seconds and the arena of a lane of so many rows: linear between two measured ones,
// and beyond them.
func (n *Net) lane(rows int) Lane {
	if rows == 0 {
		return Lane{}
	}
	i := 1
	for i < len(n.Lanes)-1 && n.Lanes[i].Rows < rows {
		i++
	}
	if len(n.Lanes) == 1 {
		l := n.Lanes[0]
		f := float64(rows) / float64(l.Rows)
		return Lane{rows, l.Seconds * f, int(float64(l.Arena) * f)}
	}
	a, b := n.Lanes[i-1], n.Lanes[i]
	at := float64(rows-a.Rows) / float64(b.Rows-a.Rows)
	least := a.Seconds * math.Min(1, float64(rows)/float64(a.Rows))
	return Lane{rows, max(least, a.Seconds+at*(b.Seconds-a.Seconds)), max(0, a.Arena+int(at*float64(b.Arena-a.Arena)))}
}

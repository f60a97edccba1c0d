package scaling

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Measurement is what was measured on one machine.
type Measurement struct {
	Machine  string  `json:"machine"`
	Cores    int     `json:"cores"`
	Cache    int     `json:"cache_bytes"`        // of the last level; 0 where it is not known
	Add      float64 `json:"add_bytes_s"`        // how fast a core adds received bytes to its own
	Noise    Noise   `json:"noise"`              // of one core that computes the same again and again
	Loopback []Point `json:"loopback"`           // exchanges of two processes over a Unix socket, each on a core of its own
	Crowded  []Point `json:"crowded,omitempty"`  // the same by two processes on each core; none where these are no power of two
	OneCore  []Point `json:"one_core,omitempty"` // and where the two are those of one core
	Nets     []*Net  `json:"nets"`
	Checks   []Check `json:"checks,omitempty"`
}

// Check is a training on the ranks of one machine, predicted and then measured.
type Check struct {
	Net       string     `json:"net"`
	Ranks     int        `json:"ranks"`
	Lanes     int        `json:"lanes"`
	Rows      int        `json:"rows"`
	Shard     bool       `json:"shard,omitempty"`
	Predicted float64    `json:"predicted_s"`
	Measured  float64    `json:"measured_s"`  // the lower quartile of steps
	Quartiles [2]float64 `json:"quartiles_s"` // the median and the upper quartile
}

// Off returns by how much of what was measured the prediction is off.
func (c Check) Off() float64 { return c.Predicted/c.Measured - 1 }

// ReadMeasurement reads what [Measurement.Write] wrote.
func ReadMeasurement(r io.Reader) (*Measurement, error) {
	var m Measurement
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("this is no measurement: %w", err)
	}
	return &m, m.Check()
}

// Check returns an error where a figure is missing.
func (m *Measurement) Check() error {
	switch {
	case len(m.Nets) == 0:
		return errors.New("a measurement of no net")
	case !(m.Add > 0) || m.Cores < 1:
		return fmt.Errorf("additions of %v bytes a second on %d cores", m.Add, m.Cores)
	case !ascending(m.Loopback) || !ascending(m.Crowded) || !ascending(m.OneCore):
		return errors.New("exchanges that are not in the order of their bytes")
	}
	for _, n := range m.Nets {
		if err := n.Check(); err != nil {
			return err
		}
	}
	return m.Noise.Check()
}

func ascending(p []Point) bool {
	return slices.IsSortedFunc(p, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
}

// Write writes the measurement as JSON, a line for each net and check.
func (m *Measurement) Write(w io.Writer) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Net returns a measured net by name.
func (m *Measurement) Net(name string) (*Net, error) {
	var names []string
	for _, n := range m.Nets {
		if n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	return nil, fmt.Errorf("net %q was not measured, but %s", name, strings.Join(names, ", "))
}

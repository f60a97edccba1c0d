package main

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/scaling"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// scalingFigure is a line of JSON: a step on some ranks.
type scalingFigure struct {
	Net      string `json:"workload"`
	Network  string `json:"network"`
	Schedule string `json:"schedule"`
	scaling.Step
	Efficiency float64  `json:"efficiency"`
	Useful     *float64 `json:"useful,omitempty"`   // with --node-failure
	Training   *float64 `json:"training,omitempty"` // with --critical-batch
}

// figures returns the lines of a curve.
func (s *benchScaling) figures(c curve) []scalingFigure {
	var list []scalingFigure
	for _, step := range c.steps {
		f := scalingFigure{Net: c.net.Name, Network: c.network.Name, Schedule: c.schedule.Name, Step: step, Efficiency: step.Efficiency(c.alone)}
		if s.failure > 0 {
			nodes := (step.Ranks + max(1, c.network.PerNode) - 1) / max(1, c.network.PerNode)
			u := scaling.Failures{Between: s.failure.Seconds(), Save: s.save.Seconds(), Restart: s.restart.Seconds()}.Useful(nodes)
			f.Useful = &u
		}
		if s.critical > 0 {
			gain := c.alone.Total * scaling.Steps(float64(c.alone.Rows), s.critical) / (step.Total * scaling.Steps(float64(step.Rows), s.critical))
			f.Training = &gain
		}
		list = append(list, f)
	}
	return list
}

// String says what a curve is of.
func (c curve) String() string {
	share := plural.Count(c.alone.Rows, "row") + " a rank"
	if c.strong() {
		share = plural.Count(c.alone.Rows, "row") + " in all"
	}
	return fmt.Sprintf("%s: %s, %s, %s", c.net.Name, share, c.network.Name, c.schedule.Name)
}

// strong reports whether the batch is the same for any number of ranks.
func (c curve) strong() bool {
	last := c.steps[len(c.steps)-1]
	return last.Ranks == c.alone.Ranks || last.Rows == c.alone.Rows
}

// printCurve prints a table, or lines of JSON.
func (b *bench) printCurve(c curve) error {
	figures := b.scaling.figures(c)
	if b.json {
		for _, f := range figures {
			if err := printJSON(b.out, f); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{{"ranks", "lanes", "rows", "compute", "exchange", "wait", "update", "step", "rows/s", "efficiency", "memory", "sent", "read"}}
	if b.scaling.failure > 0 {
		rows[0] = append(rows[0], "useful")
	}
	if b.scaling.critical > 0 {
		rows[0] = append(rows[0], "training")
	}
	for _, f := range figures {
		row := []string{fmt.Sprint(f.Ranks), fmt.Sprint(f.Lanes), fmt.Sprint(f.Rows), inSeconds(f.Compute), inSeconds(f.Exchange), inSeconds(f.Wait),
			inSeconds(f.Update), inSeconds(f.Total), digits(f.RowsPerSecond(), 3), percent(f.Efficiency), inBytes(f.Memory), inBytes(f.Sent), inBytes(f.Read) + "/s"}
		if f.Useful != nil {
			row = append(row, percent(*f.Useful))
		}
		if f.Training != nil {
			row = append(row, digits(*f.Training, 3)+"×")
		}
		rows = append(rows, row)
	}
	note := ""
	if c.beyond {
		note = fmt.Sprintf("Trainings have at most %d lanes: what is above them is what would be.\n", parallel.MaxLanes)
	}
	_, err := fmt.Fprintf(b.out, "%s\n%s%s", c, tabulated(rows, 1), note)
	return err
}

// printMeasured prints what was measured: the parts, or the trainings.
func (b *bench) printMeasured(m *scaling.Measurement) error {
	parts, trainings := *m, m.Checks
	parts.Checks = nil
	if b.json {
		if b.scaling.parts {
			if err := printJSON(b.out, parts); err != nil {
				return err
			}
		}
		for _, c := range trainings {
			if !b.scaling.check {
				break
			}
			if err := printJSON(b.out, c); err != nil {
				return err
			}
		}
		return nil
	}
	text := ""
	if b.scaling.parts {
		text = partsText(m)
	}
	if b.scaling.check {
		text += checkTable(trainings)
	}
	_, err := fmt.Fprint(b.out, text)
	return err
}

// partsText is what was measured of the machine and of each net.
func partsText(m *scaling.Measurement) string {
	exchanges := [][]string{{"bytes each way", "time", "rate", "one way"}}
	for i, p := range m.Loopback {
		row := []string{inBytes(p.Bytes), inSeconds(p.Seconds), inBytes(p.Bytes/p.Seconds) + "/s", inSeconds(p.OneWay)}
		for _, shared := range [][]scaling.Point{m.Crowded, m.OneCore} {
			if len(shared) == len(m.Loopback) {
				row = append(row, inSeconds(shared[i].Seconds))
			}
		}
		exchanges = append(exchanges, row)
	}
	if len(exchanges[len(exchanges)-1]) > len(exchanges[0]) {
		exchanges[0] = append(exchanges[0], "two a core", "of one core")
	}
	nets := [][]string{{"net", "parameters", "sum", "put", "update", "rows of a lane", "time", "a row", "with all cores"}}
	for _, n := range m.Nets {
		row := []string{n.Name, fmt.Sprint(n.Parameters), inBytes(float64(n.Bucket)), inSeconds(n.Put), inSeconds(n.Update)}
		for _, l := range n.Lanes {
			row = append(row, fmt.Sprint(l.Rows), inSeconds(l.Seconds), inSeconds(l.Seconds/float64(l.Rows)))
			if l.Rows == n.Rows {
				row = append(row, "× "+digits(n.Busy, 3))
			}
			nets = append(nets, row)
			row = []string{"", "", "", "", ""}
		}
	}
	return fmt.Sprintf("%s\nadditions: %s/s\ndelays: %s of the time on average, with a tail of index %s\n\n%s\n%s",
		m.Machine, inBytes(m.Add), percent(m.Noise.Mean), digits(m.Noise.Index, 2), tabulated(exchanges, 0), tabulated(nets, 1))
}

// checkTable is a table of predictions beside measurements.
func checkTable(list []scaling.Check) string {
	rows := [][]string{{"net", "ranks", "lanes", "rows", "predicted", "measured", "median, upper quartile", "off"}}
	for _, c := range list {
		name := c.Net
		if c.Shard {
			name += ", sharded"
		}
		rows = append(rows, []string{name, fmt.Sprint(c.Ranks), fmt.Sprint(c.Lanes), fmt.Sprint(c.Rows), inSeconds(c.Predicted), inSeconds(c.Measured),
			inSeconds(c.Quartiles[0]) + ", " + inSeconds(c.Quartiles[1]), fmt.Sprintf("%+.1f %%", 100*c.Off())})
	}
	return tabulated(rows, 1)
}

// inSeconds writes a time to three digits.
func inSeconds(s float64) string {
	switch a := math.Abs(s); {
	case a < 1e-9: // rounding
		return "0 s"
	case a < 0.9995e-3:
		return digits(s*1e6, 3) + " µs"
	case a < 0.9995:
		return digits(s*1e3, 3) + " ms"
	}
	return digits(s, 3) + " s"
}

// inBytes writes a number of bytes to three digits, in powers of 1000.
func inBytes(n float64) string {
	unit := 0
	for units := 4; n >= 999.5 && unit < units; unit++ {
		n /= 1000
	}
	return digits(n, 3) + " " + []string{"B", "kB", "MB", "GB", "TB"}[unit]
}

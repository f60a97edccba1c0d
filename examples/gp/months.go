package main

import (
	_ "embed"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// co2 has the monthly means of carbon dioxide at Mauna Loa, Hawaii, from 1958 to 2020, in parts per million
// of dry air: Keeling et al., Scripps CO2 Program, primary Mauna Loa CO2 record
// (https://scrippsco2.ucsd.edu), under CC BY 4.0, without the months of which none was published.
//
//go:embed co2.csv
var co2 string

// starts are the hyperparameters before training.
var starts = []struct {
	name  string
	value float64
}{
	{"trend", 50}, {"trend years", 50},
	{"season", 1}, {"season years", 50}, {"season width", 1},
	{"medium", 1}, {"medium years", 1}, {"medium shape", 1},
	{"weather", 0.1}, {"weather years", 0.1},
	{"measured", 0.1},
}

// until is when what is learnt from ends.
const until = 2004

// months are measurements, the earlier first; ppm are those above the mean that is learnt from.
type months struct{ years, ppm []float64 }

// read returns every k-th month until 2004 to learn from, and the other months.
func read(k int) (seen, held months, err error) {
	table, err := data.ReadCSV("co2.csv", strings.NewReader(co2), data.Targets("ppm"))
	if err != nil {
		return seen, held, err
	}
	for i, year := range table.X {
		m := &held
		if year < until && i%k == 0 {
			m = &seen
		}
		m.years, m.ppm = append(m.years, year), append(m.ppm, table.Targets.X[i])
	}
	mean := 0.
	for _, v := range seen.ppm {
		mean += v / float64(len(seen.ppm))
	}
	for _, m := range []months{seen, held} {
		for i := range m.ppm {
			m.ppm[i] -= mean
		}
	}
	return seen, held, nil
}

// set returns the months as data to train on.
func (m months) set() (*data.Set, error) {
	return data.NewSet(map[string]*tensor.Dense{"t": lesson.Array(m.years, len(m.years)), "y": lesson.Array(m.ppm, len(m.ppm))})
}

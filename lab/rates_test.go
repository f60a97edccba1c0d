package lab_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// TestRates: every optimiser trains by every schedule of the rate, and as it would by that alone.
func TestRates(t *testing.T) {
	build := line("line", "", false)
	rates := []train.Schedule{{}, train.Constant(0.3), train.Cosine(0.1, 20)}
	c := lab.Config{Seeds: 2, Steps: 20, Optimisers: []train.Optimiser{train.SGD(0.1), train.Adam(0.05)}, Rates: rates}
	res := compared(t, c, lab.Objective("", build))
	if n := len(res.Settings()); n != 6 {
		t.Fatalf("%d settings, want 6", n)
	}
	var names []string
	for _, s := range res.Settings() {
		names = append(names, res.SettingName(s))
		alone := lab.Config{Seeds: 2, Steps: 20, Optimisers: []train.Optimiser{c.Optimisers[s.Optimiser]}, Rate: rates[s.Rate]}
		want := compared(t, alone, lab.Objective("", build))
		for i, cell := range res.Cells(0, s) {
			if !slices.Equal(cell.Loss, want.Cells(0, lab.Setting{})[i].Loss) {
				t.Errorf("%s, seed %d: other losses than by this rate alone", res.SettingName(s), i)
			}
		}
	}
	if want := []string{"sgd(0.1)", "sgd(0.3)", "sgd(cosine(0.1,20))", "adam(0.05)", "adam(0.3)", "adam(cosine(0.1,20))"}; !slices.Equal(names, want) {
		t.Errorf("settings %q, want %q", names, want)
	}
	if want := "2 optimisers × 3 rates × 2 seeds: 12 trainings of 20 steps"; res.Title() != want {
		t.Errorf("title %q, want %q", res.Title(), want)
	}
	for _, bad := range []struct {
		change func(c *lab.Config)
		want   string
	}{
		{func(c *lab.Config) { c.Rate = train.Constant(1) }, "compare: there are Rates, and Rate or Falling: want one of them"},
		{func(c *lab.Config) { c.Rates = []train.Schedule{train.Constant(1), train.Constant(1)} }, "compare: the rate 1 is there twice"},
		{func(c *lab.Config) { c.Rates = make([]train.Schedule, 2) }, "compare: the rate of the optimiser is there twice"},
	} {
		c := c
		bad.change(&c)
		if _, err := lab.Compare(context.Background(), c, lab.Objective("", build)); err == nil || err.Error() != bad.want {
			t.Errorf("%v, want %s", err, bad.want)
		}
	}
}

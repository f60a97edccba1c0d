package train_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/train"
)

// TestScheduleValues compares with PyTorch 1.13's lr_scheduler where it has the schedule (StepLR,
// ExponentialLR, CosineAnnealingLR, SequentialLR of LinearLR and CosineAnnealingLR), and otherwise
// with the closed form. Claim: every schedule has the rates of its closed form, or of PyTorch where
// that has it.
func TestScheduleValues(t *testing.T) {
	steps := []int{0, 1, 2, 3, 5, 8, 13, 20}
	for _, c := range []struct {
		s    train.Schedule
		text string
		want []float64
	}{
		{train.Constant(0.1), "0.1", []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}},
		{train.StepDecay(0.1, 0.5, 3), "step(0.1,0.5,3)", []float64{0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.00625, 0.0015625}},
		{train.Exponential(0.1, 0.9), "exp(0.1,0.9)", []float64{0.1, 0.09, 0.081, 0.0729, 0.059049, 0.043046721000000024, 0.025418658283290013, 0.01215766545905694}},
		{train.Cosine(0.1, 20), "cosine(0.1,20)", []float64{0.1, 0.0993844170297569, 0.09755282581475769, 0.0945503262094184, 0.08535533905932739, 0.06545084971874739, 0.027300475013022667, 0}},
		{train.Cosine(0.1, 20, 0.01), "cosine(0.1,20,0.01)", []float64{0.1, 0.0994459753267812, 0.09779754323328192, 0.09509529358847656, 0.08681980515339464, 0.06890576474687264, 0.03457042751172039, 0.01}},
		{train.Cosine(0.1, 8), "cosine(0.1,8)", []float64{0.1, 0.05 * (1 + math.Cos(math.Pi/8)), 0.05 * (1 + math.Sqrt2/2), 0.05 * (1 + math.Cos(3*math.Pi/8)), 0.05 * (1 + math.Cos(5*math.Pi/8)), 0, 0, 0}},
		{train.Warmup(4, train.Cosine(0.1, 16)), "warmup(4,cosine(0.1,16))", []float64{0.025, 0.05, 0.075, 0.1, 0.09903926402016153, 0.08535533905932738, 0.04024548389919359, 0}},
		{train.Warmup(2, train.Warmup(2, train.Constant(1))), "warmup(2,warmup(2,1))", []float64{0.25, 0.5, 0.5, 1, 1, 1, 1, 1}},
		{train.InverseTime(0.1, 5), "1/t(0.1,5)", []float64{0.1, 0.5 / 6, 0.5 / 7, 0.0625, 0.05, 0.5 / 13, 0.5 / 18, 0.02}},
		{train.Geometric(1, 1024), "1..1024", []float64{1, math.Sqrt2, 2, 2 * math.Sqrt2, 4 * math.Sqrt2, 16, 64 * math.Sqrt2, 1024}},
		{train.Hold(3, train.StepDecay(2, 0.5, 2)), "hold(3,step(2,0.5,2))", []float64{2, 2, 2, 2, 1, 0.5, 0.0625, 0.0078125}},
		{train.Within(4, train.Geometric(1, 8)), "within(4,1..8)", []float64{1, 2, 4, 8, 8, 8, 8, 8}},
		{train.Warmup(1, train.Geometric(1, 1<<19)), "warmup(1,1..524288)", []float64{1, 1, 2, 4, 16, 128, 4096, 1 << 19}},
	} {
		read, err := train.ParseSchedule(c.text)
		if err != nil || c.s.String() != c.text || read.String() != c.text {
			t.Errorf("%s prints as %v and reads as %v, %v", c.text, c.s, read, err)
			continue
		}
		for i, step := range steps {
			for _, s := range []train.Schedule{c.s, read} {
				if v := s.At(step, 21); math.Abs(v-c.want[i]) > 1e-12*max(1, c.want[i]) {
					t.Errorf("%s is %v in step %d, want %v", c.text, v, step, c.want[i])
				}
				if v := inGraph(t, s, step, 21); math.Abs(v-c.want[i]) > 1e-12*max(1, c.want[i]) {
					t.Errorf("the node of %s is %v in step %d, want %v", c.text, v, step, c.want[i])
				}
			}
		}
	}
}

// inGraph returns the value of a schedule's node in step t of n.
func inGraph(t *testing.T, s train.Schedule, step, n int) float64 {
	t.Helper()
	g := graph.New("schedule")
	now := g.Scalar("t", float64(step), graph.F64)
	rate := s.Node(now, n)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	v, err := ref.Eval(trait.Env{}, nil, rate)
	if err != nil {
		t.Fatal(err)
	}
	return v[0].Data[0]
}

// TestScheduleNodeMistakes: a step that is no scalar is a mistake of the graph.
func TestScheduleNodeMistakes(t *testing.T) {
	g := graph.New("schedule")
	train.Constant(1).Node(g.Input("t", graph.I32), 1)
	if err := g.Err(); err == nil || !strings.HasSuffix(err.Error(), "Node: a step of type i32[]: want a scalar of type f64: t[]") {
		t.Error(err)
	}
	if v := inGraph(t, train.Schedule{}, 0, 1); !math.IsNaN(v) {
		t.Errorf("the zero schedule has the value %v", v)
	}
}

func TestScheduleSpaces(t *testing.T) {
	s, err := train.ParseSchedule(" warmup( 10 , cosine (0.1, 200 ) ) ")
	if err != nil || s.String() != "warmup(10,cosine(0.1,200))" {
		t.Errorf("%v, %v", s, err)
	}
}

// TestScheduleMistakes: each error says where the mistake is.
func TestScheduleMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":                   `character 1: want a number, from..to, or one of warmup, hold, within, step, exp, cosine, 1/t`,
		"x":                  `character 1: want a number, from..to, or one of warmup, hold, within, step, exp, cosine, 1/t`,
		"NaN":                `character 1: want a number, from..to, or one of warmup, hold, within, step, exp, cosine, 1/t`,
		"0.1..":              `character 6: want the number where 0.1.. ends`,
		"1..Inf":             `character 4: want the number where 1.. ends`,
		"0..1":               `character 1: both ends must be positive`,
		"0.1)":               `character 4: want nothing after the schedule`,
		"cosin(0.1,3)":       `character 1: unknown schedule "cosin": want one of warmup, hold, within, step, exp, cosine, 1/t`,
		"γ(1)":               `character 1: unknown schedule "γ": want one of warmup, hold, within, step, exp, cosine, 1/t`,
		"cosine(0.1)":        `character 11: cosine wants a value, a number of steps, and perhaps the least value`,
		"cosine(0.1,2.5)":    `character 12: want a whole number of steps`,
		"cosine(0.1,2,0,1)":  `character 15: cosine wants a value, a number of steps, and perhaps the least value`,
		"cosine(γ,2)":        `character 8: cosine wants a value, a number of steps, and perhaps the least value`,
		"cosine(0.1,2":       `character 13: want , or )`,
		"step(0.1,-1,30)":    `character 10: want a positive number`,
		"exp(0.1,)":          `character 9: exp wants a value, a factor`,
		"1/t(0.1,0)":         `character 9: want a positive number`,
		"warmup(10)":         `character 10: warmup wants a number of steps, a schedule`,
		"warmup(0,1)":        `character 8: want a whole number of steps`,
		"warmup(10,exp(1))":  `character 16: exp wants a value, a factor`,
		"warmup(10,1":        `character 12: want )`,
		"warmup(10,1..2,3)":  `character 15: want )`,
		"warmup(1,1)..2":     `character 12: want nothing after the schedule`,
		"cosine(0.1 0.2, 3)": `character 8: cosine wants a value, a number of steps, and perhaps the least value`,
	} {
		_, err := train.ParseSchedule(text)
		if want = "schedule \"" + text + "\", " + want; err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	deep := strings.Repeat("warmup(1,", 100_000) + "1" + strings.Repeat(")", 100_000)
	if _, err := train.ParseSchedule(deep); err == nil {
		t.Error("a hundred thousand schedules in each other are read")
	}
}

// FuzzParseSchedule: a schedule that is read prints as a text that reads as the same schedule, and
// has values.
func FuzzParseSchedule(f *testing.F) {
	for _, s := range []string{"0.1", "0.1..10", "step(0.1,0.5,30)", "exp(0.1,0.99)", "cosine(0.1,200,0.01)", "1/t(0.1,50)",
		"warmup(10,cosine(0.1,200))", "warmup(2,warmup(3,1..2))", "cosine(", "1/t(,)", "((", "..", "warmup(1e9,1)", " 1 .. 2 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := train.ParseSchedule(text)
		if err != nil {
			if !s.IsZero() {
				t.Errorf("%q: a schedule besides %v", text, err)
			}
			return
		}
		again, err := train.ParseSchedule(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q prints as %q, which reads as %v, %v", text, s, again, err)
		}
		for _, step := range []int{0, 1, 99} {
			if a, b := s.At(step, 100), again.At(step, 100); a != b && (a == a || b == b) {
				t.Errorf("%q is %v in step %d, read again %v", text, a, step, b)
			}
		}
	})
}

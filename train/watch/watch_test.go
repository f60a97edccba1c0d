package watch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
	"gorgonia.org/tensor"
)

// ticking returns a clock that advances by the same time at every call.
func ticking(by time.Duration) watch.Option {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	return watch.Clock(func() time.Time { at = at.Add(by); return at })
}

// course is a short training.
func course(steps int) []train.Event {
	events := []train.Event{{Kind: train.Begun, Steps: steps, Epochs: 2}}
	for t := 1; t <= steps; t++ {
		at := data.Position{Epoch: 2 * t / steps, Batch: t % max(1, steps/2)}
		events = append(events, train.Event{Kind: train.Stepped, Step: t, Steps: steps, Epochs: 2, Position: at, Loss: 1 / float64(t), Rate: 0.001})
		if at.Batch == 0 {
			events = append(events, train.Event{Kind: train.Validated, Step: t, Steps: steps, Epochs: 2, Position: at,
				Scores: metric.Scores{{Name: "loss", Value: 0.5}, {Name: "R²", Value: 1 / float64(3*t)}}})
		}
	}
	return append(events, train.Event{Kind: train.Ended, Step: steps, Steps: steps, Epochs: 2, Position: data.Position{Epoch: 2}})
}

func observe(t *testing.T, o train.Observer, events ...train.Event) {
	t.Helper()
	for _, e := range events {
		if err := o.Observe(e); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJSONLines shows the log, and reads back what was written.
func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	events := course(4)
	events = append(events[:len(events)-1],
		train.Event{Kind: train.Saved, Step: 4, Position: data.Position{Epoch: 2}, Path: "run/\"a\"\n<b>.safetensors"},
		train.Event{Kind: train.Stepped, Step: 5, Loss: math.NaN(), Rate: math.Inf(1)},
		train.Event{Kind: train.Validated, Step: 6, Scores: metric.Scores{{Name: "z", Value: math.Inf(-1)}, {Name: "a", Value: math.NaN()}, {Name: "z", Value: 1e-300}}},
		train.Event{Kind: train.Validated, Step: 6},
		train.Event{Kind: train.Ended, Step: 6, Err: errors.New("step 6: loss is NaN")},
		train.Event{Kind: train.Begun, Step: 4, Path: "run/step-00000004.safetensors", Err: errors.New("run/step-00000006.safetensors: damaged")},
		train.Event{Kind: train.Ended, Step: 4})
	observe(t, watch.JSONLines(&b), events...)
	const want = `{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":4,"epochs":2}
{"event":"stepped","step":1,"epoch":0,"batch":1,"loss":1,"rate":0.001}
{"event":"stepped","step":2,"epoch":1,"batch":0,"loss":0.5,"rate":0.001}
{"event":"validated","step":2,"epoch":1,"batch":0,"scores":{"loss":0.5,"R²":0.16666666666666666}}
{"event":"stepped","step":3,"epoch":1,"batch":1,"loss":0.3333333333333333,"rate":0.001}
{"event":"stepped","step":4,"epoch":2,"batch":0,"loss":0.25,"rate":0.001}
{"event":"validated","step":4,"epoch":2,"batch":0,"scores":{"loss":0.5,"R²":0.08333333333333333}}
{"event":"saved","step":4,"epoch":2,"batch":0,"path":"run/\"a\"\n\u003cb\u003e.safetensors"}
{"event":"stepped","step":5,"epoch":0,"batch":0,"loss":"NaN","rate":"+Inf"}
{"event":"validated","step":6,"epoch":0,"batch":0,"scores":{"z":"-Inf","a":"NaN","z":1e-300}}
{"event":"validated","step":6,"epoch":0,"batch":0,"scores":{}}
{"event":"ended","step":6,"epoch":0,"batch":0,"error":"step 6: loss is NaN"}

{"event":"begun","version":1,"step":4,"epoch":0,"batch":0,"steps":0,"epochs":0,"path":"run/step-00000004.safetensors","error":"run/step-00000006.safetensors: damaged"}
{"event":"ended","step":4,"epoch":0,"batch":0}
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	records, err := watch.ReadLog("run.jsonl", strings.NewReader(b.String()))
	if err != nil || len(records) != len(events) {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, r := range records {
		e := events[i]
		if e.Kind != train.Begun {
			e.Steps, e.Epochs = 0, 0 // which only the first line has
		}
		if !r.Time.IsZero() || fmt.Sprintf("%#v", r.Event.Scores) != fmt.Sprintf("%#v", e.Scores) || fmt.Sprint(r.Event) != fmt.Sprint(e) {
			t.Errorf("%v was read as %v", e, r)
		}
	}
}

// TestEvery: only multiples are logged of the steps, and all other events.
func TestEvery(t *testing.T) {
	for _, c := range []struct{ every, lines int }{{3, 3 + 2 + 2}, {1, 10 + 2 + 2}, {-4, 10 + 2 + 2}, {100, 2 + 2}} {
		var b bytes.Buffer
		observe(t, watch.JSONLines(&b, watch.Every(c.every), nil), course(10)...)
		if n := strings.Count(b.String(), "\n"); n != c.lines {
			t.Errorf("every %d: %d lines, want %d\n%s", c.every, n, c.lines, b.String())
		}
	}
}

// TestAbout: the first line of a log has what is said about the training, and is read like any other.
func TestAbout(t *testing.T) {
	var b bytes.Buffer
	observe(t, watch.JSONLines(&b, watch.About("as the notes have it")), course(1)...)
	if text := b.String(); strings.Count(text, "about") != 1 || !strings.Contains(strings.SplitN(text, "\n", 2)[0], `"about":"as the notes have it"`) {
		t.Errorf("the log is\n%s", text)
	}
	if records, err := watch.ReadLog("log", &b); err != nil || len(records) == 0 || records[0].Kind != train.Begun {
		t.Errorf("read %v, %v", records, err)
	}
}

// TestTimed: times are logged in UTC, and read back.
func TestTimed(t *testing.T) {
	var b bytes.Buffer
	observe(t, watch.JSONLines(&b, watch.Timed(), ticking(1500*time.Microsecond)), course(1)...)
	if !strings.Contains(b.String(), `"rate":0.001,"time":"2026-03-01T11:00:00.003000Z"}`) {
		t.Error(b.String())
	}
	records, err := watch.ReadLog("", &b)
	if err != nil || records[1].Time.Sub(records[0].Time) != 1500*time.Microsecond {
		t.Errorf("%v, %v", records, err)
	}
}

// writes counts the calls of Write.
type writes struct {
	bytes.Buffer
	n int
}

func (w *writes) Write(p []byte) (int, error) { w.n++; return w.Buffer.Write(p) }

// TestTogether: steps that follow each other closely are written together, in whole
// lines; after a while, and with any other event, they are written.
func TestTogether(t *testing.T) {
	var w writes
	o := watch.JSONLines(&w, ticking(time.Millisecond))
	events := course(2000)
	for i, e := range events {
		observe(t, o, e)
		if s := w.String(); s != "" && !strings.HasSuffix(s, "}\n") {
			t.Fatalf("after event %d half a line is written: %.100q", i, s[max(0, len(s)-100):])
		}
		if e.Kind != train.Stepped && strings.Count(w.String(), "\n") != i+1 {
			t.Fatalf("%v waits", e)
		}
	}
	if w.n < 10 || w.n > 40 { // two seconds, five times each
		t.Errorf("%d writes of %d events", w.n, len(events))
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

// TestCannotWrite: a log that cannot be written is an error, a bar that cannot be drawn is none.
func TestCannotWrite(t *testing.T) {
	noSpace := errors.New("no space left")
	o := watch.JSONLines(full{noSpace})
	if err := o.Observe(train.Event{}); !errors.Is(err, noSpace) || err.Error() != "log: no space left" {
		t.Error(err)
	}
	observe(t, watch.Bar(full{noSpace}, watch.Terminal(true), ticking(time.Second)), course(3)...)
	observe(t, o, train.Event{Kind: 99}) // what is not known yet is passed over
}

// TestReadMistakes: an error says what is wrong, and in which line.
func TestReadMistakes(t *testing.T) {
	const good = `{"event":"stepped","step":1,"loss":2,"rate":1}` + "\n"
	for _, c := range []struct{ text, want string }{
		{good + "\n \r\n" + "hello\n", `x.jsonl:4: no JSON object: invalid character 'h' looking for beginning of value`},
		{good + good[:20], `x.jsonl:2: the line is cut short`},
		{"[]\n", `x.jsonl:1: a JSON array: want an object`},
		{"{}\n", `x.jsonl:1: event "": want begun, stepped, validated, saved or ended`},
		{`{"event":"begun","version":2,"step":0}` + "\n", `x.jsonl:1: a log of version 2: want 1`},
		{`{"event":"begun"}` + "\n", `x.jsonl:1: no step`},
		{`{"event":"begun","step":-1}` + "\n", `x.jsonl:1: a negative number of steps, epochs or batches`},
		{`{"event":"begun","step":1.5}` + "\n", `x.jsonl:1: step is a number 1.5`},
		{`{"event":"stepped","step":1,"loss":"much"}` + "\n", `x.jsonl:1: "much": want a number, or "NaN", "+Inf" or "-Inf"`},
		{`{"event":"validated","step":1,"scores":[]}` + "\n", `x.jsonl:1: scores: want an object`},
		{`{"event":"validated","step":1,"scores":{"a":1,"b":true}}` + "\n", `x.jsonl:1: score "b": true: want a number, or "NaN", "+Inf" or "-Inf"`},
		{`{"event":"saved","step":1,"time":"noon"}` + "\n", `x.jsonl:1: time "noon": want one as 2006-01-02T15:04:05.000000Z`},
		{strings.Repeat("a", watch.MaxLine+1) + "\n", `x.jsonl:1: more than 1048576 bytes in a line`},
	} {
		records, err := watch.ReadLog("x.jsonl", strings.NewReader(c.text))
		var at *watch.Error
		if err == nil || err.Error() != c.want || !errors.As(err, &at) || len(records) != strings.Count(c.text, good) {
			t.Errorf("%.60q: %d records and\n%v, want\n%v", c.text, len(records), err, c.want)
		}
	}
	if _, err := watch.ReadLog("x", strings.NewReader(`{"event":"be`)); !errors.Is(err, watch.ErrCut) {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := watch.ReadLog("x", io.MultiReader(strings.NewReader(good), failing{broken})); !errors.Is(err, broken) || err.Error() != "x: broken" {
		t.Error(err)
	}
}

// TestResumed: a log can be read that was appended to that of a run killed in the middle of a line.
func TestResumed(t *testing.T) {
	b := bytes.NewBufferString(`{"event":"stepped","step":7,"lo`)
	observe(t, watch.JSONLines(b), train.Event{Kind: train.Begun, Step: 5}, train.Event{Kind: train.Ended, Step: 5})
	r := watch.NewReader("run", b)
	if _, err := r.Next(); err == nil || err.Error() != "run:1: no JSON object: unexpected end of JSON input" {
		t.Error(err)
	}
	if record, err := r.Next(); err != nil || record.Kind != train.Begun || record.Step != 5 {
		t.Errorf("%v, %v", record, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestFollow reads a file while it grows, in pieces that cut lines anywhere, with a line that is
// not a record.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	observe(t, watch.JSONLines(&b), course(6)...)
	text := strings.Replace(b.String(), "\n", "\nnothing\n", 1)
	r, steps, wrong := watch.NewReader("run", f), []int(nil), 0
	for i := 0; i < len(text); i += 17 {
		if _, err := w.WriteString(text[i:min(len(text), i+17)]); err != nil {
			t.Fatal(err)
		}
		for {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				wrong++
				if err.Error() != "run:2: no JSON object: invalid character 'o' in literal null (expecting 'u')" {
					t.Error(err)
				}
				continue
			}
			steps = append(steps, record.Step)
		}
	}
	if wrong != 1 || !reflect.DeepEqual(steps, []int{0, 1, 2, 3, 3, 4, 5, 6, 6, 6}) {
		t.Errorf("%d lines are wrong, the steps are %v", wrong, steps)
	}
}

// FuzzReadLog: no text makes reading panic, and records that are read are the same after they are
// written and read again.
func FuzzReadLog(f *testing.F) {
	var b bytes.Buffer
	o := watch.JSONLines(&b, watch.Timed())
	for _, e := range course(3) {
		if err := o.Observe(e); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(b.String())
	f.Add(`{"event":"validated","step":1,"scores":{"a":"NaN"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		records, err := watch.ReadLog("log", strings.NewReader(text))
		if at := (*watch.Error)(nil); err != nil && !errors.As(err, &at) {
			t.Fatal(err)
		}
		write := func(records []watch.Record) string {
			var b bytes.Buffer
			o := watch.JSONLines(&b)
			for _, r := range records {
				observe(t, o, r.Event)
			}
			observe(t, o, train.Event{Kind: train.Ended}) // steps may wait, the end does not
			return b.String()
		}
		once := write(records)
		again, err := watch.ReadLog("log", strings.NewReader(once))
		if err != nil || len(again) != len(records)+1 {
			t.Fatalf("%d records of %d, %v", len(again)-1, len(records), err)
		}
		if twice := write(again[:len(records)]); twice != once {
			t.Fatalf("got\n%s\nafter\n%s", twice, once)
		}
	})
}

// TestAllocations: a step allocates nothing, whether or not it is logged.
func TestAllocations(t *testing.T) {
	for name, o := range map[string]train.Observer{
		"log": watch.JSONLines(io.Discard), "timed log": watch.JSONLines(io.Discard, watch.Timed()), "sparse log": watch.JSONLines(io.Discard, watch.Every(1e9)),
		"bar elsewhere": watch.Bar(io.Discard), "bar": watch.Bar(io.Discard, watch.Terminal(true), watch.Clock(func() time.Time { return time.Unix(0, 0) })),
	} {
		observe(t, o, train.Event{Kind: train.Begun, Steps: 1 << 30})
		step := 0
		next := func() {
			step++
			observe(t, o, train.Event{Kind: train.Stepped, Step: step, Steps: 1 << 30, Loss: 0.125})
		}
		for range 1000 { // until the buffer has its size
			next()
		}
		if n := testing.AllocsPerRun(500, next); n != 0 {
			t.Errorf("a step costs the %s %v allocations", name, n)
		}
	}
}

// TestEqualRuns: equal trainings give equal logs.
func TestEqualRuns(t *testing.T) {
	run := func() string {
		x := tensor.New(tensor.WithShape(10, 2), tensor.WithBacking(make([]float32, 20)))
		y := tensor.New(tensor.WithShape(10), tensor.WithBacking([]int32{0, 1, 1, 0, 1, 0, 1, 0, 1, 1}))
		set, err := data.NewSet(map[string]*tensor.Dense{"x": x, "y": y})
		if err != nil {
			t.Fatal(err)
		}
		tr := &train.Trainer{Optimiser: train.SGD(0.1), Build: func(rows int, _ train.Mode) *train.Net {
			g := graph.New("line")
			n, d, c := graph.Ax("n", rows), graph.Ax("d", 2), graph.Ax("c", 2)
			logits := nn.NewLinear(g, "fc", graph.F32, d, c).Of(g.Input("x", graph.F32, n, d))
			return &train.Net{Loss: nn.CrossEntropy(logits, g.Input("y", graph.I32, n)), Output: logits}
		}}
		defer tr.Close()
		var b bytes.Buffer
		plan := train.Plan{Data: data.Shuffled(set, 4, 1), Epochs: 3, Observers: []train.Observer{watch.JSONLines(&b)},
			Validate: func(ctx context.Context) (metric.Scores, error) {
				return tr.Evaluate(ctx, data.InOrder(set, 0), metric.Accuracy("y"), metric.Nats("y"))
			}}
		if err := tr.Fit(context.Background(), plan); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	a, b := run(), run()
	if a != b || strings.Count(a, "\n") != 1+9+3+1 {
		t.Errorf("got\n%s\nand\n%s", a, b)
	}
}

// TestIn: the first line of a log has the folder from which its paths are read, and readers get it.
func TestIn(t *testing.T) {
	var b bytes.Buffer
	observe(t, watch.JSONLines(&b, watch.In("../work")), course(1)...)
	records, err := watch.ReadLog("log", &b)
	if err != nil || records[0].Folder != "../work" || records[1].Folder != "" {
		t.Errorf("read %+v, %v", records, err)
	}
}

// TestWith: a log begins with the settings of the training, in order, which are read again.
func TestWith(t *testing.T) {
	var b bytes.Buffer
	settings := map[string]string{"model": "a \"b\"", "set k": "3"}
	observe(t, watch.JSONLines(&b, watch.With(settings)), course(1)...)
	if first, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(first, `"settings":{"model":"a \"b\"","set k":"3"}`) {
		t.Errorf("the log begins with %s", first)
	}
	records, err := watch.ReadLog("log", &b)
	if err != nil || !maps.Equal(records[0].Settings, settings) || records[1].Settings != nil {
		t.Errorf("read: %v, %+v", err, records)
	}
}

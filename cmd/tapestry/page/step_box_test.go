package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph/trait"
)

// TestStepsHaveTheLoopsValues: in every model with loops and at every time, the value that a step hands
// on, as the page shows it, is the row of the loop's value, forward and backward, and every box of a
// step can be read, with its gradient and the reason of an element.
func TestStepsHaveTheLoopsValues(t *testing.T) {
	models := []string{"rnn-lstm", "rnn-gru", "rnn-stacked"}
	if !testing.Short() {
		models = append(models, "rnn-elman", "rnn-bidirectional", "attention-bidirectional", "filter-iir")
	}
	for _, model := range models {
		c := newClient(t, Options{})
		id := c.open(`{"model":"` + model + `"}`)
		c.train(id, 1)
		d, err := c.s.shelf.find(id)
		if err != nil {
			t.Fatal(err)
		}
		var sheet sheetView
		c.get("/api/docs/"+id+"/sheet?grad=1&open=*", &sheet)
		if len(sheet.Loops) == 0 {
			t.Fatalf("%s: no loop is drawn", model)
		}
		record, err := d.record(t.Context(), d.asWritten, 1)
		if err != nil {
			t.Fatal(err)
		}
		checked, grads := 0, 0
		for _, it := range sheet.Items {
			if it.Kind != "node" || it.ID[0] != ofStep {
				continue
			}
			b := d.stepped[it.ID]
			loop := b.Loops[0]
			l := loop.Op().(trait.Looped).Loop()
			out := slices.Index(loop.Body().Out(), b.Node)
			for _, time := range []int{0, l.Steps - 1} {
				node := it.ID + "@" + strconv.Itoa(time)
				if len(b.Loops) > 1 {
					node += strings.Repeat(".0", len(b.Loops)-1)
				}
				var info nodeView
				c.get("/api/docs/"+id+"/node/"+node+"?step=1", &info)
				if info.Label == "" || info.Scope == "" || info.Stats == nil || info.Formula == nil && info.Op != "carry" {
					t.Errorf("%s: %s is %+v", model, node, info)
				}
				var values valuesView
				c.get("/api/docs/"+id+"/node/"+node+"/values?step=1&rows=200&cols=100", &values)
				if values.GradCells != nil {
					grads++
				}
				if out < 0 || len(b.Loops) > 1 || out >= l.Carries+l.Outs {
					continue
				}
				row := time
				if _, _, after := l.At(time); out < l.Carries && !l.Reverse {
					row = after
				}
				part := l.Parts(loop.Body())[out]
				if want := cellText(record.Value(loop).At(part.At + row*part.Size)); values.Cells[0][0] != want && !nearly(values.Cells[0][0], want) {
					t.Errorf("%s: %s, %s, begins with %s, the loop has %s", model, node, info.Label, values.Cells[0][0], want)
				}
				checked++
			}
			at := strings.TrimSuffix(strings.Repeat("0,", b.Node.Rank()), ",")
			var why whyView
			c.get("/api/docs/"+id+"/node/"+it.Node+"/why?step=1&at="+at, &why)
			if why.Within == "" || b.Node.NumIn() > 0 && len(why.Shares) == 0 {
				t.Errorf("%s: %s is explained by %+v", model, it.Node, why)
			}
		}
		if checked < 2 || grads == 0 && model != "filter-iir" {
			t.Errorf("%s: %d values are checked, %d have gradients", model, checked, grads)
		}
	}
}

// nearly reports whether two numbers are the same but for float32's rounding, by a program of its own.
func nearly(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= 1e-5*(1+math.Abs(y))
}

// TestStepsAreChosen: the times of loops are part of what a request asks for, an overlay is of them,
// and what does not exist is said.
func TestStepsAreChosen(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"rnn-lstm"}`)
	heat := func(times string) (out string) {
		var s sheetView
		c.get("/api/docs/"+id+"/sheet?grad=1&overlay=grad&times="+times, &s)
		for _, it := range s.Items {
			if it.Kind == "node" && strings.HasPrefix(it.ID, "s") {
				if _, after, ok := strings.Cut(it.SVG, "largest |∂loss/∂v| "); ok {
					line, _, _ := strings.Cut(after, "&#10;")
					line, _, _ = strings.Cut(line, "\"")
					out += it.Node + " " + line + "\n"
				}
			}
		}
		if want := []loopView{{"recurrent/loop", 5, len(times) / 16 * 3}}; !slices.Equal(s.Loops, want) {
			t.Errorf("times=%s: the loops are %+v, want %+v", times, s.Loops, want)
		}
		return out
	}
	first, fourth := heat(""), heat("3@recurrent/loop")
	if !strings.Contains(first, "@0") || !strings.Contains(fourth, "@3") || !strings.Contains(fourth, "at t = 3") {
		t.Errorf("the gradients at t = 0 are\n%sat t = 3\n%s", first, fourth)
	}
	var info nodeView
	var node string
	var sheet sheetView
	c.get("/api/docs/"+id+"/sheet?grad=1&times=3@recurrent/loop", &sheet)
	for _, it := range sheet.Items {
		if strings.HasPrefix(it.Label, "iₜ = ") || strings.HasPrefix(it.Label, "i_t = ") {
			node = it.Node
		}
	}
	c.get("/api/docs/"+id+"/node/"+node, &info)
	if info.GradStats == nil || info.Partner == nil || !strings.HasSuffix(*info.Partner, "@3") || info.Loops[0].Time != 3 {
		t.Errorf("the input gate is %q: %+v", node, info)
	}
	if want := short(float64(max(info.GradStats.Max, -info.GradStats.Min))); !strings.Contains(fourth, fmt.Sprintf("%s %s at t = 3", node, want)) {
		t.Errorf("the gradient of %s is %s, and the overlay says\n%s", node, want, fourth)
	}
	for query, status := range map[string]int{"sheet?times=x": 400, "sheet?times=-1@recurrent/loop": 400, "node/s13-9@5": 404, "node/s13-9@-1": 404, "node/s13-9": 404, "node/s13-9@1.1": 404,
		"node/s1-1@0": 404, "node/s13-9@0/values?at=9": 400, "node/s13-9@0/why": 400, "node/s13-9@0/why?at=0,0&way=no": 400, "node/s": 404} {
		if w := c.ask("GET", "/api/docs/"+id+"/"+query, ""); w.Code != status {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

package figure

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// overlaid is a training step in which a value is not finite, with heat on all.
func overlaid() *Figure {
	f := training()
	f.Overlay = true
	f.Heat = "largest |value|: from 1e−3 to 1e4"
	for i := range f.Nodes {
		f.Nodes[i].Heat = 1 + i%HeatSteps
		f.Nodes[i].Badge = fmt.Sprintf("1e%d", i%HeatSteps)
		f.Nodes[i].Alarm = Alarm(i % alarms)
	}
	return f
}

func TestOverlay(t *testing.T) {
	f := overlaid()
	root := parse(t, draw(t, f, WithTheme(Light)))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		g := root.find("p1-n-" + n.ID)
		var circles, hatches int
		var box *element
		g.each(func(e *element) {
			switch {
			case e.XMLName.Local == "circle":
				circles++
			case e.is("hatch"):
				hatches++
			case e.is("box") || box == nil && (e.XMLName.Local == "rect" || e.XMLName.Local == "polygon"):
				box = e
			}
		})
		fill, text := heatOf(n.Heat)
		if box.attr("fill") != palette[fill].light {
			t.Errorf("%s of heat %d is %s", n.ID, n.Heat, box.attr("fill"))
		}
		if (circles == 1) != (n.Alarm != NoAlarm) || (hatches == 1) != (n.Alarm == NotFinite || n.Alarm == First) {
			t.Errorf("%s: %v has %d signs, %d hatches", n.ID, n.Alarm, circles, hatches)
		}
		if red := box.attr("stroke") == palette[alarmLine].light && box.attr("stroke-width") == "3"; red != (n.Alarm >= Wrong) {
			t.Errorf("%s: %v has outline %s", n.ID, n.Alarm, box.attr("stroke"))
		}
		written := 0
		g.each(func(e *element) {
			if e.XMLName.Local == "text" && e.attr("font-size") != num(labelSize) {
				written++
				if e.attr("fill") != palette[text].light {
					t.Errorf("%s: text of heat %d is %s", n.ID, n.Heat, e.attr("fill"))
				}
			}
		})
		if title := g.title(); written == 0 || !strings.Contains(title, n.Badge) || !strings.Contains(title, alarmTitles[n.Alarm]) {
			t.Errorf("%s: title %q", n.ID, title)
		}
	}
	var legend strings.Builder
	root.all("legend")[0].each(func(e *element) { legend.WriteString(e.Text + "\n") })
	for _, want := range append(alarmTitles[1:], f.Heat) {
		if !strings.Contains(legend.String(), want) {
			t.Errorf("the legend does not say %q", want)
		}
	}
	var dot bytes.Buffer
	if err := f.DOT(&dot); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`xlabel="① 1e4"`, `xlabel="✓ 1e1"`, palette[heatFill].light, palette[alarmLine].light, alarmTitles[First]} {
		if !strings.Contains(dot.String(), want) {
			t.Errorf("DOT does not say %q", want)
		}
	}
}

// Marks change neither sizes nor places, so that drawings of several runs can be
// flipped through.
func TestOverlayMovesNothing(t *testing.T) {
	a, b := mustLayout(t, training()).Panels[0], mustLayout(t, overlaid()).Panels[0]
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the layout differs")
	}
}

// TestOverlayHasTheColours checks that under an overlay no fill or outline stands for a role: a
// colour is heat, a group or an alarm, and nodes with none of these have the page's colour.
func TestOverlayHasTheColours(t *testing.T) {
	ours := map[string]string{}
	for r := range Role(roles) {
		if r != Op && r != Move && r != Output {
			ours[palette[fillOf(r)].light], ours[palette[lineOf(r)].light] = "fill of "+r.String(), "outline of "+r.String()
		}
	}
	for _, comparing := range []bool{false, true} {
		f := training()
		if comparing {
			f = kmeans()
		}
		f.Overlay = true
		f.Nodes[0].Heat, f.Nodes[1].Group = 1, 2
		root := parse(t, draw(t, f, WithTheme(Light)))
		root.each(func(e *element) {
			if !e.is("node") {
				return
			}
			e.each(func(e *element) {
				if e.XMLName.Local == "text" || e.XMLName.Local == "circle" || e.is("mark") {
					return
				}
				for _, colour := range []string{e.attr("fill"), e.attr("stroke")} {
					if role, is := ours[colour]; is {
						t.Errorf("%s under an overlay", role)
					}
				}
			})
		})
		legend := ""
		root.all("legend")[0].each(func(e *element) {
			legend += e.Text + "\n"
			if role, is := ours[e.attr("fill")]; is && e.XMLName.Local != "path" && e.XMLName.Local != "circle" && e.XMLName.Local != "text" {
				t.Errorf("the legend has the %s under an overlay", role)
			}
		})
		for _, want := range []string{"heat, from the least to the most", "groups, in no order", "without colour: zero, or nothing measured"} {
			if !strings.Contains(legend, want) {
				t.Errorf("the legend does not say %q", want)
			}
		}
	}
}

func TestUnknownMarksAreRefused(t *testing.T) {
	f := chain(2)
	f.Nodes[0].Heat, f.Nodes[1].Alarm = 8, alarms
	if err := f.Validate(); err == nil || err.Error() != "figure: node 0 \"n0\": heat 8 is not between 0 and 7\nfigure: node 1 \"n1\": unknown alarm 6" {
		t.Errorf("%v", err)
	}
}

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPictures takes pictures of the page for people to look at, where the environment asks for them:
// each kind of thing to see, in four windows, light and dark.
func TestPictures(t *testing.T) {
	if os.Getenv("TAPESTRY_SCREENSHOTS") == "" && os.Getenv("TAPESTRY_LONG") == "" {
		t.Skip("no pictures are asked for: TAPESTRY_SCREENSHOTS names a folder, and TAPESTRY_LONG=1 looks for failures alone")
	}
	const gpt = "doc=model=transformer-gpt;dtype=f32;$layers=12"
	const lstm = "doc=model=rnn-lstm;dtype=f32;steps=20&open=recurrent,recurrent/loop&times=3@recurrent/loop"
	args := []string{}
	for i, name := range []string{"slow", "fast", "diverging"} {
		j := &journal{TB: t, path: filepath.Join(t.TempDir(), name+".jsonl"), at: time.Now()}
		j.begin()
		j.steps(0, 600-100*i, float64(300/(i+1)))
		if i == 2 {
			j.end(400, "the loss is NaN")
		}
		args = append(args, "--log", j.path)
	}
	p := open(t, 1440, 900, args...)
	for _, c := range []struct {
		name, address string
		panel         string // to open on a small screen
		seen          string // what has to be true then
	}{
		{name: "model", address: "doc=model=kmeans-softmax;dtype=f32;data=iris"},
		{name: "comparison", address: "doc=model=kmeans-softmax;dtype=f32;data=iris;steps=60&doc=model=kmeans-goofy;dtype=f32;data=iris;steps=60&at=0&beside=1&overlay=grad"},
		{name: "gpt-far", address: gpt + "&camera=2095,1895,0.18"},
		{name: "gpt-notes", address: gpt + "&camera=600,1500,0.8"},
		{name: "gpt-tape", address: gpt + "&camera=600,1500,2.2"},
		{name: "lstm", address: lstm + "&overlay=grad"},
		{name: "lstm-time", address: lstm + "&overlay=time"},
		{name: "why", address: "doc=model=kmeans-softmax;dtype=f32;data=iris;steps=60&why=n9,5,1&node=n9&element=5,1", panel: "details"},
		{name: "strip", address: "doc=model=kmeans-softmax;dtype=f32;data=iris;steps=120&step=60", panel: "training",
			seen: `(() => { const all = [...document.querySelectorAll("#strip .frame canvas")]; return all.length > 1 && all.every((c) => +c.dataset.boxes > 4) && document.querySelector("#strip").checkVisibility(); })()`},
		{name: "runs", address: "runs=smooth:90",
			seen: `document.body.dataset.view === "runs" && document.querySelectorAll("#runs-rows tr").length === 3 && document.querySelectorAll("#runs-charts svg").length > 1`},
	} {
		for _, size := range [][2]int64{{1440, 900}, {1280, 720}, {390, 844}, {844, 390}} {
			for _, scheme := range []string{"light", "dark"} {
				small := size[0] < 500 || size[1] < 500
				p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Evaluate(`localStorage.clear()`, nil), emulation.SetDeviceMetricsOverride(size[0], size[1], 1, small),
					chromedp.Navigate("about:blank"), chromedp.Navigate(p.at+"/#"+c.address), chromedp.WaitReady("body[data-ready]"))
				if small && c.panel != "" {
					p.do(chromedp.Click(fmt.Sprintf("button[data-place=%q]", c.panel)))
				}
				if c.name != "runs" {
					p.still()
				}
				if c.seen != "" {
					p.until(c.name, c.seen)
				}
				p.picture(fmt.Sprintf("%s-%d-%s", c.name, size[0], scheme))
			}
		}
	}
}

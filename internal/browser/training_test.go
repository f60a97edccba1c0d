package browser

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// webRuntime is the variable with the folder of npm's package onnxruntime-web.
const webRuntime = "TAPESTRY_ONNXWEB"

// TestTraining: the page of examples/browser, opened from a file, trains the exported net with the losses
// that the tape has, and asks nothing of a network.
func TestTraining(t *testing.T) {
	path := chromium(t)
	dist := os.Getenv(webRuntime)
	if dist == "" {
		t.Skipf("%s names no folder: npm pack onnxruntime-web@1.20.1, and unpack it", webRuntime)
	}
	dist, err := filepath.Abs(filepath.Join(dist, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "digits.html")
	write := exec.Command("go", "run", "-C", filepath.Join("..", ".."), "./examples/browser", "-runtime", dist, "-steps", "200", "-o", file)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 1000), chromedp.Flag("disable-component-update", true), chromedp.Flag("no-first-run", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	browser, end := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	defer end()
	ctx, cancel := context.WithTimeout(browser, 2*time.Minute)
	defer cancel()
	var lock sync.Mutex
	var complaints []string
	say := func(format string, args ...any) {
		lock.Lock()
		defer lock.Unlock()
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				for _, a := range e.Args {
					say("console: %s %s", a.Value, a.Description)
				}
			}
		case *runtime.EventExceptionThrown:
			say("exception: %s", e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
				say("log: %s %s", e.Entry.Text, e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "blob:") && !strings.HasPrefix(e.Request.URL, "file:") {
				say("a request: %s", e.Request.URL)
			}
		}
	})
	at := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	var got, want []float64
	var right string
	look := func(name string) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			dir := os.Getenv("TAPESTRY_SCREENSHOTS")
			if dir == "" {
				return nil
			}
			var picture []byte
			if err := chromedp.Run(ctx, chromedp.FullScreenshot(&picture, 100)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name), picture, 0o666)
		})
	}
	press := func(button string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf("document.getElementById(%q).click()", button), nil)
	}
	err = chromedp.Run(ctx, network.Enable(), cdplog.Enable(), emulation.SetDeviceMetricsOverride(1280, 1000, 1, false),
		chromedp.Navigate(at), chromedp.WaitReady("body[data-ready]"), look("training-before.png"),
		press("one"), chromedp.WaitReady(`body[data-step="1"]`), press("again"), chromedp.WaitReady(`body[data-step="0"]`),
		press("train"), chromedp.WaitReady("body[data-done]"), look("training-after.png"),
		chromedp.Evaluate("window.losses()", &got), chromedp.Evaluate(`JSON.parse(document.getElementById("course").textContent).losses`, &want),
		chromedp.Evaluate("document.body.dataset.right", &right))
	if err != nil {
		t.Errorf("%v", err)
	}
	lock.Lock()
	defer lock.Unlock()
	for _, c := range complaints {
		t.Error(c)
	}
	if len(got) != 200 || len(want) != 200 {
		t.Fatalf("%d losses, and %d in Go: want 200", len(got), len(want))
	}
	worst := 0.0
	for i, v := range got {
		worst = max(worst, math.Abs(v-want[i])/math.Abs(want[i]))
	}
	if !(worst <= 1e-3) {
		t.Errorf("losses differ by %.2g from those in Go: %v, want %v", worst, got, want)
	}
	if right < "0.8" {
		t.Errorf("%s of the digits are read rightly", right)
	}
	t.Logf("losses differ by %.2g, %s of the digits are read rightly", worst, right)
}

package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// command is the built tapestry.
var command string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "tapestry-browser")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		command = filepath.Join(dir, "tapestry")
		build := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", command, "./cmd/tapestry")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// chromium finds an installed browser.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on PATH")
	return ""
}

// serve starts the command with arguments and gives the address of its page.
func serve(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("tapestry serve ended with %v", err)
		}
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if at := regexp.MustCompile(`http://[\w.:\[\]]+`).FindString(lines.Text()); at != "" {
				select {
				case found <- at:
				default:
				}
			}
		}
	}()
	select {
	case at := <-found:
		return strings.TrimSuffix(at, "/")
	case <-time.After(30 * time.Second):
		t.Fatal("tapestry serve did not say where the page is")
		return ""
	}
}

// A tab is the page in a browser.
type tab struct {
	testing.TB
	context.Context
	at     string // the page's origin
	around string // the origin of a page that has it in a frame; "" for none

	lock  sync.Mutex
	said  []string                   // what the console and the network complained about
	asked int                        // requests
	under map[network.RequestID]bool // those without an end yet
}

// open starts a server with models and a browser on its page.
func open(t testing.TB, width, height int64, args ...string) *tab {
	t.Helper()
	chromium(t) // or there is nothing to serve for
	at := serve(t, args...)
	p := browse(t, width, height, at)
	p.do(chromedp.Navigate(at+"/"), chromedp.WaitReady("body[data-ready]"))
	return p
}

// browse starts a browser for pages of an origin. What goes wrong in the background fails the test
// at its end.
func browse(t testing.TB, width, height int64, at string) *tab {
	t.Helper()
	path := chromium(t)
	p := &tab{TB: t, at: at, under: map[network.RequestID]bool{}}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(int(width), int(height)),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-first-run", true))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(func(format string, args ...any) {
		said := fmt.Sprintf(format, args...)
		if !strings.Contains(said, "could not unmarshal event") && !strings.Contains(said, "unhandled node event") { // the browser is newer than the driver
			t.Error(said)
		}
	}))
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Log(err)
		}
		stop()
		chromedp.FromContext(browser).Allocator.Wait()
	})
	if err := chromedp.Run(browser); err != nil { // the browser lives as long as the context that it is started with
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(browser, 8*time.Minute)
	t.Cleanup(end)
	p.Context = ctx
	chromedp.ListenTarget(ctx, p.hear)
	t.Cleanup(func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		for _, s := range p.said {
			t.Error(s)
		}
		if p.asked == 0 {
			t.Error("no request was heard: whether one left the page is not known")
		}
	})
	p.do(network.Enable(), cdplog.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, width < 500))
	return p
}

// hear notes complaints and requests that leave the page's origin.
func (p *tab) hear(event any) {
	say := func(format string, args ...any) {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.said = append(p.said, fmt.Sprintf(format, args...))
	}
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
		p.lock.Lock()
		p.asked++
		p.under[e.RequestID] = true
		p.lock.Unlock()
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Scheme+"://"+u.Host != p.at && u.Scheme+"://"+u.Host != p.around {
			say("a request left the page: %s", e.Request.URL)
		}
	case *network.EventLoadingFinished:
		p.ended(e.RequestID)
	case *network.EventLoadingFailed:
		p.ended(e.RequestID)
	}
}

func (p *tab) ended(id network.RequestID) {
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.under, id)
}

// waiting is the number of requests under way.
func (p *tab) waiting() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.under)
}

// do runs actions or ends the test.
func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.Context, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval gives what a JavaScript expression gives.
func eval[T any](p *tab, script string) T {
	p.Helper()
	var v T
	p.do(chromedp.Evaluate(script, &v, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return v
}

// until waits until a JavaScript condition holds.
func (p *tab) until(what, condition string) {
	p.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !eval[bool](p, "Boolean("+condition+")") {
		if time.Now().After(deadline) {
			p.picture("failure")
			p.Fatalf("%s did not happen: %s", what, condition)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// still waits until the drawing is there, nothing is under way, and nothing has moved
// for a while: charts that arrive below the drawing take room from it.
func (p *tab) still() {
	p.Helper()
	p.until("drawing", `document.querySelector("#panes .pane") && !document.querySelector("#panes[aria-busy]") && !document.body.classList.contains("opening") && (document.querySelector("#loss-chart").firstChild || !document.body.dataset.panels.includes("charts"))`)
	const places = `JSON.stringify([...document.querySelectorAll("#panes .items > *")].slice(0, 3).map((e) => e.getBoundingClientRect()))`
	last, deadline := "", time.Now().Add(20*time.Second)
	// A request that a navigation cut short never ends; what moves nothing for long enough is none to wait for.
	for same := 0; same < 5 || same < 30 && p.waiting() > 0; time.Sleep(60 * time.Millisecond) {
		now := eval[string](p, places)
		if same++; now != last {
			same, last = 0, now
		}
		if time.Now().After(deadline) {
			p.Fatalf("the drawing does not come to rest, with %d requests under way: %s", p.waiting(), now)
		}
	}
}

// text is the text of the first element that a selector finds.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, fmt.Sprintf("(document.querySelector(%q)?.innerText ?? '').trim()", selector))
}

// ask gives what the server answers to a path.
func ask[T any](p *tab, path string) T {
	p.Helper()
	answer, err := http.Get(p.at + path)
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		p.Fatalf("%s: %s %v %s", path, answer.Status, err, text)
	}
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		p.Fatalf("%s: %v in %.200s", path, err, text)
	}
	return v
}

// picture keeps a screenshot where the environment asks for them.
func (p *tab) picture(name string) {
	dir := os.Getenv("TAPESTRY_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	if err := chromedp.Run(p.Context, chromedp.CaptureScreenshot(&png)); err != nil {
		p.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.Log(err)
	}
}

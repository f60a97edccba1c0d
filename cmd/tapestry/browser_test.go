package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// chromium finds an installed browser; .ci/run installs one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium on PATH")
	return ""
}

// TestReportInBrowser opens the report at the width of a phone and of a desktop. The script runs,
// nothing is reported on the console (where violations of the page's policy would appear),
// nothing is wider than the window, and nothing is clipped: the identity fits, and so do tables,
// except on a phone, where they scroll and show that they do.
func TestReportInBrowser(t *testing.T) {
	browser := chromium(t)
	for what, args := range map[string][]string{
		"pair":   {"compare", "--seeds", "2", "--steps", "20", "--restarts", "3"},
		"matrix": {"compare", "kmeans-softmax", "kmeans-goofy", "--seeds", "2", "--steps", "20", "--optimisers", "adam:0.05,sgd:0.1", "--starts", "0.5,1"},
	} {
		t.Run(what, func(t *testing.T) { looksAt(t, browser, args) })
	}
}

func hashOf(script string) []byte { h := sha256.Sum256([]byte(script)); return h[:] }

func looksAt(t *testing.T, browser string, args []string) {
	dir := t.TempDir()
	ok(t, append(args, "--out", filepath.Join(dir, "report.html"))...)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	// The page tells the frame around it how wide it is and what the script did.
	tell := `<script>addEventListener("load", function () { parent.postMessage([document.documentElement.scrollWidth, innerWidth,
		document.querySelector(".drawing output").textContent, clipped()].join(" "), "*"); });
	function clipped() {
		const cut = e => e.scrollWidth > e.clientWidth + 1, found = [];
		for (const e of document.querySelectorAll(".identity .formula")) if (cut(e)) found.push("identity");
		for (const e of document.querySelectorAll(".wide")) if (cut(e) && (innerWidth > 1000 || !/gradient/.test(getComputedStyle(e).backgroundImage)))
			found.push(e.getAttribute("aria-labelledby"));
		return "clipped:" + found.join(",");
	}</script></body>`
	script := strings.TrimSuffix(strings.TrimPrefix(tell, "<script>"), "</script></body>")
	allowed := fmt.Sprintf("script-src 'sha256-%s' ", base64.StdEncoding.EncodeToString(hashOf(script)))
	page = bytes.Replace(page, []byte("script-src "), []byte(allowed), 1)
	page = bytes.Replace(page, []byte("</body>"), []byte(tell), 1)
	if err := os.WriteFile(filepath.Join(dir, "told.html"), page, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{390, 1280} {
		frame := fmt.Sprintf(`<!DOCTYPE html><title>-</title><script>addEventListener("message", function (e) { document.title = e.data; });</script>
<iframe src="told.html" width="%d" height="900" style="border:0"></iframe>`, width)
		if err := os.WriteFile(filepath.Join(dir, "frame.html"), []byte(frame), 0o644); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
			"--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr", "--window-size=1400,1000",
			"--virtual-time-budget=3000", "--dump-dom", "file://"+filepath.Join(dir, "frame.html"))
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		for _, line := range strings.Split(log.String(), "\n") {
			if strings.Contains(line, "CONSOLE") {
				t.Errorf("at %d px: %s", width, line)
			}
		}
		m := regexp.MustCompile(`<title>(\d+) (\d+) (\d+)&nbsp;% clipped:([^<]*)</title>`).FindStringSubmatch(out.String())
		if m == nil {
			t.Fatalf("at %d px the page's script did not set the drawing's zoom:\n%.300s", width, out.String())
		}
		if content, err := strconv.Atoi(m[1]); err != nil || content > width || m[2] != fmt.Sprint(width) {
			t.Errorf("the page is %s px wide in a window of %s px", m[1], m[2])
		}
		if m[4] != "" {
			t.Errorf("at %d px there is more than is seen of %s", width, m[4])
		}
	}
}

package newcomer

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what commands print into the pages anew")

// page is a Markdown file whose fenced blocks are followed from the first to the last.
type page struct {
	path   string
	blocks []block
}

// block is a fenced block: ```lang file.
type block struct {
	lang, file string
	lines      []string
	from       int // the line of the page, from 0, on which the first of lines stands
}

func (b *block) text() string { return strings.Join(b.lines, "\n") + "\n" }

func (b *block) set(text string) { b.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

func readPage(t *testing.T, path string) *page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	p := &page{path: path}
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			lang, file, _ := strings.Cut(info, " ")
			open = &block{lang: lang, file: file, from: i + 1}
		case fence:
			p.blocks = append(p.blocks, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: a block without an end", path, open.from)
	}
	return p
}

// follow does what a reader of the page does, in an empty folder: saves each block that names a
// file, and gives the commands of each console block. Such a block has commands behind "$ ",
// and below each what it prints, or, where it fails, what it complains of. A line of "…" there
// stands for any lines.
func (p *page) follow(t *testing.T, h home, dir string) {
	t.Helper()
	commands, old := 0, *p
	old.blocks = slices.Clone(p.blocks)
	for i := range p.blocks {
		b := &p.blocks[i]
		switch {
		case b.file != "":
			if err := os.WriteFile(filepath.Join(dir, b.file), []byte(b.text()), 0o666); err != nil {
				t.Fatal(err)
			}
		case b.lang == "console":
			var printed []string
			for k := 0; k < len(b.lines); {
				line, is := strings.CutPrefix(b.lines[k], "$ ")
				if !is {
					t.Fatalf("%s:%d: want a command behind $", p.path, b.from+k+1)
				}
				end := k + 1
				for end < len(b.lines) && !strings.HasPrefix(b.lines[end], "$ ") {
					end++
				}
				want := b.lines[k+1 : end]
				var got []string
				fails := len(want) > 0 && strings.HasPrefix(want[0], "tapestry: ")
				got, dir = h.give(t, dir, line, fails)
				commands++
				if !matches(want, got) {
					if !*update {
						t.Errorf("%s:%d: %s prints\n%s\nand not\n%s", p.path, b.from+k+1, line, strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					want = trimmed(want, got)
				}
				printed = append(append(printed, b.lines[k]), want...)
				k = end
			}
			b.lines = printed
		}
	}
	if commands == 0 {
		t.Errorf("%s has no commands", p.path)
	}
	if *update {
		p.write(t, old)
	}
}

// write replaces the blocks of the page as it was by those that it has now.
func (p *page) write(t *testing.T, old page) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(p.path))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i := len(p.blocks) - 1; i >= 0; i-- {
		was := old.blocks[i]
		lines = slices.Replace(lines, was.from, was.from+len(was.lines), p.blocks[i].lines...)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// trimmed returns what a command prints with the lines left out that a page left out: between lines of
// "…", a line stands for the next one that begins with the same two words or, if there is none, with the
// same one. If there is none either, or the page left out nothing, it returns all.
func trimmed(want, got []string) []string {
	if !slices.Contains(want, "…") {
		return got
	}
	begins := func(line string, words int) string {
		all := strings.Fields(line)
		return strings.Join(all[:min(words, len(all))], " ")
	}
	var out []string
	at, skips := 0, false
	for _, line := range want {
		if line == "…" {
			out, skips = append(out, line), true
			continue
		}
		next := len(got)
		for words := 2; words > 0 && next == len(got); words-- {
			for next = at; next < len(got); next++ {
				if matches([]string{line}, got[next:next+1]) || begins(got[next], words) == begins(line, words) {
					break
				}
			}
		}
		if next == len(got) || next > at && !skips {
			return got
		}
		if !matches([]string{line}, got[next:next+1]) {
			line = got[next]
		}
		out, at, skips = append(out, line), next+1, false
	}
	if at < len(got) && !skips {
		return got
	}
	return out
}

// matches reports whether a command prints what a page says.
func matches(want, got []string) bool {
	var pattern strings.Builder
	for _, line := range want {
		if line == "…" {
			pattern.WriteString("(.*\n)*")
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "\n")
	}
	all := strings.Join(append(slices.Clone(got), ""), "\n")
	return regexp.MustCompile("^" + pattern.String() + "$").MatchString(all)
}

// give gives a command, which may be one that fails, and returns the lines that it prints and
// the folder in which the next one is given. There is no shell: a reader may have any.
func (h home) give(t *testing.T, dir, line string, fails bool) (printed []string, next string) {
	t.Helper()
	args := words(line)
	switch program, rest := args[0], args[1:]; {
	case program == "cd" && len(rest) == 1:
		return nil, filepath.Join(dir, rest[0])
	case program == "mkdir" && len(rest) == 1:
		if err := os.Mkdir(filepath.Join(dir, rest[0]), 0o777); err != nil {
			t.Fatal(err)
		}
		return nil, dir
	case program == "tapestry" && rest[0] == "serve":
		return h.serve(t, dir, rest), dir
	case program == "tapestry" || program == "go":
		cmd := h.command(dir, program, rest...)
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case fails && errors.As(err, &exit):
			out.Write(complaints.Bytes())
		case err != nil:
			t.Fatalf("%s: %v\n%s%s", line, err, out.String(), complaints.String())
		case fails:
			t.Fatalf("%s does not fail", line)
		}
		if out.Len() == 0 {
			return nil, dir
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), dir
	}
	t.Fatalf("%s: the test knows no such command", line)
	return nil, dir
}

// words splits a command line at spaces outside of quotes.
func words(line string) (args []string) {
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		args = append(args, strings.Trim(w, "'"))
	}
	return args
}

// serve starts the server at any free port, fetches the page from it, and returns what it
// prints at the port that it takes by itself.
func (h home) serve(t *testing.T, dir string, args []string) []string {
	t.Helper()
	cmd := h.command(dir, "tapestry", append(args, "--addr", "127.0.0.1:0")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("tapestry serve: %v", err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:(\d+)/`).FindStringSubmatch(line)
	if address == nil {
		t.Fatalf("tapestry serve prints %q", line)
	}
	answer, err := http.Get(address[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("<title>")) {
		t.Errorf("%s answers %s\n%s", address[0], answer.Status, text)
	}
	return []string{strings.Replace(strings.TrimSuffix(line, "\n"), ":"+address[1]+"/", ":8080/", 1)}
}

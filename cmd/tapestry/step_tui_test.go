package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"
)

// opened is the program in the terminal for a model, without a terminal.
func opened(t *testing.T, args ...string) *stepper {
	t.Helper()
	var m *stepper
	var s stepping
	cmd := &cobra.Command{RunE: func(cmd *cobra.Command, args []string) error {
		session, title, err := s.open(cmd, &options{}, args[0])
		if err != nil {
			return err
		}
		t.Cleanup(session.Close)
		m = newStepper(context.Background(), session, title)
		return nil
	}}
	s.training.flags(cmd)
	s.learning.flags(cmd)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	return m
}

// press types keys, with the names of special ones in angle brackets, and waits for their
// effects.
func press(t *testing.T, m *stepper, keys ...string) {
	t.Helper()
	special := map[string]tea.KeyType{"<enter>": tea.KeyEnter, "<esc>": tea.KeyEsc, "<tab>": tea.KeyTab, "<right>": tea.KeyRight, "<left>": tea.KeyLeft,
		"<home>": tea.KeyHome, "<end>": tea.KeyEnd, "<space>": tea.KeySpace, "<backspace>": tea.KeyBackspace, "<pgup>": tea.KeyPgUp}
	for _, k := range keys {
		msgs := []tea.Msg{}
		if kind, ok := special[k]; ok {
			msg := tea.KeyMsg{Type: kind}
			if kind == tea.KeySpace {
				msg.Runes = []rune{' '}
			}
			msgs = append(msgs, msg)
		} else {
			for _, r := range k {
				msgs = append(msgs, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
		}
		for _, msg := range msgs {
			if _, cmd := m.Update(msg); cmd != nil {
				if msg := cmd(); msg != nil {
					m.Update(msg)
				}
			}
		}
	}
}

// fits holds that a screen has the terminal's size.
func fits(t *testing.T, m *stepper) {
	t.Helper()
	lines := strings.Split(m.View(), "\n")
	if len(lines) != m.height {
		t.Errorf("%d×%d: %d lines:\n%s", m.width, m.height, len(lines), m.View())
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > m.width {
			t.Errorf("%d×%d: a line of %d characters: %s", m.width, m.height, n, line)
		}
	}
}

func TestStepKeys(t *testing.T) {
	m := opened(t, "kmeans-softmax")
	shows := func(what string, parts ...string) {
		t.Helper()
		fits(t, m)
		for _, p := range parts {
			if !strings.Contains(m.View(), p) {
				t.Errorf("%s: the screen lacks %q:\n%s", what, p, m.View())
			}
		}
	}
	shows("at the start", "training step 0 · instruction 0 of ", "▶   0 ")
	press(t, m, "<right>", "l")
	shows("two on", "instruction 2 of ", "▶   2 ")
	press(t, m, "<left>", "h", "h")
	shows("at the beginning of time", "instruction 0 of ", "this is where training begins")
	press(t, m, "g", "alpha", "<enter>")
	shows("at α", "αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)", "▸out  α[i=150 j=3]", "∂loss/∂α", "α[i=0..149 j=0..2]")
	at := m.session.At()
	press(t, m, "<space>")
	shows("the first page of values", "α[i=0..")
	press(t, m, "<space>")
	if from := m.view.window.From; len(from) != 2 || from[0] == 0 || from[1] != 0 {
		t.Errorf("the second page begins at %v", from)
	}
	press(t, m, "]", "]", "<pgup>", "<pgup>", "<pgup>")
	if from := m.view.window.From; from[0] != 0 || from[1] == 0 {
		t.Errorf("paged to the right and up: at %v", from)
	}
	press(t, m, "<tab>")
	shows("the next value", "▸ ∂*  ∂loss/∂α", "∂loss/∂α[i=0..149 j=0..2]")
	press(t, m, "t", "t")
	shows("two training steps on", "training step 2 · instruction "+fmt.Sprint(at)+" of ", "▸ ∂*  ∂loss/∂α")
	press(t, m, "T")
	shows("one back", "training step 1 · ")
	press(t, m, "<end>", "<right>")
	shows("over the end of a step", "training step 2 · instruction 0 of ")
	press(t, m, "<left>")
	shows("and back", "training step 1 · instruction "+fmt.Sprint(m.session.Len()-1)+" of ")
	press(t, m, "c")
	shows("without a break", "no break is set")
	press(t, m, "b", "step", "<space>", "44", "<backspace>", "<enter>", "c")
	shows("at a training step", "training step 4 · instruction 0 of ", "stopped: step 4")
	press(t, m, "B", "b", "|any|>1e9", "<enter>", "C")
	shows("back to the beginning", "training step 0 · instruction 0 of ", "no break holds before here")
	press(t, m, "b", "nope", "<enter>")
	shows("a wrong break", `break "nope": the program has no quantity`)
	press(t, m, "b", "<esc>", "n")
	if m.prompt != 0 || m.session.At() == 0 {
		t.Error("escape does not end the prompt")
	}
	press(t, m, "N")
	shows("a node back", "instruction 0 of ")
	press(t, m, "?")
	shows("the help", "shape 150x3", "any key goes back")
	press(t, m, "q")
	if _, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'q'}}); cmd == nil {
		t.Error("q does not quit")
	} else if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("q does something else")
	}
}

// TestStepInside goes into a loop and through its iterations.
func TestStepInside(t *testing.T) {
	m := opened(t, "rnn-elman")
	press(t, m, "<enter>")
	if !strings.Contains(m.View(), "is not a loop") {
		t.Errorf("entered an instruction that is not a loop:\n%s", m.View())
	}
	for m.session.Rows()[m.session.At()].Body == nil {
		press(t, m, "<right>")
	}
	press(t, m, "<enter>")
	n := len(m.session.Rows()[m.session.At()].Body.Rows())
	var seen []string
	for {
		fits(t, m)
		seen = append(seen, m.view.place)
		press(t, m, "<right>")
		if m.view.place == seen[len(seen)-1] {
			break
		}
	}
	if len(seen) != 5*n || !strings.Contains(seen[n], "iteration 1 of 5, time 1 · instruction 0 of") {
		t.Errorf("%d instructions in 5 iterations of %d: %q", len(seen), n, seen)
	}
	press(t, m, "T", "T", "<home>", "<left>")
	if !strings.Contains(m.view.place, fmt.Sprintf("iteration 1 of 5, time 1 · instruction %d of", n-1)) {
		t.Errorf("at %s", m.view.place)
	}
	press(t, m, "<esc>")
	if !strings.Contains(m.view.place, fmt.Sprintf("instruction %d of %d", m.session.At(), m.session.Len())) {
		t.Errorf("outside at %s", m.view.place)
	}
}

// TestStepWritten shows the model as it is written and goes back to the program.
func TestStepWritten(t *testing.T) {
	m := opened(t, "kmeans-softmax")
	press(t, m, "g", "alpha", "<enter>")
	at := m.session.At()
	press(t, m, "u")
	fits(t, m)
	for _, part := range []string{"as written", "Softmax", "▸out  α[i=150 j=3]"} {
		if !strings.Contains(m.View(), part) {
			t.Errorf("α as written lacks %q:\n%s", part, m.View())
		}
	}
	press(t, m, "t", "<left>")
	if m.session.Step() != 1 || !strings.Contains(m.View(), "training step 1 · node") || !strings.Contains(m.View(), "Neg ") {
		t.Errorf("a node before, a training step on:\n%s", m.View())
	}
	n := len(m.session.Written())
	press(t, m, "<home>", "h")
	if m.node != 0 || m.status == "" {
		t.Errorf("before the first node: %d, %q", m.node, m.status)
	}
	for i := 1; i < n; i++ {
		press(t, m, "<right>")
		fits(t, m)
	}
	press(t, m, "<right>")
	if m.node != n-1 || !strings.Contains(m.status, "last node") {
		t.Errorf("behind the last node: %d of %d, %q", m.node, n, m.status)
	}
	press(t, m, "b")
	if m.prompt != 0 || !strings.Contains(m.status, "u goes back") {
		t.Errorf("a break among nodes: %q", m.status)
	}
	press(t, m, "u", "g", "alpha", "<enter>", "u", "u")
	if m.written || m.session.Rows()[m.session.At()].Node.Name() != "α" && m.session.At() > at {
		t.Errorf("back at %d, not at %d", m.session.At(), at)
	}
}

// TestStepSizes goes through a program at many sizes of the terminal.
func TestStepSizes(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "rnn-elman", "attention-multihead"} {
		m := opened(t, name)
		for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 12}, {20, 8}, {10, 3}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			press(t, m, "<home>")
			for range 12 {
				if size[1] >= 8 && size[0] >= 20 {
					fits(t, m)
				}
				press(t, m, "<tab>", "<space>", "}", "n")
			}
		}
	}
}

// TestStepStops checks that escape ends long work, and that the screen is drawn meanwhile.
func TestStepStops(t *testing.T) {
	m := opened(t, "kmeans-softmax")
	press(t, m, "b", "|any|>1e30", "<enter>")
	_, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'c'}})
	if !strings.Contains(m.View(), "running … (esc stops)") {
		t.Errorf("while it runs:\n%s", m.View())
	}
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'n'}}) // is not looked at
	m.Update(tea.KeyMsg{Type: tea.KeyEsc})
	m.Update(cmd())
	if m.cancel != nil || m.status != "stopped" {
		t.Errorf("after escape: %q", m.status)
	}
}
